#include "differential/shrinker.h"

#include <algorithm>

namespace mayfly::testing {

std::vector<Words> Shrink(std::vector<Words> requests,
                          const std::function<bool(const std::vector<Words>&)>& differs) {
  constexpr int kMostReplays = 400;
  if (requests.empty() || !differs(requests)) return {};
  int replays = 0;
  size_t chunk = requests.size() / 2;
  while (chunk > 0) {
    bool smaller = false;
    // From the end, without the last, which is the one that differs.
    for (size_t end = requests.size() - 1; end > 0;) {
      const size_t begin = end > chunk ? end - chunk : 0;
      std::vector<Words> fewer(requests.begin(), requests.begin() + static_cast<std::ptrdiff_t>(begin));
      fewer.insert(fewer.end(), requests.begin() + static_cast<std::ptrdiff_t>(end), requests.end());
      if (++replays > kMostReplays) return requests;
      if (differs(fewer)) {
        requests = std::move(fewer);
        smaller = true;
      }
      end = begin;
    }
    if (chunk > 1) {
      chunk /= 2;
    } else if (!smaller) {
      break;
    }
  }
  return requests;
}

}  // namespace mayfly::testing

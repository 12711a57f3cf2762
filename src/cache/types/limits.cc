#include "cache/types/limits.h"

#include <algorithm>

namespace mayfly {

ListLimit::ListLimit(int64_t option) noexcept {
  constexpr size_t kSafeBytes = 8192;  // with any number of elements
  constexpr int64_t kMostLevels = 5;
  constexpr size_t kFirstLevel = 4096;
  if (option < 0) {
    bytes_ = kFirstLevel << (std::min(-option, kMostLevels) - 1);
  } else {
    bytes_ = kSafeBytes;
    items_ = static_cast<size_t>(std::max<int64_t>(option, 1));
  }
}

}  // namespace mayfly

#include "config/nearest.h"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "base/text/ascii.h"

namespace mayfly::config {
namespace {

constexpr size_t kNotNear = std::numeric_limits<size_t>::max();
// Shorter names are near to too many options.
constexpr size_t kLeastLetters = 3;
// A longer name is no slip of the finger.
constexpr size_t kMostLetters = 64;

// The number of different letters; two exchanged neighbours count once (optimal string alignment).
size_t Distance(const std::string& a, const std::string& b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> above(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t other = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, other});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

// Returns the distance of `word` from `text`, or kNotNear.
size_t Nearness(std::string_view text, std::string_view word) {
  constexpr size_t kLettersForOne = 3;  // one of three letters may be wrong
  constexpr size_t kMostWrong = 3;
  if (text.size() < kLeastLetters || text.size() > kMostLetters) return kNotNear;
  const size_t most = std::min(kMostWrong, text.size() / kLettersForOne);
  if (std::max(text.size(), word.size()) - std::min(text.size(), word.size()) > most) return kNotNear;
  const size_t distance = Distance(LowerCase(text), LowerCase(word));
  return distance <= most ? distance : kNotNear;
}

}  // namespace

bool AreNear(std::string_view text, std::string_view word) { return Nearness(text, word) != kNotNear; }

std::string_view NearestOption(std::string_view name, bool (*fits)(const Option&)) {
  std::string_view nearest;
  size_t least = kNotNear;
  for (const std::span<const Option> half : {MayflyOptions(), RedisOptions()}) {
    for (const Option& option : half) {
      for (const std::string_view known : {option.name, option.alias}) {
        const size_t distance = known.empty() ? kNotNear : Nearness(name, known);
        if (distance >= least || !fits(option)) continue;
        least = distance;
        nearest = known;
      }
    }
  }
  return nearest;
}

namespace {

// The shortest option with `name` as its beginning or as one of its words: maxmemory-policy for "policy".
std::string_view LongerOption(std::string_view name, bool (*fits)(const Option&)) {
  if (name.size() < kLeastLetters) return {};
  const std::string wanted = LowerCase(name);
  std::string_view shortest;
  for (const Option& option : MayflyOptions()) {
    const std::string words = '-' + std::string(option.name) + '-';
    const bool has = option.name.starts_with(wanted) || words.find('-' + wanted + '-') != std::string::npos;
    if (has && fits(option) && (shortest.empty() || option.name.size() < shortest.size()))
      shortest = option.name;
  }
  return shortest;
}

}  // namespace

std::string DidYouMean(std::string_view name, std::string_view before, bool (*fits)(const Option&)) {
  std::string_view nearest = NearestOption(name, fits);
  if (nearest.empty()) nearest = LongerOption(name, fits);
  if (nearest.empty()) return {};
  return ", did you mean '" + std::string(before).append(nearest) + "'?";
}

}  // namespace mayfly::config

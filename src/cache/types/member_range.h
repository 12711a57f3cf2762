// Ranges of a sorted set: of scores, of names, of ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mayfly {

// Scores from `min` to `max`; an open end is outside the range.
struct ScoreRange {
  double min = 0;
  double max = 0;
  bool min_open = false;
  bool max_open = false;

  // IsAfter: true if the range lies after the member. IsBefore: true if the range lies before the member.
  bool IsAfter(double score, std::string_view /*name*/) const noexcept {
    return min_open ? score <= min : score < min;
  }
  bool IsBefore(double score, std::string_view /*name*/) const noexcept {
    return max_open ? score >= max : score > max;
  }
};

// Names from `min` to `max`, byte by byte, for members with equal scores.
struct NameRange {
  struct Bound {
    enum class Kind : uint8_t { kLowest, kClosed, kOpen, kHighest };
    Kind kind = Kind::kLowest;
    std::string_view name = {};  // borrowed
  };
  Bound min = {};
  Bound max = {};

  bool IsAfter(double /*score*/, std::string_view name) const noexcept {
    if (min.kind == Bound::Kind::kLowest || min.kind == Bound::Kind::kHighest)
      return min.kind == Bound::Kind::kHighest;
    return min.kind == Bound::Kind::kOpen ? name <= min.name : name < min.name;
  }
  bool IsBefore(double /*score*/, std::string_view name) const noexcept {
    if (max.kind == Bound::Kind::kLowest || max.kind == Bound::Kind::kHighest)
      return max.kind == Bound::Kind::kLowest;
    return max.kind == Bound::Kind::kOpen ? name >= max.name : name > max.name;
  }
};

// Members with the ranks from `first` on; the lowest member has rank 0.
struct RankRange {
  size_t first = 0;
  size_t count = 0;

  // Without `skip` ranks at the low end or, if `from_end`, at the high end.
  RankRange Without(size_t skip, bool from_end) const noexcept {
    if (skip >= count) return {};
    return {from_end ? first : first + skip, count - skip};
  }
};

}  // namespace mayfly

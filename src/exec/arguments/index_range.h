// A range of a sequence by first and last index. A negative index counts from the end (-1 is the last).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace mayfly {

struct IndexRange {
  uint64_t first = 0;
  uint64_t last = 0;
  uint64_t size() const noexcept { return last - first + 1; }
};

// The part of `start` to `end` within a sequence of `length`; nothing if the part is empty. An index before the beginning
// means the first element.
inline std::optional<IndexRange> ClipRange(int64_t start, int64_t end, uint64_t length) noexcept {
  const auto count = static_cast<int64_t>(length);
  if (start < 0) start = std::max<int64_t>(count + start, 0);
  if (end < 0) end = std::max<int64_t>(count + end, 0);
  end = std::min(end, count - 1);
  if (start > end) return std::nullopt;
  return IndexRange{static_cast<uint64_t>(start), static_cast<uint64_t>(end)};
}

// Like ClipRange, but a range that ends before the beginning is empty: the rule of commands on members, such as LRANGE and
// ZRANGE.
inline std::optional<IndexRange> ClipMembers(int64_t start, int64_t end, uint64_t length) noexcept {
  if (end < 0 && end + static_cast<int64_t>(length) < 0) return std::nullopt;
  return ClipRange(start, end, length);
}

// Like ClipRange, but two indices from the end in the wrong order give nothing, even if both lie before the beginning.
inline std::optional<IndexRange> ClipOrderedRange(int64_t start, int64_t end, uint64_t length) noexcept {
  if (start < 0 && end < 0 && start > end) return std::nullopt;
  return ClipRange(start, end, length);
}

}  // namespace mayfly

// Computes where an entry of the hash table belongs. Pure arithmetic on hashes: no memory, no table.
//
//   hash:  | prefix: `depth` bits | offset: 30 bits                      | rest |
//            chooses the segment    chooses the group: offset * groups >> 30
//                                 | 6 bits | tag: 8 bits |
//
// The group is a monotone function of the hash, for any number of groups. So "hash order" is the same for every layout; SCAN
// relies on this.
//
// The tag follows the first six bits of the offset; the group number already determines these six (most segments have 63 to
// 127 groups). So group and tag together determine 14 bits of the offset. When a segment grows, these bits are enough to
// find the new group of nearly every entry, without reading the entry.
//
// A position is the upper 52 bits of a hash. Each group begins at an exact position as long as depth <= 22.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "cache/table/table_group.h"

namespace mayfly {

inline constexpr uint32_t kOffsetBits = 30;
inline constexpr uint32_t kPositionBits = 52;
inline constexpr uint32_t kMaxTableDepth = kPositionBits - kOffsetBits;
inline constexpr uint32_t kTagShift = 16;

// The highest `count` bits of a hash.
// REQUIRES: count <= 63.
constexpr uint64_t TopBits(uint64_t hash, uint32_t count) noexcept {
  assert(count <= 63);
  return (hash >> 1) >> (63 - count);
}
constexpr uint32_t OffsetOf(uint64_t hash, uint32_t depth) noexcept {
  return static_cast<uint32_t>((hash << depth) >> (64 - kOffsetBits));
}
constexpr uint32_t GroupOf(uint32_t offset, uint32_t groups) noexcept {
  return static_cast<uint32_t>((uint64_t{offset} * groups) >> kOffsetBits);
}
// Never 0, which marks a free slot: the first two tag values share tag 1.
constexpr uint8_t TagOf(uint32_t offset) noexcept {
  const auto tag = static_cast<uint8_t>(offset >> kTagShift);
  return static_cast<uint8_t>(tag + (tag == 0 ? 1 : 0));
}
// The lowest offset of a group. For group == groups: the end of the segment, 2^30.
constexpr uint32_t FirstOffsetOf(uint32_t group, uint32_t groups) noexcept {
  return static_cast<uint32_t>(((uint64_t{group} << kOffsetBits) + groups - 1) / groups);
}

// The range of offsets with a given group and tag: if `known`, the offset is in [low, high].
struct OffsetRange {
  uint32_t low = 0;
  uint32_t high = 0;
  bool known = false;
};
// REQUIRES: the offsets of the entry's home group are [first, end).
constexpr OffsetRange OffsetsOf(uint32_t first, uint32_t end, uint8_t tag) noexcept {
  assert(first < end);
  constexpr uint32_t kTurn = 1U << (kTagShift + 8);  // The tags repeat after this many offsets.
  const uint32_t skip = tag == 1 ? 0 : uint32_t{tag} << kTagShift;
  const uint32_t cell = (tag == 1 ? 2U : 1U) << kTagShift;
  uint32_t begin = (first & ~(kTurn - 1)) + skip;
  if (begin + cell <= first) begin += kTurn;
  if (begin + kTurn < end) return {};  // The group is wider than one cycle of the tags.
  const uint32_t low = begin < first ? first : begin;
  const uint32_t high = begin + cell < end ? begin + cell - 1 : end - 1;
  return {low, high, low <= high};
}

// Sizes of a segment in cache lines (groups, plus 1 for the header). All are size classes of malloc: memory
// grows with the number of keys, and nothing is lost to rounding.
inline constexpr std::array<uint32_t, 13> kSegmentLines = {2, 4, 8, 12, 16, 24, 32, 48, 64, 80, 96, 112, 128};
inline constexpr uint32_t kLargestSize = kSegmentLines.size() - 1;

constexpr uint32_t GroupsOfSize(uint32_t size) noexcept { return kSegmentLines[size] - 1; }
// The number of entries at which a segment is full: 15/16 of the slots. The smallest size has only one group,
// so it may fill up completely.
constexpr uint32_t LimitOfSize(uint32_t size) noexcept {
  const uint32_t slots = GroupsOfSize(size) * TableGroup<uint32_t>::kSlots;
  return size == 0 ? slots : slots * 15 / 16;
}
// The smallest size that holds `entries` and an eighth more before it is full.
constexpr uint32_t SizeFor(size_t entries) noexcept {
  uint32_t size = 0;
  while (size < kLargestSize && LimitOfSize(size) < entries + entries / 8) ++size;
  return size;
}
// A segment with fewer entries than this takes a smaller size. The bound is far below the limit of the smaller size, so a
// few inserts do not undo the change.
constexpr uint32_t ShrinkBelow(uint32_t size) noexcept {
  return size == 0 ? 0 : LimitOfSize(size - 1) * 7 / 8;
}
// Two buddies with at most this many entries together are merged.
inline constexpr uint32_t kMergeEntriesMax = LimitOfSize(kLargestSize) * 5 / 8;

static_assert(GroupsOfSize(kLargestSize) <= 255, "the directory word has 8 bits for it");

}  // namespace mayfly

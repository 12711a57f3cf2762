// One group of the hash table: 12 one-byte tags and their 12 handles in a single cache line.
//
//   byte 0           12               16                              64
//        | 12 tags   | 4 bytes about  | 12 handles of 4 bytes          |
//        |           | displacement   |                                |
//
// An entry lives in its home group if there is room, else in one of the next kMaxReach groups of the segment
// (it is then *displaced*), else in the segment's stash. Of these strays the home group knows how many lie in
// other groups, how far, and by a filter of one bit per class of tags, which tags: nearly every miss ends in
// this very line.
//
// Invariants: tag 0 = free slot; displaced bit i implies tags[i] != 0; reach == 0 iff away == 0; no stray, no
// filter bit. `stashed` and the filter may tell of strays that are gone, until the segment is laid out anew.
// With 8-byte handles (sanitizer builds) a group is two lines. Plain data, owns nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/simd.h"

namespace mayfly {

inline constexpr size_t kCacheLine = 64;

template <typename Ref>
struct alignas(kCacheLine) TableGroup {
  static constexpr uint32_t kSlots = 12;
  static constexpr uint32_t kAllSlots = (1U << kSlots) - 1;
  // An entry may lie this many groups behind its home.
  static constexpr uint32_t kMaxReach = 15;
  // A home with so many entries in other groups sends the next one to the stash.
  static constexpr uint32_t kMaxAway = 127;

  uint8_t tags[kSlots];
  uint16_t displaced : 12;  // Slots of this group whose entry has another home.
  uint16_t reach : 4;       // Farthest distance of an entry that is away from this home.
  uint8_t away : 7;         // Entries with this home that lie in following groups.
  uint8_t stashed : 1;      // Some entry with this home went to the stash.
  uint8_t filter;           // Bit tag % 8 is set if a stray of this home has such a tag.
  Ref refs[kSlots];

  uint32_t Match(uint8_t tag) const noexcept {
    // Reads tags and the four bytes behind them, hence not through `tags`.
    return MatchBytes16(reinterpret_cast<const uint8_t*>(this), tag) & kAllSlots;
  }
  uint32_t FreeSlots() const noexcept { return Match(0); }
  uint32_t UsedSlots() const noexcept { return FreeSlots() ^ kAllSlots; }
  // False: an entry with this home and this tag can be nowhere but here.
  bool MayHaveStray(uint8_t tag) const noexcept { return (filter >> (tag & 7U) & 1U) != 0; }

  // REQUIRES: slot is free and tag != 0.
  void Put(uint32_t slot, uint8_t tag, Ref ref) noexcept {
    tags[slot] = tag;
    refs[slot] = ref;
  }
  void SetDisplaced(uint32_t slot) noexcept { displaced |= static_cast<uint16_t>(1U << slot) & kAllSlots; }
  bool IsDisplaced(uint32_t slot) const noexcept { return (displaced >> slot & 1U) != 0; }
  void Drop(uint32_t slot) noexcept {
    tags[slot] = 0;
    displaced &= static_cast<uint16_t>(~(1U << slot)) & kAllSlots;
  }

  // Bookkeeping of the home group for an entry that lies `distance` groups behind it, or in the stash.
  // REQUIRES: away < kMaxAway.
  void NoteAway(uint32_t distance, uint8_t tag) noexcept {
    away = (away + 1U) & kMaxAway;
    if (distance > reach) reach = distance & kMaxReach;
    filter |= static_cast<uint8_t>(1U << (tag & 7U));
  }
  void NoteStashed(uint8_t tag) noexcept {
    stashed = 1;
    filter |= static_cast<uint8_t>(1U << (tag & 7U));
  }
  void ForgetAway() noexcept {
    away = (away - 1U) & kMaxAway;
    if (away != 0) return;
    reach = 0;
    if (stashed == 0) filter = 0;
  }
};

static_assert(sizeof(TableGroup<uint32_t>) == kCacheLine);
static_assert(offsetof(TableGroup<uint32_t>, refs) == 16);
static_assert(sizeof(TableGroup<void*>) == 2 * kCacheLine);

}  // namespace mayfly

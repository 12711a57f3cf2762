// A group of the hash table: 12 one-byte tags and their 12 handles in a single cache line.
//
//   byte 0           12               16                              64
//        | 12 tags   | 4 bytes about  | 12 handles of 4 bytes          |
//        |           | strays         |                                |
//
// The hash of an entry determines its home group. A full home group sends the entry to one of the next kMaxReach groups of
// the segment, as a *displaced* entry, and if these are full, to the segment's *stash*. Entries outside their home group are
// *strays*. The home group records the number of its strays in other groups, the largest distance, and a filter with one bit
// for each class of tags. So nearly every miss reads this line only.
//
// Invariants:
//   - Tag 0 marks a free slot; displaced bit i implies tags[i] != 0.
//   - reach == 0 iff away == 0; a home without strays has an empty filter.
//   - `stashed` and the filter may still report removed strays, until the segment is rebuilt.
//
// With handles of 8 bytes (sanitizer builds) a group takes two lines. Plain data, owns nothing.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "base/simd.h"

namespace mayfly {

inline constexpr size_t kCacheLine = 64;

template <typename Ref>
struct alignas(kCacheLine) TableGroup {
  static constexpr uint32_t kSlots = 12;
  static constexpr uint32_t kAllSlots = (1U << kSlots) - 1;
  // The maximum distance of an entry from its home, in groups.
  static constexpr uint32_t kMaxReach = 15;
  // A home with this many entries in other groups sends the next entry to the stash.
  static constexpr uint32_t kMaxAway = 127;

  uint8_t tags[kSlots];
  uint16_t displaced : 12;  // Slots of this group whose entry has another home.
  uint16_t reach : 4;       // The largest distance of this home's displaced entries.
  uint8_t away : 7;         // Entries of this home in following groups.
  uint8_t stashed : 1;      // Some entry with this home went to the stash.
  uint8_t filter;           // Bit tag % 8 is set if a stray of this home has that tag.
  Ref refs[kSlots];

  uint32_t Match(uint8_t tag) const noexcept {
    // Reads the four bytes after `tags` too, hence not through `tags`.
    return MatchBytes16(reinterpret_cast<const uint8_t*>(this), tag) & kAllSlots;
  }
  uint32_t FreeSlots() const noexcept { return Match(0); }
  uint32_t UsedSlots() const noexcept { return FreeSlots() ^ kAllSlots; }
  // If false, an entry with this home and this tag can only be in this group.
  bool MayHaveStray(uint8_t tag) const noexcept { return (filter >> (tag & 7U) & 1U) != 0; }

  // Stores an entry in a slot, overwriting it.
  // REQUIRES: tag != 0.
  void Put(uint32_t slot, uint8_t tag, Ref ref) noexcept {
    assert(tag != 0);
    tags[slot] = tag;
    refs[slot] = ref;
  }
  void SetDisplaced(uint32_t slot) noexcept { displaced |= static_cast<uint16_t>(1U << slot) & kAllSlots; }
  bool IsDisplaced(uint32_t slot) const noexcept { return (displaced >> slot & 1U) != 0; }
  void Drop(uint32_t slot) noexcept {
    tags[slot] = 0;
    displaced &= static_cast<uint16_t>(~(1U << slot)) & kAllSlots;
  }

  // Both record a stray in its home group: NoteStrayAt an entry in the group `distance` after the home, NoteStashed an entry in
  // the stash.
  // REQUIRES: away < kMaxAway.
  void NoteStrayAt(uint32_t distance, uint8_t tag) noexcept {
    assert(away < kMaxAway);
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

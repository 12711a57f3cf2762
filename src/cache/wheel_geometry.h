// Where a deadline belongs on the timing wheel: pure arithmetic, no state.
//
// Level 0 has 64 slots of one tick, level 1 has 64 slots of 64 ticks, and so on; level 10 covers what is left
// of 64 bits, so every uint64 deadline has a slot and no overflow list exists. A *position* on a level is
// time >> (6 * level), counted from time 0; its slot is the position modulo 64.
//
// Filing goes by distance, not by comparing slot indices: the level is the lowest one on which the deadline's
// position is less than 64 away from the current one. Two things follow, and everything else leans on them:
//   - a slot holds one position only, so its index and the current time give back its start;
//   - above level 0 nothing is ever filed into the current slot (it would have fitted the level below).
#pragma once

#include <bit>
#include <cstdint>

namespace mayfly::wheel {

constexpr int kSlotBits = 6;
constexpr int kSlots = 1 << kSlotBits;
constexpr int kLevels = 11;
static_assert(kLevels * kSlotBits >= 64, "every deadline needs a level");

// A time that no clock reaches.
constexpr uint64_t kNever = UINT64_MAX;

// Names one list: level * 64 + slot, then one side list per level (see timing_wheel.h).
using ListId = uint16_t;
constexpr int kLists = kLevels * kSlots + kLevels;
constexpr ListId kNoList = UINT16_MAX;

// What an entry remembers about where it is filed: its list and the strand of it (see wheel_lists.h).
using Place = uint16_t;
constexpr int kStrands = 4;
constexpr Place kUnfiled = UINT16_MAX;
static_assert(kLists * kStrands < kUnfiled);
constexpr ListId ListOf(Place place) noexcept { return static_cast<ListId>(place / kStrands); }

constexpr int ShiftOf(int level) noexcept { return level * kSlotBits; }
constexpr uint64_t SpanOf(int level) noexcept { return uint64_t{1} << ShiftOf(level); }
constexpr uint64_t PositionOf(uint64_t time, int level) noexcept { return time >> ShiftOf(level); }
constexpr uint64_t StartOf(uint64_t position, int level) noexcept { return position << ShiftOf(level); }

constexpr ListId SlotList(int level, uint64_t position) noexcept {
  return static_cast<ListId>(level * kSlots + static_cast<int>(position % kSlots));
}
// The row below the last level, so that list / 64 and list % 64 address the bitmaps of both kinds alike.
constexpr ListId SideList(int level) noexcept { return static_cast<ListId>(kLevels * kSlots + level); }
constexpr bool IsSideList(ListId list) noexcept { return list >= kLevels * kSlots; }
constexpr int LevelOf(ListId list) noexcept { return IsSideList(list) ? list % kSlots : list / kSlots; }

// The smallest level on which `when` lies less than 64 positions after `elapsed`.
// REQUIRES: when >= elapsed.
constexpr int LevelFor(uint64_t elapsed, uint64_t when) noexcept {
  const uint64_t distance = when - elapsed;
  if (distance < kSlots) return 0;
  // 64^level <= distance < 64^(level + 1): no lower level can do, and on this one the positions differ by
  // distance / 64^level, rounded down or up. Rounded up it may be 64, one too many.
  const int level = (63 - std::countl_zero(distance)) / kSlotBits;
  return level + static_cast<int>(PositionOf(when, level) - PositionOf(elapsed, level) == kSlots);
}

// Whether `time` lies in the second half of the position it is in on `level`; on level 0, with one tick each,
// never.
constexpr bool InSecondHalf(uint64_t time, int level) noexcept { return (time & (SpanOf(level) / 2)) != 0; }

// The one position that slot `slot` can hold while the level stands at `current`.
constexpr uint64_t PositionAt(uint64_t current, int slot) noexcept {
  return current + ((static_cast<uint64_t>(slot) - current) % kSlots);
}

// The first position at or after `current` whose bit is set in `occupied`.
// REQUIRES: occupied != 0.
constexpr uint64_t FirstOccupied(uint64_t occupied, uint64_t current) noexcept {
  const int turned = static_cast<int>(current % kSlots);
  return current + static_cast<uint64_t>(std::countr_zero(std::rotr(occupied, turned)));
}

}  // namespace mayfly::wheel

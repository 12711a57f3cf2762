// Computes where a deadline belongs on the timing wheel. Pure arithmetic, no state.
//
// Level 0 has 64 slots of one tick, level 1 has 64 slots of 64 ticks, and so on. Level 10 covers the
// remaining bits, so every 64-bit deadline has a slot and there is no overflow list. The *position* of a time
// on a level is time >> (6 * level), counted from time 0. Its slot is the position modulo 64.
//
// The level is chosen by distance, not by comparing slot indices: the lowest level on which the deadline's position is less
// than 64 after the current position. Two facts follow, and the wheel relies on both:
//   - All entries of a slot have the same position, so the slot index and the current time give its start.
//   - Above level 0 nothing is ever filed into the current slot: such an entry would have fitted the level below.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>

namespace mayfly::wheel {

constexpr int kSlotBits = 6;
constexpr int kSlots = 1 << kSlotBits;
constexpr int kLevels = 11;
static_assert(kLevels * kSlotBits >= 64, "every deadline needs a level");

// A time that no clock reaches.
constexpr uint64_t kNever = UINT64_MAX;

// Identifies a list: level * 64 + slot for slots, then one side list per level (see timing_wheel.h).
using ListId = uint16_t;
constexpr int kLists = kLevels * kSlots + kLevels;
constexpr ListId kNoList = UINT16_MAX;

// The place of a filed entry: the list and the strand within the list (see wheel_lists.h). Stored in the entry.
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
// Side lists form a row below the last level. So list / 64 and list % 64 give the bitmap and its bit for both kinds of list.
constexpr ListId SideList(int level) noexcept { return static_cast<ListId>(kLevels * kSlots + level); }
constexpr bool IsSideList(ListId list) noexcept { return list >= kLevels * kSlots; }
constexpr int LevelOf(ListId list) noexcept { return IsSideList(list) ? list % kSlots : list / kSlots; }

// The lowest level on which `when` is less than 64 positions after `elapsed`.
// REQUIRES: when >= elapsed.
constexpr int LevelFor(uint64_t elapsed, uint64_t when) noexcept {
  assert(when >= elapsed);
  const uint64_t distance = when - elapsed;
  if (distance < kSlots) return 0;
  // 64^level <= distance < 64^(level + 1), so a lower level is too narrow. On this level the positions differ by distance /
  // 64^level, rounded down or up. Rounded up, the difference may be 64: one too many.
  const int level = (63 - std::countl_zero(distance)) / kSlotBits;
  return level + static_cast<int>(PositionOf(when, level) - PositionOf(elapsed, level) == kSlots);
}

// Returns true if `time` is in the second half of its position on `level`. Always false on level 0, where a position is one
// tick.
constexpr bool InSecondHalf(uint64_t time, int level) noexcept { return (time & (SpanOf(level) / 2)) != 0; }

// The only position that `slot` can hold while the level's current position is `current`.
constexpr uint64_t PositionAt(uint64_t current, int slot) noexcept {
  return current + ((static_cast<uint64_t>(slot) - current) % kSlots);
}

// The first position at or after `current` whose bit is set in `occupied`.
// REQUIRES: occupied != 0.
constexpr uint64_t FirstOccupied(uint64_t occupied, uint64_t current) noexcept {
  assert(occupied != 0);
  const int turned = static_cast<int>(current % kSlots);
  return current + static_cast<uint64_t>(std::countr_zero(std::rotr(occupied, turned)));
}

// A level's occupied slots ahead of `now`: bit i stands for the position i after that of now. Bit 0 also stands for earlier
// positions; these occur if the wheel was not advanced to `now` yet.
constexpr uint64_t SlotsAhead(uint64_t occupied, int level, uint64_t elapsed, uint64_t now) noexcept {
  const uint64_t current = PositionOf(elapsed, level);
  const uint64_t ahead = std::rotr(occupied, static_cast<int>(current % kSlots));
  const uint64_t moved = now > elapsed ? PositionOf(now, level) - current : 0;
  if (moved >= kSlots) return ahead != 0 ? 1 : 0;
  const uint64_t passed = ahead & ((uint64_t{1} << moved) - 1);
  return (ahead >> moved) | (passed != 0 ? 1 : 0);
}

}  // namespace mayfly::wheel

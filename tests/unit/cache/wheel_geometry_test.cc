#include "cache/time/wheel_geometry.h"

#include <array>
#include <random>

#include "support/catch.h"

namespace mayfly::wheel {
namespace {

// The definition, by trying every level.
int LevelByDefinition(uint64_t elapsed, uint64_t when) {
  int level = 0;
  while (PositionOf(when, level) - PositionOf(elapsed, level) >= kSlots) ++level;
  return level;
}

static_assert(LevelFor(0, 0) == 0);
static_assert(LevelFor(0, 63) == 0 && LevelFor(0, 64) == 1);
static_assert(LevelFor(1, 64) == 0 && LevelFor(63, 126) == 0 && LevelFor(63, 127) == 1);
static_assert(LevelFor(0, 4095) == 1 && LevelFor(0, 4096) == 2);
static_assert(LevelFor(63, 4096 + 62) == 2 && LevelFor(64, 4096 + 62) == 1);
static_assert(LevelFor(0, UINT64_MAX) == kLevels - 1);
static_assert(LevelFor(UINT64_MAX, UINT64_MAX) == 0);
static_assert(LevelFor(UINT64_MAX - 1, UINT64_MAX) == 0);

TEST_CASE("the level of a deadline is the lowest on which it is less than 64 positions away") {
  SECTION("at every phase of two levels, for every distance of two turns") {
    bool same = true;
    for (uint64_t elapsed = 0; elapsed < 4096; elapsed += 7) {
      for (uint64_t distance = 0; distance < 2 * 4096; ++distance) {
        same &= LevelFor(elapsed, elapsed + distance) == LevelByDefinition(elapsed, elapsed + distance);
      }
    }
    CHECK(same);
  }
  SECTION("around every boundary of every level") {
    bool same = true;
    for (int a = 0; a < 64; ++a) {
      for (int b = 0; b < 64; ++b) {
        for (uint64_t i = 0; i < 25; ++i) {
          const uint64_t elapsed = (uint64_t{1} << a) + i % 5 - 2;
          const uint64_t distance = (uint64_t{1} << b) + i / 5 - 2;
          if (elapsed + distance < elapsed) continue;
          same &= LevelFor(elapsed, elapsed + distance) == LevelByDefinition(elapsed, elapsed + distance);
        }
      }
    }
    CHECK(same);
  }
  SECTION("for random times of every magnitude") {
    std::mt19937_64 random(20240611);
    bool same = true;
    for (int i = 0; i < 200'000; ++i) {
      const uint64_t a = random() >> (random() % 64);
      const uint64_t b = random() >> (random() % 64);
      same &= LevelFor(std::min(a, b), std::max(a, b)) == LevelByDefinition(std::min(a, b), std::max(a, b));
    }
    CHECK(same);
  }
}

TEST_CASE("above level 0 nothing is filed into the current slot") {
  std::mt19937_64 random(7);
  bool apart = true;
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t elapsed = random() >> (random() % 64);
    const uint64_t when = elapsed + ((UINT64_MAX - elapsed) >> (random() % 64));
    const int level = LevelFor(elapsed, when);
    const uint64_t positions = PositionOf(when, level) - PositionOf(elapsed, level);
    apart &= positions < kSlots && (level == 0 || positions > 0);
  }
  CHECK(apart);
}

TEST_CASE("the search for an occupied position starts at the current slot and wraps around") {
  CHECK(FirstOccupied(1, 0) == 0);
  CHECK(FirstOccupied(1, 1) == 64);
  CHECK(FirstOccupied(uint64_t{1} << 63, 64) == 127);
  CHECK(FirstOccupied(0b1001, 130) == 131);
  bool same = true;
  for (uint64_t current = 0; current < 200; ++current) {
    for (int slot = 0; slot < kSlots; ++slot) {
      const uint64_t position = PositionAt(current, slot);
      same &= position >= current && position - current < kSlots &&
              position % kSlots == static_cast<uint64_t>(slot);
      same &= FirstOccupied(uint64_t{1} << slot, current) == position;
    }
  }
  CHECK(same);
}

TEST_CASE("every list has a distinct id that gives its level") {
  std::array<int, kLists> named{};
  for (int level = 0; level < kLevels; ++level) {
    for (uint64_t position = 0; position < kSlots; ++position) {
      ++named[SlotList(level, position)];
      CHECK(LevelOf(SlotList(level, position)) == level);
      CHECK_FALSE(IsSideList(SlotList(level, position)));
    }
    ++named[SideList(level)];
    CHECK(LevelOf(SideList(level)) == level);
    CHECK(IsSideList(SideList(level)));
  }
  CHECK(named == [] {
    std::array<int, kLists> ones;
    ones.fill(1);
    return ones;
  }());
  CHECK(kLists < kNoList);
}

TEST_CASE("the slots ahead begin with that of now, and what was passed counts as now") {
  // On level 0 at time 100 the slot of 100 is 36.
  const uint64_t occupied = uint64_t{1} << 36 | uint64_t{1} << 37 | uint64_t{1} << 35;
  CHECK(SlotsAhead(occupied, 0, 100, 100) == (1U | 2U | uint64_t{1} << 63));
  CHECK(SlotsAhead(occupied, 0, 100, 101) == (1U | uint64_t{1} << 62));
  CHECK(SlotsAhead(occupied, 0, 100, 110) == (1U | uint64_t{1} << 53));
  CHECK(SlotsAhead(occupied, 0, 100, 100 + 64) == 1);
  CHECK(SlotsAhead(occupied, 0, 100, 1'000'000) == 1);
  CHECK(SlotsAhead(occupied, 0, 100, 99) == SlotsAhead(occupied, 0, 100, 100));
  CHECK(SlotsAhead(0, 3, 5, 1'000'000'000) == 0);
  CHECK(SlotsAhead(UINT64_MAX, 1, 63, 64) == UINT64_MAX >> 1);
}

}  // namespace
}  // namespace mayfly::wheel

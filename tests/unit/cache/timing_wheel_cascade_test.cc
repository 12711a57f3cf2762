// Big slots, small budgets, stalls, and clock steps.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "support/catch.h"
#include "unit/cache/timing_wheel_fixture.h"

namespace mayfly::wheel_test {
namespace {

#ifdef MAYFLY_SANITIZE
constexpr uint32_t kMany = 64'000;
#else
constexpr uint32_t kMany = 1'000'000;
#endif

bool OnLevelZero(const Timer& timer) { return wheel::ListOf(timer.slot) < wheel::kSlots; }

TEST_CASE("after a stall of 10,000 ticks, timers are handed back in the order of their deadlines") {
  constexpr uint32_t kCount = 100'000;
  Timers t(kCount, 123);
  std::mt19937_64 random(99);
  for (uint32_t id = 1; id <= kCount; ++id) static_cast<void>(t.Set(id, 124 + random() % 10'000));
  std::vector<uint32_t> due(1000);
  uint64_t last = 0;
  size_t handed_back = 0;
  bool in_order = true;
  Wheel::Progress p{.more = true};
  while (p.more) {
    p = t.wheel.Advance(123 + 10'000, due, 1500);
    REQUIRE(p.touched <= 1500);
    for (size_t i = 0; i < p.due; ++i) {
      in_order &= t[due[i]].deadline >= last;
      last = t[due[i]].deadline;
    }
    handed_back += p.due;
  }
  CHECK(in_order);
  CHECK(handed_back == kCount);
  CHECK(t.wheel.elapsed() == 123 + 10'000);
}

// Advances tick by tick with one call each. Returns true if the wheel kept up and each timer was handed back
// at its deadline.
bool TickThrough(Timers& t, uint64_t to, size_t budget) {
  std::vector<uint32_t> due(budget);
  while (t.wheel.elapsed() < to) {
    const uint64_t now = t.wheel.elapsed() + 1;
    const Wheel::Progress p = t.wheel.Advance(now, due, budget);
    if (t.wheel.elapsed() != now || p.touched > budget) return false;
    for (size_t i = 0; i < p.due; ++i) {
      if (t[due[i]].deadline != now) return false;
    }
  }
  return true;
}

TEST_CASE("many timers due just after a boundary cascade ahead of time, within the budget") {
  constexpr uint64_t kBoundary = uint64_t{1} << 18;  // the start of a slot on every level up to 3
  constexpr size_t kBudget = kMany / 16;
  Timers t(kMany);
  for (uint32_t id = 1; id <= kMany; ++id) static_cast<void>(t.Set(id, kBoundary + id % 64));
  REQUIRE(wheel::LevelOf(wheel::ListOf(t[1].slot)) == 3);
  REQUIRE(TickThrough(t, kBoundary - 1, kBudget));
  CHECK(t.wheel.size() == kMany);
  CHECK(t.wheel.Validate());
  bool down = true;
  for (uint32_t id = 1; id <= kMany; ++id) {
    if (t[id].deadline < kBoundary + 32) down &= OnLevelZero(t[id]);
  }
  CHECK(down);
  // Half of them still have to cascade, while one 64th is due at each tick.
  CHECK(TickThrough(t, kBoundary + 31, kBudget));
  down = true;
  for (uint32_t id = 1; id <= kMany; ++id) {
    if (t.wheel.Contains(id)) down &= OnLevelZero(t[id]);
  }
  CHECK(down);
  CHECK(TickThrough(t, kBoundary + 63, kBudget));
  CHECK(t.wheel.size() == 0);
  CHECK(t.wheel.cascaded() <= uint64_t{4} * kMany);  // three levels, and at most once through a side list
}

TEST_CASE("many timers due at one tick after a boundary are on level 0 before that tick") {
  constexpr uint64_t kBoundary = uint64_t{1} << 12;
  Timers t(kMany, 60);
  for (uint32_t id = 1; id <= kMany; ++id) static_cast<void>(t.Set(id, kBoundary + 1));
  REQUIRE(TickThrough(t, kBoundary, kMany / 16));
  bool down = true;
  for (uint32_t id = 1; id <= kMany; ++id) down &= OnLevelZero(t[id]);
  CHECK(down);
  CHECK(t.AdvanceTo(kBoundary + 1).size() == kMany);
}

TEST_CASE("with too small a budget timers are late, but in order and complete") {
  constexpr uint32_t kCount = 5000;
  Timers t(kCount);
  for (uint32_t id = 1; id <= kCount; ++id) static_cast<void>(t.Set(id, 4096 + id % 100));
  std::vector<uint32_t> due(7);
  uint64_t last = 0;
  size_t handed_back = 0;
  bool good = true;
  for (uint64_t now = 4000; t.wheel.size() != 0; ++now) {
    const Wheel::Progress p = t.wheel.Advance(now, due, 7);
    good &= p.touched <= 7;
    for (size_t i = 0; i < p.due; ++i) {
      const uint64_t deadline = t[due[i]].deadline;
      good &= deadline >= last && deadline <= now;
      last = deadline;
    }
    handed_back += p.due;
    if (now % 256 == 0) REQUIRE(t.wheel.Validate());
  }
  CHECK(good);
  CHECK(handed_back == kCount);
}

TEST_CASE("timers can be removed, moved and inserted during a half-done cascade") {
  constexpr uint32_t kCount = 20'000;
  constexpr uint64_t kBoundary = uint64_t{3} << 12;
  const bool ahead = GENERATE(true, false);  // as background work, or at the boundary itself
  Timers t(kCount);
  std::mt19937_64 random(5);
  for (uint32_t id = 1; id <= kCount; ++id) {
    if (id % 4 != 0) static_cast<void>(t.Set(id, kBoundary + random() % 4096));
  }
  const uint64_t now = ahead ? kBoundary - 1500 : kBoundary;
  for (int slice = 0; slice < 20; ++slice) {
    const Wheel::Progress p = t.wheel.Advance(now, {}, 500);
    REQUIRE(p.touched <= 500);
    for (int i = 0; i < 150; ++i) {
      const auto id = static_cast<uint32_t>(1 + random() % kCount);
      if (!t.wheel.Contains(id)) {
        static_cast<void>(t.Set(id, kBoundary + random() % 4096));
      } else if (random() % 2 == 0) {
        t.wheel.Remove(id);
      } else {
        static_cast<void>(t.Move(id, kBoundary + random() % 5000));
      }
    }
    REQUIRE(t.wheel.Validate());
  }
  size_t left = t.wheel.size();
  for (uint64_t tick = kBoundary; tick < kBoundary + 5000; ++tick) {
    for (const uint32_t id : t.AdvanceTo(tick)) {
      REQUIRE(t[id].deadline == tick);
      --left;
    }
  }
  CHECK(left == 0);
  CHECK(t.wheel.size() == 0);
}

TEST_CASE("after the clock was set back no timer is early or late") {
  for (int level = 0; level <= 6; ++level) {
    const uint64_t span = wheel::SpanOf(level);
    for (const uint64_t back : {uint64_t{1}, span - 1, span, span * 63, span * 64, span * 65, span * 1000}) {
      for (const uint64_t ahead : {uint64_t{1}, span / 2, span, span * 63 + 1, span * 64}) {
        const uint64_t start = span * 2000 + 17;
        Timers t(1, start);
        const uint64_t deadline = start + ahead;
        static_cast<void>(t.Set(1, deadline));
        t.wheel.Rewind(start - back);
        REQUIRE(t.wheel.Validate());
        REQUIRE(t.SleepUntilDue(deadline + 5) == deadline);
      }
    }
  }
}

TEST_CASE("a timer that was overdue when set fires at its deadline after the clock was set back") {
  Timers t(2, 1000);
  static_cast<void>(t.Set(1, 900));
  static_cast<void>(t.Set(2, 700));
  t.wheel.Rewind(800);
  CHECK(t.wheel.Validate());
  CHECK(t.AdvanceTo(899) == std::vector<uint32_t>{2});
  CHECK(t.AdvanceTo(900) == std::vector<uint32_t>{1});
}

TEST_CASE("no timer is lost if the clock is set back in the middle of a cascade") {
  constexpr uint32_t kCount = 3000;
  for (const uint64_t back : {10, 1000, 5000, 300'000}) {
    Timers t(kCount, 1'000'000);
    std::mt19937_64 random(8);
    for (uint32_t id = 1; id <= kCount; ++id) static_cast<void>(t.Set(id, 1'000'000 + random() % 9000));
    static_cast<void>(t.wheel.Advance(1'002'500, {}, 1000));
    t.wheel.Rewind(t.wheel.elapsed() - back);
    REQUIRE(t.wheel.Validate());
    static_cast<void>(t.wheel.Advance(t.wheel.elapsed() + 3, {}, 1000));
    REQUIRE(t.wheel.Validate());
    bool on_time = true;
    for (uint64_t now = t.wheel.elapsed(); t.wheel.size() != 0; now = t.wheel.NextWake()) {
      for (const uint32_t id : t.AdvanceTo(now)) on_time &= t[id].deadline == now;
    }
    CHECK(on_time);
  }
}

TEST_CASE("after a large step forward all due timers are handed back in order") {
  constexpr uint32_t kCount = 1000;
  Timers t(kCount, 1'700'000'000'000);
  for (uint32_t id = 1; id <= kCount; ++id)
    static_cast<void>(t.Set(id, 1'700'000'000'000 + (uint64_t{id} << 25)));
  const std::vector<uint32_t> due = t.AdvanceTo(1'700'000'000'000 + (uint64_t{600} << 25));
  CHECK(due.size() == 600);
  CHECK(std::is_sorted(due.begin(), due.end()));
  CHECK(t.wheel.size() == 400);
  CHECK(t.wheel.Validate());
}

}  // namespace
}  // namespace mayfly::wheel_test

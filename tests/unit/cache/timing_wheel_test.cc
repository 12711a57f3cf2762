#include "cache/time/timing_wheel.h"

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "support/catch.h"
#include "unit/cache/timing_wheel_fixture.h"

namespace mayfly::wheel_test {
namespace {

using Ids = std::vector<uint32_t>;

TEST_CASE("a timer is handed back at its deadline and not before") {
  Timers t(1, 1000);
  CHECK(t.Set(1, 1020));
  CHECK(t.AdvanceTo(1019).empty());
  CHECK(t.wheel.Contains(1));
  CHECK(t.AdvanceTo(1020) == Ids{1});
  CHECK_FALSE(t.wheel.Contains(1));
  CHECK(t.wheel.size() == 0);
  CHECK(t.wheel.NextWake() == Wheel::kNever);
}

TEST_CASE("an overdue timer is handed back by the next Advance, at the same tick") {
  Timers t(3, 500);
  CHECK(t.Set(1, 500));
  CHECK_FALSE(t.Set(2, 3));
  CHECK_FALSE(t.Set(3, 499));
  CHECK(t.wheel.NextWake() == 500);
  CHECK(t.wheel.HasWork(500));
  CHECK(t.AdvanceTo(500).size() == 3);
  CHECK_FALSE(t.wheel.HasWork(500));
}

TEST_CASE("a past deadline across the topmost boundary is overdue, not far in the future") {
  Timers t(1, uint64_t{1} << 60);
  CHECK(t.Set(1, (uint64_t{1} << 60) - 1));
  CHECK(t.wheel.Validate());
  CHECK(t.AdvanceTo(t.wheel.elapsed()) == Ids{1});
}

TEST_CASE("Insert and Move report when the timer must be re-armed") {
  Timers t(4);
  CHECK(t.Set(1, 40));
  CHECK_FALSE(t.Set(2, 40));
  CHECK_FALSE(t.Set(3, 50));
  CHECK(t.Set(4, 30));
  CHECK_FALSE(t.Move(3, 60));
  CHECK(t.Move(3, 20));
  CHECK(t.wheel.NextWake() == 20);
  t.wheel.Remove(3);
  CHECK_FALSE(t.Set(3, 25));  // the owner's timer is still armed for 20
  t.wheel.Remove(3);
  CHECK(t.wheel.NextWake() == 30);
  CHECK(t.Set(3, 25));  // now it is armed for 30
  CHECK(t.wheel.Validate());
}

TEST_CASE("a later deadline leaves the timer in its slot") {
  Timers t(1);
  CHECK(t.Set(1, 10));
  const uint16_t slot = t[1].slot;
  CHECK_FALSE(t.Move(1, 5000));
  CHECK(t[1].slot == slot);
  CHECK(t.AdvanceTo(4999).empty());
  CHECK(t.wheel.refiled() == 1);
  CHECK(t.AdvanceTo(5000) == Ids{1});
}

TEST_CASE("an earlier deadline within the same slot leaves the timer in its slot") {
  Timers t(1);
  CHECK(t.Set(1, 70 * 64 + 9));
  const uint16_t slot = t[1].slot;
  CHECK(t.wheel.MayStay(slot, 70 * 64 + 2));
  CHECK_FALSE(t.wheel.MayStay(slot, 63 * 64));
  CHECK_FALSE(t.Move(1, 70 * 64 + 2));
  CHECK(t[1].slot == slot);
  CHECK(t.SleepUntilDue(10'000) == 70 * 64 + 2);
}

TEST_CASE("timers are handed back in the order of their ticks") {
  Timers t(5);
  const std::vector<uint64_t> deadlines = {0, 70'000, 3, 4096, 64, 300};
  for (uint32_t id = 1; id <= 5; ++id) static_cast<void>(t.Set(id, deadlines[id]));
  CHECK(t.AdvanceTo(100'000) == Ids{2, 4, 5, 3, 1});
}

TEST_CASE("a full output or a spent budget stops Advance, and the next call continues") {
  Timers t(10);
  for (uint32_t id = 1; id <= 10; ++id) static_cast<void>(t.Set(id, id));
  uint32_t due[4] = {};
  Wheel::Progress p = t.wheel.Advance(20, due, 100);
  CHECK((p.due == 4 && p.touched == 4 && p.more));
  CHECK((due[0] == 1 && due[3] == 4));
  CHECK(t.wheel.elapsed() == 5);
  CHECK(t.wheel.HasWork(20));
  p = t.wheel.Advance(20, due, 3);
  CHECK((p.due == 3 && p.touched == 3 && p.more));
  CHECK(due[2] == 7);
  p = t.wheel.Advance(20, due, 3);
  CHECK((p.due == 3 && !p.more));
  CHECK(t.wheel.elapsed() == 20);
}

TEST_CASE("with an empty output Advance does everything but hand timers back") {
  Timers t(2);
  static_cast<void>(t.Set(1, 100));
  static_cast<void>(t.Set(2, 200));
  Wheel::Progress p = t.wheel.Advance(150, {}, 100);
  CHECK((p.due == 0 && p.more));
  CHECK(t.wheel.elapsed() == 100);
  CHECK(t.AdvanceTo(150) == Ids{1});
}

TEST_CASE("a removed timer is not handed back") {
  Timers t(3);
  for (uint32_t id = 1; id <= 3; ++id) static_cast<void>(t.Set(id, 100));
  t.wheel.Remove(2);
  CHECK(t.wheel.Validate());
  CHECK_FALSE(t.wheel.Contains(2));
  Ids due = t.AdvanceTo(100);
  std::sort(due.begin(), due.end());
  CHECK(due == Ids{1, 3});
}

TEST_CASE("every 64-bit deadline can be filed, up to the last") {
  const std::vector<uint64_t> ends = {uint64_t{1} << 36, uint64_t{1} << 42, uint64_t{1} << 60,
                                      uint64_t{15} << 60};
  Timers t(64);
  uint32_t id = 0;
  std::vector<uint64_t> deadlines;
  for (const uint64_t end : ends) {
    for (const uint64_t d : {end - 1, end, end + 1}) deadlines.push_back(d);
  }
  for (const uint64_t d : {uint64_t{0}, UINT64_MAX - 1, UINT64_MAX}) deadlines.push_back(d);
  for (const uint64_t d : deadlines) static_cast<void>(t.Set(++id, d));
  CHECK(t.wheel.Validate());
  std::sort(deadlines.begin(), deadlines.end());
  for (const uint64_t d : deadlines) {
    if (d > 0) CHECK(t.AdvanceTo(d - 1).empty());
    const Ids due = t.AdvanceTo(d);
    REQUIRE(due.size() == 1);
    CHECK(t[due[0]].deadline == d);
    CHECK(t.wheel.Validate());
  }
  CHECK(t.wheel.elapsed() == UINT64_MAX);
  static_cast<void>(t.Set(1, UINT64_MAX));
  CHECK(t.AdvanceTo(UINT64_MAX) == Ids{1});
  CHECK_FALSE(t.wheel.HasWork(UINT64_MAX));
}

TEST_CASE("sleeping from wake-up to wake-up reaches a far deadline in a few steps") {
  for (const uint64_t deadline :
       {uint64_t{3'600'000}, uint64_t{86'400'000}, uint64_t{1} << 36, UINT64_MAX - 5}) {
    Timers t(1, 12345);
    static_cast<void>(t.Set(1, deadline));
    int wakes = 0;
    uint32_t due = 0;
    uint64_t wake = 0;
    for (; t.wheel.size() != 0 && wakes < 100; ++wakes) {
      wake = t.wheel.NextWake();
      static_cast<void>(t.wheel.Advance(wake, {&due, 1}, 10));
    }
    CHECK(wake == deadline);
    CHECK(wakes <= 2 * wheel::LevelFor(12345, deadline) + 1);
  }
}

TEST_CASE("ForEachUntil visits the timers due by a time and changes nothing") {
  Timers t(200);
  for (uint32_t id = 1; id <= 200; ++id) static_cast<void>(t.Set(id, uint64_t{id} * id));
  static_cast<void>(t.Move(3, 50'000));
  Ids seen;
  t.wheel.ForEachUntil(900, [&](uint32_t id) {
    seen.push_back(id);
    return true;
  });
  std::sort(seen.begin(), seen.end());
  Ids expected;
  for (uint32_t id = 1; id <= 30; ++id) {
    if (id != 3) expected.push_back(id);
  }
  CHECK(seen == expected);
  size_t visits = 0;
  t.wheel.ForEachUntil(UINT64_MAX, [&](uint32_t) { return ++visits < 5; });
  CHECK(visits == 5);
  CHECK(t.wheel.Soonest([](uint32_t) { return true; }) == 1);
}

TEST_CASE("ForEachList says between which times a list's timers are due, at every stage of their way down") {
  constexpr uint32_t kCount = 3000;
  Timers t(kCount, 1000);
  std::mt19937_64 random(3);
  for (uint32_t id = 1; id <= kCount; ++id)
    static_cast<void>(t.Set(id, 1000 + random() % (uint64_t{2} << random() % 24)));
  for (uint64_t now = 1000; t.wheel.size() != 0; now += 1 + random() % (now / 20)) {
    std::array<uint32_t, 64> due;
    static_cast<void>(t.wheel.Advance(now, due, random() % 200));
    size_t seen = 0;
    t.wheel.ForEachList([&](wheel::ListId list, uint64_t by, uint64_t last) {
      CHECK(t.wheel.ForEachOf(list, [&](uint32_t id) {
        ++seen;
        return by <= t[id].deadline && t[id].deadline <= last;
      }));
    });
    CHECK(seen == t.wheel.size());
  }
}

// The same wheel with pointers as references, as connections and sanitizer builds use it.
struct Node {
  Node* next = nullptr;
  Node* prev = nullptr;
  uint64_t deadline = 0;
  uint16_t slot = wheel::kUnfiled;
};
struct NodeHooks {
  using Ref = Node*;
  static constexpr Ref kNull = nullptr;
  Ref Next(Ref r) const noexcept { return r->next; }
  void SetNext(Ref r, Ref to) const noexcept { r->next = to; }
  Ref Prev(Ref r) const noexcept { return r->prev; }
  void SetPrev(Ref r, Ref to) const noexcept { r->prev = to; }
  uint64_t Deadline(Ref r) const noexcept { return r->deadline; }
  uint16_t Slot(Ref r) const noexcept { return r->slot; }
  void SetSlot(Ref r, uint16_t slot) const noexcept { r->slot = slot; }
  void Prefetch(Ref r) const noexcept { __builtin_prefetch(r); }
};

TEST_CASE("references may be pointers") {
  Node a{.deadline = 5};
  Node c{.deadline = 100'000};
  TimingWheel<NodeHooks> wheel(NodeHooks{});
  CHECK(wheel.Insert(&a));
  CHECK_FALSE(wheel.Insert(&c));
  Node* due = nullptr;
  CHECK(wheel.Advance(5, {&due, 1}, 9).due == 1);
  CHECK(due == &a);
  CHECK(wheel.Advance(100'000, {&due, 1}, 9).due == 1);
  CHECK(due == &c);
}

}  // namespace
}  // namespace mayfly::wheel_test

// Timers for tests of the wheel: an array of timers, named by 32-bit indices, with short methods for tests.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cache/time/timing_wheel.h"

namespace mayfly::wheel_test {

struct Timer {
  uint32_t next = 0;
  uint32_t prev = 0;
  uint64_t deadline = 0;
  uint16_t slot = wheel::kUnfiled;
};

struct TimerHooks {
  using Ref = uint32_t;
  static constexpr Ref kNull = 0;
  Timer* timers;

  Ref Next(Ref r) const noexcept { return timers[r].next; }
  void SetNext(Ref r, Ref to) const noexcept { timers[r].next = to; }
  Ref Prev(Ref r) const noexcept { return timers[r].prev; }
  void SetPrev(Ref r, Ref to) const noexcept { timers[r].prev = to; }
  uint64_t Deadline(Ref r) const noexcept { return timers[r].deadline; }
  uint16_t Slot(Ref r) const noexcept { return timers[r].slot; }
  void SetSlot(Ref r, uint16_t slot) const noexcept { timers[r].slot = slot; }
  void Prefetch(Ref r) const noexcept { __builtin_prefetch(&timers[r]); }
};

using Wheel = TimingWheel<TimerHooks>;

// A wheel with `count` timers, named 1 to count.
struct Timers {
  std::vector<Timer> timers;
  Wheel wheel;

  explicit Timers(size_t count, uint64_t now = 0)
      : timers(count + 1), wheel(TimerHooks{timers.data()}, now) {}

  bool Set(uint32_t id, uint64_t deadline) {
    timers[id].deadline = deadline;
    return wheel.Insert(id);
  }
  bool Move(uint32_t id, uint64_t deadline) {
    timers[id].deadline = deadline;
    return wheel.Move(id);
  }
  const Timer& operator[](uint32_t id) const { return timers[id]; }

  // The timers due up to `now`, in the order in which they are handed back.
  std::vector<uint32_t> AdvanceTo(uint64_t now) {
    std::vector<uint32_t> all;
    std::array<uint32_t, 64> due;
    Wheel::Progress progress{.more = true};
    while (progress.more) {
      progress = wheel.Advance(now, due, SIZE_MAX);
      all.insert(all.end(), due.begin(), due.begin() + static_cast<std::ptrdiff_t>(progress.due));
    }
    return all;
  }

  // Sleeps from wake-up to wake-up, as the owner's timer would, until the only timer that is set is handed
  // back. Returns that time; kNever if the next wake-up is after `until`.
  uint64_t SleepUntilDue(uint64_t until) {
    uint32_t due = 0;
    while (wheel.size() != 0) {
      const uint64_t wake = wheel.NextWake();
      if (wake > until) break;
      const Wheel::Progress progress = wheel.Advance(wake, {&due, 1}, SIZE_MAX);
      if (progress.touched == 0 && !progress.more) break;  // a needless wake-up would make a loop spin
      if (progress.due == 1) return wake;
    }
    return Wheel::kNever;
  }
};

}  // namespace mayfly::wheel_test

// Time, injected: nothing below main reads a system clock by itself.
//
// Units: milliseconds unless a name says otherwise. `mono` counts from boot and goes on through a suspend
// (CLOCK_BOOTTIME where there is one); it never steps. `wall` is Unix time; an operator or NTP may step it.
// A Now is read once per connection batch and passed down by value.
#pragma once

#include <cstdint>

namespace mayfly {

struct Now {
  uint64_t mono_ms = 0;
  int64_t wall_ms = 0;

  // The one instant at which something with a monotonic deadline happens, told as Unix time.
  int64_t WallOf(uint64_t mono_deadline_ms) const noexcept {
    return wall_ms + static_cast<int64_t>(mono_deadline_ms - mono_ms);
  }
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Now Read() noexcept = 0;
  // Unix time in us, read anew: for who asks for the time of day and nothing else.
  virtual int64_t ReadWallUs() noexcept = 0;
};

// Reads the kernel's clocks. The distance between wall and monotonic time is kept constant while it moves by
// less than kSlewMs, so that EXPIRETIME of one key answers the same number each time.
class SystemClock final : public Clock {
 public:
  static constexpr int64_t kSlewMs = 2;
  Now Read() noexcept override;
  int64_t ReadWallUs() noexcept override;

 private:
  int64_t wall_minus_mono_ms_ = 0;
  bool first_ = true;
};

// Stands still until a test moves it.
class SteppedClock final : public Clock {
 public:
  Now Read() noexcept override { return now_; }
  int64_t ReadWallUs() noexcept override { return now_.wall_ms * 1000; }
  void AdvanceTime(uint64_t ms) noexcept {
    now_.mono_ms += ms;
    now_.wall_ms += static_cast<int64_t>(ms);
  }
  void StepWall(int64_t ms) noexcept { now_.wall_ms += ms; }

 private:
  Now now_{.mono_ms = 1'000'000, .wall_ms = 1'700'000'000'000};
};

}  // namespace mayfly

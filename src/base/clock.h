// Time, injected: only the Clock made in main reads the system's clocks.
//
// Units: milliseconds unless a name says otherwise. `mono` counts from boot and never steps; it includes time
// in suspend (CLOCK_BOOTTIME) if the system can tell. `wall` is Unix time; an operator or NTP may step it. A
// Now is read at the start of a loop turn and after a slow command, and passed down by value.
#pragma once

#include <cstdint>

namespace mayfly {

inline constexpr int64_t kMsPerSecond = 1000;

struct Now {
  uint64_t mono_ms = 0;
  int64_t wall_ms = 0;

  // The Unix time of a monotonic deadline.
  int64_t WallOf(uint64_t mono_deadline_ms) const noexcept {
    return wall_ms + static_cast<int64_t>(mono_deadline_ms - mono_ms);
  }
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Now Read() noexcept = 0;
  // Unix time in us, read now: for a command that reports the time of day.
  virtual int64_t ReadWallUs() noexcept = 0;
};

// Reads the kernel's clocks. The difference of wall and monotonic time is kept constant until it has changed
// by at least kSlewMs, so that EXPIRETIME of a key returns the same number every time.
class SystemClock final : public Clock {
 public:
  static constexpr int64_t kSlewMs = 2;
  Now Read() noexcept override;
  int64_t ReadWallUs() noexcept override;

 private:
  int64_t wall_minus_mono_ms_ = 0;
  bool first_ = true;
};

// Stands still until a test advances it.
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

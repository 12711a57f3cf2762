// Time: the monotonic clock, the wall clock, and a clock for tests. Only the Clock made in main reads the system's
// clocks.
//
// Units: milliseconds unless a name says otherwise. `mono` counts from boot and never steps; it includes time
// in suspend (CLOCK_BOOTTIME) if the system can tell. `wall` is Unix time; an operator or NTP may step it. A
// Now is read at the start of a loop turn and after a slow command, and passed down by value.
#pragma once

#include <cstdint>

namespace mayfly {

inline constexpr int64_t kMsPerSecond = 1000;
inline constexpr int64_t kUsPerMs = 1000;

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

// How far wall time is ahead of monotonic time, in ms. It is kept while the true distance stays within a band, so
// that EXPIRETIME of a key returns the same number every time. It is never above the true distance, so that wall
// time made with it is never early; it is below it by less than the band.
class WallDistance {
 public:
  static constexpr int64_t kNsPerMs = 1'000'000;
  // More than two readings of the clocks differ by if nothing has changed.
  static constexpr int64_t kMarginNs = 125'000;
  static constexpr int64_t kBandNs = kNsPerMs + 2 * kMarginNs;

  int64_t ms() const noexcept { return ms_; }
  bool Fits(int64_t true_ns) const noexcept {
    const int64_t above_ns = true_ns - ms_ * kNsPerMs;
    return above_ns >= 0 && above_ns < kBandNs;
  }
  // Afterwards `true_ns` fits, and is away from the ends of the band by kMarginNs.
  void Take(int64_t true_ns) noexcept;
  // What has to be subtracted from `true_ns`, less than 1 ms, so that Take leaves wall time behind by no more than
  // the margin.
  static int64_t PhaseNs(int64_t true_ns) noexcept;

 private:
  int64_t ms_ = 0;
};

// Reads the kernel's clocks. Monotonic time is ahead of the kernel's by a constant part of a millisecond, so that both
// clocks tick at the same moment: a deadline in wall time would else be noticed up to a millisecond late. After a step
// of the wall clock they may tick apart.
class SystemClock final : public Clock {
 public:
  SystemClock() noexcept;
  Now Read() noexcept override;
  int64_t ReadWallUs() noexcept override;

 private:
  int64_t phase_ns_;
  WallDistance distance_;
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

// Time: the monotonic clock, the wall clock, and a clock for tests. Only the Clock made in main reads the system's
// clocks.
//
// Units: milliseconds unless a name says otherwise. `mono` counts from boot and never steps; it includes time
// in suspend (CLOCK_BOOTTIME) if the system supports that. `wall` is Unix time; an operator or NTP may step `wall`. A Now is
// read at the start of a loop turn and after a slow command, and passed down by value.
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
  // The begin of monotonic time: no deadline is due then that was later than the machine's start, and deadlines on both clocks have
  // the same Unix times as now.
  Now Begin() const noexcept { return {.mono_ms = 0, .wall_ms = WallOf(0)}; }
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Now Read() noexcept = 0;
  // Unix time in us, read now: for a command that reports the time of day.
  virtual int64_t ReadWallUs() noexcept = 0;
};

// The distance of wall time from monotonic time, in ms. The stored distance stays the same while the true distance stays
// within a band, so EXPIRETIME of a key returns the same number every time. The stored distance is never above the true
// distance, so wall time computed from it is never early; it is below the true distance by less than the band.
class WallDistance {
 public:
  static constexpr int64_t kNsPerMs = 1'000'000;
  // More than the difference between two readings of unchanged clocks.
  static constexpr int64_t kMarginNs = 125'000;
  static constexpr int64_t kBandNs = kNsPerMs + 2 * kMarginNs;

  int64_t ms() const noexcept { return ms_; }
  bool Fits(int64_t true_ns) const noexcept {
    const int64_t above_ns = true_ns - ms_ * kNsPerMs;
    return above_ns >= 0 && above_ns < kBandNs;
  }
  // Makes `true_ns` fit, at least kMarginNs away from the ends of the band.
  void Take(int64_t true_ns) noexcept;
  // Returns the phase to subtract from `true_ns`, less than 1 ms. After the subtraction, Take leaves wall time late by at
  // most the margin.
  static int64_t PhaseNs(int64_t true_ns) noexcept;

 private:
  int64_t ms_ = 0;
};

// Reads the kernel's clocks. Monotonic time is ahead of the kernel's by a constant part of a millisecond, to make both
// clocks tick at the same moment: else a deadline in wall time would be noticed up to a millisecond late. After a step of
// the wall clock the two may tick apart. Within a millisecond of monotonic time the wall clock is read once: a step of it is noticed
// at the next one.
class SystemClock final : public Clock {
 public:
  SystemClock() noexcept;
  Now Read() noexcept override;
  int64_t ReadWallUs() noexcept override;

 private:
  Now ReadBoth() noexcept;
  int64_t MonoMs(int64_t mono_ns) const noexcept { return (mono_ns + phase_ns_) / WallDistance::kNsPerMs; }

  int64_t phase_ns_;
  WallDistance distance_;
  int64_t looked_at_mono_ms_ = -1;  // the last time for which the wall clock was read
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

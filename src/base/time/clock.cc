#include "base/time/clock.h"

#include <time.h>

#include <algorithm>

namespace mayfly {
namespace {

#ifdef CLOCK_BOOTTIME
constexpr clockid_t kMonotonic = CLOCK_BOOTTIME;
#else
constexpr clockid_t kMonotonic = CLOCK_MONOTONIC;
#endif

int64_t ReadNs(clockid_t id) noexcept {
  timespec t{};
  clock_gettime(id, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// Both clocks, wall time first: a pause between the two makes wall time late, never early.
struct Readings {
  int64_t wall_ns = ReadNs(CLOCK_REALTIME);
  int64_t mono_ns = ReadNs(kMonotonic);

  int64_t DistanceNs() const noexcept { return wall_ns - mono_ns; }
};

// An interrupted reading gives too small a distance, so the greatest of several is the nearest to the truth.
int64_t SureDistanceNs() noexcept {
  constexpr int kReadings = 4;
  int64_t distance_ns = Readings().DistanceNs();
  for (int i = 1; i < kReadings; ++i) distance_ns = std::max(distance_ns, Readings().DistanceNs());
  return distance_ns;
}

int64_t FloorMs(int64_t ns) noexcept {
  return ns / WallDistance::kNsPerMs - (ns % WallDistance::kNsPerMs < 0 ? 1 : 0);
}

}  // namespace

void WallDistance::Take(int64_t true_ns) noexcept { ms_ = FloorMs(true_ns - kMarginNs); }

int64_t WallDistance::PhaseNs(int64_t true_ns) noexcept {
  const int64_t ns = true_ns - kMarginNs;
  return ns - FloorMs(ns) * kNsPerMs;
}

SystemClock::SystemClock() noexcept : phase_ns_(WallDistance::PhaseNs(SureDistanceNs())) {}

Now SystemClock::Read() noexcept {
  const int64_t mono_ms = MonoMs(ReadNs(kMonotonic));
  if (mono_ms != looked_at_mono_ms_) return ReadBoth();
  return {.mono_ms = static_cast<uint64_t>(mono_ms), .wall_ms = mono_ms + distance_.ms()};
}

Now SystemClock::ReadBoth() noexcept {
  Readings now;
  if (!distance_.Fits(now.DistanceNs() - phase_ns_)) [[unlikely]] {
    // The distance has changed, or the reading was interrupted.
    const int64_t distance_ns = std::max(now.DistanceNs(), SureDistanceNs()) - phase_ns_;
    if (!distance_.Fits(distance_ns)) distance_.Take(distance_ns);
    now = Readings();
  }
  const int64_t mono_ms = MonoMs(now.mono_ns);
  looked_at_mono_ms_ = mono_ms;
  return {.mono_ms = static_cast<uint64_t>(mono_ms), .wall_ms = mono_ms + distance_.ms()};
}

int64_t SystemClock::ReadWallUs() noexcept { return ReadNs(CLOCK_REALTIME) / 1000; }

}  // namespace mayfly

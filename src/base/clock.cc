#include "base/clock.h"

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

}  // namespace

void WallDistance::Take(int64_t true_ns) noexcept {
  const int64_t ns = true_ns - kMarginNs;
  ms_ = ns / kNsPerMs - (ns % kNsPerMs < 0 ? 1 : 0);  // rounded down
}

Now SystemClock::Read() noexcept {
  Readings now;
  if (!distance_.Fits(now.DistanceNs())) [[unlikely]] {
    // It has changed, or the reading was interrupted: then another one tells a greater distance.
    constexpr int kMoreReadings = 3;
    int64_t distance_ns = now.DistanceNs();
    for (int i = 0; i < kMoreReadings; ++i) {
      now = Readings();
      distance_ns = std::max(distance_ns, now.DistanceNs());
    }
    if (!distance_.Fits(distance_ns)) distance_.Take(distance_ns);
  }
  const int64_t mono_ms = now.mono_ns / WallDistance::kNsPerMs;
  return {.mono_ms = static_cast<uint64_t>(mono_ms), .wall_ms = mono_ms + distance_.ms()};
}

int64_t SystemClock::ReadWallUs() noexcept { return ReadNs(CLOCK_REALTIME) / 1000; }

}  // namespace mayfly

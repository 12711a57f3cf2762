#include "base/clock.h"

#include <time.h>

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

}  // namespace

Now SystemClock::Read() noexcept {
  const int64_t mono_ns = ReadNs(kMonotonic);
  const int64_t wall_ns = ReadNs(CLOCK_REALTIME);
  const int64_t mono_ms = mono_ns / 1'000'000;
  const int64_t distance_ms = (wall_ns - mono_ns) / 1'000'000;
  const int64_t moved = distance_ms - wall_minus_mono_ms_;
  if (first_ || moved >= kSlewMs || moved <= -kSlewMs) wall_minus_mono_ms_ = distance_ms;
  first_ = false;
  return {.mono_ms = static_cast<uint64_t>(mono_ms), .wall_ms = mono_ms + wall_minus_mono_ms_};
}

int64_t SystemClock::ReadWallUs() noexcept { return ReadNs(CLOCK_REALTIME) / 1000; }

}  // namespace mayfly

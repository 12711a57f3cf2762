#include "base/time/clock.h"

#include <algorithm>
#include <cstdint>

#include "support/catch.h"

namespace mayfly {
namespace {

TEST_CASE("monotonic time never runs backwards, and wall time keeps its distance from it") {
  SystemClock clock;
  Now before = clock.Read();
  CHECK(before.mono_ms > 0);
  CHECK(before.wall_ms > 1'600'000'000'000);
  int changes = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Now now = clock.Read();
    REQUIRE(now.mono_ms >= before.mono_ms);
    if (now.wall_ms - before.wall_ms != static_cast<int64_t>(now.mono_ms - before.mono_ms)) ++changes;
    before = now;
  }
  CHECK(changes <= 1);  // the machine's clock may be put right during the loop
}

TEST_CASE("both clocks tick at the same moment") {
  for (int64_t part_ns = 0; part_ns < WallDistance::kNsPerMs; part_ns += 12'500) {
    const int64_t true_ns = 1'700'000'000'123 * WallDistance::kNsPerMs + part_ns;
    const int64_t phase_ns = WallDistance::PhaseNs(true_ns);
    CAPTURE(part_ns);
    REQUIRE((phase_ns >= 0 && phase_ns < WallDistance::kNsPerMs));
    WallDistance distance;
    distance.Take(true_ns - phase_ns);
    REQUIRE(true_ns - phase_ns - distance.ms() * WallDistance::kNsPerMs == WallDistance::kMarginNs);
  }
}

TEST_CASE("wall time is never ahead of the system's, and less than the band and a millisecond behind it") {
  SystemClock clock;
  constexpr int64_t kMostBehindUs = WallDistance::kBandNs / 1000 + 1000;
  int64_t least_behind_us = kMostBehindUs;
  for (int i = 0; i < 1000; ++i) {
    const Now now = clock.Read();
    const int64_t behind_us = clock.ReadWallUs() - now.wall_ms * 1000;
    REQUIRE(behind_us >= 0);
    least_behind_us =
        std::min(least_behind_us, behind_us);  // a pause of this process may make one reading late
  }
  CHECK(least_behind_us < kMostBehindUs);
}

TEST_CASE("the distance of wall time is kept while the true one moves within the band above it") {
  constexpr int64_t kMs = WallDistance::kNsPerMs;
  constexpr int64_t kTrueNs = 1'700'000'000'123 * kMs + 400'000;
  WallDistance distance;
  CHECK_FALSE(distance.Fits(kTrueNs));
  distance.Take(kTrueNs);
  CHECK(distance.ms() == 1'700'000'000'123);
  CHECK(distance.Fits(kTrueNs - 400'000));
  CHECK_FALSE(distance.Fits(kTrueNs - 400'001));  // wall time would be early
  CHECK(distance.Fits(kTrueNs - 400'000 + WallDistance::kBandNs - 1));
  CHECK_FALSE(distance.Fits(kTrueNs - 400'000 + WallDistance::kBandNs));
}

TEST_CASE("a distance that was just taken is not at an end of its band") {
  WallDistance distance;
  for (const int64_t whole_ms : {-3, -1, 0, 1, 1'700'000'000}) {
    for (int64_t part_ns = 0; part_ns < WallDistance::kNsPerMs; part_ns += 12'500) {
      const int64_t true_ns = whole_ms * WallDistance::kNsPerMs + part_ns;
      distance.Take(true_ns);
      CAPTURE(true_ns);
      REQUIRE(distance.Fits(true_ns - WallDistance::kMarginNs));
      REQUIRE(distance.Fits(true_ns + WallDistance::kMarginNs - 1));
    }
  }
}

TEST_CASE("a monotonic deadline converts to the same wall time at any moment") {
  SteppedClock clock;
  const Now start = clock.Read();
  const uint64_t deadline_ms = start.mono_ms + 5000;
  CHECK(start.WallOf(deadline_ms) == start.wall_ms + 5000);
  clock.AdvanceTime(1234);
  CHECK(clock.Read().WallOf(deadline_ms) == start.wall_ms + 5000);
  clock.AdvanceTime(10'000);
  CHECK(clock.Read().WallOf(deadline_ms) == start.wall_ms + 5000);
}

TEST_CASE("a stepped clock moves only when the test advances it") {
  SteppedClock clock;
  const Now start = clock.Read();
  CHECK(clock.Read().mono_ms == start.mono_ms);
  clock.AdvanceTime(20);
  CHECK(clock.Read().mono_ms == start.mono_ms + 20);
  CHECK(clock.Read().wall_ms == start.wall_ms + 20);
}

TEST_CASE("a step of the wall clock leaves monotonic time alone") {
  SteppedClock clock;
  const Now start = clock.Read();
  clock.StepWall(-3'600'000);
  CHECK(clock.Read().mono_ms == start.mono_ms);
  CHECK(clock.Read().wall_ms == start.wall_ms - 3'600'000);
  CHECK(clock.Read().WallOf(start.mono_ms + 1) == start.wall_ms - 3'600'000 + 1);
}

}  // namespace
}  // namespace mayfly

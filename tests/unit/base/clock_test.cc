#include "base/clock.h"

#include <cstdlib>

#include <catch2/catch.hpp>

namespace mayfly {
namespace {

TEST_CASE("the system's monotonic time never runs backwards, and wall time keeps its distance from it") {
  SystemClock clock;
  Now before = clock.Read();
  CHECK(before.mono_ms > 0);
  CHECK(before.wall_ms > 1'600'000'000'000);
  for (int i = 0; i < 10'000; ++i) {
    const Now now = clock.Read();
    REQUIRE(now.mono_ms >= before.mono_ms);
    const int64_t drift = (now.wall_ms - before.wall_ms) - static_cast<int64_t>(now.mono_ms - before.mono_ms);
    // If the machine's wall clock is set during the loop, the drift is kSlewMs or more; smaller drifts must
    // not show.
    REQUIRE((drift == 0 || std::abs(drift) >= SystemClock::kSlewMs));
    before = now;
  }
}

TEST_CASE("a monotonic deadline has the same wall time whenever it is asked for") {
  SteppedClock clock;
  const Now start = clock.Read();
  const uint64_t deadline_ms = start.mono_ms + 5000;
  CHECK(start.WallOf(deadline_ms) == start.wall_ms + 5000);
  clock.AdvanceTime(1234);
  CHECK(clock.Read().WallOf(deadline_ms) == start.wall_ms + 5000);
  clock.AdvanceTime(10'000);
  CHECK(clock.Read().WallOf(deadline_ms) == start.wall_ms + 5000);
}

TEST_CASE("a stepped clock moves only when a test moves it") {
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

#include "net/client/turn.h"

#include "support/catch.h"
#include "support/loopless_server.h"

namespace mayfly::net {
namespace {

struct Parts : testing::LooplessServer {
  Turn turn{server, executor};

  uint64_t steps() const { return databases.expiry_stats().clock_steps; }
  void OneTurn() {
    turn.Begin();
    turn.End();
  }
};

TEST_CASE("the first callback of a turn reads the clock, the others do not") {
  Parts parts;
  parts.turn.Begin();
  const uint64_t first = parts.turn.now().mono_ms;
  const uint32_t number = parts.turn.number();
  parts.clock.AdvanceTime(50);
  parts.turn.Begin();
  CHECK(parts.turn.now().mono_ms == first);
  CHECK(parts.turn.number() == number);
  parts.turn.End();
  parts.turn.Begin();
  CHECK(parts.turn.now().mono_ms == first + 50);
  CHECK(parts.turn.number() != number);
  CHECK(parts.stats.loop_turns == 2);
}

TEST_CASE("each turn samples the used memory, for the peak in INFO") {
  constexpr size_t kBytes = 1 << 20;
  Parts parts;
  const uint64_t before = parts.memory.All();
  parts.turn.Begin();
  void* object = parts.heap.Allocate(kBytes);
  REQUIRE(object != nullptr);
  parts.turn.End();
  parts.heap.Free(object, kBytes);
  CHECK(parts.memory.All() < before + kBytes);
  CHECK(parts.memory.Peak() >= before + kBytes);
}

TEST_CASE("a step of the wall clock is noticed once, forward or back, and slewing is not a step") {
  Parts parts;
  parts.OneTurn();
  parts.clock.AdvanceTime(100'000);
  parts.OneTurn();
  CHECK(parts.steps() == 0);
  CHECK_FALSE(parts.turn.TakeStep());

  parts.clock.StepWall(3'600'000);
  parts.OneTurn();
  CHECK(parts.steps() == 1);
  CHECK(parts.turn.TakeStep());
  CHECK_FALSE(parts.turn.TakeStep());
  parts.OneTurn();
  CHECK(parts.steps() == 1);

  parts.clock.StepWall(-20);
  parts.OneTurn();
  CHECK(parts.steps() == 2);
  CHECK(parts.turn.TakeStep());

  parts.clock.StepWall(kClockStepMs - 1);
  parts.OneTurn();
  CHECK(parts.steps() == 2);
}

TEST_CASE("the longest turn is remembered") {
  Parts parts;
  parts.turn.Begin();
  const uint64_t began = ReadCycles();
  while (ReadCycles() - began < 5000) {
  }
  parts.turn.End();
  const uint64_t longest = parts.stats.loop_turn_max_us;
  CHECK(longest >= 5);  // at the rate above, 1000 cycles are a microsecond
  parts.turn.End();
  CHECK(parts.stats.loop_turn_max_us == longest);
}

}  // namespace
}  // namespace mayfly::net

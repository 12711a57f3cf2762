// Who is told of the end of a turn.
#include "server/hubs/turn_ends.h"

#include <memory>

#include "support/catch.h"

namespace mayfly {
namespace {

struct CountingEar final : TurnEnds::Listener {
  explicit CountingEar(TurnEnds& ends) : Listener(ends) {}
  void OnTurnEnd(Now) noexcept override { ++told; }
  void Hear(bool each) noexcept { HearEachTurn(each); }
  int told = 0;
};

}  // namespace

TEST_CASE("the end of a turn is told if somebody has asked") {
  TurnEnds ends;
  CountingEar first(ends);
  CountingEar second(ends);
  ends.Tell({});
  CHECK(first.told == 0);
  ends.Ask();
  CHECK(ends.asked());
  ends.Tell({});
  CHECK_FALSE(ends.asked());
  ends.Tell({});
  CHECK(first.told == 1);
  CHECK(second.told == 1);
}

TEST_CASE("while a part hears each turn, all are told of each, and nobody keeps the loop awake") {
  TurnEnds ends;
  CountingEar stays(ends);
  auto hearing = std::make_unique<CountingEar>(ends);
  for (int i = 0; i < 2; ++i) hearing->Hear(true);  // said twice, once in force
  for (int i = 0; i < 3; ++i) ends.Tell({});
  CHECK(hearing->told == 3);
  CHECK(stays.told == 3);
  CHECK_FALSE(ends.asked());
  SECTION("until it does not") { hearing->Hear(false); }
  SECTION("until it is gone") { hearing.reset(); }
  ends.Tell({});
  CHECK(stays.told == 3);
}

}  // namespace mayfly

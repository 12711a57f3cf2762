#include "exec/arguments/random_pick.h"

#include <array>
#include <set>

#include "support/catch.h"

namespace mayfly {

TEST_CASE("a walk picks as many things as were wanted, each of them about equally often") {
  std::mt19937_64 random(5);
  constexpr size_t kThings = 10;
  constexpr int kRounds = 10'000;
  std::array<int, kThings> picked{};
  for (int round = 0; round < kRounds; ++round) {
    PickOnWalk pick(3, kThings);
    size_t in_round = 0;
    for (int& times : picked) {
      if (!pick.Next(random)) continue;
      ++times;
      ++in_round;
    }
    REQUIRE(in_round == 3);
    REQUIRE(pick.done());
  }
  for (const int times : picked) CHECK((times > 2800 && times < 3200));
}

TEST_CASE("a walk picks everything if more is wanted than there is") {
  std::mt19937_64 random(5);
  PickOnWalk pick(UINT64_MAX, 4);
  for (int i = 0; i < 4; ++i) CHECK(pick.Next(random));
  CHECK(pick.done());
}

TEST_CASE("drawing shows different things, and none twice") {
  std::mt19937_64 random(5);
  CHECK(DrawsFew(5, 30));
  CHECK_FALSE(DrawsFew(10, 30));
  std::multiset<uint64_t> shown;
  DrawDifferent(5, [&] { return random() % 30; }, [&](uint64_t thing) { shown.insert(thing); });
  CHECK(shown.size() == 5);
  CHECK(std::set<uint64_t>(shown.begin(), shown.end()).size() == 5);
}

}  // namespace mayfly

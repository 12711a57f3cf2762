#include "cache/owners/tournament.h"

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "support/catch.h"

namespace mayfly {

TEST_CASE("a tournament agrees with a search of all keys through random changes") {
  Tournament tournament;
  std::array<uint64_t, Tournament::kEnd> keys;
  keys.fill(Tournament::kNone);
  CHECK(tournament.least() == Tournament::kNone);
  CHECK(tournament.NextUpTo(0, 1000) == Tournament::kEnd);
  std::mt19937_64 random(20261122);
  for (int step = 0; step < 20'000; ++step) {
    const auto id = static_cast<uint8_t>(random() % (step < 10'000 ? 256 : 7));
    keys[id] = random() % 3 == 0 ? Tournament::kNone : random() % 50;
    tournament.Set(id, keys[id]);
    const auto least = std::min_element(keys.begin(), keys.end());
    REQUIRE(tournament.least() == *least);
    REQUIRE(tournament.First() == static_cast<size_t>(least - keys.begin()));
    REQUIRE(tournament.KeyOf(id) == keys[id]);
    const size_t from = random() % (Tournament::kEnd + 1);
    const uint64_t most = random() % 60;
    const auto next = std::find_if(keys.begin() + static_cast<ptrdiff_t>(from), keys.end(),
                                   [&](uint64_t key) { return key <= most; });
    REQUIRE(tournament.NextUpTo(from, most) == static_cast<size_t>(next - keys.begin()));
  }
}

TEST_CASE("an id set hands out each id once, lowest first") {
  IdSet ids;
  for (const uint8_t id : {200, 3, 64, 255, 0, 3}) ids.Add(id);
  ids.Remove(64);
  CHECK(ids.Has(255));
  CHECK_FALSE(ids.Has(64));
  std::string seen;
  ids.TakeEach([&](uint8_t id) {
    seen += std::to_string(id) + " ";
    ids.Add(7);  // belongs to the next round
  });
  CHECK(seen == "0 3 200 255 ");
  ids.TakeEach([&](uint8_t id) { CHECK(id == 7); });
  ids.TakeEach([](uint8_t) { FAIL("empty"); });
}

}  // namespace mayfly

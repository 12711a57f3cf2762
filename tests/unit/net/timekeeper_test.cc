#include "net/timekeeper.h"

#include <cstdint>

#include "support/catch.h"

namespace mayfly::net {
namespace {

TEST_CASE("wake-ups are moved to the next multiple of the resolution, never before the deadline") {
  CHECK(Coalesce(1000, 1) == 1000);
  CHECK(Coalesce(1000, 10) == 1000);
  CHECK(Coalesce(1001, 10) == 1010);
  CHECK(Coalesce(1009, 10) == 1010);
  CHECK(Coalesce(0, 7) == 0);
  for (uint64_t deadline = 0; deadline < 200; ++deadline) {
    for (uint64_t resolution = 1; resolution < 30; ++resolution) {
      const uint64_t wake = Coalesce(deadline, resolution);
      REQUIRE(wake >= deadline);
      REQUIRE(wake < deadline + resolution);
      REQUIRE(wake % resolution == 0);
    }
  }
}

TEST_CASE("a deadline at the end of time stays there") {
  CHECK(Coalesce(UINT64_MAX, 1) == UINT64_MAX);
  CHECK(Coalesce(UINT64_MAX, 10) == UINT64_MAX);
  CHECK(Coalesce(UINT64_MAX - 1, 1000) == UINT64_MAX);
}

}  // namespace
}  // namespace mayfly::net

#include "base/simd.h"

#include <array>
#include <random>

#include "support/catch.h"

namespace mayfly {

TEST_CASE("a byte is found at each of the 16 positions") {
  for (uint32_t place = 0; place < 16; ++place) {
    std::array<uint8_t, 16> bytes{};
    bytes[place] = 0xFF;
    CHECK(MatchBytes16(bytes.data(), 0xFF) == 1U << place);
    CHECK(MatchBytes16(bytes.data(), 0) == (0xFFFFU ^ 1U << place));
    CHECK(MatchBytes16(bytes.data(), 0x7F) == 0);
  }
}

TEST_CASE("the vector form and the plain form agree on random bytes at any alignment") {
  const uint32_t seed = 20240611;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::array<uint8_t, 31> bytes;
  for (int round = 0; round < 50'000; ++round) {
    // Few distinct values, so that there are many matches.
    const uint32_t range = round % 2 == 0 ? 4 : 256;
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() % range);
    const uint8_t* start = bytes.data() + random() % 16;
    const auto wanted = static_cast<uint8_t>(random() % range);
    REQUIRE(MatchBytes16(start, wanted) == MatchBytes16Plain(start, wanted));
  }
}

}  // namespace mayfly

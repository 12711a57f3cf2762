#include <string>

#include "differential/pool.h"

namespace mayfly::testing {
namespace {

// Some near each other, some anywhere, some at the edges of the map.
Words Coordinate(ValuePools& pools, int64_t near, int64_t most) {
  Dice& dice = pools.dice();
  const auto part = [&] { return "." + std::to_string(dice.Between(0, 999'999)); };
  if (dice.OneIn(3)) return {std::to_string(near + dice.Between(0, 3)) + part()};
  if (dice.OneIn(4)) return {(dice.OneIn(2) ? "-" : "") + std::to_string(dice.OneIn(2) ? most : 0)};
  return {std::to_string(dice.Between(1 - most, most - 1)) + part()};
}
Words Longitude(ValuePools& pools) { return Coordinate(pools, 13, 180); }
Words Latitude(ValuePools& pools) { return Coordinate(pools, 37, 85); }

Words Place(ValuePools& pools) { return OneOf(pools, {"p", "q", "r", "s", "t", "u", "Palermo", "Catania"}); }

Words Length(ValuePools& pools) {
  return OneOf(pools, {"0", "1", "50.5", "100", "200", "1000", "5000", "20000", "1e9", "100000"});
}

Words Count(ValuePools& pools) { return OneOf(pools, {"1", "2", "3", "100"}); }

constexpr Pool kPools[] = {
    {"", "longitude", Longitude},
    {"", "latitude", Latitude},
    {"geoadd", "member", Place},
    {"geopos", "member", Place},
    {"geohash", "member", Place},
    {"", "member1", Place},
    {"", "member2", Place},
    {"geosearch", "member", Place},
    {"geosearchstore", "member", Place},
    {"georadiusbymember", "member", Place},
    {"georadiusbymember_ro", "member", Place},
    {"", "radius", Length},
    {"", "width", Length},
    {"", "height", Length},
    {"geosearch", "count", Count},
    {"geosearchstore", "count", Count},
    {"georadius", "count", Count},
    {"georadius_ro", "count", Count},
    {"georadiusbymember", "count", Count},
    {"georadiusbymember_ro", "count", Count},
};

}  // namespace

std::span<const Pool> GeoPools() noexcept { return kPools; }

}  // namespace mayfly::testing

#include "differential/pool.h"

namespace mayfly::testing {
namespace {

// Few, so that sets have some in common: integers of all widths, and short texts.
Words Member(ValuePools& pools) {
  Dice& dice = pools.dice();
  if (dice.OneIn(12)) return {pools.Value()};
  if (dice.OneIn(3)) return {std::string(1, static_cast<char>('a' + dice.Below(8)))};
  if (dice.OneIn(8))
    return OneOf(pools, {"32767", "32768", "-2147483649", "9223372036854775807", "-1", "007"});
  return {std::to_string(dice.Below(12))};
}

// Past the number of members of most sets, too.
Words Count(ValuePools& pools) { return OneOf(pools, {"0", "1", "2", "3", "5", "8", "13", "20", "1000"}); }

Words CountOrRepeats(ValuePools& pools) {
  return pools.dice().OneIn(3) ? OneOf(pools, {"-1", "-2", "-5", "-30"}) : Count(pools);
}

// How many keys follow: mostly as many as are drawn, one.
Words KeyCount(ValuePools& pools) { return OneOf(pools, {"1", "1", "1", "2", "2", "3"}); }

constexpr Pool kPools[] = {
    {"", "member", Member},
    {"", "numkeys", KeyCount},
    {"sintercard", "limit", Count},
    {"spop", "count", Count},
    {"srandmember", "count", CountOrRepeats},
};

}  // namespace

std::span<const Pool> SetPools() noexcept { return kPools; }

}  // namespace mayfly::testing

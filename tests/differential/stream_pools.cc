#include "differential/pool.h"

namespace mayfly::testing {
namespace {

std::string Id(ValuePools& pools) {
  Dice& dice = pools.dice();
  std::string id = std::to_string(dice.Below(400));
  if (!dice.OneIn(3)) id += '-' + std::to_string(dice.Below(4));
  return id;
}

Words AnyId(ValuePools& pools) { return {Id(pools)}; }

// Often higher than those before.
Words NewId(ValuePools& pools) {
  Dice& dice = pools.dice();
  if (dice.OneIn(60)) return OneOf(pools, {"18446744073709551615-18446744073709551614", "0-0", "01-1"});
  const std::string ms = std::to_string(dice.Below(dice.OneIn(8) ? 100'000 : 400));
  return {dice.OneIn(2) ? ms + "-*" : Id(pools)};
}

Words Bound(ValuePools& pools) {
  if (pools.dice().OneIn(3))
    return OneOf(pools, {"-", "+", "(0-1", "(300", "(18446744073709551615-18446744073709551615"});
  return {Id(pools)};
}

Words ReadId(ValuePools& pools) {
  if (pools.dice().OneIn(4)) return OneOf(pools, {"$", "0", "0-0"});
  return {Id(pools)};
}

Words Count(ValuePools& pools) { return OneOf(pools, {"0", "1", "2", "5", "-1", "1000"}); }
Words Threshold(ValuePools& pools) { return OneOf(pools, {"0", "1", "3", "10", "100", "50-1", "-1"}); }
Words Field(ValuePools& pools) { return OneOf(pools, {"f", "f", "g", "1"}); }

constexpr Pool kPools[] = {
    {"xadd", "id", NewId},
    {"xadd", "field", Field},
    {"xadd", "threshold", Threshold},
    {"xadd", "count", Count},
    {"xtrim", "threshold", Threshold},
    {"xtrim", "count", Count},
    {"xdel", "id", AnyId},
    {"xread", "id", ReadId},
    {"xread", "count", Count},
    {"xrange", "start-id", Bound},
    {"xrange", "end-id", Bound},
    {"xrange", "count", Count},
    {"xrevrange", "start-id", Bound},
    {"xrevrange", "end-id", Bound},
    {"xrevrange", "count", Count},
    {"xsetid", "last-id", [](ValuePools& p) { return Words{std::to_string(300 + p.dice().Below(300))}; }},
    {"xsetid", "entries-added",
     [](ValuePools& p) {
       return OneOf(p, {"0", "3", "1000", "1000", "1001"});
     }},
    {"xsetid", "max-deleted-id",
     [](ValuePools& p) {
       return OneOf(p, {"0-0", "1-1", "20-0", "100", "400"});
     }},
    {"xinfo|stream", "count", Count},
};

}  // namespace

std::span<const Pool> StreamPools() noexcept { return kPools; }

}  // namespace mayfly::testing

#include "differential/pool.h"

namespace mayfly::testing {
namespace {

// Few, so that sorted sets have some in common; now and then one that makes a sorted set large.
Words Member(ValuePools& pools) {
  if (pools.dice().OneIn(60)) return {std::string(65, 'm')};
  return OneOf(pools, {"a", "b", "c", "d", "e", "ab", "10", "9", "-5", "007", "", "1.5"});
}

// Mostly a few, so that some are equal.
Words Score(ValuePools& pools) {
  if (pools.dice().OneIn(8)) return {pools.Float()};
  return OneOf(pools, {"0", "0", "1", "1", "2", "3", "-1", "1.5", "0.1", "-0", "inf", "-inf", "1e20"});
}

Words ScoreBound(ValuePools& pools) {
  if (pools.dice().OneIn(12)) return OneOf(pools, {"", "(", " 1", "((1", "nan", "(x", "1e400", "0x10"});
  const std::string open = pools.dice().OneIn(3) ? "(" : "";
  return {open + OneOf(pools, {"-inf", "+inf", "0", "1", "2", "3", "1.5", "-1", "inf"})[0]};
}

Words NameBound(ValuePools& pools) {
  return OneOf(pools, {"-", "-", "+", "+", "[", "(", "[a", "(a", "[b", "(c", "[e", "[10", "(ab", "a", "-x"});
}

// Of ZRANGE, whose options say what they are.
Words AnyBound(ValuePools& pools) {
  if (pools.dice().OneIn(5)) return NameBound(pools);
  return pools.dice().OneIn(3) ? ScoreBound(pools) : Words{std::to_string(pools.dice().Between(-6, 6))};
}

Words Index(ValuePools& pools) { return {pools.dice().OneIn(20) ? pools.Position() : AnyBound(pools)[0]}; }

Words Count(ValuePools& pools) { return OneOf(pools, {"0", "1", "2", "3", "5", "-1", "1000"}); }

Words CountOrRepeats(ValuePools& pools) {
  return OneOf(pools, {"0", "1", "2", "5", "-1", "-3", "-20", "1000000"});
}

Words Offset(ValuePools& pools) { return OneOf(pools, {"0", "0", "1", "2", "5", "-1"}); }

constexpr Pool kPools[] = {
    {"zadd", "member", Member},
    {"zincrby", "member", Member},
    {"zrem", "member", Member},
    {"zscore", "member", Member},
    {"zmscore", "member", Member},
    {"zrank", "member", Member},
    {"zrevrank", "member", Member},
    {"", "score", Score},
    {"zincrby", "increment", Score},
    {"", "weight", Score},
    {"", "min-score", ScoreBound},
    {"", "max-score", ScoreBound},
    {"zrange", "min", AnyBound},
    {"zrange", "max", AnyBound},
    {"zrangestore", "min", AnyBound},
    {"zrangestore", "max", AnyBound},
    {"", "min", NameBound},
    {"", "max", NameBound},
    {"zrevrange", "start", Index},
    {"zrevrange", "stop", Index},
    {"zremrangebyrank", "start", Index},
    {"zremrangebyrank", "stop", Index},
    {"zrange", "offset", Offset},
    {"zrangestore", "offset", Offset},
    {"zrangebyscore", "offset", Offset},
    {"zrevrangebyscore", "offset", Offset},
    {"zrangebylex", "offset", Offset},
    {"zrevrangebylex", "offset", Offset},
    {"zrange", "count", Count},
    {"zrangestore", "count", Count},
    {"zrangebyscore", "count", Count},
    {"zrevrangebyscore", "count", Count},
    {"zrangebylex", "count", Count},
    {"zrevrangebylex", "count", Count},
    {"zpopmin", "count", Count},
    {"zpopmax", "count", Count},
    {"zmpop", "count", Count},
    {"zintercard", "limit", Count},
    {"zrandmember", "count", CountOrRepeats},
};

}  // namespace

std::span<const Pool> SortedSetPools() noexcept { return kPools; }

}  // namespace mayfly::testing

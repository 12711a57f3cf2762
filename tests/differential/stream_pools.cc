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
  return {pools.dice().OneIn(4) ? '(' + Id(pools) : Id(pools)};
}

Words ReadId(ValuePools& pools) {
  if (pools.dice().OneIn(4)) return OneOf(pools, {"$", "0", "0-0"});
  return {Id(pools)};
}

// Mostly what is new, and sometimes what the consumer holds.
Words GroupReadId(ValuePools& pools) {
  if (pools.dice().OneIn(40)) return {"$"};
  if (pools.dice().OneIn(4)) return {pools.dice().OneIn(2) ? "0" : Id(pools)};
  return {">"};
}

Words GroupName(ValuePools& pools) {
  if (pools.dice().OneIn(12)) return OneOf(pools, {"other", "none"});
  return {"group"};
}
Words Consumer(ValuePools& pools) { return OneOf(pools, {"alice", "alice", "bob", "carol"}); }
// Nobody has been idle for so long, or everybody.
Words MinIdle(ValuePools& pools) { return OneOf(pools, {"0", "0", "0", "-1", "100000000"}); }
Words EntriesRead(ValuePools& pools) { return OneOf(pools, {"-1", "0", "3", "10", "-2"}); }
Words DeliveredAt(ValuePools& pools) { return OneOf(pools, {"0", "1000", "-1"}); }

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
    {"xsetid", "last-id", [](ValuePools& p) { return Words{std::to_string(p.dice().Below(600))}; }},
    {"xsetid", "entries-added", [](ValuePools& p) { return OneOf(p, {"0", "3", "1000", "1000", "1001"}); }},
    {"xsetid", "max-deleted-id",
     [](ValuePools& p) { return OneOf(p, {"0-0", "1-1", "20-0", "100", "400"}); }},
    {"xinfo|stream", "count", Count},
    {"xinfo|consumers", "groupname", GroupName},
    {"xgroup|create", "groupname", GroupName},
    {"xgroup|create", "id", AnyId},
    {"xgroup|create", "entries-read", EntriesRead},
    {"xgroup|createconsumer", "groupname", GroupName},
    {"xgroup|createconsumer", "consumername", Consumer},
    {"xgroup|delconsumer", "groupname", GroupName},
    {"xgroup|delconsumer", "consumername", Consumer},
    {"xgroup|destroy", "groupname",
     [](ValuePools& p) { return OneOf(p, {"other", "other", "group", "none"}); }},
    {"xgroup|setid", "groupname", GroupName},
    {"xgroup|setid", "id", AnyId},
    {"xgroup|setid", "entries-read", EntriesRead},
    {"xreadgroup", "group", GroupName},
    {"xreadgroup", "consumer", Consumer},
    {"xreadgroup", "count", Count},
    {"xreadgroup", "id", GroupReadId},
    {"xack", "group", GroupName},
    {"xack", "id", AnyId},
    {"xpending", "group", GroupName},
    {"xpending", "min-idle-time", MinIdle},
    {"xpending", "start", Bound},
    {"xpending", "end", Bound},
    {"xpending", "count", Count},
    {"xpending", "consumer", Consumer},
    {"xclaim", "group", GroupName},
    {"xclaim", "consumer", Consumer},
    {"xclaim", "min-idle-time", MinIdle},
    {"xclaim", "id", AnyId},
    {"xclaim", "lastid", AnyId},
    {"xclaim", "ms", DeliveredAt},
    {"xclaim", "unix-time-milliseconds", DeliveredAt},
    {"xclaim", "count", Count},
    {"xautoclaim", "group", GroupName},
    {"xautoclaim", "consumer", Consumer},
    {"xautoclaim", "min-idle-time", MinIdle},
    {"xautoclaim", "start", Bound},
    {"xautoclaim", "count", Count},
};

}  // namespace

std::span<const Pool> StreamPools() noexcept { return kPools; }

}  // namespace mayfly::testing

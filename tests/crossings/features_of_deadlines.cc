// Rows of the table of crossings: what gives keys and members their deadlines, and shows them.
#include <string>

#include "crossings/table.h"

namespace mayfly::testing::crossings {
namespace {

constexpr int64_t kMinute = 60'000;
const std::string kMinuteText = "60000";

// ---- expiry on time

void MakeTtls(Crossing& c) {
  c.Make({"SET", "k:text", "v", "PX", kMinuteText});
  c.Make({"SET", "k:promise", "v", "PXAT", c.UnixMs(kMinute)});
  c.Make({"RPUSH", "k:list", "a", "b"});
  c.Make({"PEXPIRE", "k:list", kMinuteText});
  c.Make({"HSET", "k:hash", "f", "v"});
}
void CheckTtls(Crossing& c) {
  c.Expect({"GET", "k:text"}, Bulk("v"));
  c.Expect({"LRANGE", "k:list", "0", "-1"}, Bulks({"a", "b"}));
  for (const char* key : {"k:text", "k:promise", "k:list"}) c.ExpectDeadline(key, kMinute);
  c.ExpectDeadline("k:hash", -1);
  c.AdvanceTo(kMinute - 1);
  c.ExpectKeys({"k:text", "k:promise", "k:list", "k:hash"}, 4);
  c.ExpectCounted("expired_keys", 0);
  c.AdvanceTo(kMinute);
  c.ExpectKeys({"k:text", "k:promise", "k:list", "k:hash"}, 1);
  c.ExpectCounted("expired_keys", 3);
  c.ExpectWrite({"SET", "k:text", "new"}, Ok());
  c.ExpectDeadline("k:text", -1);
}
void EndTtls(Crossing& c) {
  c.Make({"DEL", "k:text"});
  c.Make({"GETDEL", "k:promise"});
  c.Make({"EXPIRE", "k:list", "-1"});
  c.Make({"PEXPIREAT", "k:hash", "1"});
}

// ---- a herd, freed in slices

constexpr int kHerd = 400;

void MakeHerd(Crossing& c) {
  Words request{"MSETEX", std::to_string(kHerd)};
  for (int i = 0; i < kHerd; ++i) request.insert(request.end(), {"k:herd:" + std::to_string(i), "v"});
  request.insert(request.end(), {"PX", kMinuteText});
  c.Make(request);
}
// At the deadline no lookup finds them, freed or not.
void CheckHerd(Crossing& c) {
  for (const char* key : {"k:herd:0", "k:herd:399"}) c.ExpectDeadline(key, kMinute);
  c.LetTimeComeTo(kMinute);
  c.ExpectOurs({"EXISTS", "k:herd:0", "k:herd:399"}, Integer(0));
  c.ExpectOurs({"KEYS", "k:herd:*"}, Array({}));
  c.AdvanceTo(kMinute);
  c.Expect({"KEYS", "k:herd:*"}, Array({}));
  c.ExpectCounted("expired_keys", kHerd);
}
void EndHerd(Crossing& c) {
  Words request{"UNLINK"};
  for (int i = 0; i < kHerd; ++i) request.push_back("k:herd:" + std::to_string(i));
  c.Make(request);
}

// ---- the backlog and the lag in INFO

void MakeLag(Crossing& c) { c.Make({"SET", "k:late", "v", "PX", kMinuteText}); }
void CheckLag(Crossing& c) {
  c.ExpectDeadline("k:late", kMinute);
  c.Check(c.Counter("expire_backlog") == 0, "expire_backlog counts a key before its deadline");
  c.LetTimeComeTo(kMinute);
  c.Check(c.Counter("expire_backlog") == 1, "expire_backlog does not count a key that is due");
  c.AdvanceTo(kMinute + 20);
  c.ExpectKeys({"k:late"}, 0);
  c.Check(c.Counter("expire_backlog") == 0, "expire_backlog counts a key that was freed");
  c.Check(c.Counter("expire_lag_max_us") >= 20'000, "expire_lag_max_us does not show a lag of 20 ms");
}

// ---- jitter

void MakeJitter(Crossing& c) {
  c.Make({"SET", "k:text", "v", "PX", kMinuteText, "JITTER", "50"});
  c.Make({"HSET", "k:hash", "f", "v"});
  c.Make({"PEXPIRE", "k:hash", kMinuteText, "JITTER", "50"});
  c.Make({"SET", "k:promise", "v", "PXAT", c.UnixMs(kMinute)});
  c.Remember({"PEXPIRETIME", "k:text"});
  c.Remember({"PEXPIRETIME", "k:hash"});
}
// The deadline is drawn once.
void CheckJitter(Crossing& c) {
  c.ExpectSame({"PEXPIRETIME", "k:text"});
  c.ExpectSame({"PEXPIRETIME", "k:hash"});
  c.ExpectDeadline("k:promise", kMinute);
  c.Make({"APPEND", "k:text", "w"});
  c.ExpectSame({"PEXPIRETIME", "k:text"});
  c.AdvanceTo(kMinute / 2 - 1);
  c.ExpectKeys({"k:text", "k:hash"}, 2);
  c.AdvanceTo(kMinute + kMinute / 2);
  c.ExpectKeys({"k:text", "k:hash", "k:promise"}, 0);
}
void MakeJitterByOption(Crossing& c) {
  c.Make({"SET", "k:text", "v", "PX", kMinuteText});
  c.Make({"HSET", "k:hash", "f", "v"});
  c.Make({"PEXPIRE", "k:hash", kMinuteText});
  c.Make({"SET", "k:promise", "v", "PXAT", c.UnixMs(kMinute)});
  c.Remember({"PEXPIRETIME", "k:text"});
  c.Remember({"PEXPIRETIME", "k:hash"});
}

// ---- a sliding TTL

void MakeSliding(Crossing& c) {
  c.Make({"SET", "k:text", "v", "PX", kMinuteText, "SLIDE", "MAX", "100000"});
  c.Make({"HSET", "k:session", "f", "v"});
  c.Make({"PEXPIRE", "k:session", kMinuteText, "SLIDE"});
}
void CheckSliding(Crossing& c) {
  c.Expect({"GET", "k:text"}, Bulk("v"));
  c.ExpectDeadline("k:text", kMinute);
  c.ExpectDeadline("k:session", kMinute);
  if (!c.has_terms()) return;
  c.AdvanceTo(30'000);
  c.ExpectWrite({"PEEK", "k:text"}, Bulk("v"));
  c.ExpectDeadline("k:text", kMinute);
  c.ExpectWrite({"GET", "k:text"}, Bulk("v"));
  c.ExpectWrite({"HGET", "k:session", "f"}, Bulk("v"));
  c.ExpectDeadline("k:text", 90'000);
  c.ExpectDeadline("k:session", 90'000);
  c.AdvanceTo(80'000);
  c.ExpectWrite({"GET", "k:text"}, Bulk("v"));
  c.ExpectDeadline("k:text", 100'000);  // MAX
  c.AdvanceTo(90'000);
  c.ExpectKeys({"k:text", "k:session"}, 1);
  c.AdvanceTo(100'000);
  c.ExpectKeys({"k:text"}, 0);
  c.ExpectCounted("expired_keys", 2);
}
void EndSliding(Crossing& c) {
  c.Make({"DELEX", "k:text"});
  c.Make({"EXPIRE", "k:session", "0"});
}

// ---- rules for TTLs

void MakeDefaultTtl(Crossing& c) {
  c.Make({"SET", "k:text", "v"});
  c.Make({"SADD", "k:set", "a"});
  c.Make({"SET", "k:own", "v", "PX", "100000"});
}
// The TTL does not begin anew.
void CheckDefaultTtl(Crossing& c) {
  c.ExpectDeadline("k:text", kMinute);
  c.ExpectDeadline("k:set", kMinute);
  c.ExpectDeadline("k:own", 100'000);
  c.AdvanceTo(10'000);
  c.Make({"APPEND", "k:text", "w"});
  c.ExpectDeadline("k:text", kMinute);
  c.Make({"SET", "k:text", "new"});
  c.ExpectDeadline("k:text", 70'000);
  c.AdvanceTo(kMinute);
  c.ExpectKeys({"k:text", "k:set", "k:own"}, 2);
}

void MakeMaxTtl(Crossing& c) {
  c.Make({"SET", "k:text", "v", "PX", "1000000"});
  c.Make({"SADD", "k:set", "a"});
  c.Make({"SET", "k:short", "v", "PX", "30000"});
}
void CheckMaxTtl(Crossing& c) {
  c.ExpectDeadline("k:text", kMinute);
  c.ExpectDeadline("k:set", kMinute);
  c.ExpectDeadline("k:short", 30'000);
  c.AdvanceTo(10'000);
  c.Make({"PEXPIRE", "k:short", "1000000"});
  c.ExpectDeadline("k:short", 70'000);
  c.AdvanceTo(kMinute);
  c.ExpectKeys({"k:text", "k:set", "k:short"}, 1);
}

const Reply kTtlIsRequired = Error("ERR a TTL is required for this key");

void MakeRequiredTtl(Crossing& c) {
  if (!c.refuses) c.ExpectWrite({"SET", "k:none", "v"}, kTtlIsRequired);
  c.Make({"SET", "k:text", "v", "PX", kMinuteText});
}
void CheckRequiredTtl(Crossing& c) {
  c.ExpectDeadline("k:text", kMinute);
  c.ExpectWrite({"PERSIST", "k:text"}, kTtlIsRequired);
  c.ExpectWrite({"SADD", "k:set", "a"}, kTtlIsRequired);
  c.ExpectWrite({"APPEND", "k:text", "w"}, Integer(2));
  c.Expect({"GET", "k:text"}, Bulk("vw"));
  c.ExpectDeadline("k:text", kMinute);
  c.ExpectKeys({"k:text", "k:none", "k:set"}, 1);
  c.AdvanceTo(kMinute);
  c.ExpectKeys({"k:text"}, 0);
}

void MakeByRules(Crossing& c) {
  c.Make({"SET", "k:default", "v"});
  c.Make({"SET", "k:max", "v", "PX", "1000000"});
  c.Make({"SET", "k:jitter", "v", "PX", kMinuteText});
  c.Make({"SET", "k:task", "v", "PX", kMinuteText});
  if (!c.refuses) c.ExpectWrite({"SET", "k:required", "v"}, kTtlIsRequired);
  c.Remember({"PEXPIRETIME", "k:jitter"});
}
void CheckRules(Crossing& c) {
  c.ExpectDeadline("k:default", kMinute);
  c.ExpectDeadline("k:max", kMinute);
  c.ExpectDeadline("k:task", kMinute);
  c.ExpectSame({"PEXPIRETIME", "k:jitter"});
  c.ExpectWrite({"SET", "k:required", "v"}, kTtlIsRequired);
  c.AdvanceTo(kMinute);
  c.ExpectKeys({"k:default", "k:max", "k:task"}, 0);
  if (c.has_terms()) c.Expect({"XLEN", "k:jobs"}, Integer(1));
}

// ---- keys near expiry

void MakeNear(Crossing& c) {
  c.Make({"SET", "k:b", "v", "PX", kMinuteText});
  c.Make({"SET", "k:a", "v", "PX", "30000"});
  c.Make({"SET", "k:far", "v", "PX", "86400000"});
}
void CheckNear(Crossing& c) {
  c.AdvanceTo(15'000);
  c.ExpectOurs({"EXPIRING", "0", "100000", "MATCH", "k:*"},
               Array({Bulk("0"), Array({Bulk("k:a"), Integer(15'000), Bulk("k:b"), Integer(45'000)})}));
  const std::string histogram = c.Read({"INFO", "ttlhist"}).text;
  if (c.reads_at_mayfly()) {
    c.Check(histogram.find("ttl_10s_to_1m:keys=2,") != std::string::npos,
            "ttlhist does not count the two keys that expire within a minute");
  }
  c.AdvanceTo(30'000);
  c.ExpectKeys({"k:a", "k:b", "k:far"}, 2);
}

// ---- steps of the wall clock

void MakeClocks(Crossing& c) {
  c.Make({"SET", "k:ttl", "v", "PX", kMinuteText});
  c.Make({"SET", "k:promise", "v", "PXAT", c.UnixMs(kMinute)});
}
// A TTL stays a TTL, and a promise in Unix time stays one.
void CheckClocks(Crossing& c) {
  c.AdvanceTo(10'000);
  c.ExpectDeadline("k:ttl", kMinute);
  for (SnapshotTest* world : c.worlds()) world->StepWallClock(20'000);
  c.Check(c.Write({"PTTL", "k:ttl"}) == Integer(50'000), "a TTL has moved with the wall clock");
  if (c.has_terms())
    c.Check(c.Write({"PTTL", "k:promise"}) == Integer(30'000),
            "a Unix time has not moved with the wall clock");
  c.AdvanceTo(kMinute + 20'000);
  c.ExpectKeys({"k:ttl", "k:promise"}, 0);
}

// ---- members with TTLs

void MakeMembers(Crossing& c) {
  c.Make({"HSET", "k:hash", "f", "v", "stays", "w"});
  c.Make({"HPEXPIRE", "k:hash", kMinuteText, "FIELDS", "1", "f"});
  c.Make({"SADD", "k:set", "stays"});
  c.Make({"SADDEX", "k:set", "60", "a"});
  c.Make({"ZADD", "k:zset", "1", "a", "2", "stays"});
  c.Make({"EXPIREMEMBER", "k:zset", "a", "60"});
}
void CheckMembers(Crossing& c) {
  c.Expect({"HLEN", "k:hash"}, Integer(2));
  c.Expect({"SCARD", "k:set"}, Integer(2));
  c.Expect({"ZCARD", "k:zset"}, Integer(2));
  c.ExpectOurs({"HPEXPIRETIME", "k:hash", "FIELDS", "2", "f", "stays"},
               Array({Integer(c.UnixMsOf(kMinute)), Integer(-1)}));
  if (!c.has_terms()) return;
  c.ExpectOurs({"SPEXPIRETIME", "k:set", "MEMBERS", "2", "a", "stays"},
               Array({Integer(c.UnixMsOf(kMinute)), Integer(-1)}));
  c.AdvanceTo(59'000);
  c.ExpectOurs({"FIELDTTL", "k:zset", "a"}, Integer(1));
  c.ExpectOurs({"FIELDTTL", "k:zset", "stays"}, Integer(-1));
  c.AdvanceTo(kMinute);
  c.Expect({"HKEYS", "k:hash"}, Bulks({"stays"}));
  c.Expect({"SMEMBERS", "k:set"}, Bulks({"stays"}));
  c.Expect({"ZRANGE", "k:zset", "0", "-1"}, Bulks({"stays"}));
}
// The last members go, and the keys with them. While a file is loaded there may be no members yet.
void EndMembers(Crossing& c) {
  c.Make({"HGETDEL", "k:hash", "FIELDS", "2", "f", "stays"});
  c.Make({"EXPIREMEMBER", "k:set", "a", "0"});
  c.Make({"SPOP", "k:set"});
  c.Make({"ZPOPMIN", "k:zset", "2"});
  c.Make({"UNLINK", "k:hash", "k:set", "k:zset"});
}

const std::vector<Feature> kDeadlineRows = {
    {.name = "expiry on time",
     .section = "lifetimes.md#give-a-key-a-ttl",
     .make = MakeTtls,
     .check = CheckTtls,
     .end = EndTtls},
    {.name = "a herd of due keys, in slices",
     .section = "lifetimes.md#give-a-key-a-ttl",
     .make = MakeHerd,
     .check = CheckHerd,
     .end = EndHerd},
    {.name = "lag and backlog in INFO",
     .section = "lifetimes.md#measure-how-exact-expiry-is",
     .make = MakeLag,
     .check = CheckLag},
    {.name = "JITTER",
     .section = "lifetimes.md#spread-deadlines-by-chance",
     .covers = "JITTER",
     .make = MakeJitter,
     .check = CheckJitter},
    {.name = "ttl-jitter",
     .section = "lifetimes.md#spread-deadlines-by-chance",
     .options = {{"ttl-jitter", "50"}},
     .make = MakeJitterByOption,
     .check = CheckJitter},
    {.name = "SLIDE",
     .section = "lifetimes.md#keep-a-key-alive-while-in-use",
     .covers = "SLIDE MAX PEEK",
     .make = MakeSliding,
     .check = CheckSliding,
     .end = EndSliding},
    {.name = "default-ttl",
     .section = "lifetimes.md#set-rules-for-many-keys",
     .options = {{"default-ttl", "1m"}},
     .make = MakeDefaultTtl,
     .check = CheckDefaultTtl},
    {.name = "max-ttl",
     .section = "lifetimes.md#set-rules-for-many-keys",
     .options = {{"max-ttl", "1m"}},
     .make = MakeMaxTtl,
     .check = CheckMaxTtl},
    {.name = "ttl-required",
     .section = "lifetimes.md#set-rules-for-many-keys",
     .options = {{"ttl-required", "yes"}},
     .make = MakeRequiredTtl,
     .check = CheckRequiredTtl},
    {.name = "ttl-rule",
     .section = "lifetimes.md#set-rules-for-many-keys",
     .options = {{"ttl-rule",
                  "k:default default 1m k:max max 1m k:jitter jitter 50 k:task into k:jobs k:required "
                  "required"}},
     .make = MakeByRules,
     .check = CheckRules},
    {.name = "EXPIRING and INFO ttlhist",
     .section = "lifetimes.md#list-the-keys-near-expiry",
     .covers = "EXPIRING GETTTL MGETTTL",
     .make = MakeNear,
     .check = CheckNear},
    {.name = "steps of the wall clock",
     .section = "lifetimes.md#give-a-key-a-ttl",
     .make = MakeClocks,
     .check = CheckClocks,
     .none = {{Column::kRedisReplica, "a redis-server has one clock, and no TTL there outlives a step"},
              {Column::kFailover, "a replica has its master's deadlines as Unix times"}}},
    {.name = "TTLs of members",
     .section = "lifetimes.md#give-members-of-a-value-a-ttl",
     .covers = "SADDEX EXPIREMEMBER EXPIREMEMBERAT PEXPIREMEMBERAT FIELDTTL",
     .make = MakeMembers,
     .check = CheckMembers,
     .end = EndMembers},
};

}  // namespace

std::span<const Feature> FeaturesOfDeadlines() { return kDeadlineRows; }

}  // namespace mayfly::testing::crossings

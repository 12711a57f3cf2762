// What a restart leaves of keys: deadlines and their clocks, stale values, the log of removed keys, and the order of use.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cache/keyspace/databases.h"
#include "cache/time/lifetime.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

// A key as a snapshot has to bring it back; the rest is DEBUG DIGEST's.
struct Saved {
  std::string key;
  int64_t deadline_unix_ms = 0;  // 0: none
  uint64_t idle_ms = 0;
  bool operator==(const Saved&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Saved& saved) {
  return out << saved.key << " until " << saved.deadline_unix_ms << ", idle for " << saved.idle_ms;
}

class SurvivalTest : public SnapshotTest {
 public:
  // The keys of a database from the cold end of both lists.
  std::vector<Saved> Order(unsigned index = 0) {
    std::vector<Saved> order;
    for (const Quota::List list : Quota::kLists) {
      keyspace(index).owners().own().ForColdest(list, SIZE_MAX, [&](const Entry& entry) {
        order.push_back({.key = std::string(entry.key()),
                         .deadline_unix_ms = entry.expires() ? UnixDeadlineMs(entry, now()) : 0,
                         .idle_ms = Entry::IdleMs(entry.stamp(), now().mono_ms)});
      });
    }
    return order;
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const Saved& saved : Order()) names.push_back(saved.key);
    return names;
  }
  // The file, in a server that has just started `downtime_ms` later.
  void LoadInto(SnapshotTest& other, uint64_t downtime_ms) {
    other.disk.Put(kSnapshotPath, disk.files().at(kSnapshotPath));
    other.LetTimePass(static_cast<uint64_t>(WallMs() - other.WallMs()) + downtime_ms);
    REQUIRE(other.snapshots().LoadNow({}, other.now()) == "");
  }
  std::string Head() { return disk.files().at(kSnapshotPath).substr(0, 9); }
};

Reply Event(int64_t number, int64_t wall_ms, std::string_view key, const Reply& value) {
  return Array({Integer(number), Integer(wall_ms), Bulk("expired"), Integer(0), Bulk(key), value});
}

}  // namespace

// ---- time

TEST_CASE_METHOD(SurvivalTest, "TTLs of fields stay TTLs, and promises in Unix time stay promises") {
  Run({"HSET", "ttl", "f", "v", "g", "w"});
  Run({"HPEXPIRE", "ttl", "5000", "FIELDS", "1", "f"});
  Run({"HSET", "promise", "f", "v", "g", "w"});
  Run({"HPEXPIREAT", "promise", UnixMs(5000), "FIELDS", "1", "f"});
  Reload();
  StepWallClock(1000);
  CHECK(Run({"HPTTL", "ttl", "FIELDS", "1", "f"}) == Array({Integer(5000)}));
  CHECK(Run({"HPTTL", "promise", "FIELDS", "1", "f"}) == Array({Integer(4000)}));
  Reload();
  StepWallClock(1000);
  CHECK(Run({"HPTTL", "ttl", "FIELDS", "1", "f"}) == Array({Integer(5000)}));
  CHECK(Run({"HPTTL", "promise", "FIELDS", "1", "f"}) == Array({Integer(3000)}));
}

TEST_CASE_METHOD(
    SurvivalTest,
    "a member whose deadline comes in the downtime is gone, and the others have the rest of theirs") {
  const bool promise = GENERATE(false, true);
  CAPTURE(promise);
  Run({"ZADD", "zset", "1", "lasting", "2", "soon", "3", "later", "4", "now"});
  Run({"SADD", "set", "lasting", "soon", "later", "now"});
  Run({"HSET", "hash", "lasting", "1", "soon", "2", "later", "3", "now", "4"});
  for (const char* key : {"zset", "set", "hash"}) {
    for (const auto& [member, ms] :
         {std::pair{"soon", 1000}, std::pair{"later", 5000}, std::pair{"now", 2000}})
      CHECK(Run(promise ? Words{"PEXPIREMEMBERAT", key, member, UnixMs(ms)}
                        : Words{"EXPIREMEMBER", key, member, std::to_string(ms), "MS"}) == Integer(1));
  }
  Run({"SAVE"});
  SnapshotTest other;
  LoadInto(other, 2000);
  CHECK(other.Run({"ZRANGE", "zset", "0", "-1", "WITHSCORES"}) == Bulks({"lasting", "1", "later", "3"}));
  CHECK(other.Run({"ZRANK", "zset", "later"}) == Integer(1));
  CHECK(other.Run({"ZSCORE", "zset", "soon"}) == Null());
  CHECK(other.Run({"ZCARD", "zset"}) == Integer(2));
  CHECK(other.Run({"SCARD", "set"}) == Integer(2));
  CHECK(other.Run({"SMISMEMBER", "set", "lasting", "soon", "later", "now"}) ==
        Array({Integer(1), Integer(0), Integer(1), Integer(0)}));
  CHECK(other.Run({"HLEN", "hash"}) == Integer(2));
  CHECK(other.Run({"HMGET", "hash", "lasting", "soon", "later", "now"}) ==
        Array({Bulk("1"), Null(), Bulk("3"), Null()}));
  CHECK(other.Info("rdb_last_load_keys_expired") == "0");
  for (const char* key : {"zset", "set", "hash"}) {
    CAPTURE(key);
    CHECK(other.Run({"FIELDTTL", key, "lasting"}) == Integer(-1));
    CHECK(other.Run({"FIELDTTL", key, "later"}) == Integer(3));
  }
  // A step of the clock moves only the promises.
  other.StepWallClock(1000);
  for (const char* key : {"zset", "set", "hash"})
    CHECK(other.Run({"FIELDTTL", key, "later"}) == Integer(promise ? 2 : 3));
  // A member that is made anew has nothing of the old one's deadline.
  CHECK(other.Run({"ZADD", "zset", "9", "soon"}) == Integer(1));
  other.AdvanceTime(promise ? 2000 : 3000);
  CHECK(other.Run({"ZRANGE", "zset", "0", "-1"}) == Bulks({"lasting", "soon"}));
  CHECK(other.Run({"SMEMBERS", "set"}) == Bulks({"lasting"}));
  CHECK(other.Run({"HKEYS", "hash"}) == Bulks({"lasting"}));
}

TEST_CASE_METHOD(SurvivalTest,
                 "a key whose last member goes in the downtime is gone, and counts as expired") {
  const bool promise = GENERATE(false, true);
  CAPTURE(promise);
  for (const int ms : {1, 999, 1000}) {
    const std::string name = std::to_string(ms);
    Run({"ZADD", "zset", "1", name});
    Run({"SADD", "set", name});
    Run({"HSET", "hash", name, "v"});
    for (const char* key : {"zset", "set", "hash"})
      CHECK(Run(promise ? Words{"PEXPIREMEMBERAT", key, name, UnixMs(ms)}
                        : Words{"EXPIREMEMBER", key, name, name, "MS"}) == Integer(1));
  }
  Run({"SAVE"});
  SnapshotTest before;
  LoadInto(before, 999);
  CHECK(before.Run({"ZRANGE", "zset", "0", "-1"}) == Bulks({"1000"}));
  CHECK(before.Run({"SMEMBERS", "set"}) == Bulks({"1000"}));
  CHECK(before.Run({"HKEYS", "hash"}) == Bulks({"1000"}));
  CHECK(before.Info("rdb_last_load_keys_expired") == "0");
  before.AdvanceTime(1);
  CHECK(before.Run({"DBSIZE"}) == Integer(0));
  SnapshotTest after;
  LoadInto(after, 1000);
  CHECK(after.Run({"DBSIZE"}) == Integer(0));
  CHECK(after.Info("rdb_last_load_keys_expired") == "3");
}

TEST_CASE_METHOD(
    SurvivalTest,
    "of a large sorted set half of whose members go in the downtime the other half is in order") {
  constexpr int kMembers = 2'000;
  const auto name = [](int i) { return std::string(50, 'x') + std::to_string(i); };
  for (int i = 0; i < kMembers; ++i) {
    Run({"ZADD", "zset", std::to_string(i), name(i)});
    Run({"EXPIREMEMBER", "zset", name(i), i % 2 == 0 ? "10" : "60"});
  }
  Run({"SET", "next", "v"});
  Run({"BGSAVE"});
  FinishSave();
  SnapshotTest other;
  other.disk.Put(kSnapshotPath, disk.files().at(kSnapshotPath));
  other.AdvanceTime(static_cast<uint64_t>(WallMs() - other.WallMs()) + 20'000);
  other.snapshots().LoadSoon(other.now());
  other.FinishLoad();
  CHECK(other.Run({"ZCARD", "zset"}) == Integer(kMembers / 2));
  const Reply names = other.Run({"ZRANGE", "zset", "0", "-1"});
  REQUIRE(names.elements.size() == kMembers / 2);
  for (int i = 0; i < kMembers / 2; ++i)
    CHECK(names.elements[static_cast<size_t>(i)].text == name(2 * i + 1));
  CHECK(other.Run({"ZCOUNT", "zset", "0", "99"}) == Integer(50));
  CHECK(other.Run({"GET", "next"}) == Bulk("v"));
  other.AdvanceTime(40'000);
  CHECK(other.Run({"EXISTS", "zset"}) == Integer(0));
}

TEST_CASE_METHOD(SurvivalTest, "the version of the file is 12 only if a hash has fields with deadlines") {
  Run({"SADDEX", "set", "50", "a"});
  Run({"ZADD", "zset", "1", "a"});
  Run({"EXPIREMEMBER", "zset", "a", "50"});
  Run({"SAVE"});
  CHECK(Head() == "REDIS0010");
  Run({"HSET", "hash", "f", "v"});
  Run({"HEXPIRE", "hash", "50", "FIELDS", "1", "f"});
  Run({"SAVE"});
  CHECK(Head() == "REDIS0012");
  Run({"SET", "hash", "v"});
  Run({"SAVE"});
  CHECK(Head() == "REDIS0010");
}

TEST_CASE_METHOD(SurvivalTest, "a field with a deadline makes the version 12 in whichever database it is") {
  Run({"SET", "k", "v"});
  Run({"SELECT", "3"});
  Run({"HSET", "hash", "f", "v"});
  Run({"HEXPIRE", "hash", "50", "FIELDS", "1", "f"});
  Run({"SAVE"});
  CHECK(Head() == "REDIS0012");
}

TEST_CASE_METHOD(SurvivalTest, "a set with very many deadlines comes back with all of them") {
  constexpr int kMembers = 20'000;
  std::vector<std::string> words{"SADDEX", "set", "50"};
  for (int i = 0; i < kMembers; ++i) words.push_back("member:" + std::to_string(i));
  Run(words);
  Run({"SADD", "set", "lasting"});
  Run({"SET", "next", "v"});
  Reload();
  CHECK(Run({"SCARD", "set"}) == Integer(kMembers + 1));
  CHECK(Run({"FIELDTTL", "set", "member:0"}) == Integer(50));
  CHECK(Run({"FIELDTTL", "set", "member:19999"}) == Integer(50));
  CHECK(Run({"GET", "next"}) == Bulk("v"));
  AdvanceTime(50'000);
  AdvanceTime(1);
  CHECK(Run({"SMEMBERS", "set"}) == Array({Bulk("lasting")}));
}

// ---- stale values

TEST_CASE_METHOD(SurvivalTest, "a stale value is stale after a restart, for the rest of its window") {
  Run({"SET", "k", "old", "EX", "1", "STALE", "50"});
  Run({"SET", "promise", "old", "EXAT", UnixSeconds(1), "STALE", "50"});
  AdvanceTime(2000);
  Run({"SAVE"});
  CHECK(Info("rdb_last_save_keys") == "0");
  SnapshotTest other;
  LoadInto(other, 5000);
  CHECK(other.Info("rdb_last_load_keys_expired") == "0");
  CHECK(other.Run({"EXISTS", "k"}) == Integer(0));
  // The window has nearly passed. A lease comes with the stale value.
  other.AdvanceTime(40'000);
  for (const char* key : {"k", "promise"})
    CHECK(other.Run({"TAKE", key, "LEASE", "1000"}).elements.at(1) == Bulk("old"));
  SnapshotTest late;
  LoadInto(late, 49'000);
  CHECK(late.Run({"TAKE", "k", "LEASE", "1000"}).elements.at(1) == Null());
  CHECK(late.keyspace().Validate());
}

TEST_CASE_METHOD(SurvivalTest, "a value whose deadline comes in the downtime is loaded as a stale one") {
  Run({"SET", "k", "old", "EX", "1", "STALE", "50", "TAGS", "1", "t"});
  Run({"SET", "tagged", "old", "EX", "1", "STALE", "50", "TAGS", "1", "u"});
  Run({"SET", "gone", "old", "PX", "1000"});
  Run({"SAVE"});
  SnapshotTest other;
  LoadInto(other, 3000);
  CHECK(other.Info("rdb_last_load_keys_expired") == "3");
  CHECK(other.Run({"TAKE", "k", "LEASE", "1000"}).elements.at(1) == Bulk("old"));
  CHECK(other.Run({"TAKE", "gone", "LEASE", "1000"}).elements.at(1) == Null());
  other.Run({"INVALIDATE", "u"});
  CHECK(other.Run({"TAKE", "tagged", "LEASE", "1000"}).elements.at(1) == Null());
  other.AdvanceTime(60'000);
  CHECK(other.keyspace().stale().size() == 0);
  CHECK(other.keyspace().Validate());
}

TEST_CASE_METHOD(SurvivalTest, "stale values of a key that was written during the load do not come back") {
  Run({"SET", "k", "old", "EX", "1", "STALE", "50"});
  FillWith(100);
  Run({"SAVE"});
  SnapshotTest other;
  other.disk.Put(kSnapshotPath, disk.files().at(kSnapshotPath));
  other.disk.piece = 100;
  other.LetTimePass(3000);
  other.snapshots().LoadSoon(other.now());
  other.Run({"SET", "k", "new"});
  other.FinishLoad();
  CHECK(other.Run({"GET", "k"}) == Bulk("new"));
  CHECK(other.keyspace().stale().size() == 0);
}

// ---- the log of removed keys

TEST_CASE_METHOD(SurvivalTest, "a key that expires in the downtime is in EXPLOG, with deadline and value") {
  SetOption("expire-log-size", "1mb");
  Run({"SET", "soon", "the task", "PX", "100"});
  Run({"SET", "number", "17", "PX", "200"});
  Run({"SET", "long", "nine long", "PX", "300"});
  Run({"SET", "later", "v", "PX", "60000"});
  Run({"SADDEX", "members", "1", "a"});
  const int64_t saved_at = WallMs();
  Run({"SAVE"});
  SnapshotTest other;
  other.SetOption("expire-log-size", "1mb");
  other.SetOption("expire-log-values", "8");
  LoadInto(other, 3000);
  CHECK(other.Info("rdb_last_load_keys_expired") == "4");
  const Reply log = other.Run({"EXPLOG", "READ", "0", "VALUES"});
  REQUIRE(log.elements.size() == 4);
  std::map<std::string, Reply> events;
  int64_t number = log.elements[0].elements[0].integer;
  for (const Reply& event : log.elements) {
    CHECK(event.elements[0] == Integer(number++));
    events[event.elements[4].text] = event;
  }
  const auto number_of = [&](const char* key) { return events[key].elements[0].integer; };
  CHECK(events["soon"] == Event(number_of("soon"), saved_at + 100, "soon", Bulk("the task")));
  CHECK(events["number"] == Event(number_of("number"), saved_at + 200, "number", Bulk("17")));
  CHECK(events["long"] == Event(number_of("long"), saved_at + 300, "long", Null()));
  CHECK(events["members"] == Event(number_of("members"), saved_at + 3000, "members", Null()));
}

TEST_CASE_METHOD(SurvivalTest,
                 "EXPLOG goes on after a restart: no record is lost, and no number comes twice") {
  SetOption("expire-log-size", "1mb");
  SetOption("expire-log-values", "100");
  for (const char* key : {"a", "b", "c"}) {
    Run({"SET", key, "v", "PX", "10"});
    AdvanceTime(10);
  }
  const Reply before = Run({"EXPLOG", "READ", "0", "VALUES"});
  REQUIRE(before.elements.size() == 3);
  const int64_t last = before.elements[2].elements[0].integer;
  Run({"SAVE"});
  // The clock of the new server is behind: it would begin with lower numbers.
  SnapshotTest other;
  other.SetOption("expire-log-size", "1mb");
  other.SetOption("expire-log-values", "100");
  other.disk.Put(kSnapshotPath, disk.files().at(kSnapshotPath));
  REQUIRE(other.snapshots().LoadNow({}, other.now()) == "");
  CHECK(other.Run({"EXPLOG", "READ", "0", "VALUES"}) == before);
  other.Run({"SET", "d", "v", "PX", "10"});
  other.AdvanceTime(10);
  const Reply after = other.Run({"EXPLOG", "READ", std::to_string(last + 1)});
  REQUIRE(after.elements.size() == 1);
  CHECK(after.elements[0].elements[4] == Bulk("d"));
  CHECK(after.elements[0].elements[0].integer > last);
  CHECK(other.server().event_log.ring().Validate());
}

TEST_CASE_METHOD(SurvivalTest,
                 "records of the file do not come again into a log that has events of this run") {
  SetOption("expire-log-size", "1mb");
  Run({"SET", "a", "v", "PX", "10"});
  AdvanceTime(10);
  const Reply before = Run({"EXPLOG", "READ", "0"});
  REQUIRE(before.elements.size() == 1);
  Reload();
  CHECK(Run({"EXPLOG", "READ", "0"}) == before);
}

TEST_CASE_METHOD(SurvivalTest, "a background save keeps the newest records of a large log, SAVE keeps all") {
  SetOption("expire-log-size", "8mb");
  const std::string name(200, 'n');
  for (int i = 0; i < 10'000; ++i) Run({"SET", name + std::to_string(i), "v", "PX", "10"});
  AdvanceTime(10);
  while (Run({"DBSIZE"}).integer != 0) AdvanceTime(1);
  const auto restored = [&] {
    SnapshotTest other;
    other.SetOption("expire-log-size", "8mb");
    LoadInto(other, 0);
    CHECK(other.server().event_log.ring().Validate());
    return other.server().event_log.ring().size();
  };
  Run({"SAVE"});
  CHECK(restored() == 10'000);
  Run({"BGSAVE"});
  FinishSave();
  const size_t newest = restored();
  CHECK(newest > 1000);
  CHECK(newest < 5000);
}

// ---- the order of use

TEST_CASE_METHOD(SurvivalTest, "idle times come back in steps of a stamp, not of a second") {
  Run({"SET", "cold", "v"});
  LetTimePass(64);
  Run({"SET", "warm", "v"});
  LetTimePass(2 * 64);
  Run({"SET", "hot", "v"});
  LetTimePass(5 * 64);
  const std::vector<Saved> before = Order();
  CHECK(before[0].idle_ms == 8 * 64);
  Reload();
  CHECK(Order() == before);
}

TEST_CASE_METHOD(SurvivalTest, "a key that was used long ago is not young after a load") {
  Run({"SET", "k", "v"});
  LetTimePass(98ULL * 24 * 3600 * 1000);
  Reload();
  CHECK(Run({"OBJECT", "IDLETIME", "k"}).integer >= 97 * 24 * 3600);
}

TEST_CASE_METHOD(SurvivalTest, "as in Redis, seconds of idleness are for LRU policies alone") {
  Run({"SET", "k", "v"});
  LetTimePass(100'000);
  const auto size_under = [&](const char* policy) {
    SetOption("maxmemory-policy", policy);
    Run({"SAVE"});
    return disk.files().at(kSnapshotPath).size();
  };
  CHECK(size_under("volatile-lru") == size_under("noeviction") + 3);
}

TEST_CASE_METHOD(
    SurvivalTest,
    "values, deadlines and the order of use are those of the save's beginning, whatever is done meanwhile") {
  const unsigned seed = GENERATE(1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U);
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&](size_t count) { return random() % count; };
  const auto any_key = [&] { return "key:" + std::to_string(below(300)); };
  const auto do_something = [&] {
    const std::string key = any_key();
    switch (below(12)) {
      case 0:
        return Run({"SET", key, std::to_string(below(1000))});
      case 1:
        return Run({"SET", key, "v", "PX", std::to_string(1'000'000 + below(1'000'000))});
      case 2:
        return Run({"HSET", key, "f" + std::to_string(below(10)), "v"});
      case 3:
        return Run({"RPUSH", key, "element"});
      case 4:
        return Run({"SADDEX", key, "5000", std::to_string(below(30))});
      case 5:
        return Run({"ZADD", key, "1.5", std::to_string(below(30))});
      case 6:
        return Run({"PEXPIRE", key, std::to_string(1'000'000 + below(1'000'000))});
      case 7:
        return Run({"PERSIST", key});
      case 8:
        return Run({"DEL", key});
      default:
        return Run({"TOUCH", key});
    }
  };
  for (int i = 0; i < 600; ++i) {
    do_something();
    LetTimePass(64);  // no two keys share a stamp
  }
  const std::vector<Saved> order = Order();
  const Reply digest = Run({"DEBUG", "DIGEST"});
  const int64_t begin_ms = WallMs();
  Run({"BGSAVE"});
  while (snapshots().saving()) {
    for (size_t n = below(4); n != 0; --n) do_something();
    if (below(3) == 0) LetTimePass(64);
    Slice(1 + below(5));
  }
  Run({"FLUSHALL"});
  StepWallClock(begin_ms - WallMs());
  REQUIRE(snapshots().LoadNow({}, now()) == "");
  CHECK(Run({"DEBUG", "DIGEST"}) == digest);
  CHECK(Order() == order);
  CHECK(keyspace().Validate());
}

TEST_CASE_METHOD(SurvivalTest, "early keys find their place also if the load ends early") {
  for (int i = 0; i < 100; ++i) {
    Run({"SET", "key:" + std::to_string(i), "v"});
    LetTimePass(64);
  }
  Run({"BGSAVE"});
  // The coldest keys are used, and come first in the file.
  Run({"TOUCH", "key:0", "key:1", "key:50"});
  FinishSave();
  Run({"FLUSHALL"});
  SetOption("maxkeys", "20");
  REQUIRE(snapshots().LoadNow({}, now()) == "");
  const std::vector<std::string> names = Names();
  REQUIRE(names.size() == 20);
  CHECK(names[0] == "key:0");
  CHECK(names[1] == "key:1");
  CHECK(names[2] == "key:50");
  CHECK(names[3] == "key:83");
  CHECK(names[19] == "key:99");
}

TEST_CASE_METHOD(SurvivalTest, "an early key that a client uses during the load stays hot") {
  for (int i = 0; i < 100; ++i) {
    Run({"SET", "key:" + std::to_string(i), "v"});
    LetTimePass(64);
  }
  Run({"BGSAVE"});
  Run({"TOUCH", "key:0", "key:1"});
  FinishSave();
  Run({"FLUSHALL"});
  LetTimePass(64);
  disk.piece = 300;
  snapshots().LoadSoon(now());
  while (Run({"EXISTS", "key:0"}) == Integer(0)) Slice(1);
  Run({"TOUCH", "key:0"});
  FinishLoad();
  const std::vector<std::string> names = Names();
  CHECK(names.front() == "key:1");
  CHECK(names.back() == "key:0");
}

TEST_CASE_METHOD(SurvivalTest, "RESTORE with IDLETIME puts the key where its time of use belongs") {
  for (const char* key : {"a", "b", "c"}) {
    Run({"SET", key, "v"});
    LetTimePass(10'000);
  }
  const std::string payload = Run({"DUMP", "a"}).text;  // a is used now
  CHECK(Names() == std::vector<std::string>{"b", "c", "a"});
  Run({"RESTORE", "coldest", "0", payload, "IDLETIME", "1000"});
  Run({"RESTORE", "middle", "0", payload, "IDLETIME", "15"});
  Run({"RESTORE", "hot", "0", payload, "IDLETIME", "5"});
  Run({"RESTORE", "hottest", "0", payload, "IDLETIME", "0"});
  CHECK(Names() == std::vector<std::string>{"coldest", "b", "middle", "c", "hot", "a", "hottest"});
  Run({"RESTORE", "hottest", "0", payload, "REPLACE", "IDLETIME", "12"});
  CHECK(Names() == std::vector<std::string>{"coldest", "b", "middle", "hottest", "c", "hot", "a"});
  CHECK(keyspace().Validate());
}

TEST_CASE_METHOD(SurvivalTest, "in a long list, RESTORE with IDLETIME comes near to its place") {
  constexpr size_t kKeys = 2000;
  for (size_t i = 0; i < kKeys; ++i) {
    Run({"SET", "key:" + std::to_string(i), "v"});
    LetTimePass(1000);
  }
  const std::string payload = Run({"DUMP", "key:1999"}).text;
  const auto place_of = [&](const char* key) {
    const std::vector<std::string> names = Names();
    return static_cast<size_t>(std::find(names.begin(), names.end(), key) - names.begin());
  };
  Run({"RESTORE", "exact", "0", payload, "IDLETIME", "1900"});
  CHECK(place_of("exact") == 101);
  Run({"RESTORE", "hot", "0", payload, "IDLETIME", "300"});
  CHECK(place_of("hot") >= kKeys - 300);
  Run({"RESTORE", "cold", "0", payload, "IDLETIME", "1600"});
  CHECK(place_of("cold") > Quota::kLooks - 10);
  CHECK(place_of("cold") < 400);
  CHECK(keyspace().Validate());
}

TEST_CASE_METHOD(SnapshotTest, "a log of removed keys of many megabytes is saved and loaded, keys too") {
  SetOption("expire-log-size", "16mb");
  const std::string value(1'000, 'v');
  for (int i = 0; i < 6'000; ++i) {
    const std::string key = "gone:" + std::to_string(i);
    Run({"SET", key, value});
    Run({"DEL", key});
  }
  Run({"SET", "here", "v"});
  const uint64_t records = server().event_log.ring().size();
  REQUIRE(records == 6'000);
  Reload();
  CHECK(Run({"GET", "here"}) == Bulk("v"));
  CHECK(server().event_log.ring().size() == records);
}

}  // namespace mayfly::testing

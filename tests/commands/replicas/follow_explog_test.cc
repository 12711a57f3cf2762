// EXPLOG at a replica: keys go by their master's commands, and each has the reason that it has at the master. A master's file
// never fails for what EXPLOG has in it.
#include <algorithm>
#include <string>
#include <vector>

#include "commands/replicas/follow_world.h"
#include "replication/cutoff.h"

namespace mayfly::testing {
namespace {

class FollowExpLogTest : public FollowTest {
 public:
  FollowExpLogTest() {
    SetOption("expire-log-size", "1mb");
    SetOption("expire-log-values", "100");
    follower.SetOption("expire-log-size", "1mb");
    follower.SetOption("expire-log-values", "100");
  }
  // All events, without their numbers: each server has numbers of its own. Of one moment they come in any order.
  static std::vector<std::string> EventsOf(CommandTest& server) {
    std::vector<std::string> events;
    for (const Reply& event : server.Run({"EXPLOG", "READ", "0", "VALUES"}).elements) {
      std::string line;
      for (size_t i = 1; i < event.elements.size(); ++i) {
        const Reply& part = event.elements[i];
        line += part.kind == Reply::Kind::kInteger ? std::to_string(part.integer) : part.text;
        line += ' ';
      }
      events.push_back(line);
    }
    std::ranges::sort(events);
    return events;
  }
  void Prepare() {
    Run({"SET", "relative", "1", "PX", "100"});
    Run({"SET", "wall", "2", "PXAT", std::to_string(WallMs() + 110)});
    Run({"SET", "stale", "3", "PX", "120", "STALE", "60"});
    Run({"SET", "sliding", "4", "PX", "130", "SLIDE"});
    Run({"HSETEX", "hash", "PX", "140", "FIELDS", "1", "f", "v"});
    Run({"HSET", "half", "a", "1", "b", "2"});
    Run({"HPEXPIRE", "half", "140", "FIELDS", "1", "a"});
    Run({"SADD", "set", "m"});
    Run({"SPEXPIRE", "set", "150", "MEMBERS", "1", "m"});
    Run({"ZADD", "zset", "1", "m"});
    Run({"EXPIREMEMBER", "zset", "m", "160", "MS"});
    Run({"SET", "task", "v", "PX", "170", "INTO", "jobs"});
    Run({"RPUSH", "list", "only"});
    Run({"SET", "later", "v", "PX", "100000"});
    Run({"SET", "deleted", "v"});
  }
  // The end of some keys before their time.
  void Delete() {
    Run({"DEL", "deleted", "later"});
    Run({"LPOP", "list"});
    Run({"HDEL", "half", "b"});
  }
};

}  // namespace

TEST_CASE_METHOD(FollowExpLogTest, "a key that expires at the master has expired in its replica's log") {
  const bool by_deletions = GENERATE(false, true);
  CAPTURE(by_deletions);
  if (by_deletions) {
    MasterTest::Follow("7009");  // a server that knows no cutoffs
    SetOption("expire-log-size", "0");
    SetOption("expire-log-size", "1mb");
    follower.AdvanceTime(static_cast<uint64_t>(WallMs() - follower.WallMs()));
  }
  FollowTest::Follow();
  Prepare();
  Carry();
  for (int i = 0; i < 30; ++i) {
    AdvanceTime(10);
    follower.AdvanceTime(10);
    Carry();
  }
  Delete();
  Carry();
  const std::vector<std::string> events = EventsOf(*this);
  CHECK(events.size() == 12);
  CHECK(EventsOf(follower) == events);
}

TEST_CASE_METHOD(FollowExpLogTest, "a replica whose clock is behind logs what a cutoff takes as expired") {
  FollowTest::Follow();
  Run({"SET", "k", "v", "PX", "100"});
  Carry();
  AdvanceTime(100);  // the replica's clock stands still
  Carry();
  CHECK(follower.Run({"DBSIZE"}) == Integer(0));
  CHECK(EventsOf(follower) == EventsOf(*this));
  CHECK(EventsOf(follower).size() == 1);
}

TEST_CASE_METHOD(FollowExpLogTest,
                 "a replica that is promoted while it frees what a cutoff takes logs it as expired") {
  constexpr int kKeys = 3 * Cutoff::kAtOnce;
  FollowTest::Follow();
  for (int i = 0; i < kKeys; ++i) Run({"SET", "k" + std::to_string(i), "v", "PX", "100"});
  Carry();
  AdvanceTime(100);  // the replica's clock stands still
  CarryBytes();
  REQUIRE(follower.server().server.link.frees_cut_off);
  REQUIRE(follower.Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  const std::vector<std::string> events = EventsOf(follower);
  CHECK(events.size() == kKeys);
  for (const std::string& event : events) CHECK(event.find("expired") != std::string::npos);
}

TEST_CASE_METHOD(FollowExpLogTest,
                 "a full sync logs no key: neither those that come again, nor those that are gone") {
  Run({"SET", "deleted", "v"});
  Run({"SET", "later", "v", "PX", "1000000"});
  follower.Run({"SET", "own", "v"});
  follower.Run({"SET", "deleted", "older"});
  follower.Run({"SET", "due", "v", "PX", "1"});
  FollowTest::Follow();
  CHECK(follower.Run({"EXISTS", "own"}) == Integer(0));
  CHECK(follower.Run({"GET", "deleted"}) == Bulk("v"));
  CHECK(EventsOf(follower).empty());
  // The master is started again, and has lost all keys.
  Run({"FLUSHALL"});
  REQUIRE(follower.Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  follower.Run({"SET", "own", "v"});
  FollowTest::Follow();
  CHECK(follower.Run({"DBSIZE"}) == Integer(0));
  CHECK(Link("master_full_syncs") == "2");
  CHECK(EventsOf(follower).empty());
}

TEST_CASE_METHOD(FollowExpLogTest,
                 "clients that watch a key hear that it gives way to a master's file, and no event comes") {
  follower.Run({"SET", "k", "old"});
  Run({"SET", "k", "new"});
  REQUIRE(follower.Run({"CONFIG", "SET", "notify-keyspace-events", "KEA"}) == Ok());
  TestClient& watcher = follower.Connect();
  watcher.Run({"WATCH", "k"});
  watcher.Run({"MULTI"});
  watcher.Run({"PING"});
  TestClient& reader = follower.Connect();
  reader.Run({"PSUBSCRIBE", "__key*"});
  FollowTest::Follow();
  CHECK(watcher.Run({"EXEC"}).kind == Reply::Kind::kNullArray);
  CHECK(reader.Received().empty());
}

TEST_CASE_METHOD(
    FollowExpLogTest,
    "a standby that is started again gets its master's keys, whatever its own log and file have") {
  FollowTest::Follow();
  for (int i = 0; i < 20; ++i) Run({"SET", "k" + std::to_string(i), "v", "PX", "10"});
  Carry();
  Pass(20);
  Run({"SET", "kept", "v"});
  Carry();
  REQUIRE(EventsOf(follower).size() == 20);
  REQUIRE(follower.Run({"SAVE"}) == Ok());
  // Another process with this file, and without an event of its own.
  Follower again;
  again.SetOption("expire-log-size", "1mb");
  again.disk.Put(kSnapshotPath, follower.disk.files().at(kSnapshotPath));
  REQUIRE(again.snapshots().LoadNow({}, again.now()) == "");
  CHECK(EventsOf(again).size() == 20);
  CHECK(again.Run({"DEBUG", "RELOAD"}) == Ok());
  CHECK(again.Run({"GET", "kept"}) == Bulk("v"));
  CHECK(EventsOf(again).size() == 20);
  // The master's file has the same events, and others.
  Run({"SET", "new", "v"});
  Run({"SET", "soon", "v", "PX", "10"});
  AdvanceTime(20);
  REQUIRE(Run({"SAVE"}) == Ok());
  again.disk.Put(kSnapshotPath, disk.files().at(kSnapshotPath));
  for (int times = 0; times < 2; ++times) {
    CHECK(again.snapshots().LoadNow({.file_wins = true, .from_master = true}, again.now()) == "");
    CHECK(again.Run({"GET", "kept"}) == Bulk("v"));
    CHECK(again.Run({"GET", "new"}) == Bulk("v"));
    CHECK(again.server().event_log.ring().Validate());
  }
}

}  // namespace mayfly::testing

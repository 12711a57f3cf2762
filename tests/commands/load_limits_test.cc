// What bounds a load, what it is told to pass over, and what clients do beside it in another database.
#include <string>
#include <vector>

#include "commands/replica_world.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(
    SnapshotTest,
    "INVALIDATE and NSFLUSH during a load are for the keys to come, INVALIDATE of its database") {
  SetOption("namespace", "ns prefix ns:");
  for (const char* database : {"0", "1"}) {
    Run({"SELECT", database});
    Run({"SET", "tagged", "v", "TAGS", "2", "t", "other"});
    Run({"SET", "ns:key", "v"});
    Run({"SET", "key", "v"});
  }
  Run({"SELECT", "0"});
  REQUIRE(Run({"SAVE"}) == Ok());
  Run({"FLUSHALL"});
  disk.piece = 1;
  const auto load_beside = [&](const Words& request) {
    Run({"SELECT", "0"});
    Run({"FLUSHALL"});
    snapshots().LoadSoon(now());
    REQUIRE(Run(request).kind != Reply::Kind::kError);
    FinishLoad();
    std::string keys;
    for (const char* database : {"0", "1"}) {
      Run({"SELECT", database});
      for (const char* key : {"tagged", "ns:key", "key"})
        keys += Run({"EXISTS", key}) == Integer(1) ? std::string(key) + " " : "";
      keys += "| ";
    }
    return keys;
  };
  CHECK(load_beside({"PING"}) == "tagged ns:key key | tagged ns:key key | ");
  CHECK(load_beside({"INVALIDATE", "t"}) == "ns:key key | tagged ns:key key | ");
  CHECK(load_beside({"INVALIDATE", "other", "none"}) == "ns:key key | tagged ns:key key | ");
  CHECK(load_beside({"NSFLUSH", "ns"}) == "tagged key | tagged key | ");
  CHECK(load_beside({"FLUSHDB"}) == "| tagged ns:key key | ");
  CHECK(load_beside({"DEL", "key"}) == "tagged ns:key | tagged ns:key key | ");
}

TEST_CASE_METHOD(SnapshotTest, "EXPLOG's records come back with their databases, kinds, keys and values") {
  SetOption("expire-log-size", "1mb");
  SetOption("expire-log-values", "100");
  for (const char* database : {"0", "3"}) {
    Run({"SELECT", database});
    Run({"SET", std::string("k") + database, "v", "PX", "10"});
    Run({"SET", std::string("t") + database, "v", "TAGS", "1", "t"});
    AdvanceTime(10);
    Run({"INVALIDATE", "t"});
    AdvanceTime(1);
  }
  const Reply before = Run({"EXPLOG", "READ", "0", "VALUES"});
  REQUIRE(before.elements.size() >= 2);
  REQUIRE(Run({"SAVE"}) == Ok());
  SnapshotTest other;
  other.SetOption("expire-log-size", "1mb");
  other.SetOption("expire-log-values", "100");
  other.disk.Put(kSnapshotPath, disk.files().at(kSnapshotPath));
  REQUIRE(other.snapshots().LoadNow({}, other.now()) == "");
  CHECK(other.Run({"EXPLOG", "READ", "0", "VALUES"}) == before);
}

TEST_CASE_METHOD(SnapshotTest, "a file begins with the sizes of each database's tables") {
  FillWith(5);
  Run({"PEXPIRE", "key:0", "100000"});
  Run({"PEXPIRE", "key:1", "100000"});
  Run({"SELECT", "3"});
  FillWith(1);
  REQUIRE(Run({"SAVE"}) == Ok());
  const std::string sizes("\xFE\0\xFB\5\2\xFE\3\xFB\1\0", 10);
  CHECK(disk.files().at(kSnapshotPath).find(sizes) != std::string::npos);
}

// ---- figures

TEST_CASE_METHOD(SnapshotTest, "what is changed during a save counts as unsaved when it ends") {
  FillWith(500);
  CHECK(Info("rdb_changes_since_last_save") == "500");
  REQUIRE(Run({"BGSAVE"}) == Simple("Background saving started"));
  Slice();
  for (int i = 0; i < 7; ++i) Run({"SET", "key:1", std::to_string(i)});
  LetTimePass(5000);
  FinishSave();
  CHECK(Info("rdb_changes_since_last_save") == "7");
  CHECK(Run({"LASTSAVE"}) == Integer(WallMs() / 1000));
  LetTimePass(60'000);
  disk.FailAt(1, 28);
  CHECK(Run({"SAVE"}).kind == Reply::Kind::kError);
  CHECK(Info("rdb_changes_since_last_save") == "7");
  CHECK(Run({"LASTSAVE"}) == Integer((WallMs() - 60'000) / 1000));
}

TEST_CASE_METHOD(
    SnapshotTest,
    "of several save points the one whose time comes first counts, from the end of the last save") {
  SetOption("save", "10 100 60 3");
  AdvanceTime(100'000);
  REQUIRE(Run({"SAVE"}) == Ok());
  for (int i = 0; i < 3; ++i) Run({"SET", "k", std::to_string(i)});
  AdvanceTime(59'999);
  FinishSave();
  CHECK(Info("rdb_saves") == "1");
  AdvanceTime(1);
  FinishSave();
  CHECK(Info("rdb_saves") == "2");
  for (int i = 0; i < 99; ++i) Run({"SET", "k", std::to_string(i)});
  AdvanceTime(30'000);
  FinishSave();
  CHECK(Info("rdb_saves") == "2");
  Run({"SET", "k", "last"});
  AdvanceTime(1);
  FinishSave();
  CHECK(Info("rdb_saves") == "3");
}

TEST_CASE_METHOD(SnapshotTest, "a save that fails is tried again after some seconds, not in each turn") {
  SetOption("save", "1 1");
  SetOption("stop-writes-on-bgsave-error", "no");
  AdvanceTime(10'000);
  disk.FailFrom(1, 28);
  Run({"SET", "k", "v"});
  size_t tries = 0;
  size_t calls = 0;
  for (int ms = 0; ms < 20'000; ms += 100) {
    AdvanceTime(100);
    FinishSave();
    tries += disk.calls() != calls ? 1 : 0;
    calls = disk.calls();
  }
  CHECK(tries >= 3);
  CHECK(tries <= 5);
}

// ---- a master's file

TEST_CASE_METHOD(ReplicaTest, "a master's file is loaded whole, whatever maxkeys and maxmemory say here") {
  std::vector<Words> requests;
  for (int i = 0; i < 300; ++i) requests.push_back({"SET", "k" + std::to_string(i), std::string(1000, 'v')});
  const std::string file = FileWith(requests);
  SetOption("maxkeys", "10");
  SetOption("maxmemory", "1000000");
  Sync(file);
  CHECK(Run({"DBSIZE"}) == Integer(300));
}

TEST_CASE_METHOD(ReplicaTest, "a master's file takes the place of the functions, too") {
  const std::string file = FileWith({{"SET", "a", "1"}});
  Run({"FUNCTION", "LOAD", "#!lua name=old\nredis.register_function('f', function() return 1 end)"});
  REQUIRE(Run({"FUNCTION", "LIST"}).elements.size() == 1);
  Sync(file);
  CHECK(Run({"FUNCTION", "LIST"}).elements.empty());
}

}  // namespace mayfly::testing

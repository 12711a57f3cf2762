// What bounds a load, what it is told to pass over, and what clients do beside
// it in another database.
#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "commands/replicas/replica_world.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

// The same bytes with another checksum.
std::string WithWrongChecksum(std::string file) {
  file.back() = static_cast<char>(file.back() ^ 1);
  return file;
}

}  // namespace

#ifndef MAYFLY_SANITIZE  // in whose builds only the heap of entries is counted
TEST_CASE_METHOD(SnapshotTest, "a load ends when maxmemory is reached, and says so") {
  SetOption("rdbcompression", "no");
  for (int i = 0; i < 6000; ++i) Run({"SET", "key:" + std::to_string(i), std::string(1000, 'x')});
  REQUIRE(Run({"SAVE"}) == Ok());
  Run({"FLUSHALL"});
  while (server().databases.FreeSome(1000)) {
  }
  const uint64_t used = server().memory.All();
  SetOption("maxmemory", std::to_string(used + 4'500'000));
  snapshots().LoadSoon(now());
  FinishLoad();
  const int64_t keys = Run({"DBSIZE"}).integer;
  CHECK(keys > 300);
  CHECK(keys < 5500);
  CHECK(server().memory.All() < used + 4'600'000);
}
#endif

TEST_CASE_METHOD(SnapshotTest,
                 "a file that promises more keys than a limit "
                 "has room for makes no table for them") {
  constexpr int kKeys = 400'000;
  std::string bytes = "REDIS0010";
  rdb::Out out(bytes);
  out.Byte(rdb::opcode::kTableSizes);
  for (const uint64_t number : {kKeys, 0}) out.Length(number);
  for (int i = 0; i < kKeys; ++i) {
    out.Byte(rdb::type::kString);
    out.String("key:" + std::to_string(i));
    out.String(std::string(45, 'v'));
  }
  out.Byte(rdb::opcode::kEnd);
  out.Checksum(0);
  disk.Put(kSnapshotPath, bytes);
  const std::string limit = GENERATE("maxmemory", "maxkeys");
  CAPTURE(limit);
  SetOption(limit, limit == "maxkeys" ? "500" : std::to_string(server().memory.All() + 3'000'000));
  size_t largest = 0;
  snapshots().LoadSoon(now());
  while (snapshots().loading()) {
    Slice(64);
    largest = std::max(largest, keyspace().table().memory());
  }
  CHECK(Run({"DBSIZE"}).integer > 100);
  CHECK(largest < (limit == "maxkeys" ? 50'000 : 1'500'000));
}

TEST_CASE_METHOD(SnapshotTest,
                 "with rdbchecksum no a file is loaded whatever "
                 "its checksum, and one without any is saved") {
  FillWith(10);
  REQUIRE(Run({"SAVE"}) == Ok());
  disk.Put(kSnapshotPath, WithWrongChecksum(disk.files().at(kSnapshotPath)));
  Run({"FLUSHALL"});
  CHECK(snapshots().LoadNow({}, now()).find("the checksum is wrong") != std::string::npos);
  SnapshotTest other;
  other.StartWith("rdbchecksum", "no");
  other.disk.Put(kSnapshotPath, disk.files().at(kSnapshotPath + ".damaged"));
  CHECK(other.snapshots().LoadNow({}, other.now()) == "");
  CHECK(other.Run({"DBSIZE"}) == Integer(10));
  REQUIRE(other.Run({"SAVE"}) == Ok());
  CHECK(other.disk.files().at(kSnapshotPath).ends_with(std::string(8, '\0')));
}

TEST_CASE_METHOD(SnapshotTest,
                 "INVALIDATE and NSFLUSH during a load are for "
                 "the keys to come, INVALIDATE of its database") {
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

TEST_CASE_METHOD(SnapshotTest,
                 "a load leaves out the keys of each namespace that was flushed, and those alone") {
  SetOption("namespace", "a prefix a: b prefix b: ab prefix ab: all prefix z");
  const Words keys = {"a",   "a:",   "a:1", "a;", "ab:1", "abc", "b",
                      "b:1", "ba:1", "c:1", "y",  "z",    "z:1", "zz"};
  for (const std::string& key : keys) Run({"SET", key, "v"});
  REQUIRE(Run({"SAVE"}) == Ok());
  disk.piece = 1;
  const auto left_after = [&](const Words& spaces) {
    Run({"FLUSHALL"});
    snapshots().LoadSoon(now());
    for (const std::string& space : spaces) REQUIRE(Run({"NSFLUSH", space}).kind == Reply::Kind::kInteger);
    FinishLoad();
    std::string left;
    for (const std::string& key : keys) left += Run({"EXISTS", key}) == Integer(1) ? key + " " : "";
    return left;
  };
  CHECK(left_after({"a"}) == "a a; ab:1 abc b b:1 ba:1 c:1 y z z:1 zz ");
  CHECK(left_after({"a", "b", "a"}) == "a a; ab:1 abc b ba:1 c:1 y z z:1 zz ");
  CHECK(left_after({"all", "b", "ab"}) == "a a: a:1 a; abc b ba:1 c:1 y ");
  CHECK(left_after({"ab", "b", "a", "all"}) == "a a; abc b ba:1 c:1 y ");
}

TEST_CASE_METHOD(SnapshotTest,
                 "NSFLUSH during a load leaves the keys to come of a namespace within the flushed one") {
  const std::string three_deep = "outer prefix a: inner prefix a:b: innermost prefix a:b:c:";
  const Words keys = {"a:", "a:1", "a:b:1", "a:b:c:1", "a:c:1"};
  for (const std::string& key : keys) Run({"SET", key, "v"});
  REQUIRE(Run({"SAVE"}) == Ok());
  disk.piece = 1;
  const auto load_beside = [&](const std::vector<Words>& requests) {
    Run({"FLUSHALL"});
    SetOption("namespace", three_deep);
    snapshots().LoadSoon(now());
    for (const Words& request : requests) REQUIRE(Run(request).kind != Reply::Kind::kError);
    FinishLoad();
    Words loaded;
    for (const std::string& key : keys) {
      if (Run({"EXISTS", key}) == Integer(1)) loaded.push_back(key);
    }
    return loaded;
  };
  const Words outer = {"NSFLUSH", "outer"};
  const Words inner = {"NSFLUSH", "inner"};
  const Words innermost = {"NSFLUSH", "innermost"};
  CHECK(load_beside({outer}) == Words{"a:b:1", "a:b:c:1"});
  CHECK(load_beside({inner}) == Words{"a:", "a:1", "a:b:c:1", "a:c:1"});
  CHECK(load_beside({outer, inner}) == Words{"a:b:c:1"});
  CHECK(load_beside({inner, outer}) == Words{"a:b:c:1"});
  CHECK(load_beside({innermost, outer}) == Words{"a:b:1"});
  CHECK(load_beside({outer, innermost, inner}).empty());
  // The namespaces at the time of the flush count.
  const Words one = {"CONFIG", "SET", "namespace", "outer prefix a:"};
  const Words three = {"CONFIG", "SET", "namespace", three_deep};
  CHECK(load_beside({outer, one}) == Words{"a:b:1", "a:b:c:1"});
  CHECK(load_beside({one, outer, three}).empty());
  CHECK(load_beside({inner, one, three, innermost}) == Words{"a:", "a:1", "a:c:1"});
  const Words other = {"CONFIG", "SET", "namespace", "other prefix a:"};
  CHECK(load_beside({{"SET", "a:own", "v"}, other, outer}).size() == keys.size());
  CHECK(Run({"EXISTS", "a:own"}) == Integer(0));
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

TEST_CASE_METHOD(SnapshotTest,
                 "of several save points the one whose time comes first "
                 "counts, from the end of the last save") {
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

TEST_CASE_METHOD(SnapshotTest,
                 "under each LRU policy the file has the idle seconds for "
                 "other servers, and under no other") {
  Run({"SET", "k", "v"});
  LetTimePass(100'100);
  for (const char* policy : {"noeviction", "allkeys-lru", "volatile-lru", "allkeys-random", "volatile-random",
                             "volatile-ttl", "allkeys-sieve", "allkeys-s3fifo"}) {
    CAPTURE(policy);
    if (Run({"CONFIG", "SET", "maxmemory-policy", policy}) != Ok()) continue;
    REQUIRE(Run({"SAVE"}) == Ok());
    const std::string file = disk.files().at(kSnapshotPath);
    const std::string seconds = std::string{static_cast<char>(rdb::opcode::kIdle), '\x40', '\x64'};
    CHECK((file.find(seconds) != std::string::npos) == std::string_view(policy).ends_with("lru"));
  }
}

// ---- a master's file

TEST_CASE_METHOD(ReplicaTest,
                 "a save under way is given up when the master's "
                 "keys take the place of its keys") {
  const std::string file = FileWith({{"SET", "a", "1"}});
  FillWith(5000);
  Connect();
  AnswerFull();
  REQUIRE(Run({"BGSAVE"}) == Simple("Background saving started"));
  const std::string before = disk.files().at(kSnapshotPath);
  master().Answer("$" + std::to_string(file.size()) + "\r\n" + file);
  // The save has no slice until the file is there.
  for (int i = 0; i < 1'000'000 && !snapshots().loading(); ++i) {
    server().hubs.wakes.Tell();
    std::this_thread::yield();
  }
  REQUIRE(snapshots().loading());
  FinishSync();
  FinishSave();
  CHECK(Replication("master_link_status") == "up");
  CHECK((disk.files().at(kSnapshotPath) == before));
  CHECK(Info("rdb_last_bgsave_status") == "ok");
}

TEST_CASE_METHOD(ReplicaTest,
                 "a master's file is loaded whole, whatever "
                 "maxkeys and maxmemory say here") {
  std::vector<Words> requests;
  for (int i = 0; i < 300; ++i) requests.push_back({"SET", "k" + std::to_string(i), std::string(1000, 'v')});
  const std::string file = FileWith(requests);
  SetOption("maxkeys", "10");
  SetOption("maxmemory", "1000000");
  Sync(file);
  CHECK(Run({"DBSIZE"}) == Integer(300));
}

TEST_CASE_METHOD(ReplicaTest,
                 "with rdbchecksum no a replica takes its "
                 "master's file whatever the checksum") {
  const std::string file = WithWrongChecksum(FileWith({{"SET", "a", "1"}}));
  StartWith("rdbchecksum", "no");
  Sync(file);
  CHECK(Run({"GET", "a"}) == Bulk("1"));
}

TEST_CASE_METHOD(ReplicaTest, "a master's file takes the place of the functions, too") {
  const std::string file = FileWith({{"SET", "a", "1"}});
  Run({"FUNCTION", "LOAD",
       "#!lua name=old\nredis.register_function('f', function() return 1 "
       "end)"});
  REQUIRE(Run({"FUNCTION", "LIST"}).elements.size() == 1);
  Sync(file);
  CHECK(Run({"FUNCTION", "LIST"}).elements.empty());
}

TEST_CASE_METHOD(ReplicaTest,
                 "the keys of before that the master does not "
                 "have go in slices, and are counted meanwhile") {
  constexpr int kKeys = 20'000;
  std::vector<Words> requests;
  for (int i = 0; i < 5000; ++i) requests.push_back({"SET", "new" + std::to_string(i), "v"});
  const std::string file = FileWith(requests);
  for (int i = 0; i < kKeys; ++i) Run({"SET", "old" + std::to_string(i), "v"});
  disk.piece = 1000;  // so that little of the file is in memory
  Connect();
  AnswerFull();
  master().Answer("$" + std::to_string(file.size()) + "\r\n" + file);
  WorkUntil([this] { return snapshots().loading(); });
  const uint64_t before = server().hubs.accounts.Sum();
  uint64_t most = 0;
  int64_t keys = Run({"DBSIZE"}).integer;
  int64_t largest_step = 0;
  while (snapshots().loading()) {
    Slice(16);
    const int64_t left = Run({"DBSIZE"}).integer;
    largest_step = std::max(largest_step, keys - left);
    keys = left;
    most = std::max(most, server().hubs.accounts.Sum());
  }
  CHECK(keys == 5000);
  CHECK(largest_step <= 200);
  CHECK(most - before > 5000 * sizeof(uint64_t));
}

}  // namespace mayfly::testing

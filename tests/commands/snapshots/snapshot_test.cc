// SAVE, BGSAVE and the load: what a file brings back, what clients may do meanwhile, and what may go wrong.
#include "support/snapshot_test.h"

#include <cerrno>
#include <csignal>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "snapshot/load_claims.h"

namespace mayfly::testing {

TEST_CASE_METHOD(SnapshotTest, "a file brings back values of every type, in their databases") {
  Run({"SET", "string", "text"});
  Run({"SET", "number", "-17"});
  Run({"SET", "long", std::string(100'000, 'x')});
  Run({"RPUSH", "list", "a", "1", ""});
  Run({"SADD", "set", "1", "2"});
  Run({"HSET", "hash", "f", "v", "g", "7"});
  Run({"ZADD", "zset", "1.5", "a", "-inf", "b"});
  Run({"XADD", "stream", "5-1", "f", "v"});
  Run({"SELECT", "3"});
  Run({"SET", "elsewhere", "v"});
  Run({"SELECT", "0"});
  const Reply digest = Run({"DEBUG", "DIGEST"});
  Reload();
  CHECK(Run({"DEBUG", "DIGEST"}) == digest);
  CHECK(Run({"DBSIZE"}) == Integer(8));
  Run({"SELECT", "3"});
  CHECK(Run({"GET", "elsewhere"}) == Bulk("v"));
}

TEST_CASE_METHOD(SnapshotTest, "deadlines go on over the downtime, to the millisecond") {
  Run({"SET", "ttl", "v", "PX", "5000"});
  Run({"SET", "promise", "v", "PXAT", UnixMs(5000)});
  Run({"SET", "soon", "v", "PX", "100"});
  Run({"HSET", "hash", "f", "v", "g", "w"});
  Run({"HPEXPIRE", "hash", "5000", "FIELDS", "1", "f"});
  REQUIRE(Run({"SAVE"}) == Ok());
  Run({"FLUSHALL"});
  LetTimePass(1234);
  REQUIRE(snapshots().LoadNow({}, now()) == "");
  CHECK(Run({"PTTL", "ttl"}) == Integer(5000 - 1234));
  CHECK(Run({"PTTL", "promise"}) == Integer(5000 - 1234));
  CHECK(Run({"EXISTS", "soon"}) == Integer(0));
  CHECK(Run({"HPTTL", "hash", "FIELDS", "1", "f"}) == Array({Integer(5000 - 1234)}));
  CHECK(Info("rdb_last_load_keys_expired") == "1");
  // A step of the clock moves only the promise.
  StepWallClock(1000);
  CHECK(Run({"PTTL", "ttl"}) == Integer(5000 - 1234));
  CHECK(Run({"PTTL", "promise"}) == Integer(5000 - 2234));
}

TEST_CASE_METHOD(SnapshotTest, "deadlines of members of sets and sorted sets go on, too") {
  Run({"SADDEX", "set", "5", "a", "b"});
  Run({"SADD", "set", "c"});
  Run({"ZADD", "zset", "1", "a", "2", "b"});
  Run({"EXPIREMEMBER", "zset", "a", "5"});
  Run({"SADDEX", "short", "1", "a", "b"});
  REQUIRE(Run({"SAVE"}) == Ok());
  Run({"FLUSHALL"});
  LetTimePass(2000);
  REQUIRE(snapshots().LoadNow({}, now()) == "");
  CHECK(Run({"FIELDTTL", "set", "a"}) == Integer(3));
  CHECK(Run({"FIELDTTL", "set", "c"}) == Integer(-1));
  CHECK(Run({"EXISTS", "short"}) == Integer(0));
  AdvanceTime(3000);
  CHECK(Run({"SMEMBERS", "set"}) == Array({Bulk("c")}));
  CHECK(Run({"ZRANGE", "zset", "0", "-1"}) == Array({Bulk("b")}));
}

TEST_CASE_METHOD(SnapshotTest, "records without keys are read in slices, too") {
  Run({"SAVE"});
  std::string bytes = disk.files().at(kSnapshotPath);
  constexpr size_t kEnd = 9;  // the last record and the checksum
  bytes.resize(bytes.size() - kEnd);
  constexpr int kRecords = 10'000;
  for (int i = 0; i < kRecords; ++i) bytes += std::string("\xFE\0", 2);  // SELECT 0
  bytes += "\xFF" + std::string(8, '\0');                                // no checksum
  disk.Put(kSnapshotPath, bytes);
  snapshots().LoadSoon(now());
  int slices = 0;
  for (; snapshots().loading(); ++slices) Slice(16);
  CHECK(slices >= kRecords / 16);
  CHECK(Info("rdb_last_load_keys_loaded") == "0");
}

TEST_CASE_METHOD(SnapshotTest, "a file of a newer version keeps its contents, under another name") {
  Run({"SAVE"});
  std::string bytes = disk.files().at(kSnapshotPath);
  bytes.replace(5, 4, "0099");
  disk.Put(kSnapshotPath, bytes);
  snapshots().LoadSoon(now());
  FinishLoad();
  CHECK((disk.files().at(kSnapshotPath + ".unknown") == bytes));
}

TEST_CASE_METHOD(SnapshotTest, "tags, SLIDE and STALE come back, too") {
  Run({"SET", "k", "v", "EX", "100", "TAGS", "2", "a", "b"});
  Run({"SET", "slides", "v", "EX", "100", "SLIDE"});
  Run({"SET", "stale", "v", "EX", "100", "STALE", "50"});
  Reload();
  CHECK(Run({"INVALIDATE", "b"}) == Integer(1));
  CHECK(Run({"GET", "k"}) == Null());
  AdvanceTime(60'000);
  CHECK(Run({"GET", "slides"}) == Bulk("v"));
  AdvanceTime(60'000);
  CHECK(Run({"GET", "slides"}) == Bulk("v"));
  CHECK(Run({"GET", "stale"}) == Null());
}

TEST_CASE_METHOD(SnapshotTest, "the order of use comes back, and the idle time") {
  for (const char* key : {"cold", "warm", "hot"}) {
    Run({"SET", key, "v"});
    LetTimePass(10'000);
  }
  Reload();
  const int64_t idle_s = Run({"OBJECT", "IDLETIME", "cold"}).integer;
  CHECK((idle_s == 29 || idle_s == 30));  // of a stamp in steps of 64 ms
  std::vector<std::string> keys;
  keyspace().owners().own().ForColdest(Quota::kLasting, 3,
                                       [&](const Entry& e) { keys.emplace_back(e.key()); });
  CHECK((keys == std::vector<std::string>{"cold", "warm", "hot"}));
}

TEST_CASE_METHOD(SnapshotTest,
                 "BGSAVE saves the keys as they were when it began, whatever clients do meanwhile") {
  FillWith(1000);
  CHECK(Run({"BGSAVE"}) == Simple("Background saving started"));
  CHECK(Run({"BGSAVE"}) == Error("ERR Background save already in progress"));
  CHECK(Run({"SAVE"}) == Error("ERR Background save already in progress"));
  Slice();
  CHECK(Info("rdb_bgsave_in_progress") == "1");
  for (size_t i = 0; i < 1000; i += 3) Run({"SET", "key:" + std::to_string(i), "new"});
  Run({"SET", "later", "v"});
  Run({"DEL", "key:1", "key:500"});
  FinishSave();
  CHECK(Info("rdb_bgsave_in_progress") == "0");
  CHECK(Info("rdb_last_save_keys") == "1000");
  Run({"FLUSHALL"});
  REQUIRE(snapshots().LoadNow({}, now()) == "");
  CHECK(Run({"DBSIZE"}) == Integer(1000));
  for (const char* number : {"0", "1", "3", "500", "999"})
    CHECK(Run({"GET", "key:" + std::string(number)}) == Bulk("value " + std::string(number)));
}

TEST_CASE_METHOD(SnapshotTest, "a flush during a save does not change what is saved") {
  FillWith(500);
  Run({"BGSAVE"});
  Slice();
  Run({"FLUSHALL"});
  FinishSave();
  REQUIRE(snapshots().LoadNow({}, now()) == "");
  CHECK(Run({"DBSIZE"}) == Integer(500));
}

TEST_CASE_METHOD(SnapshotTest, "BGSAVE CANCEL leaves the old file") {
  Run({"SET", "k", "old"});
  Run({"SAVE"});
  const std::string old = disk.files().at(kSnapshotPath);
  FillWith(500);
  CHECK(Run({"BGSAVE", "CANCEL"}) ==
        Error("ERR Background saving is currently not in progress or scheduled"));
  Run({"BGSAVE"});
  Slice();
  CHECK(Run({"BGSAVE", "CANCEL"}) == Simple("Background saving cancelled"));
  FinishSave();
  CHECK(disk.files().size() == 1);
  CHECK((disk.files().at(kSnapshotPath) == old));
  CHECK(Info("rdb_last_bgsave_status") == "ok");
  CHECK(Run({"BGSAVE"}) == Simple("Background saving started"));
  FinishSave();
  CHECK((disk.files().at(kSnapshotPath) != old));
}

TEST_CASE_METHOD(SnapshotTest,
                 "while a file is loaded, its keys come one by one, and clients win over the file") {
  FillWith(1000);
  Run({"SET", "tagged", "v", "TAGS", "1", "t"});
  Run({"SELECT", "1"});
  Run({"SET", "other", "v"});
  Run({"SELECT", "0"});
  Run({"SAVE"});
  Run({"FLUSHALL"});
  disk.piece = 500;
  snapshots().LoadSoon(now());
  CHECK(snapshots().loading());
  CHECK(Info("async_loading") == "1");
  CHECK(Info("loading") == "0");  // for which ioredis waits before it sends anything
  Run({"SET", "key:3", "written"});
  Run({"DEL", "key:4"});
  Run({"SET", "key:5", "v"});
  Run({"DEL", "key:5"});
  Run({"INVALIDATE", "t"});
  Run({"FLUSHDB"});
  Run({"SELECT", "1"});
  Run({"SWAPDB", "1", "2"});
  FinishLoad();
  CHECK(Info("async_loading") == "0");
  CHECK(Run({"DBSIZE"}) == Integer(0));
  Run({"SELECT", "2"});
  CHECK(Run({"GET", "other"}) == Bulk("v"));
  Run({"SELECT", "0"});
  CHECK(Run({"DBSIZE"}) == Integer(0));

  snapshots().LoadSoon(now());
  Run({"SET", "key:3", "written"});
  Run({"DEL", "key:4"});
  Run({"SET", "key:5", "v"});
  Run({"DEL", "key:5"});
  Run({"INVALIDATE", "t"});
  FinishLoad();
  CHECK(Run({"GET", "key:3"}) == Bulk("written"));
  CHECK(Run({"EXISTS", "key:4", "key:5", "tagged"}) == Integer(0));
  CHECK(Run({"DBSIZE"}) == Integer(998));
}

TEST_CASE_METHOD(SnapshotTest, "a flush at the begin of a load also drops what has no key yet") {
  SetOption("namespace", "ns prefix ns:");
  Run({"SET", "ns:1", "v"});
  Run({"SET", "key", "v"});
  Run({"SELECT", "1"});
  Run({"SET", "ns:1", "v"});
  Run({"SET", "key", "v"});
  Run({"SELECT", "0"});
  Run({"SAVE"});
  Run({"FLUSHALL"});
  disk.piece = 1;
  const auto keys_after = [&](const std::vector<std::string>& flush) {
    Run({"FLUSHALL"});
    snapshots().LoadSoon(now());
    Run(flush);
    FinishLoad();
    const int64_t first = Run({"DBSIZE"}).integer;
    Run({"SELECT", "1"});
    const int64_t second = Run({"DBSIZE"}).integer;
    Run({"SELECT", "0"});
    return std::pair(first, second);
  };
  CHECK((keys_after({"PING"}) == std::pair<int64_t, int64_t>(2, 2)));
  CHECK((keys_after({"FLUSHALL"}) == std::pair<int64_t, int64_t>(0, 0)));
  CHECK((keys_after({"FLUSHDB"}) == std::pair<int64_t, int64_t>(0, 2)));
  CHECK((keys_after({"NSFLUSH", "ns"}) == std::pair<int64_t, int64_t>(1, 1)));
}

TEST_CASE_METHOD(SnapshotTest, "what a load must not bring back is noted at a cost that does not grow") {
  LoadClaims claims(server().databases, /*of_keys=*/true);
  const Keyspace& home = keyspace();
  const auto may_come = [&](const std::string& key, const std::vector<std::string>& tags = {}) {
    return claims.MayCome(home, home.KeyOf(key), tags);
  };
  SECTION("keys, a few hundred bytes at a time and none twice") {
    constexpr int kKeys = 100'000;
    for (int i = 0; i < kKeys; ++i) {
      const uint64_t before = claims.bytes();
      Run({"DEL", "key:" + std::to_string(i)});
      REQUIRE(claims.bytes() - before <= 16'384);
    }
    const uint64_t bytes = claims.bytes();
    for (int i = 0; i < kKeys; ++i) Run({"DEL", "key:" + std::to_string(i)});
    CHECK(claims.bytes() == bytes);
    CHECK_FALSE(may_come("key:7"));
    CHECK(may_come("key:100000"));
    CHECK_FALSE(claims.Overwhelmed());
  }
  SECTION("tags, each once") {
    claims.NoteInvalidated(home, std::vector<std::string_view>{"t", "u"});
    const uint64_t bytes = claims.bytes();
    for (int i = 0; i < 100'000; ++i) claims.NoteInvalidated(home, std::vector<std::string_view>{"t", "u"});
    CHECK(claims.bytes() == bytes);
    CHECK_FALSE(may_come("k", {"a", "u"}));
    CHECK(may_come("k", {"a", "uu"}));
    CHECK(may_come("t"));
    CHECK(claims.MayCome(keyspace(1), keyspace(1).KeyOf("k"), std::vector<std::string>{"t"}));
  }
  SECTION("namespaces, of which one may lie within another") {
    SetOption("namespace", "p prefix b: q prefix a:x: r prefix a:y: s prefix a: t prefix a:z: u prefix c");
    for (const auto& space : server().databases.namespaces().active()) claims.NoteNamespaceFlushed(*space);
    for (const char* const key : {"a:", "a:x:1", "a:zz", "b:1", "c", "cc:1"}) CHECK_FALSE(may_come(key));
    for (const char* const key : {"", "a", "aa:1", "b", "ba:", "d", "B:1"}) CHECK(may_come(key));
  }
}

TEST_CASE_METHOD(SnapshotTest, "with load-mode wait, clients are told to wait until the file is loaded") {
  FillWith(100);
  Run({"SAVE"});
  Run({"FLUSHALL"});
  SetOption("load-mode", "wait");
  disk.piece = 100;
  snapshots().LoadSoon(now());
  CHECK(Run({"GET", "key:1"}) == Error("LOADING Redis is loading the dataset in memory"));
  CHECK(Run({"PING"}) == Error("LOADING Redis is loading the dataset in memory"));
  CHECK(Info("loading") == "1");
  CHECK(Info("async_loading") == "0");
  FinishLoad();
  CHECK(Info("loading") == "0");
  CHECK(Run({"GET", "key:1"}) == Bulk("value 1"));
}

TEST_CASE_METHOD(SnapshotTest, "the load ends when memory is full, with the keys that were used last") {
  for (size_t i = 0; i < 1000; ++i) {
    Run({"SET", "key:" + std::to_string(i), "v"});
    LetTimePass(100);
  }
  Run({"SAVE"});
  Run({"FLUSHALL"});
  SetOption("maxkeys", "300");
  REQUIRE(snapshots().LoadNow({}, now()) == "");
  CHECK(Run({"DBSIZE"}) == Integer(300));
  CHECK(Run({"EXISTS", "key:999", "key:701"}) == Integer(2));
  CHECK(Run({"EXISTS", "key:600"}) == Integer(0));
}

TEST_CASE_METHOD(SnapshotTest,
                 "a save point saves once enough was written, so many seconds after the last save") {
  SetOption("save", "10 3");
  Run({"SET", "a", "v"});
  Run({"SET", "b", "v"});
  AdvanceTime(60'000);
  FinishSave();
  CHECK(disk.files().empty());
  Run({"SET", "c", "v"});
  CHECK(Info("rdb_changes_since_last_save") == "3");
  AdvanceTime(1);
  FinishSave();
  CHECK(disk.files().size() == 1);
  CHECK(Info("rdb_changes_since_last_save") == "0");
  for (int i = 0; i < 5; ++i) Run({"SET", "d", "v"});
  AdvanceTime(9000);
  FinishSave();
  CHECK(Info("rdb_saves") == "1");
  AdvanceTime(1001);
  FinishSave();
  CHECK(Info("rdb_saves") == "2");
}

TEST_CASE_METHOD(
    SnapshotTest,
    "save points count what clients changed, and neither what changed nothing nor what went by itself") {
  const auto changes = [this](const std::vector<std::string>& request) {
    const std::string before = Info("rdb_changes_since_last_save");
    Run(request);
    return std::stoll(Info("rdb_changes_since_last_save")) - std::stoll(before);
  };
  CHECK(changes({"MSET", "a", "1", "b", "2", "c", "3"}) == 3);
  CHECK(changes({"SET", "a", "2", "NX"}) == 0);
  CHECK(changes({"DEL", "a", "missing"}) == 1);
  CHECK(changes({"LPOP", "missing"}) == 0);
  CHECK(changes({"RPUSH", "list", "1", "2"}) == 1);
  CHECK(changes({"EXPIRE", "missing", "10"}) == 0);
  CHECK(changes({"PEXPIRE", "b", "20"}) == 1);
  CHECK(changes({"EVAL", "redis.call('SET', 'x', '1') redis.call('INCR', 'x')", "0"}) == 2);
  CHECK(changes({"HSET", "hash", "f", "v"}) == 1);
  CHECK(changes({"HPEXPIRE", "hash", "20", "FIELDS", "1", "f"}) == 1);
  CHECK(changes({"SET", "slides", "v", "EX", "10", "SLIDE"}) == 1);
  const std::string before = Info("rdb_changes_since_last_save");
  AdvanceTime(30);
  CHECK(Run({"EXISTS", "b", "hash"}) == Integer(0));
  CHECK(Run({"GET", "slides"}) == Bulk("v"));
  CHECK(Info("rdb_changes_since_last_save") == before);
  CHECK(changes({"SWAPDB", "0", "1"}) == 1);
  CHECK(changes({"FLUSHALL"}) == 4);  // c, list, x, slides
  CHECK(changes({"FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() end)"}) == 1);
  CHECK(changes({"FUNCTION", "DELETE", "lib"}) == 1);
}

TEST_CASE_METHOD(SnapshotTest,
                 "after FLUSHALL the file is replaced, so that a crash does not bring the keys back") {
  FillWith(1000);
  Run({"SAVE"});
  Run({"FLUSHALL"});
  AdvanceTime(60'000);
  FinishSave();
  CHECK(Info("rdb_saves") == "1");  // without save points nothing is saved unasked

  SetOption("save", "3600 1");
  FillWith(1000);
  Run({"BGSAVE"});
  Slice();
  Run({"FLUSHALL"});
  CHECK(Info("rdb_saves") ==
        "2");  // before the reply, as in Redis; the running save of the old keys was given up
  CHECK(Info("rdb_last_save_keys") == "0");
  FinishSave();
  Run({"SET", "new", "v"});
  AdvanceTime(1);
  CHECK(Info("rdb_saves") == "2");
  Run({"FLUSHALL"});
  CHECK(Info("rdb_saves") == "3");
  CHECK(Info("rdb_last_save_keys") == "0");

  FillWith(1000);
  Run({"SAVE"});
  disk.piece = 100;
  SetOption("save", "");
  Run({"FLUSHALL"});
  SetOption("save", "3600 1");
  snapshots().LoadSoon(now());
  CHECK(Info("rdb_saves") == "4");
  Run({"FLUSHALL"});
  CHECK(Info("rdb_saves") == "5");
  FinishLoad();
  AdvanceTime(1);
  FinishSave();
  CHECK(Info("rdb_saves") == "5");
  CHECK(Info("rdb_last_save_keys") == "0");
}

TEST_CASE_METHOD(SnapshotTest,
                 "after a failed save the next one does not wait for changes, since writes are refused") {
  SetOption("save", "3600 100");
  Run({"SET", "k", "v"});
  disk.FailAt(1, EROFS);
  CHECK(Run({"SAVE"}).kind == Reply::Kind::kError);
  disk.FailAt(0, 0);
  CHECK(Run({"SET", "k", "w"}).text.starts_with("MISCONF "));
  CHECK(Run({"EVAL", "return redis.call('SET', 'k', 'w')", "0"}).text.starts_with("MISCONF "));
  CHECK(Run({"EVAL", "return redis.call('GET', 'k')", "0"}) == Bulk("v"));
  AdvanceTime(4999);
  FinishSave();
  CHECK(Info("rdb_saves") == "0");
  AdvanceTime(1);
  FinishSave();
  CHECK(Info("rdb_saves") == "1");
  CHECK(Run({"SET", "k", "w"}) == Ok());
}

TEST_CASE_METHOD(SnapshotTest, "a save right after a cancelled one begins when that is at its end") {
  FillWith(1000);
  Run({"BGSAVE"});
  Slice();
  CHECK(Run({"BGSAVE", "CANCEL"}) == Simple("Background saving cancelled"));
  CHECK(Run({"BGSAVE", "CANCEL"}).kind == Reply::Kind::kError);
  CHECK(Run({"BGSAVE"}) == Simple("Background saving scheduled"));
  FinishSave();
  AdvanceTime(1);
  FinishSave();
  CHECK(Info("rdb_saves") == "1");
}

TEST_CASE_METHOD(SnapshotTest,
                 "whichever call of the disk fails, the old file stays whole, and the service goes on") {
  const bool in_background = GENERATE(false, true);
  CAPTURE(in_background);
  FillWith(2000);
  Run({"SAVE"});
  const std::string old = disk.files().at(kSnapshotPath);
  FillWith(2500);
  size_t failures = 0;
  for (size_t call = 1;; ++call) {
    CAPTURE(call);
    disk.FailAt(call, ENOSPC);
    const Reply reply = Run({in_background ? "BGSAVE" : "SAVE"});
    FinishSave();
    if (disk.calls() < call) break;  // none has failed
    ++failures;
    CHECK((in_background || reply.text.starts_with("ERR cannot ")));
    CHECK(stats().saves.last_problem.starts_with("cannot "));
    CHECK(Info("rdb_last_bgsave_status") == "err");
    // Only the last call, the sync of the folder, fails when the new file has its name.
    CHECK(disk.files().size() == 1);
    CHECK(Run({"GET", "key:7"}) == Bulk("value 7"));
  }
  CHECK(failures > 4);
  CHECK(Info("rdb_last_bgsave_status") == "ok");
  CHECK((disk.files().at(kSnapshotPath) != old));
}

TEST_CASE_METHOD(SnapshotTest,
                 "after a failed save, writes are refused if there are save points, until a save succeeds") {
  SetOption("save", "3600 1");
  Run({"SET", "k", "v"});
  disk.FailAt(1, EROFS);
  Run({"BGSAVE"});
  FinishSave();
  CHECK(Run({"SET", "k", "w"}).text.starts_with("MISCONF "));
  CHECK(Run({"PING"}).text.starts_with("MISCONF "));
  CHECK(Run({"GET", "k"}) == Bulk("v"));
  SetOption("stop-writes-on-bgsave-error", "no");
  CHECK(Run({"SET", "k", "w"}) == Ok());
  SetOption("stop-writes-on-bgsave-error", "yes");
  CHECK(Run({"SET", "k", "x"}).text.starts_with("MISCONF "));
  SetOption("save", "");
  CHECK(Run({"SET", "k", "w"}) == Ok());
  SetOption("save", "3600 1");
  CHECK(Run({"SET", "k", "x"}).text.starts_with("MISCONF "));
  CHECK(Run({"SAVE"}) == Ok());
  CHECK(Run({"SET", "k", "x"}) == Ok());
}

TEST_CASE_METHOD(SnapshotTest, "of a file that was cut anywhere, the keys before the cut are loaded") {
  Run({"SET", "string", "text"});
  Run({"HSET", "hash", "f", "v"});
  Run({"ZADD", "zset", "1.5", "a"});
  Run({"SET", "k", "v", "EX", "100", "TAGS", "1", "t"});
  Run({"SAVE"});
  const std::string whole = disk.files().at(kSnapshotPath);
  for (size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    disk.Put(kSnapshotPath, whole.substr(0, size));
    Run({"FLUSHALL"});
    CHECK(snapshots().LoadNow({}, now()).find("is damaged at byte ") != std::string::npos);
    CHECK(Run({"DBSIZE"}).integer <= 4);
  }
}

TEST_CASE_METHOD(SnapshotTest, "a flipped bit anywhere is found, or does no harm") {
  Run({"SET", "string", "text"});
  Run({"RPUSH", "list", "a", "b"});
  Run({"XADD", "stream", "5-1", "f", "v"});
  Run({"SAVE"});
  const std::string whole = disk.files().at(kSnapshotPath);
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    CAPTURE(bit);
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    disk.Put(kSnapshotPath, flipped);
    Run({"FLUSHALL"});
    CHECK(snapshots().LoadNow({}, now()) != "");
  }
}

TEST_CASE_METHOD(
    SnapshotTest,
    "with rdb-load-damaged yes the keys before the damage are loaded, and the file is put aside") {
  FillWith(100);
  Run({"SAVE"});
  const std::string cut = disk.files().at(kSnapshotPath).substr(0, disk.files().at(kSnapshotPath).size() / 2);
  disk.Put(kSnapshotPath, cut);
  Run({"FLUSHALL"});
  snapshots().LoadSoon(now());
  FinishLoad();
  CHECK_FALSE(server().server.shutdown_requested);
  const int64_t loaded = Run({"DBSIZE"}).integer;
  CHECK(loaded > 10);
  CHECK(loaded < 90);
  CHECK_FALSE(disk.files().contains(kSnapshotPath));
  CHECK((disk.files().at(kSnapshotPath + ".damaged") == cut));
  CHECK(Run({"SAVE"}) == Ok());
}

TEST_CASE_METHOD(SnapshotTest,
                 "a file that cannot be opened or read is put aside, so that no save takes its place") {
  FillWith(100);
  Run({"SAVE"});
  const std::string file = disk.files().at(kSnapshotPath);
  disk.piece = file.size() / 4 + 1;
  for (const size_t call : {1, 2, 3, 4, 5, 6}) {  // to open, to read, and to read that nothing follows
    CAPTURE(call);
    Run({"FLUSHALL"});
    disk.Put(kSnapshotPath, file);
    disk.FailAt(call, EIO);
    snapshots().LoadSoon(now());
    FinishLoad();
    disk.FailAt(0, 0);
    CHECK((disk.files() == std::map<std::string, std::string>{{kSnapshotPath + ".unread", file}}));
    CHECK(Run({"SAVE"}) == Ok());
    disk.Remove(kSnapshotPath + ".unread");
  }
}

TEST_CASE_METHOD(SnapshotTest, "a load that cannot read on says why, and what it has read is there") {
  FillWith(100);
  Run({"SAVE"});
  const std::string file = disk.files().at(kSnapshotPath);
  disk.piece = file.size() / 2;
  const std::string problem = "cannot read ./dump.rdb: Input/output error";
  const bool may_lack_keys = GENERATE(true, false);
  SetOption("rdb-load-damaged", may_lack_keys ? "yes" : "no");
  Run({"FLUSHALL"});
  disk.FailAt(3, EIO);
  if (may_lack_keys) {
    CHECK(snapshots().LoadNow({}, now()) == problem);
  } else {
    snapshots().LoadSoon(now());
    FinishLoad();
    CHECK(snapshots().refused() == problem + "; with rdb-load-damaged yes, what precedes it is loaded");
  }
  CHECK(Run({"DBSIZE"}).integer > 20);
  CHECK(Run({"DBSIZE"}).integer < 80);
  const std::string path = kSnapshotPath + (may_lack_keys ? ".unread" : "");
  CHECK((disk.files() == std::map<std::string, std::string>{{path, file}}));
}

TEST_CASE_METHOD(SnapshotTest,
                 "with rdb-load-damaged no a damaged file ends the daemon, and stays what it is") {
  SetOption("rdbcompression", "no");
  Run({"SET", "cold", std::string(1000, 'x')});
  Run({"SET", "hot", "v"});
  Run({"SAVE"});
  const std::string cut = disk.files().at(kSnapshotPath).substr(0, 500);
  disk.Put(kSnapshotPath, cut);
  Run({"FLUSHALL"});
  SetOption("rdb-load-damaged", "no");
  SetOption("save", "1 1");
  snapshots().LoadSoon(now());
  FinishLoad();
  CHECK(server().server.shutdown_requested);
  CHECK(snapshots().refused().starts_with("./dump.rdb is damaged at byte "));
  CHECK(snapshots().refused().find(", key cold: ") != std::string::npos);
  CHECK(snapshots().refused().ends_with("; with rdb-load-damaged yes, what precedes it is loaded"));
  // Nothing takes the file's place any more.
  CHECK(Run({"SET", "k", "v"}) == Ok());
  CHECK(Run({"SAVE"}) == Error("ERR the file was refused, and the server stops"));
  CHECK(Run({"BGSAVE"}) == Error("ERR the file was refused, and the server stops"));
  CHECK_FALSE(snapshots().SavesToStop({.save = true}));
  CHECK((disk.files() == std::map<std::string, std::string>{{kSnapshotPath, cut}}));
}

TEST_CASE_METHOD(SnapshotTest,
                 "with rdb-load-damaged no, neither a file of a newer version nor one that cannot be opened "
                 "is passed over") {
  Run({"SAVE"});
  std::string bytes = disk.files().at(kSnapshotPath);
  bytes.replace(5, 4, "0099");
  disk.Put(kSnapshotPath, bytes);
  SetOption("rdb-load-damaged", "no");
  snapshots().LoadSoon(now());
  FinishLoad();
  CHECK(snapshots().refused() ==
        "./dump.rdb has version 99, which is not known; with rdb-load-damaged yes, Mayfly starts without it");
  disk.FailAt(1, EACCES);
  snapshots().LoadSoon(now());
  CHECK(snapshots().refused() ==
        "cannot open ./dump.rdb: Permission denied; with rdb-load-damaged yes, Mayfly starts without it");
  CHECK((disk.files() == std::map<std::string, std::string>{{kSnapshotPath, bytes}}));
}

TEST_CASE_METHOD(SnapshotTest,
                 "the words of SHUTDOWN and of a signal say whether a stop saves, else save points do") {
  const auto saves = [this](const config::ShutdownFlags& words) { return snapshots().SavesToStop(words); };
  CHECK_FALSE(saves({}));
  CHECK_FALSE(saves({.now = true, .force = true}));
  CHECK(saves({.save = true}));
  SetOption("save", "3600 1");
  CHECK(saves({}));
  CHECK_FALSE(saves({.nosave = true}));
  SetOption("shutdown-on-sigint", "nosave");
  SetOption("shutdown-on-sigterm", "save force");
  server().server.stop_signal = SIGINT;
  CHECK((snapshots().WordsOfSignal() == config::ShutdownFlags{.nosave = true}));
  server().server.stop_signal = SIGTERM;
  CHECK((snapshots().WordsOfSignal() == config::ShutdownFlags{.save = true, .force = true}));
  // SHUTDOWN has saved already.
  server().server.shutdown_requested = true;
  CHECK((snapshots().WordsOfSignal() == config::ShutdownFlags{.nosave = true}));
}

TEST_CASE_METHOD(SnapshotTest,
                 "a stop during a load saves nothing, whatever it was told: the file is the better one") {
  FillWith(1000);
  Run({"SAVE"});
  const std::string whole = disk.files().at(kSnapshotPath);
  Run({"FLUSHALL"});
  SetOption("save", "3600 1");
  disk.piece = 500;
  snapshots().LoadSoon(now());
  REQUIRE(snapshots().loading());
  CHECK(Run({"SHUTDOWN", "SAVE"}) == NoReply());
  CHECK(server().server.shutdown_requested);
  snapshots().End();
  CHECK((disk.files().at(kSnapshotPath) == whole));
}

TEST_CASE_METHOD(SnapshotTest, "LATENCY has an event for the longest slices of a save and of a load") {
  SetOption("latency-monitor-threshold", "1");
  server().server.cycle_rate = CycleRate(1);  // thousands of cycles are some milliseconds
  Run({"SET", "k", std::string(1'000'000, 'x')});
  Run({"BGSAVE"});
  FinishSave();
  Run({"FLUSHALL"});
  snapshots().LoadSoon(now());
  FinishLoad();
  REQUIRE(Run({"EXISTS", "k"}) == Integer(1));
  const LatencyMonitor::Events& events = server().latency_monitor.events();
  CHECK(events.contains("save-cycle"));
  CHECK(events.contains("load-cycle"));
}

TEST_CASE_METHOD(SnapshotTest, "BGSAVE in a transaction begins after the transaction") {
  Run({"MULTI"});
  Run({"SET", "a", "1"});
  Run({"BGSAVE"});
  Run({"SET", "b", "1"});
  CHECK(Run({"EXEC"}) == Array({Ok(), Simple("Background saving scheduled"), Ok()}));
  AdvanceTime(1);
  FinishSave();
  CHECK(Info("rdb_saves") == "1");
}

}  // namespace mayfly::testing

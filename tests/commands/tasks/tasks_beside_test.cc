// Tasks beside other features: several databases, transactions, tracking, sliding TTLs, saves and loads.
#include <set>
#include <string>
#include <vector>

#include "commands/tasks/tasks_world.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

class SavedTasksTest : public SnapshotTest {
 public:
  // The keys that went into the stream, in order.
  Words KeysIn(const std::string& stream) { return KeysOfTasks(Run({"XRANGE", stream, "-", "+"})); }
  void LoadAfter(uint64_t ms) {
    Run({"FLUSHALL"});
    AdvanceTime(ms);
    REQUIRE(snapshots().LoadNow({}, now()) == "");
    TurnWheels();
  }
};

}  // namespace

TEST_CASE_METHOD(TasksTest, "who watches or tracks a stream hears of an entry that a task brings") {
  Run({"XADD", "jobs", "1-1", "f", "v"});
  TestClient watcher(server());
  TestClient tracker(server());
  tracker.UseResp3();
  tracker.Run({"CLIENT", "TRACKING", "ON"});
  for (const std::string watched : {"jobs", "k"}) {
    CAPTURE(watched);
    Run({"SET", "k", "v", "PX", "20", "INTO", "jobs"});
    tracker.Received();
    watcher.Run({"WATCH", watched});
    tracker.Run({"EXISTS", watched});
    AdvanceTime(20);
    watcher.Run({"MULTI"});
    watcher.Run({"PING"});
    CHECK(watcher.Run({"EXEC"}) == NullArray());
    CHECK(tracker.Received() == std::vector{Push({Bulk("invalidate"), Bulks({watched})})});
  }
}

TEST_CASE_METHOD(TasksTest, "each database has streams and tasks of its own, and INFO counts all tasks") {
  Run({"SELECT", "1"});
  Run({"SET", "k", "v", "PX", "20", "INTO", "jobs"});
  Run({"SET", "bad", "no stream"});
  Run({"SET", "l", "v", "PX", "20", "INTO", "bad"});
  Run({"SELECT", "0"});
  Run({"SET", "k", "v", "PX", "5000", "INTO", "jobs"});
  CHECK(Info("tasks_waiting") == 3);
  CHECK(Timers("bad").empty());
  CHECK(Run({"DRAIN", "bad"}) == Integer(0));
  AdvanceTime(20);
  CHECK(Info("tasks_waiting") == 2);
  CHECK(Info("tasks_late") == 1);
  CHECK(Run({"EXISTS", "jobs"}) == Integer(0));
  CHECK(Run({"DRAIN", "jobs"}) == Integer(1));
  CHECK(Run({"XLEN", "jobs"}) == Integer(1));
  CHECK(Run({"XADD", "bad", "1-1", "f", "v"}) == Bulk("1-1"));
  AdvanceTime(1'000);
  CHECK(Info("tasks_late") == 1);
  Run({"SELECT", "1"});
  CHECK(Run({"XLEN", "jobs"}) == Integer(1));
  CHECK(Timers("bad") == Words{"l"});
  Run({"DEL", "bad"});
  AdvanceTime(1'000);
  CHECK(Run({"XLEN", "bad"}) == Integer(1));
  CHECK(Info("tasks_waiting") == 0);
  CHECK(Info("tasks_late") == 0);
}

TEST_CASE_METHOD(TasksTest, "a late task that is moved to another database waits for the stream there") {
  Run({"SET", "bad", "no stream"});
  for (const char* key : {"moved", "copied"}) Run({"SET", key, key, "PX", "20", "INTO", "bad"});
  const int64_t due = WallMs() + 20;
  AdvanceTime(30);
  CHECK(Info("tasks_late") == 2);
  CHECK(Run({"MOVE", "moved", "1"}) == Integer(1));
  CHECK(Run({"COPY", "copied", "copied", "DB", "2"}) == Integer(1));
  AdvanceTime(1'000);
  CHECK(Info("tasks_late") == 1);
  CHECK(Run({"EXISTS", "moved", "copied"}) == Integer(1));
  Run({"SELECT", "1"});
  CHECK(Entries("bad") == Words{EntryOf("moved", "moved", due)});
  CHECK(Run({"DBSIZE"}) == Integer(1));
  Run({"SELECT", "2"});
  CHECK(Entries("bad") == Words{EntryOf("copied", "copied", due)});
}

TEST_CASE_METHOD(TasksTest, "an access of a late task does not put off its time, though its TTL slides") {
  Run({"SET", "bad", "no stream"});
  Run({"SET", "k", "v", "PX", "20", "SLIDE", "INTO", "bad"});
  AdvanceTime(10);
  CHECK(Run({"GET", "k"}) == Bulk("v"));
  const int64_t due = WallMs() + 20;
  AdvanceTime(19);
  CHECK(Run({"PTTL", "k"}) == Integer(1));
  AdvanceTime(1);
  CHECK(Info("tasks_late") == 1);
  for (const int64_t late_ms : {0, 30}) {
    AdvanceTime(static_cast<uint64_t>(late_ms));
    CHECK(Run({"GET", "k"}) == Bulk("v"));
    CHECK(Run({"PTTL", "k"}) == Integer(0));
    CHECK(Run({"TIMERS", "bad"}).elements[1] == Array({Bulk("k"), Integer(-late_ms)}));
  }
  Run({"DEL", "bad"});
  AdvanceTime(1'000);
  CHECK(Entries("bad") == Words{EntryOf("k", "v", due)});
}

TEST_CASE_METHOD(TasksTest,
                 "a member that is due leaves a task, which goes into its stream at its own time") {
  for (const char* key : {"hash", "set", "zset"}) {
    for (const char* member : {"a", "b"}) {
      if (key == std::string("hash")) Run({"HSET", key, member, "v"});
      if (key == std::string("set")) Run({"SADD", key, member});
      if (key == std::string("zset")) Run({"ZADD", key, "1", member});
    }
    CHECK(Run({"EXPIREMEMBER", key, "a", "1"}) == Integer(1));
    CHECK(Run({"EXPIRE", key, "900", "INTO", "s"}) == Integer(1));
  }
  AdvanceTime(1'000);
  CHECK(Run({"HGETALL", "hash"}) == Bulks({"b", "v"}));
  CHECK(Run({"SMEMBERS", "set"}) == Bulks({"b"}));
  CHECK(Run({"ZRANGE", "zset", "0", "-1"}) == Bulks({"b"}));
  AdvanceTime(898'999);
  CHECK(Run({"EXISTS", "hash", "set", "zset"}) == Integer(3));
  CHECK(Run({"XLEN", "s"}) == Integer(0));
  AdvanceTime(1);
  CHECK(Run({"EXISTS", "hash", "set", "zset"}) == Integer(0));
  CHECK(Run({"XLEN", "s"}) == Integer(3));
}

TEST_CASE_METHOD(TasksTest, "MSETEX, MSET and GETSET end the tasks that their keys were") {
  for (const Words& words : {Words{"MSETEX", "2", "k", "w", "l", "w", "PX", "20"},
                             Words{"MSETEX", "1", "k", "a long value that is stored elsewhere", "PX", "20"},
                             Words{"MSET", "k", "w"}, Words{"GETSET", "k", "w"}}) {
    CAPTURE(words);
    Run({"FLUSHALL"});
    Run({"SET", "k", "v", "PX", "50", "INTO", "jobs"});
    CHECK(Run(words).kind != Reply::Kind::kError);
    CHECK(Info("tasks_waiting") == 0);
    AdvanceTime(50);
    CHECK(Run({"EXISTS", "jobs"}) == Integer(0));
  }
}

TEST_CASE_METHOD(TasksTest, "pages of TIMERS go on as they began, however many tasks there are meanwhile") {
  constexpr int kMany = 10'000;  // up to so many are shown in order
  for (const bool grows : {false, true}) {
    CAPTURE(grows);
    Run({"FLUSHALL"});
    const int tasks = grows ? kMany : kMany + 1;
    for (int i = 1; i <= tasks; ++i)
      Run({"SET", "t" + std::to_string(i), "v", "PX", std::to_string(100'000 + 7 * i), "INTO", "jobs"});
    std::set<std::string> shown;
    std::string cursor = "0";
    do {
      const Reply page = Run({"TIMERS", "jobs", "COUNT", "500", "CURSOR", cursor});
      for (size_t i = 0; i < page.elements[1].elements.size(); i += 2)
        shown.insert(page.elements[1].elements[i].text);
      if (cursor == "0" && grows)
        for (const char* late : {"a", "b", "c"}) Run({"SET", late, "v", "PX", "900000", "INTO", "jobs"});
      if (cursor == "0" && !grows)
        for (int i = 0; i < 3; ++i) Run({"DEL", "t" + std::to_string(tasks - i)});
      cursor = page.elements[0].text;
    } while (cursor != "0");
    for (const std::string key : {"t1", "t600", "t5000", "t9990"}) CHECK(shown.contains(key));
    CHECK(shown.contains("c") == grows);
    CHECK(shown.size() >= static_cast<size_t>(tasks - 3));
  }
}

TEST_CASE_METHOD(TasksTest, "of very many tasks that DRAIN lets go those that were invalidated go nowhere") {
  for (int i = 1; i <= 11'000; ++i)
    Run({"SET", "t" + std::to_string(i), "v", "PX", "100000", "TAGS", "1", "red", "INTO", "jobs"});
  Run({"SET", "stays", "v", "PX", "100000", "INTO", "jobs"});
  CHECK(Run({"INVALIDATE", "red"}) == Integer(11'000));
  CHECK(Run({"DRAIN", "jobs"}).kind == Reply::Kind::kInteger);
  AdvanceTime(0);
  CHECK(Run({"XLEN", "jobs"}) == Integer(1));
  CHECK(Run({"XRANGE", "jobs", "-", "+"}).elements.at(0).elements[1].elements[1] == Bulk("stays"));
  CHECK(Run({"DBSIZE"}) == Integer(1));
  CHECK(Info("tasks_delivered") == 1);
}

// ---- saves and loads

TEST_CASE_METHOD(SavedTasksTest,
                 "a task that goes during a save is in the file once: a key, and no entry yet") {
  bool saving = true;
  for (int slices = 0; saving; ++slices) {
    CAPTURE(slices);
    Run({"FLUSHALL"});
    FillWith(100);
    Run({"XADD", "jobs", "1-1", "key", "first"});
    for (int i = 0; i < 5; ++i)
      Run({"SET", "t" + std::to_string(i), "v", "PX", std::to_string(20 + i), "INTO", "jobs"});
    REQUIRE(Run({"BGSAVE"}) == Simple("Background saving started"));
    for (int i = 0; i < slices; ++i) Slice(4);
    saving = snapshots().saving() && slices < 100;
    AdvanceTime(30);
    CHECK(Run({"XLEN", "jobs"}) == Integer(6));
    FinishSave();
    LoadAfter(0);
    CHECK(KeysIn("jobs") == Words{"first", "t0", "t1", "t2", "t3", "t4"});
    CHECK(Run({"DBSIZE"}) == Integer(101));
  }
}

TEST_CASE_METHOD(SavedTasksTest,
                 "what came due in the downtime comes in each database, in the order of the deadlines") {
  for (const std::string database : {"0", "3", "15"}) {
    Run({"SELECT", database});
    for (const std::string ms : {"300", "100", "200"})
      Run({"SET", "t" + ms + "-" + database, "v", "PX", ms, "INTO", "jobs"});
  }
  REQUIRE(Run({"SAVE"}) == Ok());
  LoadAfter(60'000);
  for (const std::string database : {"0", "3", "15"}) {
    Run({"SELECT", database});
    CHECK(KeysIn("jobs") == Words{"t100-" + database, "t200-" + database, "t300-" + database});
    CHECK(Run({"DBSIZE"}) == Integer(1));
  }
}

TEST_CASE_METHOD(SavedTasksTest,
                 "a time in the past with INTO takes no key away that a load has still to bring") {
  Run({"SET", "k", "v"});
  Run({"SET", "other", "v"});
  REQUIRE(Run({"SAVE"}) == Ok());
  for (const Words& request :
       {Words{"EXPIRE", "k", "-1", "INTO", "jobs"}, Words{"PEXPIRE", "k", "0", "INTO", "jobs"},
        Words{"PEXPIREAT", "k", "1", "INTO", "jobs", "MAXLEN", "5"}}) {
    CAPTURE(request);
    Run({"FLUSHALL"});
    disk.piece = 1;
    snapshots().LoadSoon(now());
    REQUIRE(Run({"EXISTS", "k"}) == Integer(0));
    CHECK(Run(request) == Integer(0));
    FinishLoad();
    CHECK(Run({"GET", "k"}) == Bulk("v"));
  }
}

}  // namespace mayfly::testing

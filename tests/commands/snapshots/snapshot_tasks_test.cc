// Tasks (SET ... INTO) over a restart: none is lost, and what came due meanwhile comes late.
#include <string>
#include <vector>

#include "commands/tasks/tasks_world.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

class SnapshotTasksTest : public SnapshotTest {
 public:
  // The keys that went into the stream, in order.
  Words KeysIn(const std::string& stream) { return KeysOfTasks(Run({"XRANGE", stream, "-", "+"})); }
  void Save() { REQUIRE(Run({"SAVE"}) == Ok()); }
  // As after a stop and a start, `ms` later.
  void StartAgain(uint64_t ms) {
    Run({"FLUSHALL"});
    AdvanceTime(ms);
    REQUIRE(snapshots().LoadNow({}, now()) == "");
    TurnWheels();
  }
};

}  // namespace

TEST_CASE_METHOD(SnapshotTasksTest, "tasks survive a restart with their streams, MAXLEN and deadlines") {
  Run({"SET", "a", "1", "PX", "1000", "INTO", "jobs", "MAXLEN", "5"});
  Run({"SET", "b", "2", "PXAT", UnixMs(2'000), "INTO", "jobs", "MAXLEN", "5"});
  Run({"HSET", "h", "f", "v"});
  Run({"PEXPIRE", "h", "3000", "INTO", "others"});
  const int64_t began = WallMs();
  Save();
  StartAgain(500);
  CHECK(Run({"TIMERS", "jobs"}).elements[1] == Array({Bulk("a"), Integer(500), Bulk("b"), Integer(1'500)}));
  CHECK(Run({"TIMERS", "others"}).elements[1] == Array({Bulk("h"), Integer(2'500)}));
  AdvanceTime(500);
  AdvanceTime(2'000);
  CHECK(KeysIn("jobs") == Words{"a", "b"});
  CHECK(KeysIn("others") == Words{"h"});
  CHECK(Run({"XRANGE", "others", "-", "+"}).elements[0].elements[0] ==
        Bulk(std::to_string(began + 3'000) + "-0"));
}

TEST_CASE_METHOD(SnapshotTasksTest,
                 "what came due in the downtime comes at once, in order, with its old time") {
  const int64_t began = WallMs();
  for (const int ms : {300, 100, 200, 90'000}) {
    const std::string text = std::to_string(ms);
    Run({"SET", "t" + text, text, "PX", text, "INTO", "jobs"});
  }
  Run({"XADD", "jobs", "1-1", "key", "first"});
  Run({"XGROUP", "CREATE", "jobs", "workers", "0"});
  Save();
  StartAgain(60'000);
  CHECK(KeysIn("jobs") == Words{"first", "t100", "t200", "t300"});
  CHECK(Run({"XRANGE", "jobs", "-", "+"}).elements[1].elements[1].elements[5] ==
        Bulk(std::to_string(began + 100)));
  CHECK(Run({"XREADGROUP", "GROUP", "workers", "w", "STREAMS", "jobs", ">"})
            .elements[0]
            .elements[1]
            .elements.size() == 4);
  CHECK(Run({"EXISTS", "t100", "t200", "t300"}) == Integer(0));
  AdvanceTime(30'000);
  CHECK(KeysIn("jobs").back() == "t90000");
}

TEST_CASE_METHOD(SnapshotTasksTest,
                 "while clients are served during a load, a due task waits for its stream in the file") {
  for (int i = 0; i < 200; ++i)
    Run({"XADD", "jobs", std::to_string(i + 1) + "-0", "key", "k" + std::to_string(i)});
  FillWith(500);
  for (int i = 0; i < 50; ++i) Run({"SET", "t" + std::to_string(i), "v", "PX", "20", "INTO", "jobs"});
  Save();
  Run({"FLUSHALL"});
  AdvanceTime(60'000);
  snapshots().LoadSoon(now());
  int slices = 0;
  while (snapshots().loading()) {
    Slice(8);
    TurnWheels();
    ++slices;
  }
  CHECK(slices > 10);
  TurnWheels();
  CHECK(Run({"XLEN", "jobs"}) == Integer(250));
  CHECK(Run({"EXISTS", "t0", "t49"}) == Integer(0));
}

TEST_CASE_METHOD(SnapshotTasksTest,
                 "a task that waits for its stream when the file is saved is in the file") {
  Run({"SET", "jobs", "no stream"});
  Run({"SET", "t", "v", "PX", "20", "INTO", "jobs"});
  AdvanceTime(50);
  Save();
  StartAgain(1'000);
  CHECK(Run({"GET", "t"}) == Bulk("v"));
  Run({"DEL", "jobs"});
  AdvanceTime(1'000);
  CHECK(KeysIn("jobs") == Words{"t"});
}

TEST_CASE_METHOD(SnapshotTasksTest,
                 "a load that ends for want of memory has the tasks: they come first in the file") {
  for (int i = 0; i < 50; ++i) Run({"SET", "t" + std::to_string(i), "v", "PX", "900000", "INTO", "jobs"});
  AdvanceTime(1'000);
  FillWith(5'000);
  Save();
  Run({"FLUSHALL"});
  SetOption("maxkeys", "100");
  REQUIRE(snapshots().LoadNow({}, now()) == "");
  CHECK(Run({"DBSIZE"}).integer >= 100);
  CHECK(Run({"DBSIZE"}).integer < 5'000);
  for (int i = 0; i < 50; ++i) CHECK(Run({"EXISTS", "t" + std::to_string(i)}) == Integer(1));
}

}  // namespace mayfly::testing

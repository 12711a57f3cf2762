// A stop that saves: readers are served until the file is whole, and writers wait.
#include <cerrno>
#include <string>

#include "commands/snapshots/disk_gate.h"
#include "exec/dispatch/executor.h"
#include "replication/replication_start.h"
#include "replication/stop_wait.h"
#include "server/figures/stats.h"
#include "snapshot/loader.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

const std::string kPath = "./dump.rdb";
constexpr std::string_view kNotStopping = "-ERR Errors trying to SHUTDOWN. Check logs.\r\n";

class StopSaveTest : public SnapshotTest {
 public:
  ~StopSaveTest() {
    server().server.stop_wait.reset();
    server().server.snapshots.reset();  // the disk must outlive the thread of a save
  }

  // A client asks for a stop, and the save begins.
  void Ask(const std::string& words) {
    CHECK(chief.RunRaw("SHUTDOWN " + words + "\r\n").empty());
    CHECK_FALSE(stops());
    AdvanceTime(0);
  }
  // The save comes to its end, and the stop follows, or does not.
  void Finish() {
    FinishSave();
    for (int turn = 0; turn < 3; ++turn) AdvanceTime(0);
  }
  bool stops() { return server().server.shutdown_requested; }
  uint64_t saved_keys() { return server().server.stats.saves.last_keys; }

  TestClient& chief = Connect();
  TestClient& writer = Connect();
};

}  // namespace

TEST_CASE_METHOD(StopSaveTest, "a stop saves in slices, while readers are served and writers wait") {
  FillWith(1000);
  Ask("SAVE");
  Slice();
  REQUIRE(snapshots().saving());
  CHECK(Run({"GET", "key:1"}) == Bulk("value 1"));
  CHECK(writer.RunRaw("SET new 1\r\n").empty());
  CHECK_FALSE(stops());
  Finish();
  CHECK(stops());
  CHECK(writer.RunRaw("").empty());
  CHECK(chief.RunRaw("").empty());
  CHECK(chief.session().Has(Mode::kDropped));
  CHECK(saved_keys() == 1000);
  CHECK(IsReadyToStop(server().server));
}

TEST_CASE_METHOD(StopSaveTest, "a stop with save points saves, too, and a stop without does not") {
  SECTION("with") {
    SetOption("save", "3600 1");
    Ask("");
    Finish();
    CHECK(disk.files().contains(kPath));
  }
  SECTION("without") {
    CHECK(Run({"SHUTDOWN"}) == NoReply());
    CHECK(disk.files().empty());
  }
  CHECK(stops());
}

TEST_CASE_METHOD(StopSaveTest,
                 "what is due during the save of a stop is neither removed nor missing in the file") {
  Run({"SET", "a", "1", "PX", "10"});
  Run({"SET", "b", "1", "PX", "20"});
  Ask("SAVE");
  AdvanceTime(15);
  CHECK(Run({"GET", "a"}) == Null());
  Finish();
  CHECK(stops());
  CHECK(saved_keys() == 2);
  CHECK(server().databases.expired_keys() == ExpiredKeys::kHidden);
}

TEST_CASE_METHOD(StopSaveTest, "SHUTDOWN ABORT gives the save up, and writers go on") {
  FillWith(1000);
  Ask("SAVE");
  CHECK(writer.RunRaw("SET b 1\r\n").empty());
  CHECK(Run({"SHUTDOWN", "ABORT"}) == Ok());
  Finish();
  CHECK(chief.RunRaw("") == kNotStopping);
  CHECK(writer.RunRaw("") == "+OK\r\n");
  CHECK_FALSE(stops());
  CHECK_FALSE(disk.files().contains(kPath));
  // Another one begins anew.
  Ask("SAVE");
  Finish();
  CHECK(stops());
  CHECK(saved_keys() == 1001);
}

TEST_CASE_METHOD(StopSaveTest, "a stop whose save fails is none, unless it is forced") {
  SetOption("save", "3600 1");
  SetOption("stop-writes-on-bgsave-error", "no");
  Run({"SET", "a", "1", "PX", "10"});
  disk.FailAt(1, EROFS);
  SECTION("not forced") {
    Ask("");
    CHECK(writer.RunRaw("SET b 1\r\n").empty());
    AdvanceTime(20);
    Finish();
    CHECK_FALSE(stops());
    CHECK(chief.RunRaw("") == kNotStopping);
    CHECK(writer.RunRaw("") == "+OK\r\n");
    CHECK(Run({"DBSIZE"}) == Integer(1));  // what was due has expired
    CHECK(Run({"SHUTDOWN", "ABORT"}) == Error("ERR No shutdown in progress."));
  }
  SECTION("forced") {
    Ask("FORCE");
    Finish();
    CHECK(stops());
  }
  SECTION("forced, at once") {
    CHECK(Run({"SHUTDOWN", "NOW", "FORCE"}) == NoReply());
    CHECK(stops());
  }
  CHECK_FALSE(disk.files().contains(kPath));
}

TEST_CASE_METHOD(StopSaveTest, "a hastier stop does not wait for the file of another one") {
  FillWith(1000);
  Ask("SAVE");
  SECTION("NOSAVE") {
    CHECK(Run({"SHUTDOWN", "NOSAVE"}) == NoReply());
    CHECK(stops());
    CHECK_FALSE(disk.files().contains(kPath));
  }
  SECTION("NOW saves at once") {
    CHECK(Run({"SHUTDOWN", "NOW", "SAVE"}) == NoReply());
    CHECK(stops());
    CHECK(saved_keys() == 1000);
  }
  // Nobody writes any more.
  CHECK(writer.RunRaw("SET b 1\r\n").empty());
  Finish();
  CHECK(writer.RunRaw("").empty());
}

TEST_CASE_METHOD(
    StopSaveTest,
    "a client that waits for a stop with a file may be unblocked: the server stops all the same") {
  const std::string id = std::to_string(chief.session().id);
  Ask("SAVE");
  CHECK(Run({"CLIENT", "UNBLOCK", id}) == Integer(1));
  CHECK(chief.RunRaw("") == "-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n");
  Finish();
  CHECK(stops());
}

TEST_CASE_METHOD(StopSaveTest,
                 "a save that runs already is given up: the file of a stop has the last changes") {
  FillWith(1000);
  Run({"BGSAVE"});
  Slice();
  Run({"SET", "new", "1"});
  Ask("SAVE");
  Finish();
  CHECK(stops());
  CHECK(saved_keys() == 1001);
}

TEST_CASE_METHOD(StopSaveTest, "no CLIENT UNPAUSE lets writers go on before the server is gone") {
  FillWith(1000);
  Run({"CLIENT", "PAUSE", "10", "ALL"});
  CHECK(chief.RunRaw("SHUTDOWN SAVE\r\n").empty());
  AdvanceTime(10);  // the order is read when the clients' pause is over
  AdvanceTime(0);
  Slice();
  REQUIRE(snapshots().saving());
  CHECK(Run({"GET", "key:1"}) == Bulk("value 1"));
  CHECK(writer.RunRaw("SET new 1\r\n").empty());
  CHECK(Run({"CLIENT", "UNPAUSE"}) == Ok());
  CHECK(writer.RunRaw("").empty());
  Finish();
  CHECK(stops());
  CHECK(Run({"CLIENT", "UNPAUSE"}) == Ok());
  CHECK(writer.RunRaw("").empty());
  CHECK(saved_keys() == 1000);
}

TEST_CASE_METHOD(StopSaveTest,
                 "after a change that did not wait, as of a MIGRATE under way, a stop saves once more") {
  FillWith(1000);
  Ask("SAVE");
  Slice();
  server().databases.changes().CountByClient();
  Finish();
  CHECK(stops());
  CHECK(server().server.stats.saves.saves == 2);
}

TEST_CASE_METHOD(StopSaveTest, "figures that are set to zero meanwhile do not make a stop fail") {
  FillWith(10);
  Run({"SAVE"});
  Ask("SAVE");
  CHECK(Run({"CONFIG", "RESETSTAT"}) == Ok());
  Finish();
  CHECK(stops());
}

TEST_CASE_METHOD(StopSaveTest, "a save of a stop that is cancelled by no client begins again") {
  FillWith(1000);
  Ask("SAVE");
  Slice();
  snapshots().Cancel();  // as a flush and a master do
  Finish();
  Finish();
  CHECK(stops());
  CHECK(saved_keys() == 1000);
  CHECK(disk.files().contains(kPath));
}

TEST_CASE_METHOD(
    StopSaveTest,
    "a server that waits to stop hands nothing over, and a stop that is certain is not given up") {
  Ask("SAVE");
  CHECK(Run({"FAILOVER"}) == Error("ERR FAILOVER is not possible while the server stops."));
  CHECK(Run({"SHUTDOWN", "NOSAVE"}) == NoReply());
  CHECK(Connect().Run({"SHUTDOWN", "ABORT"}) == Error("ERR No shutdown in progress."));
  CHECK(stops());
}

TEST_CASE_METHOD(StopSaveTest,
                 "the save of a stop is a save as any other: BGSAVE CANCEL ends it, and the stop") {
  FillWith(1000);
  Ask("SAVE");
  CHECK(Run({"SAVE"}) == Error("ERR Background save already in progress"));
  CHECK(Run({"BGSAVE"}) == Error("ERR Background save already in progress"));
  CHECK(Run({"BGSAVE", "CANCEL"}) == Simple("Background saving cancelled"));
  Finish();
  CHECK_FALSE(stops());
  CHECK(chief.RunRaw("") == kNotStopping);
}

TEST_CASE_METHOD(StopSaveTest,
                 "BGSAVE CANCEL while the file of a stop takes its place is too late for both") {
  FillWith(1000);
  DiskGate gate(disk, "rename");
  Ask("SAVE");
  while (!gate.reached()) Slice();
  CHECK(Run({"BGSAVE", "CANCEL"}) ==
        Error("ERR Background saving is currently not in progress or scheduled"));
  gate.Open();
  Finish();
  CHECK(stops());
  CHECK(saved_keys() == 1000);
}

TEST_CASE_METHOD(StopSaveTest, "the file of a stop has the whole log of removed keys, however long") {
  SetOption("expire-log-size", "16mb");
  const std::string value(1'000, 'v');
  for (int i = 0; i < 6'000; ++i) {
    const std::string key = "gone:" + std::to_string(i);
    Run({"SET", key, value});
    Run({"DEL", key});
  }
  Ask("SAVE");
  Finish();
  CHECK(stops());
  CHECK(disk.files().at(kPath).size() > 6'000 * 1'000);
}

TEST_CASE_METHOD(StopSaveTest, "a replica stops, with a file, though its master sends all keys meanwhile") {
  FillWith(1000);
  Run({"SAVE"});
  Ask("SAVE");
  CHECK(snapshots().LoadReceived(kPath, /*quiet=*/false, [](const LoadResult&) {}, now()) == "");
  while (!stops()) {
    Slice();
    AdvanceTime(0);
  }
  CHECK(saved_keys() == 1000);
}

TEST_CASE_METHOD(StopSaveTest, "who writes after a stop has saved at once gets no reply") {
  Run({"SET", "a", "old"});
  CHECK(Run({"SHUTDOWN", "NOW", "SAVE"}) == NoReply());
  CHECK(writer.RunRaw("SET a new\r\n").empty());
  CHECK(Connect().Run({"GET", "a"}) == Bulk("old"));
}

TEST_CASE_METHOD(
    StopSaveTest,
    "while the server waits to stop it shows that its loop turns, but for work that takes long") {
  FillWith(1000);
  std::string heard;
  const auto ends = [&] {
    return StopEnds{.stop = [&] { heard += "stop "; },
                    .given_up = {},
                    .turns = [&](bool turns) { heard += turns ? "turns " : "works "; }};
  };
  CHECK_FALSE(MayStop(server().server, {.save = true}, ends()));
  AdvanceTime(0);
  CHECK(heard == "turns works turns ");
  CHECK(snapshots().saving());
  AdvanceTime(249);
  CHECK(heard == "turns works turns ");
  AdvanceTime(1);
  CHECK(heard == "turns works turns turns ");
  Finish();
  CHECK(heard == "turns works turns turns stop ");
}

}  // namespace mayfly::testing

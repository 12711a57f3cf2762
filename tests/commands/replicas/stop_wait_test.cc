// SHUTDOWN of a master: it waits until its replicas have everything.
#include "replication/stop_wait.h"

#include <cerrno>
#include <string>

#include "commands/replicas/follow_world.h"
#include "server/figures/stats.h"

namespace mayfly::testing {
namespace {

class StopWaitTest : public MasterTest {
 public:
  ~StopWaitTest() { server().server.stop_wait.reset(); }
  bool stops() { return server().server.shutdown_requested; }
  // What is left of the wait; "" if there is none.
  std::string Left() {
    const std::string info = Run({"INFO", "server"}).text;
    const size_t at = info.find("shutdown_in_milliseconds:");
    return at == std::string::npos ? "" : info.substr(at + 25, info.find('\r', at) - at - 25);
  }

  TestClient& chief = Connect();
  TestClient& writer = Connect();
};

// The follower is to stop.
class StopOfReplicaTest : public FollowTest {
 public:
  StopOfReplicaTest() { FollowTest::Follow(); }
  ~StopOfReplicaTest() {
    follower.server().server.stop_wait.reset();
    follower.server().server.snapshots.reset();  // the disk must outlive the thread of a save
  }
  bool stops() { return follower.server().server.shutdown_requested; }
  uint64_t saves() { return follower.server().server.stats.saves.saves; }
  // To the end of the save that the stop has begun.
  void Finish() {
    follower.FinishSave();
    for (int turn = 0; turn < 3; ++turn) follower.AdvanceTime(0);
  }

  TestClient& chief = follower.Connect();
};

}  // namespace

TEST_CASE_METHOD(StopWaitTest, "SHUTDOWN waits until the replica has everything, while writers wait") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", "1"});
  CHECK(chief.RunRaw("SHUTDOWN NOSAVE\r\n").empty());
  CHECK_FALSE(stops());
  CHECK(Left() == "10000");
  CHECK(writer.RunRaw("SET b 1\r\n").empty());
  CHECK(Run({"GET", "a"}) == Bulk("1"));
  CHECK(replica.Take() == Heard{"SET a 1", "REPLCONF GETACK *"});
  AdvanceTime(9'999);
  CHECK(Left() == "1");
  CHECK_FALSE(stops());
  replica.Confirm();
  AdvanceTime(0);
  CHECK(stops());
  CHECK(chief.RunRaw("").empty());
  CHECK(chief.session().Has(Mode::kDropped));
  CHECK(writer.RunRaw("").empty());
}

TEST_CASE_METHOD(StopWaitTest, "a change that did not wait for the end of the server is asked for as well") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", "1"});
  chief.RunRaw("SHUTDOWN NOSAVE\r\n");
  CHECK(replica.Take() == Heard{"SET a 1", "REPLCONF GETACK *"});
  const int64_t before = replica.place;
  keyspace().Delete(keyspace().KeyOf("a"), now());
  AdvanceTime(0);
  replica.ConfirmPlace(before);
  AdvanceTime(0);
  CHECK_FALSE(stops());
  CHECK(replica.Take() == Heard{"DEL a", "REPLCONF GETACK *"});
  replica.Confirm();
  AdvanceTime(0);
  CHECK(stops());
}

TEST_CASE_METHOD(StopWaitTest, "after shutdown-timeout the master stops without its replica") {
  SetOption("shutdown-timeout", "3");
  Follow();
  Run({"SET", "a", "1"});
  chief.RunRaw("SHUTDOWN NOSAVE\r\n");
  AdvanceTime(2'999);
  CHECK_FALSE(stops());
  AdvanceTime(1);
  CHECK(stops());
}

TEST_CASE_METHOD(StopWaitTest, "all replicas are waited for, also one that still gets its keys") {
  FakeReplica& first = Follow();
  FakeReplica& second = NewReplica();
  second.Greet("7002");
  AskForAll(second);
  first.Take();
  first.Confirm();
  chief.RunRaw("SHUTDOWN NOSAVE\r\n");
  AdvanceTime(0);
  CHECK_FALSE(stops());
  second.Confirm();
  AdvanceTime(0);
  second.Take();
  second.Confirm();
  first.Take();
  first.Confirm();
  AdvanceTime(0);
  CHECK(stops());
}

TEST_CASE_METHOD(StopWaitTest, "a replica that leaves is not waited for any more") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", "1"});
  chief.RunRaw("SHUTDOWN NOSAVE\r\n");
  CHECK_FALSE(stops());
  Leave(replica);
  AdvanceTime(1);
  CHECK(stops());
}

TEST_CASE_METHOD(StopWaitTest, "SHUTDOWN ABORT lets the master and its writers go on") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", "1", "PX", "10"});
  chief.RunRaw("SHUTDOWN\r\n");
  TestClient& second = Connect();
  CHECK(second.RunRaw("SHUTDOWN SAVE\r\n").empty());
  CHECK(writer.RunRaw("SET b 1\r\n").empty());
  replica.Take();
  AdvanceTime(20);
  CHECK(replica.Take() == Heard{});  // nothing expires
  CHECK(Run({"SHUTDOWN", "ABORT"}) == Ok());
  AdvanceTime(0);
  CHECK(chief.RunRaw("") == "-ERR Errors trying to SHUTDOWN. Check logs.\r\n");
  CHECK(second.RunRaw("") == "-ERR Errors trying to SHUTDOWN. Check logs.\r\n");
  CHECK(writer.RunRaw("") == "+OK\r\n");
  CHECK(replica.Take() == Heard{"SET b 1", "DEL a"});
  CHECK(Left().empty());
  CHECK(Run({"SHUTDOWN", "ABORT"}) == Error("ERR No shutdown in progress."));
  AdvanceTime(20'000);
  CHECK_FALSE(stops());
  // Another one begins anew.
  chief.RunRaw("SHUTDOWN NOSAVE\r\n");
  CHECK(Left() == "10000");
}

TEST_CASE_METHOD(StopWaitTest, "nobody waits without need, or with NOW") {
  SECTION("no replica") { CHECK(Run({"SHUTDOWN", "NOSAVE"}) == NoReply()); }
  SECTION("a replica that has everything") {
    FakeReplica& replica = Follow();
    replica.Confirm();
    CHECK(Run({"SHUTDOWN", "NOSAVE"}) == NoReply());
  }
  SECTION("shutdown-timeout 0") {
    Follow();
    Run({"SET", "a", "1"});
    SetOption("shutdown-timeout", "0");
    CHECK(Run({"SHUTDOWN", "NOSAVE"}) == NoReply());
  }
  SECTION("NOW") {
    Follow();
    Run({"SET", "a", "1"});
    CHECK(Run({"SHUTDOWN", "NOW", "NOSAVE"}) == NoReply());
  }
  SECTION("NOW while others wait") {
    Follow();
    Run({"SET", "a", "1"});
    CHECK(chief.RunRaw("SHUTDOWN NOSAVE\r\n").empty());
    CHECK_FALSE(stops());
    CHECK(Run({"SHUTDOWN", "NOW", "NOSAVE"}) == NoReply());
  }
  CHECK(stops());
}

TEST_CASE_METHOD(StopOfReplicaTest,
                 "a replica does not wait for its own replicas: they get all keys from the master, too") {
  const bool is_promoted = GENERATE(false, true);
  CAPTURE(is_promoted);
  if (is_promoted) REQUIRE(follower.Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  FakeReplica third(follower.server());
  third.GreetAsMayfly();
  third.client.RunRaw("PSYNC ? -1\r\n");
  REQUIRE(Link("connected_slaves") == "1");
  chief.RunRaw("SHUTDOWN NOSAVE\r\n");
  CHECK(stops() != is_promoted);
}

TEST_CASE_METHOD(StopOfReplicaTest,
                 "a replica that stops saves once: what comes meanwhile comes again later") {
  for (int i = 0; i < 300; ++i) Run({"SET", "k" + std::to_string(i), "v"});
  Carry();
  CHECK(chief.RunRaw("SHUTDOWN SAVE\r\n").empty());
  follower.AdvanceTime(0);
  REQUIRE(follower.snapshots().saving());
  Run({"SET", "late", "v"});
  CarryBytes();
  REQUIRE(follower.Run({"EXISTS", "late"}) == Integer(1));
  Finish();
  CHECK(stops());
  CHECK(saves() == 1);
}

TEST_CASE_METHOD(StopOfReplicaTest,
                 "a replica whose file cannot be written tries once more, and stops then") {
  Run({"SET", "k", "v"});
  Carry();
  follower.disk.FailAt(1, ENOSPC);
  CHECK(chief.RunRaw("SHUTDOWN SAVE\r\n").empty());
  follower.AdvanceTime(0);
  Finish();
  CHECK(stops());
  CHECK(saves() == 1);
  CHECK(follower.disk.files().contains(kSnapshotPath));
}

TEST_CASE_METHOD(StopWaitTest,
                 "a stop that was given up has asked in vain: the next one asks the replica again") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", "1"});
  chief.RunRaw("SHUTDOWN NOSAVE\r\n");
  CHECK(replica.Take() == Heard{"SET a 1", "REPLCONF GETACK *"});
  CHECK(Run({"SHUTDOWN", "ABORT"}) == Ok());
  AdvanceTime(0);
  CHECK(chief.RunRaw("") == "-ERR Errors trying to SHUTDOWN. Check logs.\r\n");
  chief.RunRaw("SHUTDOWN NOSAVE\r\n");
  AdvanceTime(0);
  CHECK(replica.Take() == Heard{"REPLCONF GETACK *"});
  replica.Confirm();
  AdvanceTime(0);
  CHECK(stops());
}

TEST_CASE_METHOD(StopWaitTest, "of the words SAVE and NOSAVE the last one counts, whoever says it") {
  Run({"CONFIG", "SET", "save", GENERATE("", "3600 1000")});  // what counts if neither is said
  FakeReplica& replica = Follow();
  Run({"SET", "a", "1"});
  const bool saves = GENERATE(true, false);
  chief.RunRaw(saves ? "SHUTDOWN NOSAVE\r\n" : "SHUTDOWN SAVE\r\n");
  TestClient& second = Connect();
  CHECK(second.RunRaw(saves ? "SHUTDOWN SAVE\r\n" : "SHUTDOWN NOSAVE\r\n").empty());
  TestClient& third = Connect();
  CHECK(third.RunRaw("SHUTDOWN\r\n").empty());  // it says neither
  replica.Take();
  replica.Confirm();
  AdvanceTime(0);
  FinishSave();
  AdvanceTime(0);
  AdvanceTime(0);
  CHECK(stops());
  CHECK(disk.files().contains(kSnapshotPath) == saves);
}

TEST_CASE_METHOD(StopWaitTest,
                 "the client that has sent SHUTDOWN may be unblocked: the master stops all the same") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", "1"});
  const std::string id = std::to_string(chief.session().id);
  chief.RunRaw("SHUTDOWN NOSAVE\r\n");
  CHECK(Run({"CLIENT", "UNBLOCK", id}) == Integer(1));
  CHECK(chief.RunRaw("") == "-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n");
  CHECK_FALSE(stops());
  replica.Take();
  replica.Confirm();
  AdvanceTime(0);
  CHECK(stops());
}

TEST_CASE_METHOD(StopWaitTest, "a stop that saves waits for replicas first, then for the file") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", "1"});
  chief.RunRaw("SHUTDOWN SAVE\r\n");
  CHECK(writer.RunRaw("SET b 1\r\n").empty());
  replica.Take();
  SECTION("which is written") {
    replica.Confirm();
    AdvanceTime(0);
    CHECK(Left().empty());
    CHECK_FALSE(stops());
    FinishSave();
    AdvanceTime(0);
    AdvanceTime(0);
    CHECK(stops());
    CHECK(writer.RunRaw("").empty());
  }
  SECTION("unless another client says that nothing is to be saved") {
    TestClient& second = Connect();
    CHECK(second.RunRaw("SHUTDOWN NOSAVE\r\n").empty());
    replica.Confirm();
    AdvanceTime(0);
    CHECK(stops());
    CHECK(disk.files().empty());
  }
  SECTION("which cannot be written, and another client has said FORCE") {
    TestClient& second = Connect();
    CHECK(second.RunRaw("SHUTDOWN FORCE\r\n").empty());
    replica.Confirm();
    disk.FailFrom(1, ENOSPC);
    AdvanceTime(0);
    FinishSave();
    AdvanceTime(0);
    AdvanceTime(0);
    CHECK(stops());
  }
  SECTION("which cannot be written: writers go on") {
    replica.Confirm();
    disk.FailFrom(1, ENOSPC);
    AdvanceTime(0);
    FinishSave();
    AdvanceTime(0);
    AdvanceTime(0);
    CHECK_FALSE(stops());
    CHECK(chief.RunRaw("") == "-ERR Errors trying to SHUTDOWN. Check logs.\r\n");
    CHECK(writer.RunRaw("") == "+OK\r\n");
    CHECK(Left().empty());
  }
}

}  // namespace mayfly::testing

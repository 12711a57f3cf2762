// Whichever allocation of replication fails: a replica gets everything, or is told by the end of its connection that it does not.
#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "commands/memory/failing_allocation.h"
#include "commands/replicas/master_world.h"
#include "commands/replicas/replica_world.h"
#include "replication/replicas.h"

namespace mayfly::testing {
namespace {

const std::string kLong(5000, 'x');
const std::string kVeryLong(200'000, 'y');

// Up to the end of the turn, which does not come. Returns false if there was no memory for the request itself.
bool RunWithoutTurnEnd(TestServer& server, TestClient& client, const std::string& bytes) {
  Feed feed{.session = &client.session(), .input = {bytes.data(), bytes.size()}};
  server.executor.RefreshNow();
  server.executor.Run({&feed, 1});
  return feed.consumed == bytes.size();
}

}  // namespace

TEST_CASE_METHOD(MasterTest,
                 "whichever allocation of a long change or message fails, replicas get it or are dropped") {
  const size_t nth = GENERATE(range(size_t{1}, size_t{25}));
  const bool is_message = GENERATE(false, true);
  CAPTURE(nth, is_message);
  server().changes.Unlisten(server().change_log);  // it needs memory where no listener may
  FakeReplica& replica = Follow();
  CHECK(Run({"SET", "long", kLong}) == Ok());
  replica.TakeBytes();
  replica.Confirm();
  TestClient& writer = Connect();
  std::string answer;
  const std::string request =
      EncodeRequest(is_message ? Words{"PUBLISH", "news", kVeryLong} : Words{"APPEND", "long", kVeryLong});
  {
    const FailingAllocation failing(nth);
    try {
      answer = writer.RunRaw(request);
    } catch (const std::bad_alloc&) {
    }
  }
  if (!AllocationFailed()) return;
  AdvanceTime(0);
  if (replica.dropped()) {
    const std::string history = replica.history;
    const int64_t place = replica.place;
    Leave(replica);
    FakeReplica& again = NewReplica();
    again.Greet();
    const std::string greeting = Continue(again, history, place);
    REQUIRE_FALSE(greeting.starts_with("+CONTINUE"));
    ReceiveAll(again, greeting);
    again.Confirm();
    CHECK(Run({"SET", "next", "1"}) == Ok());
    CHECK(again.Take() == Heard{"SELECT 0", "SET next 1"});  // nothing is left of the old stream
    return;
  }
  const bool is_done = is_message ? answer == ":0\r\n" : Run({"STRLEN", "long"}) == Integer(5000 + 200'000);
  const std::string stream = replica.TakeBytes();
  CHECK((stream.find(kVeryLong) != std::string::npos) == is_done);
}

TEST_CASE_METHOD(MasterTest,
                 "whichever allocation of a snapshot's begin fails, its replica gets it or is dropped") {
  const size_t nth = GENERATE(range(size_t{1}, size_t{40}));
  CAPTURE(nth);
  FillWith(50);
  FakeReplica& replica = NewReplica();
  replica.Greet();
  REQUIRE(RunWithoutTurnEnd(server(), replica.client, "PSYNC ? -1\r\n"));
  {
    const FailingAllocation failing(nth);
    server().executor.EndTurn();
  }
  if (!AllocationFailed() || replica.dropped()) return;
  ReceiveAll(replica);
  CHECK_FALSE(replica.file.empty());
  BringUp(replica);
}

TEST_CASE_METHOD(ReplicaTest,
                 "whichever allocation of a relayed command fails, replicas get it or are dropped") {
  const size_t nth = GENERATE(range(size_t{1}, size_t{25}));
  CAPTURE(nth);
  server().changes.Unlisten(server().change_log);  // it needs memory where no listener may
  Sync(FileWith({}), 100);
  const auto greet = [](TestClient& client) {
    client.Run({"REPLCONF", "capa", "eof", "capa", "psync2", "capa", "mayfly", "capa", "cutoffs"});
  };
  TestClient& third = SnapshotTest::Connect();
  greet(third);
  REQUIRE(third.RunRaw("PSYNC " + kHistory + " 101\r\n").starts_with("+CONTINUE"));
  const std::string stream = EncodeRequest({"SET", "long", kVeryLong});
  {
    const FailingAllocation failing(nth);
    try {
      master().Answer(stream);
    } catch (const std::bad_alloc&) {  // in the master
      return;
    }
  }
  if (!AllocationFailed()) return;
  AdvanceTime(0);
  if (Replication("master_link_status") != "up") {  // all keys are asked for again
    CHECK(third.session().Has(Mode::kDropped));
    AdvanceTime(MasterLink::kRetryMs);
    Greet("PSYNC ? -1");
    return;
  }
  CHECK(Replication("slave_repl_offset") == std::to_string(100 + stream.size()));
  if (!third.session().Has(Mode::kDropped)) {
    CHECK(third.RunRaw("") == stream);
    return;
  }
  TestClient& again = SnapshotTest::Connect();
  greet(again);
  CHECK_FALSE(again.RunRaw("PSYNC " + kHistory + " 101\r\n").starts_with("+CONTINUE"));
  TestClient& fresh = SnapshotTest::Connect();
  greet(fresh);
  REQUIRE(fresh.RunRaw("PSYNC " + kHistory + " " + std::to_string(101 + stream.size()) + "\r\n")
              .starts_with("+CONTINUE"));
  Command({"SET", "b", "1"});
  AdvanceTime(0);
  CHECK(fresh.RunRaw("") == EncodeRequest({"SET", "b", "1"}));
}

TEST_CASE_METHOD(ReplicaTest,
                 "whichever allocation of a connection fails, the master is tried again a second later") {
  const size_t nth = GENERATE(range(size_t{1}, size_t{10}));
  CAPTURE(nth);
  CHECK(Run({"REPLICAOF", "a-master-whose-name-needs-memory.example", "7000"}) == Ok());
  {
    const FailingAllocation failing(nth);
    AdvanceTime(0);
  }
  if (!AllocationFailed()) return;
  const std::string state = Run({"ROLE"}).elements.at(3).text;
  CHECK(state == (targets.count() != 0 && !master().closed() ? "connecting" : "connect"));
  AdvanceTime(MasterLink::kRetryMs);
  REQUIRE(targets.count() != 0);
  CHECK_FALSE(master().closed());
  CHECK(Run({"ROLE"}).elements.at(3) == Bulk("connecting"));
}

TEST_CASE_METHOD(ReplicaTest,
                 "whichever allocation of a confirmation fails, the link goes on or is made anew") {
  const size_t nth = GENERATE(range(size_t{1}, size_t{6}));
  CAPTURE(nth);
  Sync(FileWith({}), 100);
  {
    const FailingAllocation failing(nth);
    AdvanceTime(MasterLink::kTellMs);
  }
  if (!AllocationFailed() || !master().closed()) return;
  CHECK(Replication("master_link_status") == "down");
  AdvanceTime(MasterLink::kRetryMs);
  Greet("PSYNC " + kHistory + " 101");
}

TEST_CASE_METHOD(MasterTest, "no WAIT counts a replica for a change that the stream had no memory for") {
  const size_t nth = GENERATE(range(size_t{1}, size_t{25}));
  CAPTURE(nth);
  server().changes.Unlisten(server().change_log);  // it needs memory where no listener may
  FakeReplica& replica = Follow();
  CHECK(Run({"SET", "long", kLong}) == Ok());
  replica.TakeBytes();
  replica.Confirm();
  TestClient& writer = Connect();
  const std::string request = EncodeRequest({"APPEND", "long", kVeryLong});
  bool has_run = false;
  {
    const FailingAllocation failing(nth);
    has_run = RunWithoutTurnEnd(server(), writer, request);
  }
  if (!AllocationFailed() || !has_run) return;
  const bool is_done = keyspace().Peek(keyspace().KeyOf("long"), now())->TextLength() > kLong.size();
  const std::string answer = writer.RunRaw("WAIT 1 1\r\n");
  CHECK(answer.ends_with(":1\r\n") == !is_done);
}

}  // namespace mayfly::testing

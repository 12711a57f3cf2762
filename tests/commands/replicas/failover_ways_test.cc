// FAILOVER and SHUTDOWN of a master in the ways of an operator: which replica takes over, what is refused, what is told, and
// what happens beside each other, beside a script, and without memory.
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <vector>

#include "base/log/log.h"
#include "commands/memory/failing_allocation.h"
#include "commands/replicas/master_world.h"
#include "replication/failover.h"
#include "replication/master_link.h"
#include "replication/replicas.h"
#include "replication/stop_wait.h"
#include "support/fake_target.h"
#include "support/folder.h"

namespace mayfly::testing {
namespace {

const Reply kNoReplica = Error("ERR FAILOVER target HOST and PORT is not a replica.");

class FailoverWaysTest : public MasterTest {
 public:
  FailoverWaysTest() { server().server.master_link = std::make_unique<MasterLink>(server().server, disk); }
  ~FailoverWaysTest() {
    server().server.stop_wait.reset();
    server().server.failover.reset();
    server().server.master_link.reset();
  }
  std::string State() { return Field("replication", "master_failover_state"); }
  std::string Role() { return Field("replication", "role"); }
  bool stops() { return server().server.shutdown_requested; }
  // A replica at this port of another address, which has everything so far.
  FakeReplica& FollowAt(const std::string& address, const std::string& port) {
    FakeReplica& replica = NewReplica();
    replica.Greet(port);
    REQUIRE(replica.client.Run({"REPLCONF", "ip-address", address}) == Ok());
    return BringUp(replica);
  }
  void ConfirmAll(FakeReplica& replica) {
    replica.TakeBytes();
    replica.Confirm();
    AdvanceTime(0);
  }

  FakeTargets targets{server()};
};

}  // namespace

// ---- who takes over

TEST_CASE_METHOD(FailoverWaysTest, "FAILOVER TO waits for this replica, however complete the others are") {
  FakeReplica& first = FollowAt("10.0.0.1", "7001");
  FakeReplica& second = FollowAt("10.0.0.1", "7002");
  FakeReplica& third = FollowAt("10.0.0.2", "7002");
  Run({"SET", "a", "1"});
  CHECK(Run({"FAILOVER", "to", "10.0.0.1", "7002"}) == Ok());
  ConfirmAll(first);
  ConfirmAll(third);
  CHECK(State() == "waiting-for-sync");
  CHECK(targets.count() == 0);
  ConfirmAll(second);
  CHECK(State() == "failover-in-progress");
  REQUIRE(targets.count() == 1);
  CHECK(targets.last().host == "10.0.0.1");
  CHECK(targets.last().port == 7002);
}

TEST_CASE_METHOD(FailoverWaysTest, "FAILOVER without a target hands over to who is complete first") {
  FakeReplica& first = FollowAt("10.0.0.1", "7001");
  FakeReplica& second = FollowAt("10.0.0.2", "7002");
  Run({"SET", "a", "1"});
  CHECK(Run({"FAILOVER"}) == Ok());
  first.TakeBytes();
  ConfirmAll(second);
  CHECK(State() == "failover-in-progress");
  REQUIRE(targets.count() == 1);
  CHECK(targets.last().host == "10.0.0.2");
  CHECK(targets.last().port == 7002);
}

TEST_CASE_METHOD(FailoverWaysTest, "FAILOVER TO waits for its target, also beside one with the same port") {
  FakeReplica& other = FollowAt("10.0.0.1", "7001");
  FakeReplica& target = FollowAt("10.0.0.2", "7001");
  Run({"SET", "a", "1"});
  CHECK(Run({"FAILOVER", "TO", "10.0.0.2", "7001"}) == Ok());
  ConfirmAll(other);
  CHECK(State() == "waiting-for-sync");
  CHECK(targets.count() == 0);
  ConfirmAll(target);
  CHECK(State() == "failover-in-progress");
  REQUIRE(targets.count() == 1);
  CHECK(targets.last().host == "10.0.0.2");
}

TEST_CASE_METHOD(FailoverWaysTest, "at the end of the time without FORCE a FAILOVER TO is given up") {
  FollowAt("10.0.0.1", "7001");
  Run({"SET", "a", "1"});
  CHECK(Run({"FAILOVER", "TIMEOUT", "100", "TO", "10.0.0.1", "7001"}) == Ok());
  AdvanceTime(99);
  CHECK(State() == "waiting-for-sync");
  AdvanceTime(1);
  CHECK(State() == "no-failover");
  CHECK(targets.count() == 0);
  CHECK(Run({"SET", "a", "2"}) == Ok());
}

TEST_CASE_METHOD(FailoverWaysTest, "once the replica is asked there is no timeout any more") {
  FakeReplica& replica = FollowAt("10.0.0.1", "7001");
  Run({"SET", "a", "1"});
  CHECK(Run({"FAILOVER", "TIMEOUT", "100"}) == Ok());
  ConfirmAll(replica);
  CHECK(State() == "failover-in-progress");
  AdvanceTime(1000);
  CHECK(State() == "failover-in-progress");
  CHECK(targets.count() == 1);
}

TEST_CASE_METHOD(FailoverWaysTest, "FORCE asks its target at the timeout, and a complete one at once") {
  const bool is_complete = GENERATE(false, true);
  FakeReplica& replica = FollowAt("10.0.0.1", "7001");
  Run({"SET", "a", "1"});
  CHECK(Run({"FAILOVER", "FORCE", "TO", "10.0.0.1", "7001", "TIMEOUT", "100"}) == Ok());
  if (is_complete) ConfirmAll(replica);
  CHECK(State() == (is_complete ? "failover-in-progress" : "waiting-for-sync"));
  AdvanceTime(is_complete ? 0 : 100);
  CHECK(State() == "failover-in-progress");
  AdvanceTime(0);
  REQUIRE(targets.count() == 1);
  CHECK(targets.last().port == 7001);
}

// ---- what is refused

TEST_CASE_METHOD(FailoverWaysTest, "a word of FAILOVER stands once, and ABORT stands alone") {
  FollowAt("10.0.0.1", "7001");
  const Reply syntax = Error("ERR syntax error");
  const Reply number = Error("ERR value is not an integer or out of range");
  const std::vector<std::pair<Words, Reply>> table = {
      {{"TIMEOUT", "5", "TIMEOUT", "5"}, syntax},
      {{"TIMEOUT"}, syntax},
      {{"TIMEOUT", "x"}, number},
      {{"TIMEOUT", "-1"}, Error("ERR FAILOVER timeout must be greater than 0")},
      {{"TO", "10.0.0.1"}, syntax},
      {{"TO", "10.0.0.1", "x"}, number},
      {{"TO", "10.0.0.1", "7001", "TO", "10.0.0.1", "7001"}, syntax},
      {{"TO", "10.0.0.1", "0"}, kNoReplica},
      {{"TO", "10.0.0.1", "-1"}, kNoReplica},
      {{"TO", "10.0.0.1", "7002"}, kNoReplica},
      {{"TO", "10.0.0.2", "7001"}, kNoReplica},
      {{"TO", "10.0.0.1", "72537"}, kNoReplica},  // 65536 more
      {{"FORCE", "FORCE"}, syntax},
      {{"FORCE", "TIMEOUT", "5"},
       Error("ERR FAILOVER with force option requires both a timeout and target HOST and IP.")},
      {{"FORCE", "TO", "10.0.0.1", "7001"},
       Error("ERR FAILOVER with force option requires both a timeout and target HOST and IP.")},
      {{"ABORT", "TIMEOUT", "5"}, syntax},
      {{"TIMEOUT", "5", "ABORT"}, syntax},
      {{"ABORT"}, Error("ERR No failover in progress.")}};
  for (const auto& [words, reply] : table) {
    Words request = words;
    request.insert(request.begin(), "FAILOVER");
    CAPTURE(request);
    CHECK(Run(request) == reply);
    CHECK(State() == "no-failover");
  }
}

TEST_CASE_METHOD(FailoverWaysTest,
                 "a target that still gets its keys is not online, and no other one waits for it") {
  FakeReplica& loads = NewReplica();
  loads.Greet("7001");
  AskForAll(loads);
  const Reply not_online = Error("ERR FAILOVER target replica is not online.");
  CHECK(Run({"FAILOVER", "TO", "127.0.0.1", "7001"}) == not_online);
  CHECK(Run({"FAILOVER"}) == Ok());
  AdvanceTime(0);
  CHECK(State() == "waiting-for-sync");
  CHECK(targets.count() == 0);
  loads.Confirm();
  AdvanceTime(0);
  ConfirmAll(loads);
  CHECK(State() == "failover-in-progress");
}

TEST_CASE_METHOD(FailoverWaysTest, "a replica hands nothing over, and asks nobody to") {
  CHECK(Run({"REPLICAOF", "there", "7000"}) == Ok());
  CHECK(Run({"FAILOVER"}) == Error("ERR FAILOVER is not valid when server is a replica."));
  CHECK(Run({"FAILOVER", "ABORT"}) == Error("ERR No failover in progress."));
}

TEST_CASE_METHOD(FailoverWaysTest, "FAILOVER ABORT lets writers go on, and the next FAILOVER begins anew") {
  FakeReplica& replica = FollowAt("10.0.0.1", "7001");
  TestClient& writer = Connect();
  Run({"SET", "a", "1"});
  CHECK(Run({"FAILOVER", "TIMEOUT", "100"}) == Ok());
  CHECK(writer.RunRaw("SET b 1\r\n").empty());
  CHECK(Run({"FAILOVER", "abort"}) == Ok());
  CHECK(State() == "no-failover");
  CHECK(writer.RunRaw("") == "+OK\r\n");
  CHECK(Role() == "master");
  CHECK(Run({"FAILOVER"}) == Ok());
  AdvanceTime(1000);  // no timeout of before
  CHECK(State() == "waiting-for-sync");
  replica.Take();
  replica.Confirm();
  AdvanceTime(0);
  ConfirmAll(replica);
  CHECK(State() == "failover-in-progress");
}

TEST_CASE_METHOD(FailoverWaysTest, "the log tells of each step of a handover, and of its end") {
  const Folder folder;
  FakeReplica& replica = FollowAt("10.0.0.1", "7001");
  Run({"SET", "a", "1"});
  Log log(server().clock, Log::Level::kNotice, folder / "log");
  server().server.log = &log;
  const auto text = [&] {
    std::ifstream file(folder / "log");
    std::string all;
    for (std::string line; std::getline(file, line);) all += line + "\n";
    return all;
  };
  CHECK(Run({"FAILOVER"}) == Ok());
  CHECK(text().ends_with("handing over: waiting for a replica that has everything\n"));
  CHECK(Run({"FAILOVER", "ABORT"}) == Ok());
  CHECK(text().ends_with("the handover was given up\n"));
  CHECK(Run({"FAILOVER"}) == Ok());
  ConfirmAll(replica);
  CHECK(text().find("handing over to the replica 10.0.0.1:7001\n") != std::string::npos);
  server().server.log = nullptr;
}

// ---- a stop

TEST_CASE_METHOD(FailoverWaysTest, "SHUTDOWN during a handover waits for no replica") {
  FollowAt("10.0.0.1", "7001");
  Run({"SET", "a", "1"});
  CHECK(Run({"FAILOVER"}) == Ok());
  CHECK(Run({"SHUTDOWN", "NOSAVE"}) == NoReply());
  CHECK(stops());
}

TEST_CASE_METHOD(FailoverWaysTest, "SHUTDOWN beside a long script waits for no replica: it may never end") {
  FollowAt("10.0.0.1", "7001");
  Run({"SET", "a", "1"});
  SetOption("busy-reply-threshold", "1");
  TestClient& caller = Connect();
  CHECK(caller.Run({"EVAL", "for i = 1, 3e7 do end", "0"}) == NoReply());
  REQUIRE(server().server.Busy());
  CHECK(Run({"SHUTDOWN", "NOSAVE"}) == NoReply());
  CHECK(stops());
  CHECK_FALSE(server().server.waits_to_stop);
  while (server().server.Busy()) Slice();
}

TEST_CASE_METHOD(FailoverWaysTest, "while the server waits to stop nothing is handed over") {
  FakeReplica& replica = FollowAt("10.0.0.1", "7001");
  TestClient& chief = Connect();
  Run({"SET", "a", "1"});
  CHECK(chief.RunRaw("SHUTDOWN NOSAVE\r\n").empty());
  CHECK(Run({"FAILOVER"}) == Error("ERR FAILOVER is not possible while the server stops."));
  ConfirmAll(replica);
  CHECK(stops());
}

TEST_CASE_METHOD(FailoverWaysTest, "the log tells which replicas a stop has not waited for") {
  SetOption("shutdown-timeout", "3");
  const Folder folder;
  FakeReplica& behind = FollowAt("10.0.0.1", "7001");
  FakeReplica& complete = FollowAt("10.0.0.2", "7002");
  FakeReplica& loads = NewReplica();
  loads.Greet("7003");
  AskForAll(loads);
  behind.TakeBytes();
  behind.Confirm();
  Run({"SET", "a", "1"});
  const size_t change = EncodeRequest({"SELECT", "0"}).size() + EncodeRequest({"SET", "a", "1"}).size();
  Log log(server().clock, Log::Level::kNotice, folder / "log");
  server().server.log = &log;
  TestClient& chief = Connect();
  CHECK(chief.RunRaw("SHUTDOWN NOSAVE\r\n").empty());
  complete.TakeBytes();
  complete.Confirm();
  AdvanceTime(3000);
  server().server.log = nullptr;
  CHECK(stops());
  std::ifstream file(folder / "log");
  std::string text;
  for (std::string line; std::getline(file, line);) text += line + "\n";
  CAPTURE(text);
  const auto has = [&](const std::string& what) { return text.find(what + "\n") != std::string::npos; };
  CHECK(has("waiting for replicas before stopping: shutdown-timeout is 3 s"));
  CHECK(has("the replica 10.0.0.1:7001 lacks the last " + std::to_string(change) + " bytes"));
  CHECK(has("the replica 127.0.0.1:7003 does not have all keys yet"));
  CHECK(text.find("10.0.0.2:7002") == std::string::npos);
  CHECK(has("1 of 3 replicas have everything"));
}

// ---- without memory

TEST_CASE_METHOD(FailoverWaysTest,
                 "whichever allocation fails when the replica is complete, writers do not wait for ever") {
  const size_t nth = GENERATE(range(size_t{1}, size_t{15}));
  const bool by_force = GENERATE(false, true);
  CAPTURE(nth, by_force);
  server().changes.Unlisten(server().change_log);  // it needs memory where no listener may
  const std::string host = "a-replica-whose-name-needs-memory.example";
  FakeReplica& replica = FollowAt(host, "7001");
  Run({"SET", "a", "1"});
  CHECK(Run({"FAILOVER", "TO", host, "7001", "FORCE", "TIMEOUT", "100"}) == Ok());
  if (!by_force) {
    replica.TakeBytes();
    Replicas::Of(server().server).Confirm(replica.client.session(), replica.place, -1, now());
  }
  {
    const FailingAllocation failing(nth);
    try {
      if (by_force)
        AdvanceTime(100);
      else
        server().executor.EndTurn();
    } catch (const std::bad_alloc&) {  // in what is not of the failover
    }
  }
  if (!AllocationFailed()) return;
  if (replica.dropped()) return;  // the stream has ended: a new replica is waited for
  CHECK(State() != "waiting-for-sync");
  if (State() == "no-failover") {
    CHECK(Role() == "master");
    CHECK(Run({"SET", "b", "1"}) == Ok());
    return;
  }
  // The link may have been lost before the question: then it is a master.
  AdvanceTime(MasterLink::kRetryMs);
  CHECK((State() == "no-failover" || targets.count() != 0));
}

TEST_CASE_METHOD(
    FailoverWaysTest,
    "whichever allocation fails at a replica's consent, the option replicaof is right or the log tells") {
  const size_t nth = GENERATE(range(size_t{1}, size_t{25}));
  CAPTURE(nth);
  server().changes.Unlisten(server().change_log);  // it needs memory where no listener may
  const Folder folder;
  const std::string host = "a-replica-whose-name-needs-memory.example";
  FakeReplica& replica = FollowAt(host, "7001");
  CHECK(Run({"FAILOVER"}) == Ok());
  ConfirmAll(replica);
  REQUIRE(targets.count() == 1);
  targets.last().Accept();
  targets.last().Answer("+PONG\r\n");
  targets.last().Answer("+OK\r\n");
  targets.last().Answer("+OK\r\n");
  Log log(server().clock, Log::Level::kWarning, folder / "log");
  server().server.log = &log;
  {
    const FailingAllocation failing(nth);
    try {
      targets.last().Answer("+CONTINUE " + std::string(40, 'b') + "\r\n");
    } catch (const std::bad_alloc&) {  // in the other server
      server().server.log = nullptr;
      return;
    }
  }
  server().server.log = nullptr;
  if (!AllocationFailed()) return;
  CHECK(State() == "no-failover");
  CHECK(Role() == "slave");
  const bool is_shown = Run({"CONFIG", "GET", "replicaof"}).elements.at(1) == Bulk(host + " 7001");
  std::ifstream file(folder / "log");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const bool is_told = text.find("the option replicaof does not show the new master") != std::string::npos;
  CAPTURE(text);
  CHECK(is_told == !is_shown);
}

}  // namespace mayfly::testing

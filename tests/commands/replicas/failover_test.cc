// FAILOVER: a master hands over to a replica that has everything.
#include "replication/failover.h"

#include <new>
#include <string>

#include "commands/memory/failing_allocation.h"
#include "commands/replicas/master_world.h"
#include "replication/master_link.h"
#include "support/fake_target.h"

namespace mayfly::testing {
namespace {

class FailoverTest : public MasterTest {
 public:
  FailoverTest() { server().server.master_link = std::make_unique<MasterLink>(server().server, disk); }
  ~FailoverTest() {
    server().server.failover.reset();
    server().server.master_link.reset();
  }
  std::string State() { return Field("replication", "master_failover_state"); }
  std::string Role() { return Field("replication", "role"); }
  // The replica has everything, and is to be asked.
  void BeginHandover() {
    FakeReplica& replica = Follow();
    Run({"FAILOVER"});
    replica.Take();
    replica.Confirm();
    AdvanceTime(0);
  }
  // The replica, as the target of a connection, is asked for its consent.
  std::string Asked() {
    FakeTarget& target = targets.last();
    target.Accept();
    target.Answer("+PONG\r\n");
    target.Answer("+OK\r\n");
    target.Take();
    target.Answer("+OK\r\n");
    return target.Take();
  }

  FakeTargets targets{server()};
};

}  // namespace

TEST_CASE_METHOD(FailoverTest, "writers wait until a replica has everything, and then it is asked") {
  FakeReplica& replica = Follow();
  TestClient& writer = Connect();
  CHECK(Run({"SET", "a", "1"}) == Ok());
  CHECK(Run({"FAILOVER"}) == Ok());
  CHECK(State() == "waiting-for-sync");
  CHECK(writer.RunRaw("SET b 1\r\n").empty());
  CHECK(Run({"GET", "a"}) == Bulk("1"));
  CHECK(replica.Take() == Heard{"SET a 1", "REPLCONF GETACK *"});
  CHECK(targets.count() == 0);
  replica.Confirm();
  AdvanceTime(0);
  CHECK(State() == "failover-in-progress");
  REQUIRE(targets.count() == 1);
  const std::string history = replica.history;
  CHECK(Asked() == "PSYNC " + history + " " + std::to_string(replica.place + 1) + " FAILOVER");
  CHECK(writer.RunRaw("").empty());
  targets.last().Answer("+CONTINUE 0123456789012345678901234567890123456789\r\n");
  AdvanceTime(0);
  CHECK(State() == "no-failover");
  CHECK(Role() == "slave");
  CHECK(Field("replication", "master_link_status") == "up");
  const std::string master = Field("replication", "master_host") + " " + Field("replication", "master_port");
  CHECK(Run({"CONFIG", "GET", "replicaof"}).elements.at(1) == Bulk(master));
  CHECK(writer.RunRaw("").starts_with("-READONLY"));
}

TEST_CASE_METHOD(FailoverTest,
                 "a replica that lacks a PING is not asked yet: this server would need all keys again") {
  const bool is_mayfly = GENERATE(false, true);
  CAPTURE(is_mayfly);
  FakeReplica& replica = NewReplica();
  is_mayfly ? replica.GreetAsMayfly() : replica.Greet();
  BringUp(replica);
  CHECK(Run({"SET", "a", "1"}) == Ok());
  CHECK(Run({"FAILOVER"}) == Ok());
  replica.TakeAll();
  const int64_t before = replica.place;
  AdvanceTime(10'000);
  replica.ConfirmPlace(before);
  AdvanceTime(0);
  CHECK(State() == "waiting-for-sync");
  const Heard lines = replica.TakeAll();
  CHECK(lines == Heard{"PING", "REPLCONF GETACK *"});
  // A redis-server's answer does not count the question.
  const int64_t question = static_cast<int64_t>(EncodeRequest({"REPLCONF", "GETACK", "*"}).size());
  replica.ConfirmPlace(replica.place - question);
  AdvanceTime(0);
  CHECK(State() == (is_mayfly ? "waiting-for-sync" : "failover-in-progress"));
  if (is_mayfly) replica.Confirm();
  AdvanceTime(0);
  REQUIRE(targets.count() == 1);
  CHECK(Asked() == "PSYNC " + replica.history + " " + std::to_string(replica.place + 1) + " FAILOVER");
}

TEST_CASE_METHOD(FailoverTest,
                 "a change that did not wait, as of a MIGRATE under way, is asked for as well") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", "1"});
  CHECK(Run({"FAILOVER"}) == Ok());
  CHECK(replica.Take() == Heard{"SET a 1", "REPLCONF GETACK *"});
  const int64_t before = replica.place;
  keyspace().Delete(keyspace().KeyOf("a"), now());
  AdvanceTime(0);
  replica.ConfirmPlace(before);
  AdvanceTime(0);
  CHECK(State() == "waiting-for-sync");
  CHECK(replica.Take() == Heard{"DEL a", "REPLCONF GETACK *"});
  replica.Confirm();
  AdvanceTime(0);
  CHECK(State() == "failover-in-progress");
}

TEST_CASE_METHOD(FailoverTest, "nothing expires while writers wait") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", "1", "PX", "10"});
  Run({"FAILOVER"});
  replica.Take();
  AdvanceTime(20);
  CHECK(Run({"EXISTS", "a"}) == Integer(0));
  CHECK(replica.Take() == Heard{});
  CHECK(Run({"FAILOVER", "ABORT"}) == Ok());
  AdvanceTime(0);
  CHECK(replica.Take() == Heard{"DEL a"});
}

TEST_CASE_METHOD(FailoverTest,
                 "a replica that comes while writers wait gets what is due, as the others have it") {
  Follow();
  Run({"SET", "soon-gone", "1", "PX", "10"});
  Run({"HSET", "h", "soon-due", "1", "b", "2"});
  Run({"HPEXPIRE", "h", "10", "FIELDS", "1", "soon-due"});
  CHECK(Run({"FAILOVER"}) == Ok());
  AdvanceTime(20);
  FakeReplica& late = NewReplica();
  late.Greet("7002");
  AskForAll(late);
  CHECK(State() == "waiting-for-sync");
  CHECK(late.file.find("soon-gone") != std::string::npos);
  CHECK(late.file.find("soon-due") != std::string::npos);
}

TEST_CASE_METHOD(FailoverTest, "without a replica that has everything in time the master stays one") {
  Follow();
  TestClient& writer = Connect();
  Run({"SET", "a", "1"});
  CHECK(Run({"FAILOVER", "TIMEOUT", "100"}) == Ok());
  CHECK(writer.RunRaw("SET b 1\r\n").empty());
  AdvanceTime(99);
  CHECK(State() == "waiting-for-sync");
  AdvanceTime(1);
  CHECK(State() == "no-failover");
  CHECK(Role() == "master");
  CHECK(writer.RunRaw("") == "+OK\r\n");
}

TEST_CASE_METHOD(FailoverTest, "FORCE hands over at the end of the time, with what the replica has") {
  Follow();
  Run({"SET", "a", "1"});
  CHECK(Run({"FAILOVER", "TO", "127.0.0.1", "7001", "FORCE", "TIMEOUT", "100"}) == Ok());
  AdvanceTime(100);
  CHECK(State() == "failover-in-progress");
  CHECK(Run({"FAILOVER", "ABORT"}) == Ok());
  AdvanceTime(0);
  CHECK(Role() == "master");
  CHECK(Run({"SET", "b", "1"}) == Ok());
}

TEST_CASE_METHOD(FailoverTest,
                 "a replica that refuses, or cannot be reached, leaves the master what it was") {
  enum class How : uint8_t { kRefuses, kUnreachable, kHangsUp };
  const How how = GENERATE(How::kRefuses, How::kUnreachable, How::kHangsUp);
  BeginHandover();
  REQUIRE(targets.count() == 1);
  if (how == How::kRefuses) {
    Asked();
    targets.last().Answer("-ERR PSYNC FAILOVER replid must match my replid.\r\n");
  } else if (how == How::kUnreachable) {
    targets.last().FindNoAddress();
  } else {  // as a port of TLS does with plain text
    targets.last().Accept();
    targets.last().HangUp();
  }
  AdvanceTime(0);
  CHECK(State() == "no-failover");
  CHECK(Role() == "master");
  CHECK(Run({"SET", "b", "1"}) == Ok());
}

TEST_CASE_METHOD(FailoverTest,
                 "who has handed over keeps no stale value: the new master may have dropped it by its tag") {
  Run({"SET", "k", "old", "PX", "50", "STALE", "600000", "TAGS", "1", "t"});
  AdvanceTime(50);
  BeginHandover();
  Asked();
  CHECK(Field("everything", "stale_values") == "1");  // this server may stay the master
  const bool hands_over = GENERATE(true, false);
  targets.last().Answer(hands_over ? "+CONTINUE 0123456789012345678901234567890123456789\r\n"
                                   : "-ERR no\r\n");
  AdvanceTime(0);
  REQUIRE(Role() == (hands_over ? "slave" : "master"));
  const bool in_time = GENERATE(true, false);  // before this server is a master again
  if (in_time) Slice();
  if (in_time) CHECK(Field("everything", "stale_values") == (hands_over ? "0" : "1"));
  CHECK(Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  CHECK(Run({"TAKE", "k", "LEASE", "1000"}).elements.at(1) == (hands_over ? Null() : Bulk("old")));
}

TEST_CASE_METHOD(FailoverTest,
                 "after a handover that was given up no other master is asked to become a replica") {
  BeginHandover();
  const std::string question = Asked();
  REQUIRE(question.ends_with(" FAILOVER"));
  CHECK(Run({"FAILOVER", "ABORT"}) == Ok());
  AdvanceTime(0);
  REQUIRE(Role() == "master");
  CHECK(Run({"REPLICAOF", "elsewhere", "7000"}) == Ok());
  AdvanceTime(0);
  REQUIRE(targets.count() == 2);
  const std::string later = Asked();
  CHECK(later.starts_with("PSYNC "));
  CHECK_FALSE(later.ends_with(" FAILOVER"));
}

TEST_CASE_METHOD(FailoverTest,
                 "after a break the question is asked again: the replica may be the master already") {
  BeginHandover();
  Asked();
  targets.last().HangUp();
  AdvanceTime(MasterLink::kRetryMs);
  REQUIRE(targets.count() == 2);
  const bool is_away = GENERATE(false, true);
  if (is_away) {  // that says nothing of the first question
    targets.last().FindNoAddress();
    AdvanceTime(MasterLink::kRetryMs);
    CHECK(State() == "failover-in-progress");
    REQUIRE(targets.count() == 3);
  }
  Asked();
  targets.last().Answer("-ERR PSYNC FAILOVER can't be sent to a master.\r\n");
  AdvanceTime(0);
  CHECK(State() == "no-failover");
  CHECK(Role() == "slave");
}

TEST_CASE_METHOD(FailoverTest,
                 "while it is not known who the master is, only the operator makes this server one") {
  BeginHandover();
  Asked();
  targets.last().HangUp();
  for (size_t count = 2; count < 10; ++count) {
    AdvanceTime(MasterLink::kRetryMs);
    REQUIRE(targets.count() == count);
    if (count % 2 == 0) {
      targets.last().FindNoAddress();
    } else {
      targets.last().Accept();
      targets.last().Answer("-ERR no\r\n");
    }
  }
  CHECK(State() == "failover-in-progress");
  CHECK(Role() == "slave");
  CHECK(Run({"FAILOVER", "ABORT"}) == Ok());
  AdvanceTime(0);
  CHECK(Role() == "master");
}

TEST_CASE_METHOD(FailoverTest,
                 "whichever allocation fails at the end of a handover, a master is left that takes writes") {
  enum class How : uint8_t { kRefuses, kUnreachable, kTakesOver };
  const How how = GENERATE(How::kRefuses, How::kUnreachable, How::kTakesOver);
  const size_t nth = GENERATE(range(size_t{1}, size_t{25}));
  CAPTURE(how, nth);
  const auto answer = [&] {
    if (how == How::kUnreachable) return targets.last().FindNoAddress();
    if (how == How::kRefuses) return targets.last().Answer("-ERR no\r\n");
    targets.last().Answer("+CONTINUE " + std::string(40, 'b') + "\r\n");
  };
  server().changes.Unlisten(server().change_log);  // it needs memory where no listener may
  BeginHandover();
  REQUIRE(targets.count() == 1);
  if (how != How::kUnreachable) Asked();
  {
    const FailingAllocation failing(nth);
    try {
      answer();
    } catch (const std::bad_alloc&) {  // in the other server
    }
  }
  for (int i = 0; i < 5 && State() != "no-failover"; ++i) {
    const size_t count = targets.count();
    if (!targets.last().closed()) answer();
    AdvanceTime(MasterLink::kRetryMs);
    if (targets.count() != count && how != How::kUnreachable) Asked();
  }
  CHECK(State() == "no-failover");
  if (how == How::kTakesOver) {
    CHECK(Role() == "slave");
    return;
  }
  CHECK(Role() == "master");
  CHECK(Run({"SET", "b", "1"}) == Ok());
}

TEST_CASE_METHOD(FailoverTest, "what is wrong with FAILOVER is told in Redis's words") {
  CHECK(Run({"FAILOVER"}) == Error("ERR FAILOVER requires connected replicas."));
  CHECK(Run({"FAILOVER", "ABORT"}) == Error("ERR No failover in progress."));
  CHECK(Run({"FAILOVER", "TIMEOUT", "0"}) == Error("ERR FAILOVER timeout must be greater than 0"));
  CHECK(Run({"FAILOVER", "NOW"}) == Error("ERR syntax error"));
  Follow();
  CHECK(Run({"FAILOVER", "TO", "127.0.0.1", "7001", "FORCE"}) ==
        Error("ERR FAILOVER with force option requires both a timeout and target HOST and IP."));
  CHECK(Run({"FAILOVER", "TO", "127.0.0.1", "7002"}) ==
        Error("ERR FAILOVER target HOST and PORT is not a replica."));
  CHECK(Run({"FAILOVER"}) == Ok());
  CHECK(Run({"FAILOVER"}) == Error("ERR FAILOVER already in progress."));
  CHECK(Run({"REPLICAOF", "there", "1"}) == Error("ERR REPLICAOF not allowed while failing over."));
}

TEST_CASE_METHOD(FailoverTest, "a master is not asked to become one") {
  CHECK(Run({"PSYNC", std::string(40, '0'), "1", "FAILOVER"}) ==
        Error("ERR PSYNC FAILOVER can't be sent to a master."));
}

TEST_CASE_METHOD(FailoverTest,
                 "a client that is blocked when its server becomes a replica is told and closed") {
  TestClient& waiting = Connect();
  CHECK(waiting.RunRaw("BLPOP l 0\r\n").empty());
  CHECK(Run({"REPLICAOF", "there", "7000"}) == Ok());
  CHECK(waiting.RunRaw("") ==
        "-UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)\r\n");
  CHECK(waiting.session().Has(Mode::kEnding));
}

}  // namespace mayfly::testing

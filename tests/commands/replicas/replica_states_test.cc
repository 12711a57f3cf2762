// What a master counts, sends and forgives in each state of a replica (it waits, receives, loads, follows, has left), and what a
// stream keeps when its server becomes a master.
#include <algorithm>
#include <string>
#include <vector>

#include "commands/replicas/follow_world.h"
#include "replication/backlog.h"
#include "replication/replicas.h"
#include "snapshot/load_terms.h"

namespace mayfly::testing {
namespace {

const std::string kGone(40, 'e');

class ReplicaStatesTest : public FollowTest {
 public:
  FakeReplica& Begin(const std::string& port = "7001") {
    FakeReplica& replica = NewReplica();
    replica.Greet(port);
    return replica;
  }
  std::string StateOf(size_t n) {
    const std::string line = Field("replication", "slave" + std::to_string(n));
    const size_t at = line.find("state=") + 6;
    return line.substr(at, line.find(',', at) - at);
  }
  // Some looks of the master at a replica that reads its snapshot.
  std::string Read(FakeReplica& replica, uint64_t ms) {
    std::string bytes;
    for (uint64_t passed = 0; passed < ms; passed += 100) {
      AdvanceTime(100);
      Slice();
      bytes += replica.client.RunRaw("");
    }
    return bytes;
  }
};

}  // namespace

// ---- confirmations

TEST_CASE_METHOD(ReplicaStatesTest, "a replica cannot confirm what the stream does not have yet") {
  FakeReplica& replica = MasterTest::Follow();
  const int64_t far = replica.place + 1'000'000;
  replica.client.RunRaw(EncodeRequest({"REPLCONF", "ACK", std::to_string(far), "FACK", std::to_string(far)}));
  TestClient& writer = Connect();
  writer.Run({"SET", "a", "1"});
  CHECK(writer.RunRaw("WAIT 1 10\r\n").empty());
  AdvanceTime(10);
  CHECK(writer.RunRaw("") == ":0\r\n");
  CHECK(writer.RunRaw("WAITAOF 0 1 10\r\n").empty());
  AdvanceTime(10);
  CHECK(writer.RunRaw("") == "*2\r\n:0\r\n:0\r\n");
  // Nor does it go back.
  replica.Take();
  replica.Confirm();
  replica.ConfirmPlace(1);
  CHECK(writer.Run({"WAIT", "1", "0"}) == Integer(1));
}

TEST_CASE_METHOD(ReplicaStatesTest, "a snapshot for a replica is no save: what has changed stays unsaved") {
  Run({"SET", "a", "1"});
  REQUIRE(Run({"SAVE"}) == Ok());
  Run({"SET", "a", "2"});
  const Words fields = {"rdb_changes_since_last_save", "rdb_last_save_time", "rdb_saves",
                        "rdb_last_bgsave_status"};
  Words before;
  for (const std::string& field : fields) before.push_back(Info(field));
  AdvanceTime(5000);
  FakeReplica& replica = Begin();
  AskForAll(replica);
  replica.Confirm();
  CHECK(Field("stats", "sync_full") == "1");
  for (size_t i = 0; i < fields.size(); ++i) CHECK(Info(fields[i]) == before[i]);
}

// ---- silence

TEST_CASE_METHOD(ReplicaStatesTest,
                 "a replica that has read its snapshot has repl-timeout to load it, and not more") {
  SetOption("repl-timeout", "5");
  SetOption("rdbcompression", "no");
  for (int i = 0; i < 50; ++i) Run({"SET", "k" + std::to_string(i), std::string(100'000, 'x')});
  FakeReplica& replica = Begin();
  std::string bytes = replica.client.RunRaw("PSYNC ? -1\r\n");
  // It reads slowly: for longer than repl-timeout.
  for (int s = 0; s < 12; ++s) {
    AdvanceTime(1000);
    Slice();
    CHECK_FALSE(replica.dropped());
  }
  ReceiveAll(replica, bytes);
  AdvanceTime(4000);
  CHECK_FALSE(replica.dropped());
  AdvanceTime(3000);
  CHECK(replica.dropped());
}

TEST_CASE_METHOD(ReplicaStatesTest,
                 "a replica that asked with SYNC confirms nothing, and is not dropped for it") {
  SetOption("repl-timeout", "5");
  FakeReplica& replica = Begin();
  replica.client.RunRaw("SYNC\r\n");
  Read(replica, 1000);
  replica.Confirm();
  AdvanceTime(60'000);
  CHECK_FALSE(replica.dropped());
  CHECK(Run({"SET", "a", "1"}) == Ok());
}

TEST_CASE_METHOD(ReplicaStatesTest,
                 "a replica that waits for the end of a save hears in time that its master lives") {
  SetOption("repl-ping-replica-period", "2");
  FillWith(1000);
  Run({"BGSAVE"});
  FakeReplica& replica = Begin();
  CHECK(replica.client.RunRaw("PSYNC ? -1\r\n").empty());
  size_t signs = 0;
  for (int s = 0; s < 10; ++s) {
    AdvanceTime(1000);
    const std::string bytes = replica.client.RunRaw("");
    CHECK(bytes.find_first_not_of('\n') == std::string::npos);
    signs += bytes.size();
  }
  CHECK(StateOf(0) == "wait_bgsave");
  CHECK(signs >= 4);
  CHECK(signs <= 6);
  FinishSave();
}

// ---- limits

TEST_CASE_METHOD(ReplicaStatesTest,
                 "changes beyond the output limit drop a replica that still gets its snapshot") {
  SetOption("client-output-buffer-limit", "replica 3000000 0 0");
  FillWith(2000);
  FakeReplica& good = MasterTest::Follow("7001");
  FakeReplica& slow = Begin("7002");
  slow.client.RunRaw("PSYNC ? -1\r\n");
  AdvanceTime(Replicas::kTickMs);
  REQUIRE(StateOf(1) == "send_bulk");
  for (int i = 0; i < 80; ++i) {
    Run({"SET", "a", std::string(50'000, 'x')});
    good.Take();
    good.Confirm();
  }
  CHECK(slow.dropped());
  CHECK_FALSE(good.dropped());
}

TEST_CASE_METHOD(ReplicaStatesTest, "the backlog keeps what a replica in its snapshot will need") {
  SetOption("repl-backlog-size", "16384");
  FillWith(2000);
  FakeReplica& replica = Begin();
  const std::string answer = replica.client.RunRaw("PSYNC ? -1\r\n");
  Heard wanted = {"SELECT 0"};
  for (int i = 0; i < 20; ++i) {
    const std::string text(Backlog::kBlockBytes / 2, static_cast<char>('a' + i));
    Run({"SET", "a", text});
    wanted.push_back("SET a " + text);
    AdvanceTime(Replicas::kTickMs);
  }
  ReceiveAll(replica, answer);
  replica.Confirm();
  std::string bytes;
  for (int i = 0; i < 20; ++i) {
    bytes += replica.TakeBytes();
    AdvanceTime(Replicas::kLookMs);
  }
  Heard got = FakeReplica::LinesOf(bytes);
  std::erase(got, "PING");
  CHECK((got == wanted));
}

TEST_CASE_METHOD(ReplicaStatesTest, "a replica whose lag is exactly min-replicas-max-lag is a good one") {
  SetOption("min-replicas-to-write", "1");
  SetOption("min-replicas-max-lag", "5");
  FakeReplica& replica = MasterTest::Follow();
  replica.Confirm();
  AdvanceTime(5000);
  CHECK(Run({"SET", "a", "1"}) == Ok());
  AdvanceTime(1000);
  CHECK(Run({"SET", "a", "1"}).text.starts_with("NOREPLICAS "));
}

TEST_CASE_METHOD(ReplicaStatesTest,
                 "a replica does not ask for replicas of its own: its master's commands run") {
  FollowTest::Follow();
  follower.SetOption("min-replicas-to-write", "3");
  Run({"SET", "a", "1"});
  Carry();
  CHECK(follower.Run({"GET", "a"}) == Bulk("1"));
  CHECK(follower.Run({"SET", "a", "1"}).text.starts_with("READONLY "));
  CHECK(Link("master_failed_commands") == "0");
}

// ---- the end of a stream, and the begin of another

TEST_CASE_METHOD(ReplicaStatesTest,
                 "the backlog's time counts from the moment when the last replica has left") {
  SetOption("repl-backlog-ttl", "10");
  FakeReplica& first = MasterTest::Follow("7001");
  FakeReplica& second = MasterTest::Follow("7002");
  Leave(first);
  AdvanceTime(9'000);
  second.Confirm();
  AdvanceTime(9'000);
  second.Confirm();
  Leave(second);
  AdvanceTime(9'000);
  CHECK(Field("replication", "repl_backlog_active") == "1");
  AdvanceTime(2'000);
  CHECK(Field("replication", "repl_backlog_active") == "0");
}

TEST_CASE_METHOD(
    ReplicaStatesTest,
    "after a promotion who was not further goes on under the old name, and who was further gets all keys") {
  follower.server().server.run_id = std::string(40, 'f');
  FollowTest::Follow();
  Run({"SET", "a", "1"});
  Carry();
  const std::string history = Link("master_replid");
  const int64_t place = std::stoll(Link("master_repl_offset"));
  REQUIRE(follower.Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  follower.Run({"SELECT", "1"});
  follower.Run({"SET", "b", "1"});
  CHECK(Link("master_replid2") == history);
  CHECK(Link("second_repl_offset") == std::to_string(place + 1));
  const auto answer_to = [&](int64_t where) {
    TestClient& replica = follower.Connect();
    replica.Run({"REPLCONF", "listening-port", "7009"});
    replica.Run({"REPLCONF", "capa", "eof", "capa", "psync2", "capa", "mayfly", "capa", "cutoffs"});
    return replica.RunRaw("PSYNC " + history + " " + std::to_string(where + 1) + "\r\n");
  };
  const std::string answer = answer_to(place);
  CHECK(answer.starts_with("+CONTINUE " + Link("master_replid") + "\r\n"));
  // The database is selected anew: the old master's may have been another one.
  CHECK(answer.find("SELECT") != std::string::npos);
  CHECK(answer.find("SELECT") < answer.find("SET"));
  CHECK(answer_to(place - 3).starts_with("+CONTINUE "));
  CHECK_FALSE(answer_to(place + 1).starts_with("+CONTINUE"));
  CHECK_FALSE(answer_to(place + 20).starts_with("+CONTINUE"));
}

TEST_CASE_METHOD(ReplicaStatesTest,
                 "a promoted server keeps its stream for repl-backlog-ttl, counted from then") {
  follower.SetOption("repl-backlog-ttl", "10");
  FollowTest::Follow();
  for (int s = 0; s < 60; ++s) Pass(1000);
  REQUIRE(follower.Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  follower.AdvanceTime(9'000);
  CHECK(Link("repl_backlog_active") == "1");
  follower.AdvanceTime(2'000);
  CHECK(Link("repl_backlog_active") == "0");
}

TEST_CASE_METHOD(ReplicaStatesTest, "a replica of a replica gets the master's signs of life, and no others") {
  SetOption("repl-ping-replica-period", "5");
  follower.SetOption("repl-ping-replica-period", "1");
  FollowTest::Follow();
  TestClient& third = follower.Connect();
  third.Run({"REPLCONF", "listening-port", "7009"});
  third.Run({"REPLCONF", "capa", "eof", "capa", "psync2", "capa", "mayfly", "capa", "cutoffs"});
  REQUIRE(third
              .RunRaw("PSYNC " + Link("master_replid") + " " +
                      std::to_string(std::stoll(Link("slave_repl_offset")) + 1) + "\r\n")
              .starts_with("+CONTINUE"));
  std::string bytes;
  for (int s = 0; s < 20; ++s) {
    Pass(1000);
    bytes += third.RunRaw("");
    third.RunRaw(EncodeRequest({"REPLCONF", "ACK", Link("slave_repl_offset")}));
  }
  const Heard lines = FakeReplica::LinesOf(bytes);
  CHECK(std::ranges::count(lines, "PING") >= 3);
  CHECK(std::ranges::count(lines, "PING") <= 5);
  CHECK(Link("slave_repl_offset") == Field("replication", "master_repl_offset"));
}

TEST_CASE_METHOD(ReplicaStatesTest,
                 "a replica's own replica gets a snapshot that goes on in the selected database") {
  FollowTest::Follow();
  Run({"SELECT", "2"});
  Run({"SET", "a", "1"});
  Carry();
  TestClient& third = follower.Connect();
  third.Run({"REPLCONF", "listening-port", "7009"});
  third.Run({"REPLCONF", "capa", "eof", "capa", "psync2", "capa", "mayfly", "capa", "cutoffs"});
  std::string file = third.RunRaw("PSYNC ? -1\r\n");
  for (int i = 0; i < 20; ++i) {
    follower.AdvanceTime(2);
    follower.Slice();
    file += third.RunRaw("");
  }
  const std::string field = std::string(kStreamDatabaseField);
  CHECK(file.find(field) != std::string::npos);
  third.RunRaw(EncodeRequest({"REPLCONF", "ACK", Link("slave_repl_offset")}));
  Run({"SET", "b", "1"});
  Carry();
  follower.AdvanceTime(2);
  const Heard lines = FakeReplica::LinesOf(third.RunRaw(""));
  CHECK(std::ranges::count(lines, "SET b 1") == 1);
  CHECK(std::ranges::none_of(lines, [](const auto& line) { return line.starts_with("SELECT"); }));
}

TEST_CASE_METHOD(ReplicaStatesTest,
                 "when its master's stream has another name, a replica's replicas are dropped and told") {
  FollowTest::Follow();
  TestClient& third = follower.Connect();
  third.Run({"REPLCONF", "listening-port", "7009"});
  third.Run({"REPLCONF", "capa", "eof", "capa", "psync2", "capa", "mayfly", "capa", "cutoffs"});
  const std::string old_name = Link("master_replid");
  const std::string place = std::to_string(std::stoll(Link("slave_repl_offset")) + 1);
  REQUIRE(third.RunRaw("PSYNC " + old_name + " " + place + "\r\n").starts_with("+CONTINUE"));
  Cut();
  follower.AdvanceTime(MasterLink::kRetryMs);
  FakeTarget& master = follower.targets.last();
  master.Accept();
  master.Answer("+PONG\r\n");
  master.Answer("+OK\r\n");
  master.Answer("+OK mayfly\r\n");
  master.Answer("+CONTINUE " + kGone + "\r\n");
  CHECK(Link("master_replid") == kGone);
  CHECK(Link("master_replid2") == old_name);
  CHECK(third.session().Has(Mode::kDropped));
}

}  // namespace mayfly::testing

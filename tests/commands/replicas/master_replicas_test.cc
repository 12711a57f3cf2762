// A master and its replicas: how they begin, go on after a break, confirm what they have, and are dropped.
#include <algorithm>
#include <string>
#include <vector>

#include "commands/replicas/master_world.h"
#include "exec/metrics/metrics_page.h"
#include "replication/backlog.h"
#include "replication/replicas.h"
#include "support/prometheus.h"

namespace mayfly::testing {
namespace {

const Reply kFewReplicas = Error("NOREPLICAS Not enough good replicas to write.");
const std::string kUnknown(40, 'e');

class MasterReplicasTest : public MasterTest {
 public:
  // More than a small backlog keeps.
  void WriteMuch() {
    for (int i = 0; i < 10; ++i)
      Run({"SET", "long", std::string(Backlog::kBlockBytes, static_cast<char>('a' + i))});
  }
};

}  // namespace

// ---- the first synchronisation

TEST_CASE_METHOD(MasterReplicasTest, "a replica gets a snapshot of all keys, and then what changes") {
  Run({"SET", "a", "1"});
  FakeReplica& replica = NewReplica();
  replica.Greet();
  AskForAll(replica);
  CHECK(replica.history == Field("replication", "master_replid"));
  Run({"SET", "b", "2"});
  replica.Confirm();
  CHECK(replica.Take() == Heard{"SELECT 0", "SET b 2"});
  disk.Put(kSnapshotPath, replica.file);
  REQUIRE(Run({"DEBUG", "RELOAD", "NOSAVE"}) == Ok());
  CHECK(Run({"MGET", "a", "b"}) == Array({Bulk("1"), Null()}));
}

TEST_CASE_METHOD(MasterReplicasTest,
                 "the stream begins where the snapshot was begun, and waits for the ACK") {
  FillWith(2000);
  FakeReplica& replica = NewReplica();
  replica.Greet();
  std::string answer = replica.client.RunRaw("PSYNC ? -1\r\n");
  Run({"SET", "key:1999", "changed"});
  Run({"SET", "key:0", "changed"});
  ReceiveAll(replica, answer);
  CHECK(replica.TakeBytes().empty());
  replica.Confirm();
  CHECK(replica.Take() == Heard{"SELECT 0", "SET key:1999 changed", "SET key:0 changed"});
  disk.Put(kSnapshotPath, replica.file);
  REQUIRE(Run({"DEBUG", "RELOAD", "NOSAVE"}) == Ok());
  CHECK(Run({"MGET", "key:0", "key:1999"}) == Bulks({"value 0", "value 1999"}));
}

TEST_CASE_METHOD(MasterReplicasTest, "two replicas get the same stream, each from its own place on") {
  FakeReplica& first = Follow("7001");
  Run({"SET", "a", "1"});
  first.Take();
  FakeReplica& second = NewReplica();
  second.Greet("7002");
  AskForAll(second);
  CHECK(second.place == first.place + static_cast<int64_t>(first.TakeBytes().size()));
  second.Confirm();
  Run({"SET", "b", "2"});
  CHECK(first.Take() == Heard{"SELECT 0", "SET b 2"});
  CHECK(second.Take() == Heard{"SELECT 0", "SET b 2"});
}

TEST_CASE_METHOD(MasterReplicasTest, "a replica stays one: RESET is for other connections") {
  FakeReplica& replica = Follow("7001");
  CHECK(replica.client.RunRaw("RESET\r\n") == "-ERR can only reset normal connections\r\n");
  Run({"SET", "a", "1"});
  CHECK(replica.Take() == Heard{"SET a 1"});
}

TEST_CASE_METHOD(MasterReplicasTest, "replicas that come at the same time get their snapshots one by one") {
  FillWith(500);
  FakeReplica& first = NewReplica();
  FakeReplica& second = NewReplica();
  first.Greet("7001");
  second.Greet("7002");
  std::string answer = first.client.RunRaw("PSYNC ? -1\r\n");
  CHECK(second.client.RunRaw("PSYNC ? -1\r\n").empty());
  CHECK(Field("replication", "slave1") == "ip=127.0.0.1,port=7002,state=wait_bgsave,offset=0,lag=0");
  ReceiveAll(first, answer);
  ReceiveAll(second);
  first.Confirm();
  second.Confirm();
  Run({"SET", "a", "1"});
  CHECK(first.Take() == Heard{"SELECT 0", "SET a 1"});
  CHECK(second.Take() == Heard{"SELECT 0", "SET a 1"});
}

TEST_CASE_METHOD(MasterReplicasTest, "a replica of an older kind asks with SYNC, and is not greeted") {
  FakeReplica& replica = NewReplica();
  replica.Greet();
  std::string bytes = replica.client.RunRaw("SYNC\r\n");
  for (int turn = 0; turn < 20; ++turn) {
    AdvanceTime(ClientStream::kLookMs);
    Slice();
    bytes += replica.client.RunRaw("");
  }
  CHECK(bytes.starts_with("$EOF:"));
  replica.Confirm();
  Run({"SET", "a", "1"});
  CHECK(replica.Take() == Heard{"SELECT 0", "SET a 1"});
}

TEST_CASE_METHOD(MasterReplicasTest, "a replica that leaves during its snapshot does no harm") {
  FillWith(2000);
  FakeReplica& leaving = NewReplica();
  leaving.Greet();
  leaving.client.RunRaw("PSYNC ? -1\r\n");
  FakeReplica& next = NewReplica();
  next.Greet();
  next.client.RunRaw("PSYNC ? -1\r\n");
  Leave(leaving);
  ReceiveAll(next);
  next.Confirm();
  Run({"SET", "a", "1"});
  CHECK(next.Take() == Heard{"SELECT 0", "SET a 1"});
  CHECK(Field("replication", "connected_slaves") == "1");
}

TEST_CASE_METHOD(MasterReplicasTest,
                 "a replica waits for the end of a save, and a save is refused meanwhile") {
  FillWith(1000);
  CHECK(Run({"BGSAVE"}) == Simple("Background saving started"));
  FakeReplica& replica = NewReplica();
  replica.Greet();
  CHECK(replica.client.RunRaw("PSYNC ? -1\r\n").empty());
  CHECK(Field("replication", "slave0").find("state=wait_bgsave") != std::string::npos);
  FinishSave();
  AdvanceTime(Replicas::kTickMs);
  CHECK(Field("replication", "slave0").find("state=send_bulk") != std::string::npos);
  CHECK(Run({"BGSAVE"}) == Error("ERR Background save already in progress"));
  ReceiveAll(replica);
  replica.Confirm();
  CHECK(Field("replication", "slave0").find("state=online") != std::string::npos);
  CHECK(Run({"BGSAVE"}) == Simple("Background saving started"));
  FinishSave();
}

TEST_CASE_METHOD(MasterReplicasTest, "CLIENT UNBLOCK does not end a replica's wait for its snapshot") {
  FillWith(1000);
  FakeReplica& replica = NewReplica();
  replica.Greet();
  const std::string answer = replica.client.RunRaw("PSYNC ? -1\r\n");
  Run({"CLIENT", "UNBLOCK", std::to_string(replica.client.session().id)});
  server().RunWoken();
  ReceiveAll(replica, answer);
  replica.Confirm();
  Run({"SET", "a", "1"});
  CHECK(replica.Take() == Heard{"SELECT 0", "SET a 1"});
}

// ---- after a break

TEST_CASE_METHOD(MasterReplicasTest, "a replica goes on after a break with exactly the bytes that it lacks") {
  FakeReplica& before = Follow();
  FakeReplica& other = Follow("7002");
  before.Take();
  const std::string history = before.history;
  const int64_t place = before.place;
  Leave(before);
  other.TakeBytes();
  Run({"SELECT", "2"});
  Run({"SET", "a", "1"});
  Run({"INCR", "a"});
  FakeReplica& replica = NewReplica();
  replica.Greet();
  const std::string answer = Continue(replica, history, place);
  const std::string greeting = "+CONTINUE " + history + "\r\n";
  REQUIRE(answer.starts_with(greeting));
  const std::string missing = answer.substr(greeting.size()) + replica.TakeBytes();
  CHECK(missing == other.TakeBytes());
  CHECK(Field("stats", "sync_partial_ok") == "1");
  Run({"SET", "b", "1"});
  CHECK(replica.Take() == Heard{"SET b 1"});
}

TEST_CASE_METHOD(MasterReplicasTest, "a replica may go on from any place that is kept") {
  FakeReplica& first = Follow();
  for (int i = 0; i < 20; ++i) Run({"SET", "a", std::to_string(i)});
  const std::string bytes = first.TakeBytes();
  const int64_t begin = first.place - static_cast<int64_t>(bytes.size());
  for (size_t at = 0; at <= bytes.size(); at += 7) {
    FakeReplica& replica = NewReplica();
    replica.Greet();
    const std::string answer = Continue(replica, first.history, begin + static_cast<int64_t>(at));
    const std::string greeting = "+CONTINUE " + first.history + "\r\n";
    REQUIRE(answer.starts_with(greeting));
    CHECK(answer.substr(greeting.size()) + replica.TakeBytes() == bytes.substr(at));
    Leave(replica);
  }
}

TEST_CASE_METHOD(MasterReplicasTest, "a replica without psync2 is told CONTINUE alone") {
  FakeReplica& first = Follow();
  FakeReplica& replica = NewReplica();
  REQUIRE(replica.client.Run({"REPLCONF", "capa", "eof"}) == Ok());
  CHECK(Continue(replica, first.history, first.place) == "+CONTINUE\r\n");
}

TEST_CASE_METHOD(MasterReplicasTest, "an unknown history gets all keys") {
  FakeReplica& first = Follow();
  FakeReplica& replica = NewReplica();
  replica.Greet();
  const std::string answer = Continue(replica, kUnknown, first.place);
  CHECK_FALSE(answer.starts_with("+CONTINUE"));
  ReceiveAll(replica, answer);
  CHECK(replica.history == first.history);
  CHECK(Field("stats", "sync_partial_err") == "1");
  CHECK(Field("stats", "sync_full") == "2");
}

TEST_CASE_METHOD(MasterReplicasTest, "a place that is gone, or was never there, gets all keys") {
  SetOption("repl-backlog-size", "1");
  FakeReplica& first = Follow();
  const int64_t place = first.place;
  WriteMuch();
  first.Take();
  AdvanceTime(Replicas::kTickMs);
  first.Take();
  for (const int64_t where : {place, first.place + 1, int64_t{-5}}) {
    CAPTURE(where);
    FakeReplica& replica = NewReplica();
    replica.Greet();
    ReceiveAll(replica, Continue(replica, first.history, where));
    Leave(replica);
  }
  CHECK(Field("stats", "sync_partial_ok") == "0");
}

TEST_CASE_METHOD(MasterReplicasTest, "the backlog keeps repl-backlog-size bytes, and what a replica lacks") {
  SetOption("repl-backlog-size", std::to_string(4 * Backlog::kBlockBytes));
  FakeReplica& replica = Follow();
  WriteMuch();
  replica.Take();
  AdvanceTime(Replicas::kTickMs);
  const size_t kept = std::stoul(Field("replication", "repl_backlog_histlen"));
  CHECK(kept >= 4 * Backlog::kBlockBytes);
  CHECK(kept <= 7 * Backlog::kBlockBytes);
  CHECK(Field("replication", "repl_backlog_active") == "1");
}

TEST_CASE_METHOD(MasterReplicasTest, "the stream ends when no replica has come for repl-backlog-ttl") {
  SetOption("repl-backlog-ttl", "5");
  const uint64_t beside = server().hubs.accounts.Sum();
  FakeReplica& first = Follow();
  const std::string history = first.history;
  const int64_t place = first.place;
  AdvanceTime(100'000);
  first.Confirm();
  CHECK(Field("replication", "repl_backlog_active") == "1");
  Leave(first);
  AdvanceTime(4'999);
  CHECK(Field("replication", "repl_backlog_active") == "1");
  AdvanceTime(1'001);
  CHECK(Field("replication", "repl_backlog_active") == "0");
  CHECK(Field("replication", "repl_backlog_histlen") == "0");
  CHECK(server().hubs.accounts.Sum() == beside);
  FakeReplica& next = NewReplica();
  next.Greet();
  ReceiveAll(next, Continue(next, history, place));
  CHECK(next.history != history);
}

// ---- replicas that are dropped

TEST_CASE_METHOD(MasterReplicasTest, "a replica too far behind is dropped, and the others go on") {
  SetOption("client-output-buffer-limit", "replica 300000 0 0");
  FakeReplica& slow = Follow("7001");
  FakeReplica& good = Follow("7002");
  for (int i = 0; i < 10; ++i) {
    Run({"SET", "a", std::string(50'000, 'x')});
    good.Take();
  }
  CHECK(slow.dropped());
  CHECK_FALSE(good.dropped());
}

TEST_CASE_METHOD(
    MasterReplicasTest,
    "the snapshot itself does not count in a replica's limit: it gets in sync over a slow link") {
  SetOption("client-output-buffer-limit", "replica 300000 100000 1");
  SetOption("rdbcompression", "no");
  for (int i = 0; i < 1000; ++i) Run({"SET", "k" + std::to_string(i), std::string(5000, 'x')});
  FakeReplica& replica = NewReplica();
  replica.Greet();
  std::string answer = replica.client.RunRaw("PSYNC ? -1\r\n");
  for (int ms = 0; ms < 5000; ms += 100) {  // it reads nothing
    AdvanceTime(100);
    Slice();
  }
  CHECK(replica.client.session().output.size() > 300'000);
  CHECK_FALSE(replica.dropped());
  ReceiveAll(replica, answer);
  replica.Confirm();
  CHECK_FALSE(replica.dropped());
  Run({"SET", "a", "1"});
  CHECK(replica.Take() == Heard{"SELECT 0", "SET a 1"});
}

TEST_CASE_METHOD(MasterReplicasTest, "what changes during the snapshot counts in a replica's limit") {
  SetOption("client-output-buffer-limit", "replica 300000 0 0");
  SetOption("rdbcompression", "no");
  for (int i = 0; i < 1000; ++i) Run({"SET", "k" + std::to_string(i), std::string(5000, 'x')});
  FakeReplica& replica = NewReplica();
  replica.Greet();
  replica.client.RunRaw("PSYNC ? -1\r\n");
  for (int i = 0; i < 10; ++i) {
    AdvanceTime(ClientStream::kLookMs);
    Slice();
    Run({"SET", "a" + std::to_string(i), std::string(50'000, 'x')});
  }
  CHECK(replica.dropped());
}

TEST_CASE_METHOD(MasterReplicasTest,
                 "bytes of the stream that wait for a replica take little more memory than themselves") {
  FakeReplica& replica = Follow();
  const size_t pairs = GENERATE(30'000, 300, 20);
  const size_t length = GENERATE(10, 1000, 40'000);
  const size_t turns = std::max<size_t>(1, 12'000'000 / (pairs * (length + 40)));
  if (pairs * length > 20'000'000) return;
  TestClient& writer = Connect();
  for (size_t turn = 0; turn < turns; ++turn) {
    std::string pipeline;
    for (size_t i = 0; i < pairs; ++i)
      pipeline += EncodeRequest(
          {"SET", "k" + std::to_string(turn) + ":" + std::to_string(i), std::string(length, 'x')});
    static_cast<void>(writer.RunRaw(pipeline));
    REQUIRE_FALSE(replica.dropped());
  }
  const ReplicaFigures& figures = server().server.followers;
  const auto waiting = static_cast<uint64_t>(figures.offset - replica.place);
  CAPTURE(pairs, length, turns, waiting, figures.backlog_bytes);
  REQUIRE(waiting > 1'000'000);
  CHECK(figures.backlog_bytes < waiting + waiting / 8 + (1 << 20));
}

TEST_CASE_METHOD(MasterReplicasTest, "a replica that lacks one command above the limit gets all keys") {
  SetOption("client-output-buffer-limit", "replica 300000 0 0");
  FakeReplica& before = Follow();
  const std::string history = before.history;
  const int64_t place = before.place;
  Run({"SET", "a", std::string(400'000, 'x')});
  CHECK(before.dropped());
  Leave(before);
  FakeReplica& replica = NewReplica();
  replica.Greet();
  const std::string answer = Continue(replica, history, place);
  CHECK_FALSE(answer.starts_with("+CONTINUE"));
  ReceiveAll(replica, answer);
  AdvanceTime(1000);
  CHECK_FALSE(replica.dropped());
}

TEST_CASE_METHOD(MasterReplicasTest, "a replica that is behind for too long is dropped") {
  SetOption("client-output-buffer-limit", "replica 0 50000 10");
  FakeReplica& slow = Follow();
  Run({"SET", "a", std::string(60'000, 'x')});
  AdvanceTime(9'000);
  CHECK_FALSE(slow.dropped());
  AdvanceTime(1'000);
  CHECK(slow.dropped());
}

TEST_CASE_METHOD(MasterReplicasTest, "a replica that catches up is not dropped") {
  SetOption("client-output-buffer-limit", "replica 0 50000 10");
  FakeReplica& replica = Follow();
  for (int i = 0; i < 20; ++i) {
    Run({"SET", "a", std::string(60'000, 'x')});
    AdvanceTime(5'000);
    replica.Take();
    replica.Confirm();
    AdvanceTime(5'000);
  }
  CHECK_FALSE(replica.dropped());
}

TEST_CASE_METHOD(MasterReplicasTest, "a long stream goes into the output in pieces, and none is lost") {
  FakeReplica& replica = Follow();
  std::string pipeline;
  for (int i = 0; i < 100; ++i)
    pipeline += EncodeRequest({"SET", "a" + std::to_string(i), std::string(50'000, 'x')});
  RunRaw(pipeline);
  CHECK(replica.client.session().output.size() <= 2 * Replicas::kInOutput);
  Heard lines;
  std::string bytes;
  for (int turn = 0; turn < 100; ++turn) {
    bytes += replica.TakeBytes();
    AdvanceTime(Replicas::kLookMs);
  }
  lines = FakeReplica::LinesOf(bytes);
  CHECK(lines.size() == 102);
}

TEST_CASE_METHOD(MasterReplicasTest, "a replica that says nothing for repl-timeout is dropped") {
  SetOption("repl-timeout", "10");
  FakeReplica& silent = Follow("7001");
  FakeReplica& good = Follow("7002");
  for (int s = 0; s < 12; ++s) {
    AdvanceTime(1000);
    good.Confirm();
    CHECK(silent.dropped() == (s >= 9));
  }
  CHECK_FALSE(good.dropped());
}

TEST_CASE_METHOD(MasterReplicasTest, "a PING comes each repl-ping-replica-period") {
  SetOption("repl-ping-replica-period", "3");
  FakeReplica& replica = Follow();
  AdvanceTime(3000);
  replica.TakeAll();
  size_t pings = 0;
  for (int s = 0; s < 30; ++s) {
    AdvanceTime(1000);
    for (const std::string& line : replica.TakeAll()) pings += line == "PING" ? 1 : 0;
  }
  CHECK(pings == 10);
}

TEST_CASE_METHOD(MasterReplicasTest, "a server that follows a master drops its replicas") {
  FakeReplica& replica = Follow();
  CHECK(Run({"REPLICAOF", "there", "7000"}) == Ok());
  CHECK(replica.dropped());
  Leave(replica);
  FakeReplica& next = NewReplica();
  next.Greet();
  CHECK(next.client.Run({"PSYNC", "?", "-1"}) ==
        Error("NOMASTERLINK Can't SYNC while not connected with my master"));
  CHECK(Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  AskForAll(next);
}

TEST_CASE_METHOD(MasterReplicasTest, "CLIENT LIST shows replicas, and CLIENT KILL TYPE replica ends them") {
  FakeReplica& replica = Follow();
  const std::string list = Run({"CLIENT", "LIST", "TYPE", "replica"}).text;
  CHECK(std::ranges::count(list, '\n') == 1);
  CHECK(list.find(" flags=S ") != std::string::npos);
  CHECK(Run({"CLIENT", "LIST", "TYPE", "normal"}).text.find(" flags=S ") == std::string::npos);
  CHECK(Run({"CLIENT", "KILL", "TYPE", "replica"}) == Integer(1));
  CHECK(replica.client.session().closes());
}

// ---- WAIT

TEST_CASE_METHOD(MasterReplicasTest, "WAIT asks the replicas, and answers when enough have confirmed") {
  FakeReplica& first = Follow("7001");
  FakeReplica& second = Follow("7002");
  first.Take();
  TestClient& writer = Connect();
  CHECK(writer.Run({"SET", "a", "1"}) == Ok());
  CHECK(writer.RunRaw("WAIT 2 0\r\n").empty());
  const std::string ask = "REPLCONF GETACK *";
  CHECK(first.Take() == Heard{"SET a 1", ask});
  CHECK(second.Take() == Heard{"SET a 1", ask});
  first.Confirm();
  CHECK(writer.RunRaw("").empty());
  second.Confirm();
  CHECK(writer.RunRaw("") == ":2\r\n");
  CHECK(writer.Run({"WAIT", "2", "0"}) == Integer(2));
}

TEST_CASE_METHOD(MasterReplicasTest, "WAIT answers at its timeout how many have confirmed") {
  FakeReplica& replica = Follow();
  TestClient& writer = Connect();
  writer.Run({"SET", "a", "1"});
  CHECK(writer.RunRaw("WAIT 2 500\r\n").empty());
  replica.Take();
  replica.Confirm();
  AdvanceTime(499);
  CHECK(writer.RunRaw("").empty());
  AdvanceTime(1);
  CHECK(writer.RunRaw("") == ":1\r\n");
}

TEST_CASE_METHOD(MasterReplicasTest, "an ACK of an earlier place does not end a WAIT") {
  FakeReplica& replica = Follow();
  TestClient& writer = Connect();
  writer.Run({"SET", "a", "1"});
  const int64_t before = replica.place;
  CHECK(writer.RunRaw("WAIT 1 0\r\n").empty());
  replica.ConfirmPlace(before);
  CHECK(writer.RunRaw("").empty());
  replica.Take();
  replica.Confirm();
  CHECK(writer.RunRaw("") == ":1\r\n");
}

TEST_CASE_METHOD(MasterReplicasTest, "WAIT counts no replica that does not have its snapshot yet") {
  FakeReplica& first = Follow("7001");
  TestClient& writer = Connect();
  FillWith(2000);
  writer.Run({"SET", "a", "1"});
  first.TakeBytes();
  first.Confirm();
  FakeReplica& second = NewReplica();
  second.Greet("7002");
  const auto check_waits = [&] {
    CHECK(writer.Run({"WAIT", "1", "0"}) == Integer(1));
    CHECK(writer.RunRaw("WAIT 2 1\r\n").empty());
    AdvanceTime(1);
    CHECK(writer.RunRaw("") == ":1\r\n");
    CHECK(writer.RunRaw("WAITAOF 0 1 1\r\n").empty());
    AdvanceTime(1);
    CHECK(writer.RunRaw("") == "*2\r\n:0\r\n:0\r\n");
  };
  // It waits, it receives, and it loads.
  std::string bytes = second.client.RunRaw("PSYNC ? -1\r\n");
  check_waits();
  while (snapshots().saving() || bytes.size() < 1000) {
    AdvanceTime(ClientStream::kLookMs);
    Slice();
    bytes += second.client.RunRaw("");
    CHECK(Field("replication", "slave1").find("state=online") == std::string::npos);
    if (bytes.size() < 5000) check_waits();
  }
  ReceiveAll(second, bytes);
  check_waits();
  second.Confirm();
  CHECK(writer.Run({"WAIT", "2", "0"}) == Integer(2));
}

TEST_CASE_METHOD(MasterReplicasTest, "WAIT within a transaction answers at once") {
  FakeReplica& replica = Follow();
  replica.Confirm();
  Run({"MULTI"});
  Run({"SET", "a", "1"});
  Run({"WAIT", "1", "0"});
  CHECK(Run({"EXEC"}) == Array({Ok(), Integer(0)}));
}

TEST_CASE_METHOD(MasterReplicasTest, "the page for Prometheus has how far each replica is") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", "1"});
  replica.Take();
  replica.Confirm();
  AdvanceTime(3000);
  MetricsPage page(server().server);
  while (page.BuildSome(server().clock.Read())) {
  }
  const std::string text = page.Take();
  CHECK(ProblemOfPrometheus(text) == "");
  CHECK(HasLine(text, "mayfly_role_info{role=\"master\"} 1"));
  CHECK(HasLine(text, "mayfly_replicas 1"));
  CHECK(HasLine(text, "mayfly_replica_lag_seconds{replica=\"0\"} 3"));
  CHECK(HasLine(text, "mayfly_replica_confirmed_bytes{replica=\"0\"} " + std::to_string(replica.place)));
  CHECK(HasLine(text, "mayfly_replica_syncs_total{result=\"snapshot\"} 1"));
}

TEST_CASE_METHOD(MasterReplicasTest,
                 "EXEC with writes is refused if there are too few replicas by now, as in Redis") {
  Follow().Confirm();
  REQUIRE(Run({"MULTI"}) == Ok());
  Run({"SET", "a", "1"});
  Connect().Run({"CONFIG", "SET", "min-replicas-to-write", "2"});
  CHECK(Run({"EXEC"}) == Error("EXECABORT Transaction discarded because of: " + kFewReplicas.text));
  CHECK(Run({"EXEC"}) == Error("ERR EXEC without MULTI"));
  REQUIRE(Run({"MULTI"}) == Ok());
  Run({"GET", "a"});
  CHECK(Run({"EXEC"}) == Array({Null()}));
}

TEST_CASE_METHOD(MasterReplicasTest, "WAITAOF waits for what is in append-only files") {
  FakeReplica& replica = Follow();
  TestClient& writer = Connect();
  const std::string before = std::to_string(replica.place);
  writer.Run({"SET", "a", "1"});
  CHECK(writer.RunRaw("WAITAOF 0 1 0\r\n").empty());
  replica.Take();
  replica.Confirm();
  CHECK(writer.RunRaw("").empty());
  // It has the change, and its file does not.
  const std::string all = std::to_string(replica.place);
  replica.client.RunRaw(EncodeRequest({"REPLCONF", "ACK", all, "FACK", before}));
  CHECK(writer.RunRaw("").empty());
  replica.ConfirmDurable();
  CHECK(writer.RunRaw("") == "*2\r\n:0\r\n:1\r\n");
}

TEST_CASE_METHOD(MasterReplicasTest, "a client that waits may leave, and its replica, too") {
  FakeReplica& replica = Follow();
  {
    TestClient writer(server());
    writer.Run({"SET", "a", "1"});
    CHECK(writer.RunRaw("WAIT 1 0\r\n").empty());
  }
  TestClient& writer = Connect();
  CHECK(writer.RunRaw("WAIT 1 100\r\n").empty());
  Leave(replica);
  AdvanceTime(100);
  CHECK(writer.RunRaw("") == ":0\r\n");
}

// ---- min-replicas-to-write

TEST_CASE_METHOD(MasterReplicasTest,
                 "with too few replicas writes are refused, and taken again with enough") {
  SetOption("min-replicas-to-write", "1");
  SetOption("min-replicas-max-lag", "10");
  FakeReplica& replica = NewReplica();
  replica.Greet();
  AskForAll(replica);
  CHECK(Run({"SET", "a", "1"}) == kFewReplicas);
  CHECK(Run({"GET", "a"}) == Null());
  replica.Confirm();
  CHECK(Run({"SET", "a", "1"}) == Ok());
  CHECK(Field("replication", "min_slaves_good_slaves") == "1");
  AdvanceTime(12'000);
  CHECK(Run({"SET", "a", "2"}) == kFewReplicas);
  CHECK(Run({"EVAL", "return redis.call('SET', KEYS[1], '2')", "1", "a"}).kind == Reply::Kind::kError);
  CHECK(Field("replication", "min_slaves_good_slaves") == "0");
  replica.Confirm();
  CHECK(Run({"SET", "a", "2"}) == Ok());
  Leave(replica);
  CHECK(Run({"SET", "a", "3"}) == kFewReplicas);
  SetOption("min-replicas-to-write", "0");
  CHECK(Run({"SET", "a", "3"}) == Ok());
}

TEST_CASE_METHOD(MasterReplicasTest, "a server that never had a replica refuses writes, too") {
  SetOption("min-replicas-to-write", "1");
  static_cast<void>(Replicas::Of(server().server));  // as at the start
  CHECK(Run({"SET", "a", "1"}) == kFewReplicas);
  SetOption("min-replicas-max-lag", "0");
  CHECK(Run({"SET", "a", "1"}) == Ok());
}

// ---- what is seen of them

TEST_CASE_METHOD(MasterReplicasTest, "ROLE and INFO show the replicas") {
  FakeReplica& replica = Follow();
  replica.Confirm();
  const std::string place = std::to_string(replica.place);
  CHECK(Run({"ROLE"}) ==
        Array({Bulk("master"), Integer(replica.place), Array({Bulks({"127.0.0.1", "7001", place})})}));
  CHECK(Field("replication", "role") == "master");
  CHECK(Field("replication", "connected_slaves") == "1");
  CHECK(Field("replication", "slave0") == "ip=127.0.0.1,port=7001,state=online,offset=" + place + ",lag=0");
  CHECK(Field("replication", "master_repl_offset") == place);
  CHECK(Field("stats", "sync_full") == "1");
  AdvanceTime(3000);
  CHECK(Field("replication", "slave0").ends_with(",lag=3"));
  Leave(replica);
  CHECK(Field("replication", "connected_slaves") == "0");
}

TEST_CASE_METHOD(MasterReplicasTest, "a replica may announce another address") {
  FakeReplica& replica = NewReplica();
  replica.Greet();
  CHECK(replica.client.Run({"REPLCONF", "ip-address", "10.0.0.7"}) == Ok());
  AskForAll(replica);
  replica.Confirm();
  CHECK(Field("replication", "slave0").starts_with("ip=10.0.0.7,port=7001,state=online,"));
}

TEST_CASE_METHOD(MasterReplicasTest, "a client that is no replica confirms nothing") {
  FakeReplica& replica = Follow();
  CHECK(Run({"REPLCONF", "ACK", std::to_string(replica.place)}) == NoReply());
  CHECK(Field("replication", "connected_slaves") == "1");
  CHECK(Run({"REPLCONF", "listening-port", "x"}) == Error("ERR value is not an integer or out of range"));
}

}  // namespace mayfly::testing

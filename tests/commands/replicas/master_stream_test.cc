// The stream of a master over time: signs of life, the backlog's size and end, what memory it counts, and turns in which keys
// expire beside other changes.
#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/log/log.h"
#include "commands/cluster/cluster_world.h"
#include "commands/replicas/follow_world.h"
#include "replication/backlog.h"
#include "replication/replicas.h"
#include "replication/replication_start.h"
#include "replication/stop_wait.h"
#include "support/folder.h"

namespace mayfly::testing {
namespace {

class MasterStreamTest : public FollowTest {
 public:
  FakeReplica& Begin(const std::string& port = "7001") {
    FakeReplica& replica = NewReplica();
    replica.Greet(port);
    return replica;
  }
  int64_t Offset() { return std::stoll(Field("replication", "master_repl_offset")); }
  int64_t Kept() { return std::stoll(Field("replication", "repl_backlog_histlen")); }
  void WriteBlocks(int blocks) {
    for (int i = 0; i < blocks; ++i)
      Run({"SET", "long", std::string(Backlog::kBlockBytes, static_cast<char>('a' + i))});
  }
};

}  // namespace

// ---- signs of life

TEST_CASE_METHOD(MasterStreamTest,
                 "nobody is sent a PING when nobody is there, and the stream stands still") {
  SetOption("repl-ping-replica-period", "1");
  FakeReplica& replica = MasterTest::Follow();
  AdvanceTime(2000);
  CHECK(std::ranges::count(replica.TakeAll(), "PING") >= 1);
  Leave(replica);
  const int64_t before = Offset();
  for (int s = 0; s < 20; ++s) AdvanceTime(1000);
  CHECK(Offset() == before);
  Run({"SET", "a", "1"});
  CHECK(Offset() == before + static_cast<int64_t>(EncodeRequest({"SET", "a", "1"}).size()));
}

TEST_CASE_METHOD(MasterStreamTest, "the end of a WAIT is the last change, and not a sign of life after it") {
  SetOption("repl-ping-replica-period", "1");
  FakeReplica& replica = MasterTest::Follow();
  Run({"SET", "a", "1"});
  replica.TakeAll();
  const int64_t change = replica.place;
  AdvanceTime(5000);
  CHECK(Offset() > change);
  replica.ConfirmPlace(change - 1);
  TestClient& writer = Connect();
  CHECK(writer.RunRaw("WAIT 1 10\r\n").empty());
  replica.ConfirmPlace(change);
  CHECK(writer.RunRaw("") == ":1\r\n");
}

TEST_CASE_METHOD(MasterStreamTest, "a key that expires in the turn of a sign of life is waited for") {
  SetOption("repl-ping-replica-period", "10");
  FakeReplica& replica = MasterTest::Follow();
  Run({"SET", "a", "1", "PX", "15000"});
  replica.TakeAll();
  replica.Confirm();
  AdvanceTime(4000);
  LetTimePass(12'000);
  TurnWheels();
  TestClient& writer = Connect();
  CHECK(writer.RunRaw("WAIT 1 10\r\n").empty());
  const Heard lines = replica.TakeAll();
  CHECK(std::ranges::count(lines, "DEL a") == 1);
  CHECK(std::ranges::count(lines, "PING") >= 1);
  replica.Confirm();
  CHECK(writer.RunRaw("") == ":1\r\n");
}

TEST_CASE_METHOD(MasterStreamTest,
                 "a WAIT counts no replica for a change of its own turn that nobody has yet") {
  FakeReplica& replica = MasterTest::Follow();
  replica.Confirm();
  TestClient& writer = Connect();
  const std::string change = EncodeRequest({"SET", "a", "1"});
  CHECK(writer.RunRaw(change + EncodeRequest({"WAIT", "1", "0"})) == "+OK\r\n");
  replica.Take();
  replica.Confirm();
  CHECK(writer.RunRaw("") == ":1\r\n");
  CHECK(writer.RunRaw(change + EncodeRequest({"WAITAOF", "0", "1", "0"})) == "+OK\r\n");
  replica.Take();
  replica.ConfirmDurable();
  CHECK(writer.RunRaw("") == "*2\r\n:0\r\n:1\r\n");
  // Nor does a stop.
  CHECK(writer.RunRaw(change + EncodeRequest({"SHUTDOWN", "NOSAVE"})) == "+OK\r\n");
  CHECK_FALSE(server().server.shutdown_requested);
  replica.Take();
  replica.Confirm();
  AdvanceTime(0);
  CHECK(server().server.shutdown_requested);
  server().server.stop_wait.reset();
}

// ---- the backlog

TEST_CASE_METHOD(MasterStreamTest, "with repl-backlog-ttl 0 the stream never ends") {
  SetOption("repl-backlog-ttl", "0");
  FakeReplica& first = MasterTest::Follow();
  const std::string history = first.history;
  const int64_t place = first.place;
  Leave(first);
  for (int day = 0; day < 30; ++day) AdvanceTime(86'400'000);
  CHECK(Field("replication", "repl_backlog_active") == "1");
  FakeReplica& again = Begin();
  CHECK(Continue(again, history, place).starts_with("+CONTINUE " + history));
}

TEST_CASE_METHOD(MasterStreamTest, "a replica that comes back in time begins the backlog's time anew") {
  SetOption("repl-backlog-ttl", "10");
  FakeReplica& first = MasterTest::Follow();
  const std::string history = first.history;
  const int64_t place = first.place;
  Leave(first);
  AdvanceTime(9000);
  FakeReplica& again = Begin();
  REQUIRE(Continue(again, history, place).starts_with("+CONTINUE"));
  AdvanceTime(9000);
  CHECK(Field("replication", "repl_backlog_active") == "1");
  Leave(again);
  AdvanceTime(9000);
  CHECK(Field("replication", "repl_backlog_active") == "1");
}

TEST_CASE_METHOD(MasterStreamTest,
                 "a backlog that is made smaller forgets at the next look, as INFO and PSYNC show") {
  const auto size = [](size_t blocks) { return std::to_string(blocks * Backlog::kBlockBytes); };
  SetOption("repl-backlog-size", size(8));
  FakeReplica& replica = MasterTest::Follow();
  const int64_t begin = std::stoll(Field("replication", "repl_backlog_first_byte_offset"));
  CHECK(Kept() == Offset() + 1 - begin);
  WriteBlocks(6);
  replica.TakeBytes();
  replica.Confirm();
  AdvanceTime(Replicas::kTickMs);
  CHECK(Kept() >= static_cast<int64_t>(6 * Backlog::kBlockBytes));
  CHECK(Field("replication", "repl_backlog_first_byte_offset") == std::to_string(begin));
  Run({"CONFIG", "SET", "repl-backlog-size", size(2)});
  CHECK(Field("replication", "repl_backlog_size") == size(2));
  AdvanceTime(Replicas::kTickMs);
  CHECK(Kept() < static_cast<int64_t>(5 * Backlog::kBlockBytes));
  CHECK(Kept() >= static_cast<int64_t>(2 * Backlog::kBlockBytes));
  const int64_t first = std::stoll(Field("replication", "repl_backlog_first_byte_offset"));
  CHECK(first > begin);
  CHECK(Kept() == Offset() + 1 - first);
  // The first byte that INFO names can be had, and the one before cannot.
  FakeReplica& again = Begin("7002");
  CHECK(again.client.RunRaw("PSYNC " + replica.history + " " + std::to_string(first) + "\r\n")
            .starts_with("+CONTINUE"));
  FakeReplica& late = Begin("7003");
  CHECK_FALSE(late.client.RunRaw("PSYNC " + replica.history + " " + std::to_string(first - 1) + "\r\n")
                  .starts_with("+CONTINUE"));
}

TEST_CASE_METHOD(MasterStreamTest,
                 "the bytes of the stream are counted as memory, and no more when they are forgotten") {
  SetOption("repl-backlog-size", std::to_string(20 * Backlog::kBlockBytes));
  FakeReplica& replica = MasterTest::Follow();
  const uint64_t before = server().hubs.accounts.Sum();
  WriteBlocks(10);
  replica.TakeBytes();
  replica.Confirm();
  CHECK(server().hubs.accounts.Sum() - before >= 9 * Backlog::kBlockBytes);
  Run({"CONFIG", "SET", "repl-backlog-size", "16384"});
  AdvanceTime(Replicas::kTickMs);
  CHECK(server().hubs.accounts.Sum() - before <= 3 * Backlog::kBlockBytes);
}

// ---- replicas that are good

TEST_CASE_METHOD(MasterStreamTest, "INFO counts the good replicas if somebody asks for them") {
  const std::string field = "min_slaves_good_slaves";
  FakeReplica& first = MasterTest::Follow("7001");
  FakeReplica& second = MasterTest::Follow("7002");
  FakeReplica& loads = Begin("7003");
  AskForAll(loads);
  CHECK(Field("replication", field).empty());
  Run({"CONFIG", "SET", "min-replicas-to-write", "1", "min-replicas-max-lag", "0"});
  CHECK(Field("replication", field).empty());
  Run({"CONFIG", "SET", "min-replicas-to-write", "2", "min-replicas-max-lag", "5"});
  first.Confirm();
  second.Confirm();
  CHECK(Field("replication", field) == "2");
  AdvanceTime(3000);
  second.Confirm();
  AdvanceTime(2999);
  CHECK(Field("replication", field) == "2");
  CHECK(Field("replication", "slave0").ends_with(",lag=5"));
  CHECK(Field("replication", "slave1").ends_with(",lag=2"));
  CHECK(Field("replication", "slave2").ends_with(",lag=0"));
  AdvanceTime(1);
  CHECK(Field("replication", field) == "1");
  AdvanceTime(2000);
  CHECK(Field("replication", field) == "1");
}

TEST_CASE_METHOD(MasterStreamTest, "CONFIG SET of min-replicas-to-write counts at once, both ways") {
  FakeReplica& replica = MasterTest::Follow();
  replica.Confirm();
  CHECK(Run({"CONFIG", "SET", "min-replicas-to-write", "2"}) == Ok());
  CHECK(Run({"SET", "a", "1"}).text.starts_with("NOREPLICAS "));
  CHECK(Run({"CONFIG", "SET", "min-replicas-to-write", "1"}) == Ok());
  CHECK(Run({"SET", "a", "1"}) == Ok());
  LetTimePass(11'000);
  CHECK(Run({"CONFIG", "SET", "min-replicas-max-lag", "9"}) == Ok());
  CHECK(Run({"SET", "a", "1"}).text.starts_with("NOREPLICAS "));
  CHECK(Run({"CONFIG", "SET", "min-replicas-max-lag", "20"}) == Ok());
  CHECK(Run({"SET", "a", "1"}) == Ok());
}

// ---- turns in which keys expire

TEST_CASE_METHOD(MasterStreamTest,
                 "a deadline that is moved before and after a cutoff of the same turn is told twice") {
  FakeReplica& replica = NewReplica();
  replica.GreetAsMayfly();
  BringUp(replica);
  Run({"SET", "k", "1", "PX", "100000"});
  Run({"SET", "due", "1", "PX", "10"});
  const std::string cutoff = "PUBLISH __mayfly__ t" + UnixMs(10);
  replica.Take();
  LetTimePass(10);
  RunRaw(EncodeRequest({"PERSIST", "k"}) + EncodeRequest({"PEXPIRE", "k", "5000"}) +
         EncodeRequest({"GET", "due"}) + EncodeRequest({"PEXPIRE", "k", "6000"}));
  CHECK(replica.Take() == Heard{"MULTI", "PERSIST k", "PEXPIREAT k " + UnixMs(5000), cutoff,
                                "PEXPIREAT k " + UnixMs(6000), "EXEC"});
}

TEST_CASE_METHOD(MasterStreamTest,
                 "deadlines that go or slide before a cutoff of the same turn are told before it") {
  FakeReplica& replica = NewReplica();
  replica.GreetAsMayfly();
  BringUp(replica);
  Run({"SET", "k", "1", "PX", "100000"});
  Run({"SET", "slides", "1", "PX", "50000", "SLIDE"});
  Run({"SET", "due", "1", "PX", "10"});
  const std::string cutoff = "PUBLISH __mayfly__ t" + UnixMs(10);
  replica.Take();
  LetTimePass(10);
  RunRaw(EncodeRequest({"PERSIST", "k"}) + EncodeRequest({"GET", "slides"}) + EncodeRequest({"GET", "due"}));
  CHECK(replica.Take() == Heard{"MULTI", "PERSIST k", "PEXPIREAT slides " + UnixMs(50'000),
                                "PUBLISH __mayfly__ ...", cutoff, "EXEC"});
}

TEST_CASE_METHOD(MasterStreamTest, "what slides before a cutoff is told in the database of its key") {
  FakeReplica& replica = NewReplica();
  replica.GreetAsMayfly();
  BringUp(replica);
  Run({"SELECT", "1"});
  Run({"SET", "slides", "1", "PX", "50000", "SLIDE"});
  Run({"SET", "due", "1", "PX", "10"});
  const std::string cutoff = "PUBLISH __mayfly__ t" + UnixMs(10);
  TestClient& other = Connect();
  other.Run({"SET", "k", "1"});
  replica.Take();
  LetTimePass(10);
  RunRaw(EncodeRequest({"GET", "slides"}) + EncodeRequest({"GET", "due"}));
  CHECK(replica.Take() == Heard{"MULTI", "SELECT 1", "PEXPIREAT slides " + UnixMs(50'000),
                                "PUBLISH __mayfly__ ...", cutoff, "EXEC"});
}

TEST_CASE_METHOD(MasterStreamTest,
                 "a server that takes over ends the old master's cutoff for its own replicas") {
  FollowTest::Follow();
  Run({"SET", "due", "1", "PX", "10"});
  Carry();
  Pass(10);
  Pass(1000);
  TestClient& third = follower.Connect();
  third.Run({"REPLCONF", "listening-port", "7009"});
  third.Run({"REPLCONF", "capa", "eof", "capa", "psync2", "capa", "mayfly", "capa", "cutoffs"});
  const std::string history = Link("master_replid");
  const std::string next = std::to_string(std::stoll(Link("slave_repl_offset")) + 1);
  REQUIRE(follower.Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  CHECK(follower.Run({"SET", "a", "1"}) == Ok());
  const std::string answer = third.RunRaw("PSYNC " + history + " " + next + "\r\n");
  REQUIRE(answer.starts_with("+CONTINUE " + Link("master_replid") + "\r\n"));
  const std::string stream = answer.substr(answer.find('\n') + 1) + third.RunRaw("");
  CAPTURE(stream);
  CHECK(std::ranges::count(FakeReplica::LinesOf(stream), "PUBLISH __mayfly__ ...") == 1);
  CHECK(stream.find("NOCUTOFF") < stream.find("SET"));
}

TEST_CASE_METHOD(MasterStreamTest,
                 "the end of a cutoff is told, though the text before it is replaced in its turn") {
  FakeReplica& replica = NewReplica();
  replica.GreetAsMayfly();
  BringUp(replica);
  Run({"SET", "due", "1", "PX", "10"});
  AdvanceTime(10);
  const std::string cutoff = "PUBLISH __mayfly__ t" + UnixMs(0);
  CHECK(replica.Take().back() == cutoff);
  TestClient& writer = Connect();
  const auto run = [&](const std::string& bytes) {
    Feed feed{.session = &writer.session(), .input = {bytes.data(), bytes.size()}};
    server().executor.RefreshNow();
    server().executor.Run({&feed, 1});
  };
  run(EncodeRequest({"SET", "b", "1"}));
  StepWallClockUnnoticed(500);
  run(EncodeRequest({"SET", "b", "2"}));
  server().executor.EndTurn();
  const std::string stream = replica.TakeBytes();
  CAPTURE(stream);
  CHECK(stream.find("NOCUTOFF") != std::string::npos);
  const Heard lines = FakeReplica::LinesOf(stream);
  CHECK(lines.at(lines.size() - 2) == "SET b 2");
}

TEST_CASE_METHOD(MasterStreamTest,
                 "while a script runs nothing of it is in the stream, and then all at once") {
  FakeReplica& replica = MasterTest::Follow();
  SetOption("busy-reply-threshold", "1");
  TestClient& caller = Connect();
  CHECK(caller.Run({"EVAL",
                    "redis.call('SET', KEYS[1], '1') for i = 1, 3e7 do end redis.call('SET', KEYS[2], '2')",
                    "2", "a", "b"}) == NoReply());
  REQUIRE(server().server.Busy());
  CHECK(replica.TakeBytes().empty());
  AdvanceTime(20'000);
  CHECK(replica.TakeBytes().empty());
  while (server().server.Busy()) Slice();
  server().RunWoken();
  Heard lines = replica.Take();
  CHECK(lines == Heard{"MULTI", "SET a 1", "SET b 2", "EXEC"});
}

// ---- at the start

TEST_CASE("replicaof has no effect in a cluster, which is a line in the log if there is one") {
  ClusterWorld world("node one 10.0.0.1:7001 0-16383\nnode two 10.0.0.2:7002 replica-of=one\n");
  ClusterMember& one = world.at("one");
  Server& server = one.server().server;
  const auto start = [&] {
    server.options.FollowMaster({.host = "there", .port = 7000});
    StartReplication(server);
    CHECK(one.Replication("role") == "master");
    CHECK(one.Run({"CONFIG", "GET", "replicaof"}).elements.at(1) == Bulk(""));
  };
  start();
  const Folder folder;
  Log log(one.server().clock, Log::Level::kNotice, folder / "log");
  server.log = &log;
  start();
  StartReplication(server);  // nothing is named
  server.log = nullptr;
  std::ifstream file(folder / "log");
  size_t lines = 0;
  for (std::string line; std::getline(file, line);)
    lines += line.find("replicaof has no effect in a cluster: cluster-config-file names the masters") !=
             std::string::npos;
  CHECK(lines == 1);
}

TEST_CASE_METHOD(MasterTest, "the stream that is kept for replicas counts as overhead, and not as data") {
  FakeReplica& replica = Follow();
  const auto memory = [&](const std::string& field) { return std::stoll(Field("memory", field)); };
  Run({"SET", "k", std::string(1'000, 'v')});
  const int64_t data = memory("used_memory_dataset");
  for (int i = 0; i < 900; ++i) {
    Run({"SET", "k", std::string(1'000, 'v')});
    replica.Take();
  }
  CHECK(memory("mem_replication_backlog") > 800'000);
  CHECK(memory("used_memory_dataset") < data + 200'000);
}

TEST_CASE_METHOD(FollowTest, "after DEBUG RELOAD the follower has what its master's file has") {
  Follow();
  Run({"SET", "a", "1"});
  Run({"HSET", "h", "f", "v"});
  Run({"SET", "tagged", "v", "PX", "100000", "TAGS", "1", "x"});
  Run({"SELECT", "1"});
  Run({"SET", "b", "1"});
  Run({"SELECT", "0"});
  Carry();
  REQUIRE(Run({"DEBUG", "RELOAD"}) == Ok());
  Carry();
  CHECK(follower.Run({"DBSIZE"}) == Integer(3));
  CHECK(follower.Run({"TAGS", "tagged"}) == Run({"TAGS", "tagged"}));
  CompareAll();
  Run({"SELECT", "0"});
  follower.Run({"SELECT", "0"});
  Run({"SET", "a", "2"});
  Run({"DEL", "h"});
  Run({"SET", "late", "1"});
  Carry();
  REQUIRE(Run({"DEBUG", "RELOAD", "NOSAVE"}) == Ok());
  Carry();
  CHECK(follower.Run({"GET", "a"}) == Bulk("1"));
  CHECK(follower.Run({"EXISTS", "h", "late"}) == Integer(1));
  CompareAll();
}

}  // namespace mayfly::testing

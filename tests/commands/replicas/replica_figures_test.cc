// What a replica shows and says in each state of its link: ROLE, INFO, its announced address, signs of life and its log.
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/log/log.h"
#include "commands/cluster/cluster_world.h"
#include "commands/replicas/replica_world.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"
#include "snapshot/key_terms.h"
#include "snapshot/load_terms.h"
#include "snapshot/values/member_terms.h"
#include "support/folder.h"

namespace mayfly::testing {
namespace {

class ReplicaFiguresTest : public ReplicaTest {
 public:
  // A file without keys, of a stream that goes on in this database.
  static std::string FileOfDatabase(const std::string& database) {
    std::string file = "REDIS0009";
    file += static_cast<char>(rdb::opcode::kAux);
    rdb::Out(file).String(kStreamDatabaseField);
    rdb::Out(file).String(database);
    return file + static_cast<char>(rdb::opcode::kEnd) + std::string(8, '\0');
  }
  std::string RoleState() { return Run({"ROLE"}).elements.at(3).text; }
  Reply RoleIs(const std::string& state, int64_t offset) {
    return Array({Bulk("slave"), Bulk("there"), Integer(7000), Bulk(state), Integer(offset)});
  }
  // Up to the first answer to PSYNC: what this server has told its master.
  std::vector<std::string> GreetAnyhow() {
    std::vector<std::string> told;
    master().Accept();
    for (int i = 0; i < 10 && (told.empty() || !told.back().starts_with("PSYNC")); ++i) {
      if (i != 0) master().Answer("+OK\r\n");
      told.push_back(master().Take());
    }
    return told;
  }
  // Facts of a key that have these fields, as far as the bytes go.
  void Facts(const std::string& key, const std::vector<std::string>& parts, const std::string& end = "") {
    std::string message(1, 'k');
    rdb::Out(message).String(key);
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i % 2 == 0) message += static_cast<char>(rdb::opcode::kAux);
      rdb::Out(message).String(parts[i]);
    }
    Command({"PUBLISH", "__mayfly__", message + end});
  }
};

std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE_METHOD(ReplicaFiguresTest, "ROLE and INFO show how far a link is") {
  const std::string file = FileWith({{"SET", "a", "1"}});
  const auto check_is_down = [this](const std::string& syncs) {
    CHECK(Replication("master_link_status") == "down");
    CHECK(Replication("master_last_io_seconds_ago") == "-1");
    CHECK(Replication("master_sync_in_progress") == syncs);
    CHECK(Replication("master_sync_left_bytes").empty() == (syncs == "0"));
    CHECK(Replication("master_sync_total_bytes").empty() == (syncs == "0"));
    CHECK(Replication("master_sync_read_bytes").empty() == (syncs == "0"));
    CHECK(Replication("master_sync_last_io_seconds_ago").empty() == (syncs == "0"));
  };
  CHECK(Run({"REPLICAOF", "there", "7000"}) == Ok());
  CHECK(Run({"ROLE"}) == RoleIs("connect", -1));
  check_is_down("0");
  AdvanceTime(0);
  CHECK(Run({"ROLE"}) == RoleIs("connecting", -1));
  check_is_down("0");
  AdvanceTime(2000);
  CHECK(Replication("master_link_down_since_seconds") == "2");
  Greet();
  CHECK(Run({"ROLE"}) == RoleIs("handshake", -1));
  check_is_down("0");
  AnswerFull(100);
  CHECK(Run({"ROLE"}) == RoleIs("sync", -1));
  check_is_down("1");
  master().Answer("$" + std::to_string(file.size()) + "\r\n" + file.substr(0, 20));
  CHECK(Replication("master_sync_total_bytes") == std::to_string(file.size()));
  CHECK(Replication("master_sync_read_bytes") == "20");
  CHECK(Replication("master_sync_left_bytes") == std::to_string(file.size() - 20));
  AdvanceTime(3000);
  CHECK(Replication("master_sync_last_io_seconds_ago") == "3");
  CHECK(Replication("master_link_down_since_seconds") == "5");
  master().Answer(file.substr(20));
  WorkUntil([this] { return Replication("master_sync_in_progress") == "1" && snapshots().loading(); });
  CHECK(Run({"ROLE"}) == RoleIs("sync", -1));
  check_is_down("1");
  FinishSync();
  CHECK(Run({"ROLE"}) == RoleIs("connected", 100));
  CHECK(Replication("master_link_status") == "up");
  CHECK(Replication("master_link_down_since_seconds").empty());
  CHECK(Replication("master_sync_left_bytes").empty());
  CHECK(Replication("master_last_io_seconds_ago") == "0");
  CHECK(Replication("master_replid") == kHistory);
  CHECK(Replication("slave_read_repl_offset") == "100");
  CHECK(Replication("slave_repl_offset") == "100");
  CHECK(Replication("master_repl_offset") == "100");
  AdvanceTime(4000);
  CHECK(Replication("master_last_io_seconds_ago") == "4");
  Command({"PING"});
  CHECK(Replication("master_last_io_seconds_ago") == "0");
  CHECK(Replication("slave_repl_offset") == "114");
  // Down again, since now.
  master().HangUp();
  CHECK(Run({"ROLE"}) == RoleIs("connect", -1));
  check_is_down("0");
  CHECK(Replication("master_link_down_since_seconds") == "0");
  CHECK(Replication("slave_repl_offset") == "114");
  AdvanceTime(1000);
  CHECK(Replication("master_link_down_since_seconds") == "1");
  Greet("PSYNC " + kHistory + " 115");
  master().Answer("+CONTINUE\r\n");
  CHECK(Run({"ROLE"}) == RoleIs("connected", 114));
  AdvanceTime(0);
  CHECK(master().Take() == "REPLCONF ACK 114");
  CHECK(Replication("master_full_syncs") == "1");
  CHECK(Replication("master_partial_syncs") == "1");
}

TEST_CASE_METHOD(ReplicaFiguresTest, "how much is left of a file with a mark is not known") {
  const std::string file = FileWith({{"SET", "a", "1"}});
  const std::string mark(40, 'm');
  Connect();
  AnswerFull();
  CHECK(Replication("master_sync_left_bytes") == "-1");
  master().Answer("$EOF:" + mark + "\r\n" + file);
  CHECK(Replication("master_sync_total_bytes") == "0");
  CHECK(Replication("master_sync_left_bytes") == "-1");
  CHECK(std::stoul(Replication("master_sync_read_bytes")) + 40 >= file.size());
  master().Answer(mark);
  FinishSync();
  CHECK(Run({"GET", "a"}) == Bulk("1"));
}

TEST_CASE_METHOD(ReplicaFiguresTest, "INFO has what Sentinel asks of a replica") {
  Connect();
  CHECK(Replication("slave_priority") == "100");
  CHECK(Replication("slave_read_only") == "1");
  CHECK(Replication("replica_announced") == "1");
  SetOption("replica-priority", "7");
  SetOption("replica-read-only", "no");
  SetOption("replica-announced", "no");
  CHECK(Replication("slave_priority") == "7");
  CHECK(Replication("slave_read_only") == "0");
  CHECK(Replication("replica_announced") == "0");
}

TEST_CASE_METHOD(ReplicaFiguresTest, "a master's figures are those of a server without a link") {
  CHECK(Replication("role") == "master");
  for (const char* field :
       {"master_host", "master_link_status", "slave_repl_offset", "slave_priority", "slave_read_only",
        "master_full_syncs", "master_link_down_since_seconds", "min_slaves_good_slaves"}) {
    CAPTURE(field);
    CHECK(Replication(field).empty());
  }
  CHECK(Replication("master_replid") == server().server.run_id);
  CHECK(Replication("master_replid2") == std::string(40, '0'));
  CHECK(Replication("second_repl_offset") == "-1");
  CHECK(Replication("repl_backlog_active") == "0");
  CHECK(Replication("repl_backlog_first_byte_offset") == "0");
  CHECK(Replication("repl_backlog_histlen") == "0");
  CHECK(Replication("repl_backlog_size") == "1048576");
  CHECK(Replication("master_repl_offset") == "0");
}

// ---- what the master is told

TEST_CASE_METHOD(ReplicaFiguresTest, "a replica announces the address and the port that it is told to") {
  using Told = std::vector<std::string>;
  const std::string capabilities = "REPLCONF capa eof capa psync2 capa mayfly capa cutoffs";
  const bool names_port = GENERATE(false, true);
  const bool names_address = GENERATE(false, true);
  const bool has_tls_port = GENERATE(false, true);
  const bool by_tls = GENERATE(false, true);
  CAPTURE(names_port, names_address, has_tls_port, by_tls);
  StartWith("port", "6400");
  if (names_port) SetOption("replica-announce-port", "7123");
  if (names_address) SetOption("replica-announce-ip", "10.0.0.9");
  if (has_tls_port) SetOption("tls-port", "6500");
  server().server.outgoing_by_tls = server().server.outgoing;
  if (by_tls) SetOption("tls-replication", "yes");
  CHECK(Run({"REPLICAOF", "there", "7000"}) == Ok());
  AdvanceTime(0);
  REQUIRE(targets.count() == 1);
  const std::string port = names_port ? "7123" : by_tls && has_tls_port ? "6500" : "6400";
  Told wanted = {"PING", "REPLCONF listening-port " + port};
  if (names_address) wanted.push_back("REPLCONF ip-address 10.0.0.9");
  wanted.insert(wanted.end(), {capabilities, "PSYNC ? -1"});
  CHECK(GreetAnyhow() == wanted);
  server().server.outgoing_by_tls = nullptr;
}

TEST_CASE("a replica of a cluster announces the address of its line, unless it is told another one") {
  ClusterWorld world("node one 10.0.0.1:7001 0-16383\nnode three 10.0.0.3:7003 replica-of=one\n");
  world.Settle();
  ClusterMember& one = world.at("one");
  ClusterMember& three = world.at("three");
  CHECK(one.Replication("slave0").starts_with("ip=10.0.0.3,port=7003,"));
  const auto link_again = [&] {
    three.targets.last().HangUp();
    world.Pass(MasterLink::kRetryMs);
    world.Settle();
    world.Pass(MasterLink::kTellMs);
  };
  three.SetOption("replica-announce-port", "7777");
  link_again();
  CHECK(one.Run({"INFO", "replication"}).text.find("ip=10.0.0.3,port=7777,") != std::string::npos);
  three.SetOption("replica-announce-ip", "10.0.0.9");
  link_again();
  CHECK(one.Run({"INFO", "replication"}).text.find("ip=10.0.0.9,port=7777,") != std::string::npos);
}

TEST_CASE_METHOD(ReplicaFiguresTest,
                 "while keys come and are loaded, the master gets a sign of life each second") {
  std::vector<Words> requests;
  for (int i = 0; i < 300; ++i) requests.push_back({"SET", "k" + std::to_string(i), "v"});
  const std::string file = FileWith(requests);
  SetOption("repl-timeout", "5");
  Connect();
  AnswerFull();
  master().Answer("$" + std::to_string(file.size()) + "\r\n" + file.substr(0, 20));
  AdvanceTime(999);
  CHECK(master().TakeBytes().empty());
  AdvanceTime(1);
  CHECK(master().TakeBytes() == "\n");
  AdvanceTime(1000);
  CHECK(master().TakeBytes() == "\n");
  master().Answer(file.substr(20));
  WorkUntil([this] { return snapshots().loading(); });
  REQUIRE(snapshots().loading());
  master().TakeBytes();
  for (int s = 0; s < 20; ++s) {  // the master has to wait: its silence does not matter
    AdvanceTime(1000);
    CHECK(master().TakeBytes() == "\n");
  }
  FinishSync();
  CHECK(Replication("master_link_status") == "up");
  CHECK(targets.count() == 1);
  // From now on its silence matters again.
  AdvanceTime(4999);
  CHECK(Replication("master_link_status") == "up");
  AdvanceTime(1);
  CHECK(Replication("master_link_status") == "down");
}

TEST_CASE_METHOD(ReplicaFiguresTest, "a master that sends half of its keys and falls silent is given up") {
  SetOption("repl-timeout", "5");
  const std::string file = FileWith({{"SET", "a", "1"}});
  Connect();
  AnswerFull();
  master().Answer("$" + std::to_string(file.size()) + "\r\n" + file.substr(0, 20));
  AdvanceTime(4999);
  CHECK_FALSE(master().closed());
  master().Answer(file.substr(20, 1));
  AdvanceTime(4999);
  CHECK_FALSE(master().closed());
  AdvanceTime(1);
  CHECK(master().closed());
  CHECK(RoleState() == "connect");
  AdvanceTime(MasterLink::kRetryMs - 1);
  CHECK(targets.count() == 1);
  AdvanceTime(1);
  CHECK(targets.count() == 2);
}

TEST_CASE_METHOD(ReplicaFiguresTest, "a link that a client kills is made anew at once, and goes on") {
  Sync(FileWith({}), 100);
  Command({"SELECT", "2"});
  Command({"SET", "a", "1"});
  const std::string next = std::to_string(std::stoll(Replication("slave_repl_offset")) + 1);
  const std::string list = Run({"CLIENT", "LIST", "TYPE", "master"}).text;
  CHECK(list.find(" addr=there:7000 ") != std::string::npos);
  CHECK(list.find(" db=2 ") != std::string::npos);
  CHECK(Run({"CLIENT", "KILL", "TYPE", "master"}) == Integer(1));
  AdvanceTime(0);
  AdvanceTime(0);
  REQUIRE(targets.count() == 2);
  Greet("PSYNC " + kHistory + " " + next);
  master().Answer("+CONTINUE\r\n");
  AdvanceTime(0);
  CHECK(master().Take() == "REPLCONF ACK " + std::to_string(std::stoll(next) - 1));
  Command({"SET", "b", "1"});
  Run({"SELECT", "2"});
  CHECK(Run({"MGET", "a", "b"}) == Bulks({"1", "1"}));
}

TEST_CASE_METHOD(ReplicaFiguresTest, "a master with a bare IPv6 address is shown in brackets") {
  const std::string file = FileWith({});
  CHECK(Run({"REPLICAOF", "::1", "7000"}) == Ok());
  AdvanceTime(0);
  Greet();
  AnswerFull();
  master().Answer("$" + std::to_string(file.size()) + "\r\n" + file);
  FinishSync();
  CHECK(Run({"CLIENT", "LIST", "TYPE", "master"}).text.find(" addr=[::1]:7000 ") != std::string::npos);
  CHECK(Replication("master_host") == "::1");
}

TEST_CASE_METHOD(ReplicaFiguresTest,
                 "what a turn has left of the master's stream brings about another turn") {
  Sync(FileWith({}));
  int signals = 0;
  server().hubs.wakes.set_turn([&signals] { ++signals; });
  std::string stream = EncodeRequest({"SELECT", "0"});
  for (int i = 0; i < 5000; ++i) stream += EncodeRequest({"SET", "k" + std::to_string(i), "v"});
  CHECK(master().AnswerForOneTurn(stream) != 0);
  for (int turn = 0; turn < 10 && signals != 0; ++turn) {
    signals = 0;
    server().hubs.wakes.Tell();
    server().RunWoken();
  }
  CHECK(Run({"DBSIZE"}) == Integer(5000));
  CHECK(signals == 0);
  server().hubs.wakes.set_turn({});
}

TEST_CASE_METHOD(ReplicaFiguresTest,
                 "news of other parts while a master is connected to do not begin the handshake") {
  CHECK(Run({"REPLICAOF", "there", "7000"}) == Ok());
  AdvanceTime(0);
  server().hubs.wakes.Tell();
  CHECK(RoleState() == "connecting");
  CHECK(master().TakeBytes().empty());
  Greet();
}

TEST_CASE_METHOD(ReplicaFiguresTest,
                 "a link that is new has been idle for no time, and has counted nothing") {
  Sync(FileWith({}), 100);
  const auto shown = [this] { return Run({"CLIENT", "LIST", "TYPE", "master"}).text; };
  CHECK(shown().find(" age=0 idle=0 ") != std::string::npos);
  Command({"SELECT", "1"});
  const std::string half = EncodeRequest({"SET", "a", "1"}).substr(0, 20);
  master().Answer(half);
  CHECK(shown().find(" qbuf=" + std::to_string(half.size()) + " ") != std::string::npos);
  CHECK(shown().find(" cmd=select ") != std::string::npos);
  AdvanceTime(7000);
  CHECK(shown().find(" age=7 idle=7 ") != std::string::npos);
  master().Answer(EncodeRequest({"SET", "a", "1"}).substr(20));
  CHECK(shown().find(" age=7 idle=0 ") != std::string::npos);
  CHECK(shown().find(" cmd=set ") != std::string::npos);
  const std::string next = std::to_string(std::stoll(Replication("slave_repl_offset")) + 1);
  master().HangUp();
  CHECK(shown().empty());
  AdvanceTime(MasterLink::kRetryMs);
  Greet("PSYNC " + kHistory + " " + next);
  master().Answer("+CONTINUE\r\n");
  CHECK(shown().find(" age=0 idle=0 ") != std::string::npos);
  CHECK(shown().find(" db=1 ") != std::string::npos);
  CHECK(shown().find(" qbuf=0 ") != std::string::npos);
}

TEST_CASE_METHOD(ReplicaFiguresTest,
                 "a replica whose stream begins in another database says so to a replica of its own") {
  std::string field;
  rdb::Out(field).String(kStreamDatabaseField);
  const std::string file = FileOfDatabase("2");
  Sync(file, 100);
  TestClient& third = SnapshotTest::Connect();
  third.Run({"REPLCONF", "capa", "eof", "capa", "psync2"});
  std::string bytes = third.RunRaw("PSYNC ? -1\r\n");
  for (int i = 0; i < 20; ++i) {
    AdvanceTime(2);
    Slice();
    bytes += third.RunRaw("");
  }
  CHECK(bytes.starts_with("+FULLRESYNC " + kHistory + " 100\r\n"));
  const size_t at = bytes.find(field);
  REQUIRE(at != std::string::npos);
  const std::string value = bytes.substr(at + field.size(), 2);
  CHECK((value == "\x01"
                  "2" ||
         value == "\xc0\x02"));
  Command({"SET", "a", "1"});
  Run({"SELECT", "2"});
  CHECK(Run({"GET", "a"}) == Bulk("1"));
}

// ---- failures

TEST_CASE_METHOD(ReplicaFiguresTest,
                 "the first ten failures of a master's commands are told in the log, each by a line") {
  const Folder folder;
  const std::string path = folder / "log";
  Sync(FileWith({{"SET", "a", "1"}}), 0);
  {
    Log log(server().clock, Log::Level::kWarning, path);
    server().server.log = &log;
    Command({"LPUSH", "a", "x"});
    Command({"INCR"});
    Command({"GET", "a\n"});
    for (int i = 0; i < 20; ++i) Command({"LPUSH", "a", "x"});
    server().server.log = nullptr;
  }
  CHECK(Replication("master_failed_commands") == "23");
  const std::vector<std::string> lines = LinesOf(path);
  REQUIRE(lines.size() == 10);
  const std::string begin = " a command of the master has failed, so keys may differ from the master's: ";
  CAPTURE(lines[0], lines[1], lines[2]);
  CHECK(lines[0].ends_with(begin +
                           "LPUSH a: -WRONGTYPE Operation against a key holding the wrong kind of value"));
  CHECK(lines[1].ends_with(begin + "INCR : -ERR wrong number of arguments for 'incr' command"));
  CHECK(lines[2].find(begin + "GET a") != std::string::npos);
  CHECK(lines[2].ends_with(": a master sends no such command"));
}

TEST_CASE_METHOD(ReplicaFiguresTest, "facts that are none are counted, and a key that is gone may have any") {
  const std::string terms(KeyTerms::kField);
  const std::string members(MemberTerms::kField);
  SyncWithMayfly(FileWith({{"SET", "text", "1"}, {"RPUSH", "list", "a"}, {"HSET", "hash", "f", "v"}}));
  Command({"SELECT", "0"});
  int failures = 0;
  const auto fails = [&] {
    CHECK(Replication("master_failed_commands") == std::to_string(++failures));
    CHECK(Replication("master_link_status") == "up");
  };
  // Of a key that is gone.
  Facts("gone", {});
  Facts("gone", {members, "nonsense"});
  CHECK(Replication("master_failed_commands") == "0");
  Command({"PUBLISH", "__mayfly__",
           "k\x05"
           "ab"});
  fails();
  Facts("text", {}, "x");  // no field
  fails();
  Facts("text", {"z", "unheard-of"});
  fails();
  Facts("text", {}, std::string(1, static_cast<char>(rdb::opcode::kAux)));
  fails();
  Facts("text", {},
        std::string(1, static_cast<char>(rdb::opcode::kAux)) +
            "\x03"
            "ab");
  fails();
  Facts("text", {terms});  // without its value
  fails();
  Facts("text", {terms, ""});
  fails();
  Facts("gone", {terms, ""});
  fails();
  Facts("text", {members, "nonsense"});  // it has no members
  fails();
  Facts("list", {members, "nonsense"});  // they have no deadlines
  fails();
  Facts("hash", {members, "nonsense"});
  fails();
  CHECK(Run({"GET", "text"}) == Bulk("1"));
  CHECK(Run({"LRANGE", "list", "0", "-1"}) == Array({Bulk("a")}));
  CHECK(Run({"HGETALL", "hash"}) == Bulks({"f", "v"}));
}

TEST_CASE_METHOD(ReplicaFiguresTest,
                 "a replica's own writes go neither to its replicas nor into the count of bytes") {
  SetOption("replica-read-only", "no");
  Sync(FileWith({}), 100);
  TestClient& third = SnapshotTest::Connect();
  third.Run({"REPLCONF", "capa", "eof", "capa", "psync2"});
  REQUIRE(third.RunRaw("PSYNC " + kHistory + " 101\r\n").starts_with("+CONTINUE"));
  CHECK(Run({"SET", "own", "1"}) == Ok());
  CHECK(Run({"PUBLISH", "c", "m"}).kind == Reply::Kind::kInteger);
  AdvanceTime(1);
  CHECK(Replication("master_repl_offset") == "100");
  CHECK(third.RunRaw("").empty());
  const std::string stream = EncodeRequest({"SELECT", "0"}) + EncodeRequest({"SET", "a", "1"});
  master().Answer(stream);
  AdvanceTime(1);
  CHECK(third.RunRaw("") == stream);
}

TEST_CASE_METHOD(ReplicaFiguresTest,
                 "a stream that begins in a database that does not exist here changes none") {
  Sync(FileOfDatabase("99"), 100);
  Command({"SET", "a", "1"});
  Command({"FLUSHDB"});
  CHECK(Replication("master_failed_commands") == "2");
  for (int i = 0; i < 16; ++i) {
    Run({"SELECT", std::to_string(i)});
    CHECK(Run({"DBSIZE"}) == Integer(0));
  }
  Command({"FLUSHALL"});
  CHECK(Replication("master_failed_commands") == "2");
  Command({"SELECT", "0"});
  Command({"SET", "a", "1"});
  CHECK(Replication("master_failed_commands") == "2");
  Run({"SELECT", "0"});
  CHECK(Run({"GET", "a"}) == Bulk("1"));
}

}  // namespace mayfly::testing

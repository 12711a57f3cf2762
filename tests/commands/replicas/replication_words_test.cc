// The words of replicas, masters and operators: REPLCONF, PSYNC, REPLICAOF, FAILOVER and WAIT, within their bounds and beyond.
#include <algorithm>
#include <string>
#include <vector>

#include "commands/replicas/follow_world.h"
#include "replication/master_link.h"
#include "replication/replicas.h"

namespace mayfly::testing {
namespace {

const Reply kNotInteger = Error("ERR value is not an integer or out of range");

class ReplicationWordsTest : public FollowTest {
 public:
  FakeReplica& Begin(const std::string& port = "7001") {
    FakeReplica& replica = NewReplica();
    replica.Greet(port);
    return replica;
  }
  std::string Line(size_t n) { return Field("replication", "slave" + std::to_string(n)); }
};

}  // namespace

// ---- REPLCONF

TEST_CASE_METHOD(ReplicationWordsTest, "a replica's port is a number of 16 bits") {
  for (const char* port : {"0", "1", "65535"}) {
    CAPTURE(port);
    CHECK(Run({"REPLCONF", "listening-port", port}) == Ok());
  }
  for (const char* port : {"65536", "-1", "", "x", "7.5", "99999999999999999999"}) {
    CAPTURE(port);
    CHECK(Run({"REPLCONF", "listening-port", port}) == kNotInteger);
  }
  // What is refused changes nothing.
  FakeReplica& replica = Begin("65535");
  CHECK(replica.client.Run({"REPLCONF", "listening-port", "65536"}) == kNotInteger);
  AskForAll(replica);
  CHECK(Line(0).starts_with("ip=127.0.0.1,port=65535,"));
}

TEST_CASE_METHOD(ReplicationWordsTest, "a replica's address is printable, and has at most 1,024 bytes") {
  const std::string longest(1024, 'h');
  CHECK(Run({"REPLCONF", "ip-address", longest + "h"}) ==
        Error("ERR REPLCONF ip-address provided by replica instance is too long: 1025 bytes"));
  const Reply none = Error("ERR REPLCONF ip-address provided by replica instance is no address");
  for (const char* address : {"", "a b", " ", "a\nb", "a\x7f", "\xc3\xa4"}) {
    CAPTURE(address);
    CHECK(Run({"REPLCONF", "ip-address", address}) == none);
  }
  CHECK(Run({"REPLCONF", "ip-address", "!~"}) == Ok());
  FakeReplica& replica = Begin();
  CHECK(replica.client.Run({"REPLCONF", "ip-address", longest}) == Ok());
  CHECK(replica.client.Run({"REPLCONF", "ip-address", "a b"}) == none);
  AskForAll(replica);
  CHECK(Line(0).starts_with("ip=" + longest + ",port=7001,"));
}

TEST_CASE_METHOD(ReplicationWordsTest,
                 "one REPLCONF may say everything, in any case, and what comes before an error counts") {
  FakeReplica& replica = NewReplica();
  CHECK(replica.client.Run({"replconf", "LISTENING-PORT", "7005", "Ip-Address", "10.0.0.5", "CAPA", "EOF",
                            "capa", "unheard-of", "VERSION", "8.0.0", "RDB-ONLY", "0"}) == Ok());
  CHECK(replica.client.Run({"REPLCONF", "listening-port", "7006", "nonsense", "1", "ip-address",
                            "10.0.0.6"}) == Error("ERR Unrecognized REPLCONF option: nonsense"));
  AskForAll(replica);
  CHECK(Line(0).starts_with("ip=10.0.0.5,port=7006,"));
}

TEST_CASE_METHOD(ReplicationWordsTest, "RDB-ONLY can be taken back: the client is a replica then") {
  FakeReplica& replica = Begin();
  CHECK(replica.client.Run({"REPLCONF", "rdb-only", "1"}) == Ok());
  CHECK(replica.client.Run({"REPLCONF", "rdb-only", "0"}) == Ok());
  BringUp(replica);
  CHECK(Field("replication", "connected_slaves") == "1");
}

TEST_CASE_METHOD(ReplicationWordsTest, "a confirmation that is no number has no effect, and no answer") {
  FakeReplica& replica = MasterTest::Follow();
  const std::string place = std::to_string(replica.place);
  const std::string before = Line(0);
  for (const Words& words : std::vector<Words>{{"REPLCONF", "ACK", "x"},
                                               {"REPLCONF", "ACK", ""},
                                               {"REPLCONF", "ACK", place, "FACK", "x"},
                                               {"REPLCONF", "ACK", "x", "FACK", place},
                                               {"REPLCONF", "GETACK", "*"}}) {
    CAPTURE(words);
    CHECK(replica.client.Run(words) == NoReply());
    CHECK(Line(0) == before);
  }
  CHECK(replica.client.Run({"REPLCONF", "ACK", place, "FACK"}) == Error("ERR syntax error"));
  TestClient& writer = Connect();
  CHECK(writer.Run({"WAITAOF", "0", "0", "0"}) == Array({Integer(0), Integer(0)}));
  CHECK(replica.client.Run({"replconf", "ack", place, "fack", place}) == NoReply());
  CHECK(Line(0).find(",offset=" + place + ",") != std::string::npos);
  CHECK(writer.Run({"WAITAOF", "0", "1", "0"}) == Array({Integer(0), Integer(1)}));
}

// ---- PSYNC

TEST_CASE_METHOD(ReplicationWordsTest, "who has no history, or no place in it, gets all keys") {
  FakeReplica& first = MasterTest::Follow();
  const auto ask = [&](const std::string& history, const std::string& place) {
    CAPTURE(history, place);
    FakeReplica& replica = Begin("7002");
    const std::string answer = replica.client.RunRaw("PSYNC " + history + " " + place + "\r\n");
    CHECK_FALSE(answer.starts_with("+CONTINUE"));
    ReceiveAll(replica, answer);
    CHECK(replica.history == first.history);
    Leave(replica);
  };
  ask("?", "-1");
  ask("?", "1");
  CHECK(Field("stats", "sync_partial_err") == "0");
  ask(first.history, "0");
  ask(first.history, "-1");
  ask(first.history, "x");
  ask(std::string(40, 'e'), "1");
  CHECK(Field("stats", "sync_full") == "7");
  // The first byte of all.
  FakeReplica& last = Begin("7003");
  CHECK(last.client.RunRaw("PSYNC " + first.history + " 1\r\n").starts_with("+CONTINUE "));
}

TEST_CASE_METHOD(ReplicationWordsTest, "a replica that asks again for keys is not answered, and goes on") {
  FakeReplica& replica = MasterTest::Follow();
  CHECK(replica.client.RunRaw("PSYNC ? -1\r\nSYNC\r\n").empty());
  CHECK(Field("replication", "connected_slaves") == "1");
  CHECK(Field("stats", "sync_full") == "1");
  Run({"SET", "a", "1"});
  CHECK(replica.Take() == Heard{"SET a 1"});
}

TEST_CASE_METHOD(ReplicationWordsTest,
                 "a replica takes its master's place if it is asked in the name of its stream") {
  FollowTest::Follow();
  Run({"SET", "a", "1"});
  Carry();
  const std::string history = Link("master_replid");
  const std::string next = std::to_string(std::stoll(Link("slave_repl_offset")) + 1);
  TestClient& asking = follower.Connect();
  const auto greet = [](TestClient& client) {
    client.Run({"REPLCONF", "listening-port", "7009"});
    client.Run({"REPLCONF", "capa", "eof", "capa", "psync2", "capa", "mayfly", "capa", "cutoffs"});
  };
  greet(asking);
  CHECK(asking.Run({"PSYNC", std::string(40, 'b'), next, "FAILOVER"}) ==
        Error("ERR PSYNC FAILOVER replid must match my replid."));
  CHECK(asking.Run({"PSYNC", "?", "-1", "FAILOVER"}) ==
        Error("ERR PSYNC FAILOVER replid must match my replid."));
  CHECK(Link("role") == "slave");
  // Another word is none.
  TestClient& other = follower.Connect();
  greet(other);
  CHECK(other.RunRaw("PSYNC " + history + " " + next + " PLEASE\r\n").starts_with("+CONTINUE " + history));
  CHECK(Link("role") == "slave");
  const std::string answer = asking.RunRaw("PSYNC " + history + " " + next + " failover\r\n");
  CHECK(Link("role") == "master");
  CHECK(answer.starts_with("+CONTINUE " + Link("master_replid") + "\r\n"));
  CHECK(Link("master_replid") != history);
  CHECK(Link("master_replid2") == history);
  CHECK(Link("second_repl_offset") == next);
  CHECK(other.session().Has(Mode::kDropped));
  CHECK(follower.Run({"CONFIG", "GET", "replicaof"}) == Array({Bulk("replicaof"), Bulk("")}));
  CHECK(follower.Run({"SET", "b", "1"}) == Ok());
}

// ---- REPLICAOF

TEST_CASE_METHOD(ReplicationWordsTest, "REPLICAOF needs both words of NO ONE, and a host may be called NO") {
  CHECK(Run({"REPLICAOF", "no", "one"}) == Ok());
  CHECK(Field("replication", "role") == "master");
  CHECK(follower.Run({"REPLICAOF", "there", "one"}) == kNotInteger);
  CHECK(follower.Run({"REPLICAOF", "NO", "7000"}) == Ok());
  CHECK(Link("master_host") == "NO");
  CHECK(Link("master_port") == "7000");
  const Reply already = Simple("OK Already connected to specified master");
  CHECK(follower.Run({"REPLICAOF", "no", "7000"}) == already);
  CHECK(follower.Run({"REPLICAOF", "NO", "7001"}) == Ok());
  CHECK(follower.Run({"REPLICAOF", "NO2", "7001"}) == Ok());
  CHECK(Link("master_host") == "NO2");
  CHECK(follower.Run({"REPLICAOF", "NO2", "-1"}) == Error("ERR Invalid master port"));
  CHECK(follower.Run({"REPLICAOF", "NO2", "65535"}) == Ok());
  CHECK(follower.Run({"REPLICAOF", "NO2", "0"}) == Ok());
  CHECK(Link("master_port") == "0");
  CHECK(follower.Run({"REPLICAOF", "no", "ONE"}) == Ok());
  CHECK(Link("role") == "master");
  CHECK(follower.Run({"CONFIG", "GET", "replicaof"}) == Array({Bulk("replicaof"), Bulk("")}));
  CHECK(follower.Run({"REPLICAOF", "no", "7000"}) == Ok());
  CHECK(Link("role") == "slave");
}

TEST_CASE_METHOD(ReplicationWordsTest,
                 "a server that begins to follow ends the waits of its clients, and drops its replicas") {
  FakeReplica& waits = Begin("7001");
  TestClient& writer = follower.Connect();
  TestClient& replica = follower.Connect();
  CHECK(writer.RunRaw("WAIT 1 0\r\n").empty());
  REQUIRE(replica.Run({"REPLCONF", "capa", "eof"}) == Ok());
  follower.FillWith(2000);
  CHECK(replica.RunRaw("PSYNC ? -1\r\n").find("-UNBLOCKED") == std::string::npos);
  CHECK(follower.Run({"REPLICAOF", "there", "7000"}) == Ok());
  CHECK(writer.RunRaw("").starts_with("-UNBLOCKED force unblock from blocking operation"));
  CHECK(writer.session().Has(Mode::kEnding));
  CHECK(replica.session().Has(Mode::kDropped));
  CHECK(replica.RunRaw("").find("-UNBLOCKED") == std::string::npos);
  Leave(waits);
}

// ---- WAIT

TEST_CASE_METHOD(ReplicationWordsTest, "a replica's client may not wait for replicas") {
  FollowTest::Follow();
  const auto refused = [](const std::string& command) {
    return Error(
        "ERR " + command +
        " cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is "
        "configured to be writable (which is not the default) writes to replicas are just local and are "
        "not propagated.");
  };
  CHECK(follower.Run({"WAIT", "0", "0"}) == refused("WAIT"));
  CHECK(follower.Run({"WAITAOF", "0", "0", "0"}) == refused("WAITAOF"));
  CHECK(follower.Run({"WAIT", "x", "y"}) == refused("WAIT"));
  CHECK(follower.Run({"WAITAOF", "2", "0", "0"}) ==
        Error("ERR value is out of range, value must between 0 and 1"));
  CHECK(follower.Run({"WAITAOF", "0", "0", "-1"}) == Error("ERR timeout is negative"));
}

TEST_CASE_METHOD(ReplicationWordsTest, "CLIENT UNBLOCK ends a WAIT as its timeout does, or with an error") {
  FakeReplica& replica = MasterTest::Follow();
  TestClient& writer = Connect();
  const std::string id = std::to_string(writer.session().id);
  writer.Run({"SET", "a", "1"});
  replica.Take();
  replica.Confirm();
  CHECK(writer.RunRaw("WAIT 2 0\r\n").empty());
  CHECK(Run({"CLIENT", "UNBLOCK", id, "TIMEOUT"}) == Integer(1));
  const std::string at_timeout = writer.RunRaw("");
  CHECK(writer.RunRaw("WAIT 2 0\r\n").empty());
  CHECK(Run({"CLIENT", "UNBLOCK", id, "ERROR"}) == Integer(1));
  CHECK(writer.RunRaw("") == "-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n");
  CHECK(writer.RunRaw("WAITAOF 0 1 0\r\n").empty());
  CHECK(Run({"CLIENT", "UNBLOCK", id, "ERROR"}) == Integer(1));
  CHECK(writer.RunRaw("") == "-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n");
  CHECK(at_timeout == ":1\r\n");
}

TEST_CASE_METHOD(ReplicationWordsTest,
                 "a WAIT goes on if one of the replicas that have confirmed leaves before the answer") {
  FakeReplica& first = MasterTest::Follow("7001");
  FakeReplica& second = MasterTest::Follow("7002");
  TestClient& writer = Connect();
  writer.Run({"SET", "a", "1"});
  CHECK(writer.RunRaw("WAIT 2 5000\r\n").empty());
  first.Take();
  second.Take();
  first.Confirm();
  // Both in one turn: it confirms, and its connection ends.
  Replicas& replicas = Replicas::Of(server().server);
  replicas.Confirm(second.client.session(), second.place, -1, now());
  Leave(second);
  CHECK(writer.RunRaw("").empty());
  FakeReplica& third = Begin("7003");
  REQUIRE(Continue(third, first.history, first.place).starts_with("+CONTINUE"));
  third.place = first.place;
  third.Confirm();
  CHECK(writer.RunRaw("") == ":2\r\n");
}

}  // namespace mayfly::testing

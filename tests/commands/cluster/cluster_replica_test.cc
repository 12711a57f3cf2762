// Nodes of a cluster with replicas: who follows whom by the file, what a replica serves, and what it says of the cluster.
#include <new>
#include <regex>
#include <string>

#include "commands/cluster/cluster_world.h"
#include "commands/memory/failing_allocation.h"

namespace mayfly::testing {
namespace {

// "b" 3300 is one's; "a" 15495 is two's.
const std::string kOneLeads =
    "node one 10.0.0.1:7001 0-8191\n"
    "node two 10.0.0.2:7002 8192-16383\n"
    "node three 10.0.0.3:7003 replica-of=one\n"
    "node four 10.0.0.4:7004 replica-of=one\n";
const std::string kThreeLeads =
    "node one 10.0.0.1:7001 replica-of=three\n"
    "node two 10.0.0.2:7002 8192-16383\n"
    "node three 10.0.0.3:7003 0-8191\n"
    "node four 10.0.0.4:7004 replica-of=three\n";

const Reply kMovedToOne = Error("MOVED 3300 10.0.0.1:7001");
const Reply kMovedToThree = Error("MOVED 3300 10.0.0.3:7003");
const Reply kMovedToTwo = Error("MOVED 15495 10.0.0.2:7002");

class ClusterReplicaTest {
 public:
  ClusterMember& one() { return world.at("one"); }
  ClusterMember& two() { return world.at("two"); }
  ClusterMember& three() { return world.at("three"); }
  ClusterMember& four() { return world.at("four"); }
  static std::string IdOf(ClusterMember& node) { return node.Run({"CLUSTER", "MYID"}).text; }
  void CheckEqual() {
    world.Pass(MasterLink::kTellMs);
    CHECK(three().Digest() == one().Digest());
    CHECK(four().Digest() == one().Digest());
    CHECK(three().Run({"DBSIZE"}) == one().Run({"DBSIZE"}));
  }

  ClusterWorld world{kOneLeads};
};

// A field of a node in CLUSTER SHARDS.
Reply NodeField(const Reply& node, const std::string& field) {
  for (size_t i = 0; i + 1 < node.elements.size(); i += 2) {
    if (node.elements[i] == Bulk(field)) return node.elements[i + 1];
  }
  return NoReply();
}

}  // namespace

// ---- reads

TEST_CASE_METHOD(ClusterReplicaTest,
                 "a replica follows the master of its line, and serves reads after READONLY") {
  one().Run({"SET", "b", "v"});
  world.Settle();
  CHECK(three().Run({"GET", "b"}) == kMovedToOne);
  CHECK(three().Run({"READONLY"}) == Ok());
  CHECK(three().Run({"GET", "b"}) == Bulk("v"));
  CHECK(three().Run({"MGET", "b", "{b}2"}) == Array({Bulk("v"), Null()}));
  CHECK(three().Run({"GET", "a"}) == kMovedToTwo);
  CHECK(three().Run({"SET", "b", "w"}) == kMovedToOne);
  CHECK(three().Run({"READWRITE"}) == Ok());
  CHECK(three().Run({"GET", "b"}) == kMovedToOne);
  CHECK(one().Run({"READONLY"}) == Ok());
  CHECK(one().Run({"GET", "b"}) == Bulk("v"));
  CHECK(one().Run({"SET", "b", "w"}) == Ok());
  CHECK(two().Run({"GET", "b"}) == kMovedToOne);
}

TEST_CASE_METHOD(ClusterReplicaTest, "a replica goes to its master's tls-port with tls-replication") {
  std::string file = kOneLeads;
  file.replace(0, file.find(" 0-8191"), "node one 10.0.0.1:7001 tls-port=7101");
  world.Write(file);
  three().ReadFile();
  CHECK(three().Run({"ROLE"}).elements[2] == Integer(7001));
  three().Run({"CONFIG", "SET", "tls-replication", "yes"});
  three().ReadFile();
  CHECK(three().Run({"ROLE"}).elements[2] == Integer(7101));
}

TEST_CASE_METHOD(ClusterReplicaTest,
                 "a replica that never had its master's keys sends all clients to the master") {
  one().dead = true;
  world.Pass(10);
  CHECK(three().Run({"READONLY"}) == Ok());
  CHECK(three().Run({"GET", "b"}) == kMovedToOne);
  CHECK(three().Run({"SSUBSCRIBE", "b"}) == kMovedToOne);
  one().dead = false;
  one().Run({"SET", "b", "v"});
  world.Settle();
  CHECK(three().Run({"GET", "b"}) == Bulk("v"));
}

TEST_CASE_METHOD(ClusterReplicaTest,
                 "a replica whose link is down serves what it has, unless the options forbid it") {
  one().Run({"SET", "b", "v"});
  world.Settle();
  three().Run({"READONLY"});
  three().targets.last().HangUp();
  CHECK(three().Replication("master_link_status") == "down");
  CHECK(three().Run({"GET", "b"}) == Bulk("v"));
  three().SetOption("replica-serve-stale-data", "no");
  CHECK(three().Run({"GET", "b"}).text.starts_with("MASTERDOWN "));
  CHECK(three().Run({"SET", "b", "w"}) == kMovedToOne);
}

TEST_CASE_METHOD(ClusterReplicaTest, "a replica of a cluster that is down serves no reads either") {
  one().Run({"SET", "b", "v"});
  world.Settle();
  three().SetOption("cluster-require-full-coverage", "yes");
  three().Run({"READONLY"});
  CHECK(three().Run({"GET", "b"}) == Bulk("v"));
  std::string file = kOneLeads;
  world.Write(file.replace(file.find("16383"), 5, "16382"));
  three().ReadFile();
  CHECK(three().Run({"GET", "b"}) == Error("CLUSTERDOWN The cluster is down"));
}

TEST_CASE_METHOD(ClusterReplicaTest, "READONLY counts in pipelines, transactions and scripts, until RESET") {
  one().Run({"SET", "b", "v"});
  world.Settle();
  CHECK(three().RunRaw("GET b\r\nREADONLY\r\nGET b\r\nREADWRITE\r\nGET b\r\n") ==
        "-MOVED 3300 10.0.0.1:7001\r\n+OK\r\n$1\r\nv\r\n+OK\r\n-MOVED 3300 10.0.0.1:7001\r\n");
  three().Run({"READONLY"});
  CHECK(three().Run({"CLIENT", "INFO"}).text.find(" flags=r ") != std::string::npos);
  three().Run({"MULTI"});
  CHECK(three().Run({"GET", "b"}) == Simple("QUEUED"));
  CHECK(three().Run({"EXEC"}) == Array({Bulk("v")}));
  CHECK(three().Run({"EVAL", "return redis.call('GET', KEYS[1])", "1", "b"}) == Bulk("v"));
  CHECK(three().Run({"EVAL", "return redis.pcall('SET', KEYS[1], 'w')", "1", "b"}) ==
        Error("READONLY You can't write against a read only replica."));
  three().Run({"RESET"});
  CHECK(three().Run({"GET", "b"}) == kMovedToOne);
  CHECK(three().Run({"CLIENT", "INFO"}).text.find(" flags=N ") != std::string::npos);
}

TEST_CASE_METHOD(ClusterReplicaTest, "a reader with few rights reads at a replica what its rules allow") {
  world.Settle();
  three().Run({"ACL", "SETUSER", "ann", "on", ">p", "~{b}*", "+get", "+readonly", "+set"});
  TestClient& ann = three().Connect();
  ann.Run({"AUTH", "ann", "p"});
  ann.Run({"READONLY"});
  CHECK(ann.Run({"GET", "{b}1"}) == Null());
  CHECK(ann.Run({"GET", "{b2}"}).text.starts_with("NOPERM "));
  CHECK(ann.Run({"SET", "{b}1", "v"}) == Error("MOVED 3300 10.0.0.1:7001"));
}

TEST_CASE_METHOD(ClusterReplicaTest, "a reader that waits at a replica is served by what its master gets") {
  world.Settle();
  TestClient& reader = three().Connect();
  reader.Run({"READONLY"});
  CHECK(reader.Run({"XREAD", "BLOCK", "0", "STREAMS", "b", "$"}) == NoReply());
  one().Run({"XADD", "b", "1-1", "f", "v"});
  world.Pass(10);
  REQUIRE(reader.Received().size() == 1);
  CHECK(reader.Run({"BLPOP", "b", "0"}) == kMovedToOne);
}

TEST_CASE_METHOD(ClusterReplicaTest,
                 "messages to a shard channel reach subscribers at a replica, by way of the master") {
  world.Settle();
  TestClient& subscriber = three().Connect();
  CHECK(subscriber.Run({"SSUBSCRIBE", "b"}) == Array({Bulk("ssubscribe"), Bulk("b"), Integer(1)}));
  CHECK(three().Run({"SPUBLISH", "b", "x"}) == kMovedToOne);
  CHECK(one().Run({"SPUBLISH", "b", "x"}) == Integer(0));
  world.Pass(10);
  CHECK(subscriber.Received() == std::vector<Reply>{Bulks({"smessage", "b", "x"})});
}

// ---- what is said of the cluster

TEST_CASE_METHOD(ClusterReplicaTest,
                 "SLOTS, SHARDS, NODES and REPLICAS name masters and replicas, the same at all nodes") {
  world.Settle();
  const std::string one_id = IdOf(one());
  const auto node = [](ClusterMember& member, const std::string& ip) {
    return Array({Bulk(ip), Integer(member.port()), Bulk(IdOf(member)), Array({})});
  };
  const Reply slots = Array({Array({Integer(0), Integer(8191), node(one(), "10.0.0.1"),
                                    node(three(), "10.0.0.3"), node(four(), "10.0.0.4")}),
                             Array({Integer(8192), Integer(16383), node(two(), "10.0.0.2")})});
  for (ClusterMember* member : {&one(), &two(), &three()}) CHECK(member->Run({"CLUSTER", "SLOTS"}) == slots);
  const std::string three_line =
      IdOf(three()) + " 10.0.0.3:7003@0 myself,slave " + one_id + " 0 0 1 connected";
  const std::string four_line = IdOf(four()) + " 10.0.0.4:7004@0 slave " + one_id + " 0 0 1 connected";
  CHECK(three().Run({"CLUSTER", "NODES"}) ==
        Bulk(one_id + " 10.0.0.1:7001@0 master - 0 0 1 connected 0-8191\n" + IdOf(two()) +
             " 10.0.0.2:7002@0 master - 0 0 2 connected 8192-16383\n" + three_line + "\n" + four_line +
             "\n"));
  CHECK(three().Run({"CLUSTER", "REPLICAS", one_id}) == Bulks({three_line, four_line}));
  CHECK(three().Run({"CLUSTER", "SLAVES", IdOf(two())}) == Array({}));
  CHECK(two().Run({"CLUSTER", "REPLICAS", IdOf(four())}) == Error("ERR The specified node is not a master"));
  CHECK(three().Run({"CLUSTER", "MYSHARDID"}) == Bulk(one_id));
  const std::string info = three().Run({"CLUSTER", "INFO"}).text;
  CHECK(info.find("cluster_known_nodes:4\r\ncluster_size:2\r\n") != std::string::npos);
  CHECK(info.find("cluster_my_epoch:1\r\n") != std::string::npos);
  CHECK(three().cluster().Describe() == "cluster: this is node three, one of 4, a replica of one");
}

TEST_CASE_METHOD(ClusterReplicaTest,
                 "CLUSTER SHARDS tells how far replicas are, at their master and at themselves") {
  const auto node = [](ClusterMember& asked, size_t shard, size_t at) {
    return asked.Run({"CLUSTER", "SHARDS"}).elements.at(shard).elements.at(3).elements.at(at);
  };
  const auto health = [&](ClusterMember& asked, size_t at) {
    return NodeField(node(asked, 0, at), "health").text;
  };
  CHECK(health(one(), 1) == "fail");
  CHECK(health(three(), 1) == "loading");
  CHECK(health(two(), 1) == "online");
  const auto listed = [](ClusterMember& asked) {  // for reads
    return asked.Run({"CLUSTER", "SLOTS"}).elements.at(0).elements.size() - 3;
  };
  CHECK(listed(one()) == 0);
  CHECK(listed(three()) == 1);  // it knows nothing of the other one
  while (health(one(), 1) == "fail") world.Pass(0);
  CHECK(health(one(), 1) == "loading");
  CHECK(listed(one()) == 0);
  world.Settle();
  one().Run({"SET", "b", "v"});
  world.Pass(MasterLink::kTellMs);
  world.Pass(MasterLink::kTellMs);
  CHECK(health(one(), 1) == "online");
  CHECK(health(three(), 1) == "online");
  CHECK(listed(one()) == 2);
  CHECK(listed(three()) == 2);
  CHECK(NodeField(node(one(), 0, 1), "role") == Bulk("replica"));
  CHECK(NodeField(node(one(), 0, 0), "role") == Bulk("master"));
  const Reply offset = Integer(std::stoll(one().Replication("master_repl_offset")));
  CHECK(offset != Integer(0));
  CHECK(NodeField(node(one(), 0, 0), "replication-offset") == offset);
  CHECK(NodeField(node(one(), 0, 1), "replication-offset") == offset);
  CHECK(NodeField(node(three(), 0, 1), "replication-offset") == offset);
  CHECK(NodeField(node(three(), 0, 0), "replication-offset") == offset);
  CHECK(one().Run({"CLUSTER", "SHARDS"}).elements.size() == 2);
  CHECK(one().Run({"CLUSTER", "SHARDS"}).elements.at(0).elements.at(3).elements.size() == 3);
}

TEST_CASE_METHOD(ClusterReplicaTest,
                 "INFO, ROLE and HELLO call a replica one, and its master names it by its line") {
  world.Settle();
  CHECK(three().Replication("role") == "slave");
  CHECK(three().Replication("master_host") == "10.0.0.1");
  CHECK(three().Replication("master_port") == "7001");
  CHECK(three().Run({"ROLE"}).elements.at(0) == Bulk("slave"));
  CHECK(three().Run({"HELLO"}).elements.at(11) == Bulk("replica"));
  CHECK(one().Replication("slave0").starts_with("ip=10.0.0.3,port=7003,state=online,"));
  CHECK(three().Run({"REPLICAOF", "NO", "ONE"}) == Error("ERR REPLICAOF not allowed in cluster mode."));
}

TEST_CASE_METHOD(ClusterReplicaTest, "CONFIG GET replicaof names the master that the file names") {
  const auto master_of = [](ClusterMember& node) { return node.Run({"CONFIG", "GET", "replicaof"}); };
  const auto named = [](const std::string& master) { return Bulks({"replicaof", master}); };
  CHECK(master_of(three()) == named("10.0.0.1 7001"));
  CHECK(three().Run({"CONFIG", "GET", "slaveof"}) == Bulks({"slaveof", "10.0.0.1 7001"}));
  CHECK(master_of(one()) == named(""));
  world.Write(kThreeLeads);
  for (ClusterMember* const node : {&one(), &three(), &four()}) node->ReadFile();
  CHECK(master_of(one()) == named("10.0.0.3 7003"));
  CHECK(master_of(three()) == named(""));
  CHECK(master_of(four()) == named("10.0.0.3 7003"));
}

TEST_CASE_METHOD(ClusterReplicaTest, "a replica counts the keys of its master's slots") {
  one().Run({"MSET", "b", "1", "{b}2", "2"});
  world.Settle();
  one().Run({"SET", "{b}3", "3"});
  one().Run({"DEL", "b"});
  world.Pass(MasterLink::kTellMs);
  CHECK(three().Run({"CLUSTER", "COUNTKEYSINSLOT", "3300"}) == Integer(2));
  CHECK(Sorted(three().Run({"CLUSTER", "GETKEYSINSLOT", "3300", "9"})) == Bulks({"{b}2", "{b}3"}));
}

TEST_CASE_METHOD(ClusterReplicaTest,
                 "CLUSTER FAILOVER names the file, at a replica, and is none of a master's") {
  const Reply file = Error(
      "ERR The slots and roles of this cluster are written in a file: change cluster-config-file, and have "
      "the nodes read it again");
  CHECK(three().Run({"CLUSTER", "FAILOVER"}) == file);
  CHECK(three().Run({"CLUSTER", "FAILOVER", "FORCE"}) == file);
  CHECK(three().Run({"CLUSTER", "FAILOVER", "TAKEOVER"}) == file);
  CHECK(three().Run({"CLUSTER", "FAILOVER", "x"}) == Error("ERR syntax error"));
  CHECK(one().Run({"CLUSTER", "FAILOVER"}) == Error("ERR You should send CLUSTER FAILOVER to a replica"));
}

// ---- other roles

TEST_CASE_METHOD(ClusterReplicaTest,
                 "another file makes the replica the master, and all go on where they were") {
  for (int i = 0; i < 100; ++i) one().Run({"SET", "{b}" + std::to_string(i), "v"});
  world.Settle();
  CheckEqual();
  world.Write(kThreeLeads);
  three().ReadFile();
  CHECK(three().Replication("role") == "master");
  CHECK(three().Run({"SET", "b", "new"}) == Ok());
  one().ReadFile();
  CHECK(one().Run({"SET", "b", "lost"}) == kMovedToThree);
  four().ReadFile();
  two().ReadFile();
  CHECK(two().Run({"GET", "b"}) == kMovedToThree);
  world.Settle();
  CHECK(one().Replication("role") == "slave");
  CHECK(one().Replication("master_port") == "7003");
  CHECK(four().Replication("master_port") == "7003");
  for (ClusterMember* member : {&one(), &four()}) {
    member->Run({"READONLY"});
    CHECK(member->Run({"GET", "b"}) == Bulk("new"));
    CHECK(member->Run({"GET", "{b}7"}) == Bulk("v"));
  }
  CHECK(one().Replication("master_partial_syncs") == "1");
  CHECK(one().Replication("master_full_syncs") == "0");
  CHECK(four().Replication("master_full_syncs") == "1");  // from the old master
  CheckEqual();

  world.Write(kOneLeads);  // and back
  for (ClusterMember* member : {&one(), &three(), &four(), &two()}) member->ReadFile();
  world.Settle();
  CHECK(one().Run({"SET", "b", "newer"}) == Ok());
  CheckEqual();
}

TEST_CASE_METHOD(
    ClusterReplicaTest,
    "a reader's transaction that writes is redirected if its node is a replica when EXEC comes") {
  world.Settle();
  TestClient& client = one().Connect();
  client.Run({"READONLY"});
  client.Run({"MULTI"});
  CHECK(client.Run({"SET", "b", "w"}) == Simple("QUEUED"));
  world.Write(kThreeLeads);
  for (ClusterMember* member : {&three(), &one(), &four(), &two()}) member->ReadFile();
  world.Settle();
  CHECK(one().Replication("master_link_status") == "up");
  CHECK(client.Run({"EXEC"}) == kMovedToThree);
  CHECK(client.Run({"GET", "b"}) == Null());
}

TEST_CASE_METHOD(ClusterReplicaTest, "a file that leaves the roles as they are cuts no link") {
  world.Settle();
  const size_t links = three().targets.count();
  world.Write(kOneLeads + "node five 10.0.0.5:7005\n");
  three().ReadFile();
  one().ReadFile();
  CHECK(three().Replication("master_link_status") == "up");
  CHECK(three().targets.count() == links);
}

TEST_CASE_METHOD(ClusterReplicaTest, "a replica may get another master, and then has that one's keys alone") {
  one().Run({"SET", "b", "1"});
  two().Run({"SET", "a", "2"});
  world.Settle();
  world.Write(
      "node one 10.0.0.1:7001 0-8191\nnode two 10.0.0.2:7002 8192-16383\n"
      "node three 10.0.0.3:7003 replica-of=two\nnode four 10.0.0.4:7004 replica-of=one\n");
  three().ReadFile();
  three().Run({"READONLY"});
  CHECK(three().Run({"GET", "b"}) == kMovedToOne);
  CHECK(three().Run({"GET", "a"}) == kMovedToTwo);  // it has not got these keys yet
  world.Settle();
  CHECK(three().Run({"GET", "a"}) == Bulk("2"));
  CHECK(three().Run({"GET", "b"}) == kMovedToOne);
  CHECK(three().Digest() == two().Digest());
}

TEST_CASE_METHOD(ClusterReplicaTest,
                 "clients that wait or are paused at the old master are sent to the new one") {
  world.Settle();
  TestClient& waiter = one().Connect();
  TestClient& writer = one().Connect();
  TestClient& transaction = one().Connect();
  CHECK(waiter.Run({"BLPOP", "b", "0"}) == NoReply());
  transaction.Run({"MULTI"});
  transaction.Run({"SET", "b", "v"});
  one().Run({"CLIENT", "PAUSE", "10000", "WRITE"});
  CHECK(writer.Run({"SET", "b", "v"}) == NoReply());
  world.Write(kThreeLeads);
  three().ReadFile();
  one().ReadFile();
  one().Run({"CLIENT", "UNPAUSE"});
  world.Pass(1);
  CHECK(waiter.Received() == std::vector<Reply>{kMovedToThree});
  CHECK(writer.Received() == std::vector<Reply>{kMovedToThree});
  CHECK(transaction.Run({"EXEC"}) == kMovedToThree);
}

TEST_CASE_METHOD(ClusterReplicaTest,
                 "a promoted replica drops what its master had not dropped yet, and tells its replicas") {
  for (int i = 0; i < 100; ++i) one().Run({"SET", "{b}" + std::to_string(i), "v"});
  one().Run({"SET", "bar", "stays"});
  world.Settle();
  // Slot 3300 goes to two, and one dies before it has dropped a key of it. Then three leads.
  const std::string moved = "node two 10.0.0.2:7002 8192-16383 3300\n";
  world.Write(moved +
              "node one 10.0.0.1:7001 0-3299 3301-8191\nnode three 10.0.0.3:7003 replica-of=one\n"
              "node four 10.0.0.4:7004 replica-of=one\n");
  one().dead = true;
  three().ReadFile();
  four().ReadFile();
  CHECK(three().Run({"DBSIZE"}) == Integer(101));
  world.Write(moved +
              "node one 10.0.0.1:7001\nnode three 10.0.0.3:7003 0-3299 3301-8191\n"
              "node four 10.0.0.4:7004 replica-of=three\n");
  three().ReadFile();
  four().ReadFile();
  CHECK(three().Run({"GET", "{b}1"}) == Error("MOVED 3300 10.0.0.2:7002"));
  world.Settle();
  CHECK(three().Run({"DBSIZE"}) == Integer(1));
  CHECK(four().Run({"DBSIZE"}) == Integer(1));
  CHECK(four().Replication("master_full_syncs") == "1");
}

TEST_CASE("a replica that starts from its file has its master's keys, should it become the master then") {
  std::string map = kOneLeads;
  ClusterMember before("one", map);
  before.Run({"MSET", "b", "v", "{b}2", "w"});
  REQUIRE(before.Run({"SAVE"}) == Ok());
  ClusterMember replica("three", map);
  replica.disk.Put(kSnapshotPath, before.disk.files().at(kSnapshotPath));
  REQUIRE(replica.snapshots().LoadNow({}, replica.now()) == "");
  CHECK(replica.Run({"DBSIZE"}) == Integer(2));
  map = kThreeLeads;
  replica.ReadFile();
  CHECK(replica.Run({"MGET", "b", "{b}2"}) == Bulks({"v", "w"}));
}

TEST_CASE_METHOD(ClusterReplicaTest, "a slot that comes with the promotion is empty") {
  one().Run({"SET", "b", "old"});
  world.Settle();
  // three follows one, which has slot 3300; then three gets the slot of two alone, later that one, too.
  world.Write(
      "node one 10.0.0.1:7001 0-3299 3301-8191\nnode two 10.0.0.2:7002 3300 8192-16383\n"
      "node three 10.0.0.3:7003 replica-of=one\nnode four 10.0.0.4:7004\n");
  three().ReadFile();
  world.Write(
      "node one 10.0.0.1:7001\nnode two 10.0.0.2:7002 8192-16383\n"
      "node three 10.0.0.3:7003 0-8191\nnode four 10.0.0.4:7004\n");
  three().ReadFile();
  CHECK(three().Run({"GET", "b"}) == Null());
}

TEST_CASE_METHOD(ClusterReplicaTest, "a long script comes to its end before its node gets another role") {
  world.Settle();
  TestClient& caller = one().Connect();
  TestClient& other = one().Connect();
  one().SetOption("busy-reply-threshold", "1");
  CHECK(caller.Run({"EVAL", "while true do end", "0"}) == NoReply());
  world.Write(kThreeLeads);
  three().ReadFile();
  one().TakeHangUpSignal();
  one().Slice(1);
  CHECK_FALSE(one().server().link.follows());
  CHECK(other.Run({"SCRIPT", "KILL"}) == Ok());
  constexpr int kSlices = 1000;
  for (int i = 0; i < kSlices && !one().server().link.follows(); ++i) {
    one().Slice(1);
    one().server().RunWoken();
  }
  REQUIRE(caller.Received().size() == 1);
  world.Settle();
  CHECK(one().Replication("role") == "slave");
}

TEST_CASE_METHOD(ClusterReplicaTest, "whichever allocation fails, a node has the role that its map says") {
  one().Run({"SET", "b", "v"});
  world.Settle();
  three().server().changes.Unlisten(three().server().change_log);  // it needs memory where no listener may
  const bool leads = GENERATE(true, false);
  const auto named = [](const std::string& file) {  // a copy of such a host's name takes memory
    return std::regex_replace(file, std::regex("10\\.0\\.0\\."), "a-host-with-a-long-name-");
  };
  size_t late = 0;  // memory ran out when the file was read already
  bool failed = true;
  for (size_t nth = 1; failed; ++nth) {
    CAPTURE(leads, nth);
    world.Write(named(leads ? kOneLeads : kThreeLeads));
    three().ReadFile();
    world.Write(named(leads ? kThreeLeads : kOneLeads));
    TestClient client(three().server());
    {
      const FailingAllocation failing(nth);
      try {
        client.RunRaw(EncodeRequest({"CONFIG", "SET", "cluster-config-file", "cluster.conf"}));
      } catch (const std::bad_alloc&) {
      }
    }
    failed = AllocationFailed();
    world.Pass(1);
    const bool is_master = three().cluster().map().master() == nullptr;
    if (failed && is_master == leads) ++late;
    REQUIRE(three().Replication("role") == (is_master ? "master" : "slave"));
    REQUIRE_FALSE(three().server().sliced_work.waits());
  }
  CHECK(late > 0);
}

TEST_CASE_METHOD(ClusterReplicaTest,
                 "a node that dies and comes back with the new file follows the new master") {
  one().Run({"SET", "b", "1"});
  world.Settle();
  one().dead = true;
  three().targets.last().HangUp();
  four().targets.last().HangUp();
  world.Write(kThreeLeads);
  for (ClusterMember* member : {&three(), &four(), &two()}) member->ReadFile();
  world.Pass(MasterLink::kRetryMs);
  CHECK(three().Run({"SET", "{b}2", "2"}) == Ok());
  one().Run({"SET", "{b}3", "of the old master alone"});
  one().dead = false;
  one().ReadFile();
  world.Settle();
  CheckEqual();
  one().Run({"READONLY"});
  CHECK(one().Run({"GET", "{b}3"}) == Null());
}

}  // namespace mayfly::testing

// What a daemon answers that serves some of a cluster's slots, and one that plays a whole cluster.
#include "support/cluster_test.h"

#include "base/time/tsc.h"

namespace mayfly::testing {
namespace {

const Reply kMovedA = Error("MOVED 15495 127.0.0.1:7001");
const Reply kCrossSlot = Error("CROSSSLOT Keys in request don't hash to the same slot");
const Reply kNotServed = Error("CLUSTERDOWN Hash slot not served");
const Reply kDown = Error("CLUSTERDOWN The cluster is down");

const Reply kFixed = Error(
    "ERR The slots and roles of this cluster are written in a file: change cluster-config-file, and have "
    "the nodes read it again");

// What CLUSTER SLOTS says of a range of slots.
Reply Range(int64_t first, int64_t last, const char* id, int64_t port) {
  return Array(
      {Integer(first), Integer(last), Array({Bulk("127.0.0.1"), Integer(port), Bulk(id), Array({})})});
}

}  // namespace

// ---- keys

TEST_CASE_METHOD(ClusterTest,
                 "a key of another node's slot is redirected, and one of nobody's slot refused") {
  CHECK(Run({"SET", "b", "v"}) == Ok());
  CHECK(Run({"GET", "b"}) == Bulk("v"));
  CHECK(Run({"GET", "a"}) == kMovedA);
  CHECK(Run({"SET", "a", "v"}) == kMovedA);
  CHECK(Run({"GET", "{a}b"}) == kMovedA);
  CHECK(Run({"GET", "a{b}"}) == Null());
  CHECK(Run({"OBJECT", "ENCODING", "a"}) == kMovedA);
  CHECK(Run({"GET", kUnserved}) == kNotServed);
  CHECK(Run({"DBSIZE"}) == Integer(1));
}

TEST_CASE_METHOD(ClusterTest, "redirects and plain requests keep their order in a pipeline") {
  CHECK(RunRaw("SET b 1\r\nGET a\r\nINCR b\r\nPING\r\nMGET a b\r\nGET b\r\n") ==
        "+OK\r\n-MOVED 15495 127.0.0.1:7001\r\n:2\r\n+PONG\r\n"
        "-CROSSSLOT Keys in request don't hash to the same slot\r\n$1\r\n2\r\n");
  CHECK(Run({"INFO", "errorstats"}).text.find("errorstat_MOVED:count=1\r\n") != std::string::npos);
}

TEST_CASE_METHOD(ClusterTest, "all keys of a request must have one slot") {
  CHECK(Run({"MSET", "{b}1", "x", "{b}2", "y"}) == Ok());
  CHECK(Run({"MGET", "{b}1", "{b}2"}) == Bulks({"x", "y"}));
  CHECK(Run({"MGET", "b", "bar"}) == kCrossSlot);  // both are here
  CHECK(Run({"MGET", "a", "{a}x"}) == kMovedA);
  CHECK(Run({"MGET", "a", "b"}) == kCrossSlot);
  CHECK(Run({"MGET", kUnserved, "b"}) == kNotServed);
  CHECK(Run({"SUNIONSTORE", "b", "a"}) == kCrossSlot);
  CHECK(Run({"ZUNIONSTORE", "b", "1", "a"}) == kCrossSlot);
  CHECK(Run({"XREAD", "STREAMS", "b", "h", "0", "0"}) == kCrossSlot);
  CHECK(Run({"RENAME", "{b}1", "bar"}) == kCrossSlot);
  CHECK(Run({"RENAME", "{b}1", "{b}3"}) == Ok());
}

TEST_CASE_METHOD(ClusterTest, "what is wrong with a request otherwise is said in Redis's order") {
  CHECK(Run({"GET", "a", "b"}) == Error("ERR wrong number of arguments for 'get' command"));
  CHECK(Run({"NOPE", "a"}).text.starts_with("ERR unknown command"));
  CHECK(Run({"MOVE", "a", "1"}) == kMovedA);
  CHECK(Run({"EVAL", "return 1", "5", "foo"}) ==
        Error("ERR Number of keys can't be greater than number of args"));
  SetOption("requirepass", "secret");
  CHECK(Run({"GET", "a"}) == Error("NOAUTH Authentication required."));
}

TEST_CASE_METHOD(ClusterTest, "commands without keys run on every node, for what is there") {
  CHECK(Run({"PING"}) == Simple("PONG"));
  CHECK(Run({"SET", "b", "v"}) == Ok());
  CHECK(Run({"KEYS", "*"}) == Bulks({"b"}));
  CHECK(Run({"RANDOMKEY"}) == Bulk("b"));
  CHECK(Run({"EVAL", "return 1", "0"}) == Integer(1));
  CHECK(Run({"FLUSHALL"}) == Ok());
  CHECK(Run({"ASKING"}) == Ok());
  CHECK(Run({"READONLY"}) == Ok());
  CHECK(Run({"READWRITE"}) == Ok());
}

TEST_CASE_METHOD(ClusterTest, "a client that waits for a key waits on its node") {
  TestClient& waiter = Connect();
  CHECK(waiter.Run({"BLPOP", "b", "h", "1"}) == kCrossSlot);
  CHECK(waiter.Run({"BLPOP", "h", "1"}) == Error("MOVED 11694 127.0.0.1:7001"));
  CHECK(waiter.Run({"BLPOP", "{b}1", "{b}2", "0"}) == NoReply());
  CHECK(Run({"RPUSH", "{b}2", "x"}) == Integer(1));
  CHECK(waiter.Received() == std::vector<Reply>{Bulks({"{b}2", "x"})});
}

// ---- what a cluster does not have

TEST_CASE_METHOD(ClusterTest, "there is only database 0") {
  CHECK(Run({"SELECT", "0"}) == Ok());
  CHECK(Run({"SELECT", "1"}) == Error("ERR SELECT is not allowed in cluster mode"));
  CHECK(Run({"SELECT", "99"}) == Error("ERR SELECT is not allowed in cluster mode"));
  CHECK(Run({"SELECT", "x"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"MOVE", "b", "x"}) == Error("ERR MOVE is not allowed in cluster mode"));
  CHECK(Run({"SWAPDB", "0", "1"}) == Error("ERR SWAPDB is not allowed in cluster mode"));
  CHECK(Run({"SET", "b", "v"}) == Ok());
  CHECK(Run({"COPY", "b", "{b}2", "DB", "1"}) ==
        Error("ERR Copying to another database is not allowed in cluster mode"));
  CHECK(Run({"COPY", "b", "{b}2", "DB", "99"}) == Error("ERR DB index is out of range"));
  CHECK(Run({"COPY", "b", "{b}2", "DB", "0"}) == Integer(1));
}

// The replies of redis-server 8.0.2.
TEST_CASE_METHOD(ClusterTest, "SORT follows patterns whose hash tag has the slot of the key, and no others") {
  Run({"RPUSH", "b", "3", "1", "2"});
  Run({"MSET", "{b}w_1", "30", "{b}w_2", "20", "{b}w_3", "10"});
  CHECK(Run({"SORT", "b", "BY", "{b}w_*"}) == Bulks({"3", "2", "1"}));
  CHECK(Run({"SORT_RO", "b", "GET", "#", "GET", "{b}w_*"}) == Bulks({"1", "30", "2", "20", "3", "10"}));
  CHECK(Run({"SORT", "b", "GET", "{b}x"}) == Array({Null(), Null(), Null()}));
  const std::string end =
      " option of SORT denied in Cluster mode when keys formed by the pattern may be in different slots.";
  for (const char* pattern : {"w_*", "{a}w_*", "{b*}w", "*{b}", "x*->{b}", "{{b}*", "{}b*"}) {
    INFO(pattern);
    CHECK(Run({"SORT", "b", "BY", pattern}) == Error("ERR BY" + end));
    CHECK(Run({"SORT", "b", "GET", pattern}) == Error("ERR GET" + end));
  }
  CHECK(Run({"SORT", "b", "GET", "x"}) == Error("ERR GET" + end));
  CHECK(Run({"SORT", "b", "BY", "nosort"}) == Bulks({"3", "1", "2"}));
  CHECK(Run({"SORT", "b"}) == Bulks({"1", "2", "3"}));
}

// ---- transactions and scripts

TEST_CASE_METHOD(ClusterTest, "a redirect within a transaction makes EXEC fail") {
  CHECK(Run({"MULTI"}) == Ok());
  CHECK(Run({"GET", "a"}) == kMovedA);
  CHECK(Run({"GET", "b"}) == Simple("QUEUED"));
  CHECK(Run({"EXEC"}) == Error("EXECABORT Transaction discarded because of previous errors."));
  CHECK(Run({"WATCH", "a"}) == kMovedA);
  CHECK(Run({"WATCH", "b", "bar"}) == kCrossSlot);
}

TEST_CASE_METHOD(ClusterTest,
                 "a transaction has one slot, and EXEC says otherwise in a word that clients act on") {
  Run({"MULTI"});
  CHECK(Run({"GET", "b"}) == Simple("QUEUED"));
  CHECK(Run({"GET", "bar"}) == Simple("QUEUED"));
  CHECK(Run({"EXEC"}) == kCrossSlot);
  CHECK(Run({"EXEC"}) == Error("ERR EXEC without MULTI"));
  Run({"MULTI"});
  CHECK(Run({"SET", "{b}x", "1"}) == Simple("QUEUED"));
  CHECK(Run({"PING"}) == Simple("QUEUED"));
  CHECK(Run({"GET", "{b}x"}) == Simple("QUEUED"));
  CHECK(Run({"EXEC"}) == Array({Ok(), Simple("PONG"), Bulk("1")}));
}

TEST_CASE_METHOD(ClusterTest, "a script belongs to its keys' node, and may use no other node's keys") {
  CHECK(Run({"EVAL", "return redis.call('SET', KEYS[1], 'v')", "1", "b"}) == Ok());
  CHECK(Run({"EVAL", "return 1", "1", "a"}) == kMovedA);
  CHECK(Run({"EVAL", "return 1", "2", "b", "bar"}) == kCrossSlot);
  const Reply refused = Run({"EVAL", "return redis.call('GET', 'a')", "0"});
  CHECK(refused.kind == Reply::Kind::kError);
  CHECK(
      refused.text.starts_with("ERR Script attempted to access a non local key in a cluster node script: "));
  CHECK(Run({"EVAL", "return redis.pcall('GET', 'a')", "0"}) ==
        Error("ERR Script attempted to access a non local key in a cluster node"));
  // As before Redis 7, one without a first line that says more may use keys of several slots.
  CHECK(Run({"EVAL", "redis.call('GET', 'b') return redis.call('GET', 'bar')", "0"}) == Null());
  const Reply two_slots = Error("ERR Script attempted to access keys that do not hash to the same slot");
  CHECK(Run({"EVAL", "#!lua\nredis.call('GET', 'b') return redis.pcall('GET', 'bar')", "0"}) == two_slots);
  CHECK(Run({"EVAL", "#!lua\nreturn redis.pcall('GET', 'bar')", "1", "b"}) == two_slots);
  CHECK(Run({"EVAL", "#!lua flags=allow-cross-slot-keys\nreturn redis.call('GET', 'bar')", "1", "b"}) ==
        Null());
  CHECK(Run({"EVAL", "#!lua flags=no-cluster\nreturn 1", "0"}) ==
        Error("ERR Can not run script on cluster, 'no-cluster' flag is set."));
}

// ---- channels

TEST_CASE_METHOD(ClusterTest, "shard channels have slots, other channels have not") {
  TestClient& subscriber = Connect();
  CHECK(subscriber.Run({"SSUBSCRIBE", "b"}) == Array({Bulk("ssubscribe"), Bulk("b"), Integer(1)}));
  CHECK(subscriber.Run({"SSUBSCRIBE", "b", "bar"}) == kCrossSlot);
  CHECK(subscriber.Run({"SSUBSCRIBE", "a"}) == kMovedA);
  CHECK(subscriber.Run({"SUNSUBSCRIBE", "a"}) == kMovedA);
  CHECK(Run({"SPUBLISH", "a", "x"}) == kMovedA);
  CHECK(Run({"SPUBLISH", "b", "x"}) == Integer(1));
  CHECK(subscriber.Received() == std::vector<Reply>{Bulks({"smessage", "b", "x"})});
  CHECK(subscriber.Run({"SUNSUBSCRIBE"}) == Array({Bulk("sunsubscribe"), Bulk("b"), Integer(0)}));
  CHECK(subscriber.Run({"SUBSCRIBE", "a"}) == Array({Bulk("subscribe"), Bulk("a"), Integer(1)}));
  CHECK(Run({"PUBLISH", "a", "x"}) == Integer(1));
}

// ---- a slot without a node

TEST_CASE_METHOD(ClusterTest,
                 "a slot without a node takes the others down only if cluster-require-full-coverage is yes") {
  Run({"SET", "b", "v"});
  CHECK(Run({"CLUSTER", "INFO"}).text.starts_with("cluster_state:ok\r\ncluster_slots_assigned:16000\r\n"));
  SetOption("cluster-require-full-coverage", "yes");
  CHECK(Run({"CLUSTER", "INFO"}).text.starts_with("cluster_state:fail\r\n"));
  CHECK(Run({"GET", "b"}) == kDown);
  CHECK(Run({"GET", "a"}) == kDown);
  CHECK(Run({"GET", kUnserved}) == kNotServed);
  CHECK(Run({"PING"}) == Simple("PONG"));
  CHECK(Run({"EVAL", "return redis.pcall('GET', 'b')", "0"}) ==
        Error("ERR Script attempted to execute a command while the cluster is down"));
  CHECK(Run({"SPUBLISH", "b", "x"}) == Integer(0));
  SetOption("cluster-allow-pubsubshard-when-down", "no");
  CHECK(Run({"SPUBLISH", "b", "x"}) == kDown);
  SetOption("cluster-allow-reads-when-down", "yes");
  CHECK(Run({"GET", "b"}) == Bulk("v"));
  CHECK(Run({"SET", "b", "w"}) == Error("CLUSTERDOWN The cluster is down and only accepts read commands"));
  CHECK(Run({"EVAL", "return redis.pcall('SET', 'b', 'w')", "0"}) ==
        Error("ERR Script attempted to execute a write command while the cluster is down and readonly"));
  CHECK(Run({"GET", "a"}) == kMovedA);
  SetOption("cluster-require-full-coverage", "no");
  CHECK(Run({"SET", "b", "w"}) == Ok());
}

// ---- CLUSTER

TEST_CASE_METHOD(ClusterTest, "CLUSTER SLOTS, SHARDS and NODES say who serves what") {
  CHECK(Run({"CLUSTER", "SLOTS"}) == Array({Range(0, 8191, kSelf, 7000), Range(8193, 8193, kSelf, 7000),
                                            Range(8194, 16000, kOther, 7001)}));
  const Reply nodes = Run({"CLUSTER", "NODES"});
  CHECK(nodes.text.starts_with(std::string(kSelf) +
                               " 127.0.0.1:7000@0 myself,master - 0 0 1 connected 0-8191 8193\n" + kOther +
                               " 127.0.0.1:7001@0 master - 0 0 2 connected 8194-16000\n"));
  CHECK(nodes.text.ends_with(" ::1:7002@0 master - 0 0 3 connected\n"));
  CHECK(Run({"CLUSTER", "MYID"}) == Bulk(kSelf));
  CHECK(Run({"CLUSTER", "MYSHARDID"}) == Bulk(kSelf));
  UseResp3();
  const Reply shards = Run({"CLUSTER", "SHARDS"});
  REQUIRE(shards.elements.size() == 3);
  CHECK(shards.elements[0] ==
        Map({Bulk("slots"), Array({Integer(0), Integer(8191), Integer(8193), Integer(8193)}), Bulk("nodes"),
             Array({Map({Bulk("id"), Bulk(kSelf), Bulk("port"), Integer(7000), Bulk("ip"), Bulk("127.0.0.1"),
                         Bulk("endpoint"), Bulk("127.0.0.1"), Bulk("role"), Bulk("master"),
                         Bulk("replication-offset"), Integer(0), Bulk("health"), Bulk("online")})})}));
  CHECK(shards.elements[2].elements[1] == Array({}));
  CHECK(Run({"CLUSTER", "NODES"}).kind == Reply::Kind::kVerbatim);
}

TEST_CASE_METHOD(ClusterTest, "CLUSTER INFO counts slots and nodes") {
  CHECK(Run({"CLUSTER", "INFO"}) ==
        Bulk("cluster_state:ok\r\ncluster_slots_assigned:16000\r\ncluster_slots_ok:16000\r\n"
             "cluster_slots_pfail:0\r\ncluster_slots_fail:0\r\ncluster_known_nodes:3\r\ncluster_size:2\r\n"
             "cluster_current_epoch:3\r\ncluster_my_epoch:1\r\ncluster_stats_messages_sent:0\r\n"
             "cluster_stats_messages_received:0\r\ntotal_cluster_links_buffer_limit_exceeded:0\r\n"));
  CHECK(Run({"INFO", "cluster"}) == Bulk("# Cluster\r\ncluster_enabled:1\r\n"));
  CHECK(Run({"INFO", "server"}).text.find("\r\nredis_mode:cluster\r\n") != std::string::npos);
  CHECK(Run({"HELLO"}).elements.at(9) == Bulk("cluster"));
}

TEST_CASE_METHOD(ClusterTest, "keys are counted by their slots") {
  const auto count = [&] { return Run({"CLUSTER", "COUNTKEYSINSLOT", "3300"}); };
  CHECK(Run({"CLUSTER", "KEYSLOT", "foo{b}"}) == Integer(3300));
  CHECK(count() == Integer(0));
  Run({"MSET", "b", "1", "{b}2", "2", "{b}3", "3"});
  Run({"SET", "bar", "x"});
  Run({"SET", "b", "again"});
  CHECK(count() == Integer(3));
  CHECK(Sorted(Run({"CLUSTER", "GETKEYSINSLOT", "3300", "10"})) == Bulks({"b", "{b}2", "{b}3"}));
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "3300", "2"}).elements.size() == 2);
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "3300", "0"}) == Array({}));
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "1", "10"}) == Array({}));
  Run({"RENAME", "b", "{b}2"});
  CHECK(count() == Integer(2));
  Run({"COPY", "{b}2", "{b}4"});
  CHECK(count() == Integer(3));
  Run({"PEXPIRE", "{b}2", "5"});
  AdvanceTime(5);
  CHECK(count() == Integer(2));
  Run({"DEL", "{b}3", "{b}9"});
  CHECK(count() == Integer(1));
  Run({"RPUSH", "b", "x"});
  Run({"LPOP", "b"});
  CHECK(count() == Integer(1));
  Run({"SADD", "{b}from", "member"});
  Run({"SMOVE", "{b}from", "{b}to", "member"});
  Run({"PFADD", "{b}counter", "member"});
  Run({"PFMERGE", "{b}merged", "{b}counter"});
  CHECK(count() == Integer(4));
  Run({"DEL", "{b}from", "{b}to", "{b}counter", "{b}merged"});
  CHECK(count() == Integer(1));
  Run({"SET", "{b}tagged", "v", "TAGS", "1", "t"});
  Run({"HSET", "{b}hash", "f", "v"});
  Run({"HPEXPIRE", "{b}hash", "5", "FIELDS", "1", "f"});
  LetTimePass(5);  // the hash is empty for everybody, and not freed yet
  Run({"INVALIDATE", "t"});
  CHECK(count() == Integer(2));
  TurnWheels();
  CHECK(count() == Integer(1));
  Run({"FLUSHALL"});
  CHECK(count() == Integer(0));
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "16384"}) == Error("ERR Invalid slot"));
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "x"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "16384", "1"}) == Error("ERR Invalid slot or number of keys"));
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "1", "-1"}) == Error("ERR Invalid slot or number of keys"));
}

TEST_CASE_METHOD(ClusterTest, "keys that were evicted are not counted in their slot any more") {
  Run({"MSET", "b", "1", "{b}2", "2"});
  SetOption("maxkeys", "2");
  Run({"SET", "{b}3", "3"});
  Run({"SET", "bar", "4"});
  CHECK(Run({"DBSIZE"}) == Integer(2));
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "3300"}) == Integer(1));
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "3300", "10"}) == Bulks({"{b}3"}));
}

TEST_CASE_METHOD(ClusterTest, "keys that an invalidated tag takes with it are not counted") {
  Run({"SET", "b", "1", "TAGS", "1", "t"});
  Run({"SET", "{b}2", "1"});
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "3300"}) == Integer(2));
  CHECK(Run({"INVALIDATE", "t"}) == Integer(1));
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "3300"}) == Integer(1));
  AdvanceTime(1);
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "3300"}) == Integer(1));
}

TEST_CASE_METHOD(ClusterTest, "invalidated keys and keys of a flushed namespace count until they are freed") {
  const auto count = [&] { return Run({"CLUSTER", "COUNTKEYSINSLOT", "3300"}); };
  SetOption("namespace", "n prefix {b}n");
  Run({"SET", "{b}stays", "v"});
  for (int i = 0; i < 1000; ++i) {
    Run({"SET", "{b}t" + std::to_string(i), "v", "TAGS", "1", "t"});
    Run({"SET", "{b}n" + std::to_string(i), "v"});
  }
  CHECK(count() == Integer(2001));
  CHECK(Run({"INVALIDATE", "t"}) == Integer(1000));
  CHECK(count() == Integer(1489));  // some are freed at once
  TurnWheels();
  CHECK(count() == Integer(1001));
  CHECK(Run({"NSFLUSH", "n"}) == Integer(1000));
  CHECK(count() == Integer(1001));
  Run({"SET", "{b}n7", "again"});
  CHECK(count() == Integer(1001));
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "3300", "10"}).elements.size() == 2);
  TurnWheels();
  CHECK(count() == Integer(2));
  server().changes.Unlisten(server().change_log);
  CHECK_FALSE(server().changes.WantsEffects());
}

TEST_CASE_METHOD(ClusterTest,
                 "GETKEYSINSLOT looks at few keys in a turn: its client waits, and others are served") {
  constexpr int kKeys = 20'000;
  for (int i = 0; i < kKeys; ++i) Run({"SET", "{bar}" + std::to_string(i), "v"});
  Run({"MSET", "b", "1", "{b}2", "2", "{b}3", "3"});
  TestClient& other = Connect();
  SECTION("slice by slice") {
    REQUIRE(Run({"CLUSTER", "GETKEYSINSLOT", "3300", "10"}) == NoReply());
    size_t slices = 0;
    std::vector<Reply> replies;
    for (; replies.empty() && slices < 1000; ++slices) {
      server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, 64);
      CHECK(other.Run({"PING"}) == Simple("PONG"));
      replies = client().Received();
    }
    REQUIRE(replies.size() == 1);
    CHECK(replies[0].elements.size() == 3);
    CHECK(slices > 5);
  }
  SECTION("a key that goes meanwhile is not shown") {
    REQUIRE(Run({"CLUSTER", "GETKEYSINSLOT", "3300", "10"}) == NoReply());
    while (server().sliced_work.waits())
      server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, 64);
    CHECK(other.Run({"DEL", "b", "{b}2", "{b}3"}) == Integer(3));
    CHECK(client().Received() == std::vector<Reply>{Array({})});
  }
  SECTION("all keys may go") {
    REQUIRE(Run({"CLUSTER", "GETKEYSINSLOT", "3300", "10"}) == NoReply());
    other.Run({"FLUSHALL"});
    while (server().sliced_work.waits())
      server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, 64);
    other.Run({"PING"});
    CHECK(client().Received() == std::vector<Reply>{Array({})});
  }
  SECTION("an operator may unblock the client") {
    const std::string id = std::to_string(Run({"CLIENT", "ID"}).integer);
    REQUIRE(Run({"CLUSTER", "GETKEYSINSLOT", "3300", "10"}) == NoReply());
    CHECK(other.Run({"CLIENT", "UNBLOCK", id, "ERROR"}) == Integer(1));
    CHECK(client().Received() == std::vector<Reply>{Error("UNBLOCKED client unblocked via CLIENT UNBLOCK")});
    CHECK_FALSE(server().sliced_work.waits());
  }
  SECTION("a transaction cannot wait") {
    Run({"MULTI"});
    Run({"CLUSTER", "GETKEYSINSLOT", "3300", "10"});
    CHECK(Run({"EXEC"}).elements.at(0).elements.size() == 3);
  }
}

TEST_CASE_METHOD(ClusterTest, "what would change the cluster is refused, and unknown nodes are unknown") {
  const Reply unknown = Error("ERR Unknown node x");
  for (const char* subcommand : {"COUNT-FAILURE-REPORTS", "FORGET", "REPLICAS", "REPLICATE", "SLAVES"})
    CHECK(Run({"CLUSTER", subcommand, "x"}) == unknown);
  CHECK(Run({"CLUSTER", "REPLICAS", kOther}) == Array({}));
  CHECK(Run({"CLUSTER", "SLAVES", kSelf}) == Array({}));
  CHECK(Run({"CLUSTER", "COUNT-FAILURE-REPORTS", kOther}) == Integer(0));
  CHECK(Run({"CLUSTER", "LINKS"}) == Array({}));
  CHECK(Run({"CLUSTER", "SAVECONFIG"}) == Ok());
  CHECK(Run({"CLUSTER", "FAILOVER"}) == Error("ERR You should send CLUSTER FAILOVER to a replica"));
  CHECK(Run({"CLUSTER", "FAILOVER", "x"}) == Error("ERR syntax error"));
  CHECK(Run({"CLUSTER", "FORGET", kOther}) == kFixed);
  CHECK(Run({"CLUSTER", "REPLICATE", kOther}) == kFixed);
  CHECK(Run({"CLUSTER", "ADDSLOTS", "8192"}) == kFixed);
  CHECK(Run({"CLUSTER", "ADDSLOTSRANGE", "8192", "8192"}) == kFixed);
  CHECK(Run({"CLUSTER", "BUMPEPOCH"}) == kFixed);
  CHECK(Run({"CLUSTER", "DELSLOTS", "1"}) == kFixed);
  CHECK(Run({"CLUSTER", "DELSLOTSRANGE", "1", "2"}) == kFixed);
  CHECK(Run({"CLUSTER", "FLUSHSLOTS"}) == kFixed);
  CHECK(Run({"CLUSTER", "MEET", "127.0.0.1", "7003"}) == kFixed);
  CHECK(Run({"CLUSTER", "RESET"}) == kFixed);
  CHECK(Run({"CLUSTER", "SET-CONFIG-EPOCH", "5"}) == kFixed);
  CHECK(Run({"CLUSTER", "SETSLOT", "1", "STABLE"}) == kFixed);
  CHECK(Run({"CLUSTER", "NODES", "x"}) == Error("ERR wrong number of arguments for 'cluster|nodes' command"));
  CHECK(Run({"CLUSTER", "FOO"}) == Error("ERR unknown subcommand 'FOO'. Try CLUSTER HELP."));
  CHECK(Run({"CLUSTER", "HELP"}).elements.size() > 20);
}

TEST_CASE_METHOD(ClusterTest, "the host * is the one by which the client has come") {
  ClusterMap map;
  REQUIRE_FALSE(map.Read("f", "node a *:7000 0-8191\nnode b *:7001 8192-16383\n"));
  REQUIRE_FALSE(map.FindSelf("f", {.name = {}, .hosts = {"10.0.0.1"}, .port = 7000}));
  Join(std::move(map));
  client().session().local = SharedBytes::Copy("10.1.2.3:7000");
  CHECK(Run({"GET", "a"}) == Error("MOVED 15495 10.1.2.3:7001"));
  client().session().local = SharedBytes::Copy("[fd00::1]:7000");
  CHECK(Run({"GET", "a"}) == Error("MOVED 15495 fd00::1:7001"));
  SetOption("cluster-announce-ip", "cache.example");
  CHECK(Run({"GET", "a"}) == Error("MOVED 15495 cache.example:7001"));
}

TEST_CASE_METHOD(ClusterTest, "a client that came over TLS is sent to the tls-port") {
  StartWith("tls-port", "7100");
  ClusterMap map;
  REQUIRE_FALSE(map.Read("f",
                         "node a 10.0.0.1:7000 tls-port=7100 0-8191\n"
                         "node b 10.0.0.2:7000 tls-port=7101 8192-16383\n"));
  REQUIRE_FALSE(map.FindSelf("f", {.name = "a", .hosts = {}}));
  Join(std::move(map));
  client().session().local = SharedBytes::Copy("10.0.0.1:7000");
  CHECK(Run({"GET", "a"}) == Error("MOVED 15495 10.0.0.2:7000"));
  client().session().local = SharedBytes::Copy("10.0.0.1:7100");
  CHECK(Run({"GET", "a"}) == Error("MOVED 15495 10.0.0.2:7101"));
  CHECK(Run({"CLUSTER", "SLOTS"}).elements.at(0).elements.at(2).elements.at(1) == Integer(7100));
  const Reply node = Run({"CLUSTER", "SHARDS"}).elements.at(1).elements.at(3).elements.at(0);
  CHECK(node.elements.at(3) == Integer(7000));
  CHECK(node.elements.at(4) == Bulk("tls-port"));
  CHECK(node.elements.at(5) == Integer(7101));
}

// ---- where clients are sent to

TEST_CASE_METHOD(ClusterTest, "clients are sent to the preferred endpoint, and told the others beside it") {
  ClusterMap map;
  REQUIRE_FALSE(map.Read("f", std::string("node ") + kSelf +
                                  " 10.0.0.1:7000 hostname=a.example 0-8191\nnode " + kOther +
                                  " 10.0.0.2:7001 8192-16383\n"));
  REQUIRE_FALSE(map.FindSelf("f", {.name = kSelf, .hosts = {}}));
  Join(std::move(map));
  const auto node = [&](size_t at) { return Run({"CLUSTER", "SLOTS"}).elements.at(at).elements.at(2); };
  const auto endpoint = [&](size_t at) {
    return Run({"CLUSTER", "SHARDS"}).elements.at(at).elements.at(3).elements.at(0);
  };
  CHECK(node(0) == Array({Bulk("10.0.0.1"), Integer(7000), Bulk(kSelf), Bulks({"hostname", "a.example"})}));
  CHECK(node(1) == Array({Bulk("10.0.0.2"), Integer(7001), Bulk(kOther), Array({})}));
  CHECK(endpoint(0) ==
        Array({Bulk("id"), Bulk(kSelf), Bulk("port"), Integer(7000), Bulk("ip"), Bulk("10.0.0.1"),
               Bulk("endpoint"), Bulk("10.0.0.1"), Bulk("hostname"), Bulk("a.example"), Bulk("role"),
               Bulk("master"), Bulk("replication-offset"), Integer(0), Bulk("health"), Bulk("online")}));
  CHECK(Run({"GET", "a"}) == Error("MOVED 15495 10.0.0.2:7001"));

  SetOption("cluster-preferred-endpoint-type", "hostname");
  CHECK(node(0) == Array({Bulk("a.example"), Integer(7000), Bulk(kSelf), Bulks({"ip", "10.0.0.1"})}));
  CHECK(node(1) == Array({Bulk("?"), Integer(7001), Bulk(kOther), Bulks({"ip", "10.0.0.2"})}));
  CHECK(endpoint(0).elements.at(7) == Bulk("a.example"));
  CHECK(endpoint(1).elements.at(7) == Bulk("?"));
  CHECK(Run({"GET", "a"}) == Error("MOVED 15495 ?:7001"));

  SetOption("cluster-preferred-endpoint-type", "unknown-endpoint");
  CHECK(node(0) ==
        Array({Null(), Integer(7000), Bulk(kSelf), Bulks({"ip", "10.0.0.1", "hostname", "a.example"})}));
  CHECK(node(1) == Array({Null(), Integer(7001), Bulk(kOther), Bulks({"ip", "10.0.0.2"})}));
  CHECK(endpoint(0).elements.at(7) == Bulk(""));
  CHECK(Run({"GET", "a"}) == Error("MOVED 15495 :7001"));

  CHECK(Run({"CLUSTER", "NODES"}) ==
        Bulk(std::string(kSelf) + " 10.0.0.1:7000@0,a.example myself,master - 0 0 1 connected 0-8191\n" +
             kOther + " 10.0.0.2:7001@0 master - 0 0 2 connected 8192-16383\n"));
}

TEST_CASE_METHOD(ClusterTest, "an address that is a name is a hostname, and a node * has the announced one") {
  ClusterMap map;
  REQUIRE_FALSE(map.Read("f", "node a *:7000 0-8191\nnode b cache2.example:7001 8192-16383\n"));
  REQUIRE_FALSE(map.FindSelf("f", {.name = "a", .hosts = {}}));
  Join(std::move(map));
  SetOption("cluster-preferred-endpoint-type", "hostname");
  const auto host = [&](size_t at) {
    return Run({"CLUSTER", "SLOTS"}).elements.at(at).elements.at(2).elements.at(0);
  };
  CHECK(Run({"GET", "a"}) == Error("MOVED 15495 cache2.example:7001"));
  CHECK(host(0) == Bulk("?"));
  CHECK(cluster().Warnings() ==
        std::vector<std::string>{
            "cluster-preferred-endpoint-type is hostname, but node a has none: clients are "
            "sent to \"?\" instead"});
  SetOption("cluster-announce-hostname", "cache1.example");
  CHECK(host(0) == Bulk("cache1.example"));
  CHECK(cluster().Warnings().empty());
}

TEST_CASE_METHOD(ClusterTest, "what is announced beside a file that says otherwise is a warning") {
  CHECK(cluster().Warnings().empty());
  SetOption("cluster-announce-hostname", "cache1.example");
  SetOption("cluster-announce-tls-port", "7100");
  REQUIRE(cluster().Warnings().size() == 2);
  CHECK(cluster().Warnings()[0].starts_with("cluster-announce-hostname is ignored"));
  CHECK(cluster().Warnings()[1].starts_with("cluster-announce-tls-port is ignored"));
}

// ---- emulated

TEST_CASE_METHOD(EmulatedClusterTest, "an emulated cluster has every slot, and takes requests with several") {
  CHECK(Run({"MSET", "a", "1", "b", "2"}) == Ok());
  CHECK(Run({"MGET", "a", "b"}) == Bulks({"1", "2"}));
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "15495"}) == Integer(1));
  CHECK(Run({"CLUSTER", "MYID"}) == Bulk(kSelf));
  CHECK(Run({"INFO", "cluster"}) == Bulk("# Cluster\r\ncluster_enabled:1\r\n"));
  CHECK(Run({"SELECT", "1"}) == Error("ERR SELECT is not allowed in cluster mode"));
  CHECK(Run({"READONLY"}) == Ok());
  CHECK(Run({"EVAL", "redis.call('GET', 'b') return redis.call('GET', 'a')", "0"}) == Bulk("1"));
  Run({"RPUSH", "l", "2", "1"});
  CHECK(Run({"SORT", "l", "GET", "#"}) == Bulks({"1", "2"}));
}

TEST_CASE_METHOD(EmulatedClusterTest,
                 "an emulated cluster is where its client has found it, or as announced") {
  const auto slots = [&] { return Run({"CLUSTER", "SLOTS"}).elements.at(0); };
  const auto where = [&] {
    return std::pair(slots().elements.at(2).elements.at(0), slots().elements.at(2).elements.at(1));
  };
  CHECK(slots().elements.at(1) == Integer(16383));
  const auto local = [&](std::string_view text) { client().session().local = SharedBytes::Copy(text); };
  local("10.1.2.3:6380");
  CHECK(where() == std::pair(Bulk("10.1.2.3"), Integer(6380)));
  local("[fd00::1]:6381");
  CHECK(where() == std::pair(Bulk("fd00::1"), Integer(6381)));
  client().session().over_unix_socket = true;
  local("/run/mayfly.sock:0");
  CHECK(where() == std::pair(Bulk(""), Integer(6379)));
  SetOption("cluster-announce-hostname", "name.example");
  CHECK(slots().elements.at(2).elements.at(3) == Bulks({"hostname", "name.example"}));
  SetOption("cluster-announce-hostname", "");
  SetOption("cluster-announce-ip", "cache.example");
  SetOption("cluster-announce-port", "7000");
  CHECK(where() == std::pair(Bulk("cache.example"), Integer(7000)));
  CHECK(Run({"CLUSTER", "NODES"}) ==
        Bulk(std::string(kSelf) + " cache.example:7000@0 myself,master - 0 0 1 connected 0-16383\n"));
}

TEST_CASE_METHOD(EmulatedClusterTest,
                 "an emulated cluster sends clients that came over TLS to a port of theirs") {
  StartWith("tls-port", "7100");
  const auto port = [&] { return Run({"CLUSTER", "SLOTS"}).elements.at(0).elements.at(2).elements.at(1); };
  client().session().local = SharedBytes::Copy("10.1.2.3:7100");
  CHECK(port() == Integer(7100));
  SetOption("cluster-announce-port", "443");
  CHECK(port() == Integer(7100));
  SetOption("cluster-announce-tls-port", "8443");
  CHECK(port() == Integer(8443));
  client().session().local = SharedBytes::Copy("10.1.2.3:7000");
  CHECK(port() == Integer(443));
}

}  // namespace mayfly::testing

// A cluster beside a real redis-server that is a node of the same one: which requests are redirected or refused, and what is
// said of slots and nodes. That server finds the cluster in its own file, where the other nodes are; it never reaches them.
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "server/figures/link_figures.h"
#include "support/cluster_test.h"
#include "support/folder.h"
#include "support/free_port.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

class ClusterBesideRedis : public ClusterTest {
 public:
  explicit ClusterBesideRedis(bool needs_all_slots = false) {
    ClusterMap map;
    REQUIRE_FALSE(map.Read("cluster.conf", std::string("node ") + kSelf +
                                               " 127.0.0.1:7000 hostname=a.example 0-8191 8193\nnode " +
                                               kOther + " 127.0.0.1:7001 8194-16000\n"));
    REQUIRE_FALSE(map.FindSelf("cluster.conf", {.name = kSelf, .hosts = {}}));
    Join(std::move(map));
    StartRedis(needs_all_slots ? "yes" : "no", ",a.example myself,master - 0 0 1 connected 0-8191 8193",
               std::string(kOther) + " 127.0.0.1:7001@17001 master - 0 0 2 connected 8194-16000\n");
    SetOption("cluster-require-full-coverage", needs_all_slots ? "yes" : "no");
  }

  // Sends the requests to both servers, each over the connection that is used for all.
  void Compare(const std::vector<Words>& requests) {
    std::string bytes;
    for (const Words& request : requests) bytes += EncodeRequest(request);
    const std::vector<std::string> redis = oracle_->Ask(bytes, requests.size());
    for (size_t i = 0; i < requests.size(); ++i) {
      Reply shown = Array({});
      for (const std::string& word : requests[i]) shown.elements.push_back(Bulk(word));
      CAPTURE(i, shown);
      CHECK(Bulk(RunRaw(EncodeRequest(requests[i]))) == Bulk(redis[i]));
    }
  }
  std::string AskRedis(const std::string& request) { return oracle_->Ask(request, 1).front(); }
  void Speak(const char* protocol) {
    *protocol == '3' ? UseResp3() : UseResp2();
    oracle_->Ask(EncodeRequest({"HELLO", protocol}), 1);
  }

 protected:
  struct Bare {};
  explicit ClusterBesideRedis(Bare) {}
  // `self` and `others`: the lines of its file, around the port of the cluster's bus.
  void StartRedis(const std::string& needs_all_slots, const std::string& self, const std::string& others) {
    const std::string file = folder_ / "nodes.conf";
    constexpr int kTries = 5;  // somebody may take the free port meanwhile
    for (int i = 1; oracle_ == nullptr; ++i) {
      const std::string bus = std::to_string(FreePort());  // the cluster's, which that server insists on
      std::ofstream(file) << kSelf << " 127.0.0.1:7000@" << bus << self << '\n'
                          << others << "vars currentEpoch 3 lastVoteEpoch 0\n";
      try {
        oracle_ = std::make_unique<Oracle>(
            Words{"--cluster-enabled", "yes", "--cluster-config-file", file, "--cluster-port", bus, "--bind",
                  "127.0.0.1", "--cluster-announce-ip", "127.0.0.1", "--cluster-announce-port", "7000",
                  "--cluster-announce-hostname", "a.example", "--cluster-node-timeout", "2000000000",
                  "--cluster-require-full-coverage", needs_all_slots});
      } catch (const std::runtime_error&) {
        if (i == kTries) throw;
      }
    }
    // It waits for two seconds before it takes part in a cluster. Asked in between without a request that
    // blocks: a server that becomes a replica meanwhile hangs up on clients that wait.
    while (needs_all_slots == "no" &&
           AskRedis(EncodeRequest({"CLUSTER", "INFO"})).find("cluster_state:ok") == std::string::npos) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));  // polls: another program's start
    }
  }

 private:
  Folder folder_;
  std::unique_ptr<Oracle> oracle_;
};

class DownBesideRedis : public ClusterBesideRedis {
 public:
  DownBesideRedis() : ClusterBesideRedis(/*needs_all_slots=*/true) {}
};

// Both are replicas of the node with the slots 8194 to 16000. Redis's server never reaches it, and serves what it has: nothing.
class ReplicaBesideRedis : public ClusterBesideRedis {
 public:
  static constexpr const char* kThird = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

  ReplicaBesideRedis() : ClusterBesideRedis(Bare{}) {
    ClusterMap map;
    REQUIRE_FALSE(map.Read("cluster.conf", std::string("node ") + kSelf +
                                               " 127.0.0.1:7000 hostname=a.example replica-of=" + kOther +
                                               "\nnode " + kOther + " 127.0.0.1:7001 8194-16000\nnode " +
                                               kThird + " 127.0.0.1:7002 0-8191 8193\n"));
    REQUIRE_FALSE(map.FindSelf("cluster.conf", {.name = kSelf, .hosts = {}}));
    Join(std::move(map));
    StartRedis("no", std::string(" myself,slave ") + kOther + " 0 0 2 connected",
               std::string(kOther) + " 127.0.0.1:7001@17001 master - 0 0 2 connected 8194-16000\n" + kThird +
                   " 127.0.0.1:7002@17002 master - 0 0 3 connected 0-8191 8193\n");
    SetOption("cluster-require-full-coverage", "no");
    server().server.link.state = LinkFigures::State::kConnect;
    cluster().NoteMasterKeys(true);
  }
};

// "b", "bar" and "hello" are here, "a", "foo" and "h" there, and "foo{x}" is nobody's.
const std::vector<Words> kRequests = {
    {"SET", "b", "1"},
    {"GET", "b"},
    {"GET", "a"},
    {"SET", "a", "1"},
    {"GET", "foo{x}"},
    {"GET", "{foo}x"},
    {"GET", "{}a"},
    {"GET", ""},
    {"MGET", "b", "{b}2"},
    {"MGET", "b", "bar"},
    {"MGET", "a", "b"},
    {"MGET", "b", "a"},
    {"MGET", "a", "{a}2"},
    {"MGET", "foo{x}", "b"},
    {"MGET", "b", "foo{x}"},
    {"MSET", "b", "1", "{b}2", "2"},
    {"MSET", "b", "1", "a", "2"},
    {"DEL", "bar", "hello"},
    {"RENAME", "b", "bar"},
    {"RENAME", "b", "{b}3"},
    {"COPY", "{b}3", "b"},
    {"COPY", "{b}3", "b", "DB", "1"},
    {"COPY", "{b}3", "a"},
    {"MOVE", "b", "1"},
    {"MOVE", "a", "1"},
    {"SELECT", "0"},
    {"SELECT", "1"},
    {"SELECT", "x"},
    {"SWAPDB", "0", "1"},
    {"OBJECT", "ENCODING", "a"},
    {"OBJECT", "FREQ"},
    {"XREAD", "STREAMS", "b", "bar", "0", "0"},
    {"XREAD", "STREAMS", "a", "0"},
    {"ZUNIONSTORE", "b", "2", "{b}1", "a"},
    {"ZUNIONSTORE", "b", "x", "a"},
    {"ZUNIONSTORE", "a", "x", "b"},
    {"ZDIFFSTORE", "foo{x}", "5", "b"},
    {"LMPOP", "x", "a", "LEFT"},
    {"SORT", "a"},
    {"SORT", "{b}list", "BY", "nosort"},
    {"BLPOP", "a", "0"},
    {"BLPOP", "b", "bar", "0"},
    {"BLMPOP", "0", "2", "b", "a", "LEFT"},
    {"PFCOUNT", "b", "a"},
    {"GET"},
    {"GET", "a", "b"},
    {"NOSUCH", "a"},
    {"PING"},
    {"DBSIZE"},
    {"KEYS", "b"},
    {"SSUBSCRIBE", "a"},
    {"SSUBSCRIBE", "b", "bar"},
    {"SPUBLISH", "a", "x"},
    {"SPUBLISH", "b", "x"},
    {"PUBLISH", "a", "x"},
    {"SUNSUBSCRIBE", "a"},
    {"PUBSUB", "SHARDNUMSUB", "a"},
    {"WATCH", "a"},
    {"WATCH", "b", "bar"},
    {"WATCH", "b"},
    {"UNWATCH"},
    {"TOUCH", "b", "{b}2", "a"},
    {"EXISTS", "b", "{b}2"},
    {"MEMORY", "USAGE", "a"},
    {"DEBUG", "OBJECT", "a"},
    {"FLUSHALL"},
};

const std::vector<Words> kTransactions = {
    {"MULTI"},
    {"SET", "b", "1"},
    {"GET", "{b}2"},
    {"PING"},
    {"EXEC"},
    {"MULTI"},
    {"GET", "b"},
    {"GET", "a"},
    {"GET", "b"},
    {"EXEC"},
    {"EXEC"},
    {"MULTI"},
    {"GET", "b"},
    {"GET", "bar"},
    {"EXEC"},
    {"EXEC"},
    {"MULTI"},
    {"MGET", "b", "bar"},
    {"DISCARD"},
    {"MULTI"},
    {"GET", "foo{x}"},
    {"EXEC"},
    {"MULTI"},
    {"EXEC"},
    {"MULTI"},
    {"PING"},
    {"SELECT", "1"},
    {"EXEC"},
    {"MULTI"},
    {"EVAL", "return 1", "1", "a"},
    {"EXEC"},
    {"MULTI"},
    {"EVAL", "return redis.call('get', KEYS[1])", "1", "b"},
    {"SPUBLISH", "b", "x"},
    {"EXEC"},
    {"MULTI"},
    {"GET", "b"},
    {"SPUBLISH", "bar", "x"},
    {"EXEC"},
    {"MULTI"},
    {"GET", "b"},
    {"ZUNIONSTORE", "a", "x", "b"},
    {"EXEC"},
    {"MULTI"},
    {"ASKING"},
    {"GET", "b"},
    {"EXEC"},
    {"WATCH", "b"},
    {"SET", "b", "2"},
    {"MULTI"},
    {"GET", "b"},
    {"EXEC"},
};

const std::vector<Words> kScripts = {
    {"SET", "b", "1"},
    {"EVAL", "return redis.call('get', KEYS[1])", "1", "b"},
    {"EVAL", "return redis.call('get', KEYS[1])", "1", "a"},
    {"EVAL", "return 1", "2", "b", "bar"},
    {"EVAL", "return 1", "2", "b", "{b}2"},
    {"EVAL", "return 1", "1", "foo{x}"},
    {"EVAL", "return 1", "5", "b"},
    {"EVAL", "return redis.call('get', 'b')", "0"},
    {"EVAL", "return redis.call('get', 'a')", "0"},
    {"EVAL", "return redis.pcall('get', 'a')", "0"},
    {"EVAL", "return redis.pcall('get', 'foo{x}')", "0"},
    {"EVAL", "return redis.pcall('mget', 'b', 'bar')", "0"},
    {"EVAL", "redis.call('get', 'b') return redis.call('get', 'bar')", "0"},
    {"EVAL", "#!lua\nredis.call('get', 'b') return redis.pcall('get', 'bar')", "0"},
    {"EVAL", "#!lua\nredis.call('get', 'b') return redis.call('get', 'bar')", "0"},
    {"EVAL", "#!lua\nreturn redis.pcall('get', 'bar')", "1", "b"},
    {"EVAL", "#!lua\nreturn redis.pcall('get', 'a')", "1", "b"},
    {"EVAL", "#!lua flags=allow-cross-slot-keys\nredis.call('get', 'b') return redis.call('get', 'bar')",
     "0"},
    {"EVAL", "#!lua flags=allow-cross-slot-keys\nreturn redis.pcall('get', 'a')", "0"},
    {"EVAL", "#!lua flags=no-cluster\nreturn 1", "0"},
    {"EVAL", "#!lua flags=no-cluster\nreturn 1", "1", "a"},
    {"EVAL_RO", "return redis.call('get', 'b')", "1", "b"},
    {"EVAL_RO", "return 1", "1", "a"},
    {"EVAL", "return redis.call('select', '1')", "0"},
    {"EVAL", "return redis.pcall('spublish', 'a', 'x')", "0"},
    {"EVAL", "return redis.pcall('publish', 'a', 'x')", "0"},
    {"EVAL", "return redis.pcall('cluster', 'slots')", "0"},
    {"EVAL", "return redis.pcall('asking')", "0"},
    {"SCRIPT", "LOAD", "return 1"},
    {"EVALSHA", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "1", "a"},
    {"EVALSHA", "ffffffffffffffffffffffffffffffffffffffff", "1", "a"},
    {"FUNCTION", "LOAD",
     "#!lua name=l\nredis.register_function('f', function(k) return redis.call('get', k[1]) end)"},
    {"FCALL", "f", "1", "b"},
    {"FCALL", "f", "1", "a"},
    {"FCALL", "f", "2", "b", "bar"},
    {"FCALL", "nosuch", "1", "a"},
};

const std::vector<Words> kClusterCommands = {
    {"CLUSTER", "SLOTS"},
    {"CLUSTER", "MYID"},
    {"CLUSTER", "KEYSLOT", "a"},
    {"CLUSTER", "KEYSLOT", "{a}b"},
    {"CLUSTER", "KEYSLOT", "a{}{b}"},
    {"CLUSTER", "KEYSLOT", "{{a}}b"},
    {"CLUSTER", "KEYSLOT", ""},
    {"CLUSTER", "KEYSLOT", std::string("\0\xff{\0}", 5)},
    {"CLUSTER", "KEYSLOT"},
    {"CLUSTER", "KEYSLOT", "a", "b"},
    {"SET", "b", "1"},
    {"CLUSTER", "COUNTKEYSINSLOT", "3300"},
    {"CLUSTER", "COUNTKEYSINSLOT", "15495"},
    {"CLUSTER", "COUNTKEYSINSLOT", "16384"},
    {"CLUSTER", "COUNTKEYSINSLOT", "-1"},
    {"CLUSTER", "COUNTKEYSINSLOT", "x"},
    {"CLUSTER", "COUNTKEYSINSLOT", "03300"},
    {"CLUSTER", "COUNTKEYSINSLOT", "99999999999999999999"},
    {"CLUSTER", "GETKEYSINSLOT", "3300", "10"},
    {"CLUSTER", "GETKEYSINSLOT", "3300", "0"},
    {"CLUSTER", "GETKEYSINSLOT", "3300", "-1"},
    {"CLUSTER", "GETKEYSINSLOT", "16384", "1"},
    {"CLUSTER", "GETKEYSINSLOT", "x", "1"},
    {"CLUSTER", "GETKEYSINSLOT", "1", "x"},
    {"CLUSTER", "GETKEYSINSLOT", "1"},
    {"CLUSTER", "REPLICAS", "x"},
    {"CLUSTER", "REPLICAS", ClusterTest::kOther},
    {"CLUSTER", "SLAVES", ClusterTest::kSelf},
    {"CLUSTER", "REPLICAS", "1C804338219DF6882F759E3371314D61099573B9"},
    {"CLUSTER", "COUNT-FAILURE-REPORTS", ClusterTest::kOther},
    {"CLUSTER", "COUNT-FAILURE-REPORTS", "x"},
    {"CLUSTER", "FORGET", "x"},
    {"CLUSTER", "REPLICATE", "x"},
    {"CLUSTER", "LINKS", "x"},
    {"CLUSTER", "SAVECONFIG"},
    {"CLUSTER", "FAILOVER"},
    {"CLUSTER", "FAILOVER", "FORCE"},
    {"CLUSTER", "FAILOVER", "x"},
    {"CLUSTER", "FAILOVER", "FORCE", "x"},
    {"CLUSTER"},
    {"CLUSTER", "NOSUCH"},
    {"CLUSTER", "SLOTS", "x"},
    {"CLUSTER", "MEET"},
    {"CLUSTER", "ADDSLOTS"},
    {"ASKING"},
    {"GET", "a"},
    {"ASKING", "x"},
    {"READONLY"},
    {"GET", "a"},
    {"READWRITE"},
    {"GET", "a"},
    {"READONLY", "x"},
    {"CLUSTER", "FLUSHSLOTS", "x"},
    {"INFO", "cluster"},
    {"HELLO", "x"},
    {"COMMAND", "GETKEYS", "GET", "a"},
};

// "b" and "bar" are here, "a" and "foo" the other node's.
const std::vector<Words> kWithFewRights = {
    {"ACL", "SETUSER", "t", "reset", "on", "nopass", "+@all", "-mset", "~a*", "~b*"},
    {"AUTH", "t", "any"},
    {"SET", "b", "1"},
    {"GET", "b"},
    {"GET", "a"},
    {"SET", "a", "1"},
    {"INCR", "a"},
    {"GET", "foo"},
    {"GET", "hello"},
    {"SET", "hello", "1"},
    {"MGET", "b", "a"},
    {"MGET", "a", "foo"},
    {"MSET", "a", "1"},
    {"GET", "b{x}"},
    {"SSUBSCRIBE", "a"},
    {"SPUBLISH", "a", "m"},
    {"MULTI"},
    {"GET", "b"},
    {"GET", "a"},
    {"EXEC"},
    {"EVAL", "return redis.pcall('get', KEYS[1])", "1", "b"},
    {"EVAL", "return redis.pcall('get', 'a')", "1", "b"},
    {"EVAL", "return redis.pcall('get', 'hello')", "1", "b"},
    {"EVAL", "return 1", "1", "a"},
    {"EVAL", "return 1", "1", "foo"},
    {"AUTH", "default", "x"},
    {"DEL", "b"},
};

// "a" and "{a}..." are the master's, "b" is a third node's. In Redis a replica takes messages to shard channels, too.
const std::vector<Words> kAtReplica = {
    {"GET", "a"},
    {"MGET", "a", "{a}2"},
    {"MGET", "a", "foo"},
    {"GET", "b"},
    {"GET", "foo{x}"},
    {"SET", "a", "1"},
    {"SET", "b", "1"},
    {"SET", "foo{x}", "1"},
    {"GETEX", "a"},
    {"EXISTS", "a"},
    {"TYPE", "a"},
    {"OBJECT", "ENCODING", "a"},
    {"SORT", "a"},
    {"SORT_RO", "a"},
    {"BITFIELD", "a", "GET", "u8", "0"},
    {"BITFIELD_RO", "a", "GET", "u8", "0"},
    {"PFCOUNT", "a"},
    {"XREAD", "STREAMS", "a", "0"},
    {"BLPOP", "a", "1"},
    {"DEL", "a"},
    {"TOUCH", "a"},
    {"WATCH", "a"},
    {"UNWATCH"},
    {"MULTI"},
    {"GET", "a"},
    {"EXEC"},
    {"MULTI"},
    {"GET", "a"},
    {"SET", "a", "1"},
    {"EXEC"},
    {"MULTI"},
    {"GET", "a"},
    {"GET", "b"},
    {"EXEC"},
    {"MULTI"},
    {"PING"},
    {"EXEC"},
    {"EVAL", "return 1", "0"},
    {"EVAL", "return 1", "1", "a"},
    {"EVAL", "return 1", "1", "b"},
    {"EVAL_RO", "return redis.call('get', KEYS[1])", "1", "a"},
    {"EVAL", "return redis.call('get', KEYS[1])", "1", "a"},
    {"EVAL", "return redis.pcall('set', KEYS[1], '1')", "1", "a"},
    {"EVAL", "return redis.pcall('set', 'b', '1')", "1", "a"},
    {"EVAL", "return redis.pcall('get', 'a')", "0"},
    {"EVAL", "return redis.pcall('get', 'b')", "0"},
    {"EVAL", "return redis.pcall('set', 'a', '1')", "0"},
    {"EVAL", "#!lua flags=no-writes\nreturn redis.call('get', KEYS[1])", "1", "a"},
    {"EVAL", "#!lua\nreturn redis.call('get', KEYS[1])", "1", "a"},
    {"EVAL", "#!lua\nreturn 1", "0"},
    {"MULTI"},
    {"EVAL", "return redis.call('get', KEYS[1])", "1", "a"},
    {"EVAL_RO", "return redis.call('get', KEYS[1])", "1", "a"},
    {"EXEC"},
    {"SSUBSCRIBE", "a"},
    {"SUNSUBSCRIBE", "a"},
    {"SSUBSCRIBE", "b"},
    {"FLUSHALL"},
    {"DBSIZE"},
    {"KEYS", "*"},
    {"CLUSTER", "MYID"},
    {"CLUSTER", "COUNTKEYSINSLOT", "15495"},
    {"CLUSTER", "REPLICAS", ReplicaBesideRedis::kThird},
    {"CLUSTER", "REPLICAS", ClusterTest::kSelf},
    {"CLUSTER", "SLAVES", ClusterTest::kSelf},
    {"CLUSTER", "REPLICAS", "x"},
    {"ASKING"},
    {"GET", "a"},
    {"ASKING"},
    {"SET", "a", "1"},
};

}  // namespace

TEST_CASE_METHOD(ClusterBesideRedis, "requests are redirected and refused as by a node of Redis") {
  for (const char* protocol : {"2", "3"}) {
    Speak(protocol);
    for (const std::vector<Words>& requests : {kRequests, kTransactions, kScripts, kClusterCommands})
      Compare(requests);
  }
}

TEST_CASE_METHOD(ClusterBesideRedis, "who has few rights is refused, or sent to another node, as by Redis") {
  for (const char* protocol : {"2", "3"}) {
    Speak(protocol);
    Compare(kWithFewRights);
  }
}

TEST_CASE_METHOD(ClusterBesideRedis,
                 "nodes have the names that cluster-preferred-endpoint-type says, as in Redis") {
  for (const char* protocol : {"2", "3"}) {
    Speak(protocol);
    for (const std::string type : {"ip", "hostname", "unknown-endpoint", "IP", "x"})
      Compare({{"CONFIG", "SET", "cluster-preferred-endpoint-type", type},
               {"CONFIG", "GET", "cluster-preferred-endpoint-type"},
               {"CLUSTER", "SLOTS"},
               {"GET", "a"},
               {"SSUBSCRIBE", "a"}});
  }
}

TEST_CASE_METHOD(ReplicaBesideRedis, "a replica serves reads after READONLY, and redirects as one of Redis") {
  for (const char* protocol : {"2", "3"}) {
    Speak(protocol);
    Compare(kAtReplica);
    Compare({{"READONLY"}});
    Compare(kAtReplica);
    Compare({{"READWRITE"}});
    Compare(kAtReplica);
    Compare({{"READONLY"}, {"GET", "a"}, {"RESET"}, {"GET", "a"}});
    Compare({{"MULTI"}, {"READONLY"}, {"GET", "a"}, {"EXEC"}, {"GET", "a"}, {"RESET"}});
    Compare({{"MULTI"}, {"READONLY"}, {"EXEC"}, {"GET", "a"}, {"RESET"}});
  }
}

TEST_CASE_METHOD(ReplicaBesideRedis, "a replica is in the list of its master's as in Redis") {
  const std::string request = EncodeRequest({"CLUSTER", "REPLICAS", kOther});
  // The bus has a port, which a static cluster lacks.
  const auto line = [](const std::string& bytes) {
    return std::regex_replace(TakeReplies(bytes).front().elements.at(0).text, std::regex("@[0-9]+"), "@");
  };
  CHECK(line(RunRaw(request)) == line(AskRedis(request)));
}

TEST_CASE_METHOD(DownBesideRedis, "a cluster that lacks slots refuses as Redis does") {
  const std::vector<Words> requests = {
      {"GET", "b"},
      {"SET", "b", "1"},
      {"GET", "a"},
      {"SET", "a", "1"},
      {"GET", "foo{x}"},
      {"MGET", "b", "bar"},
      {"PING"},
      {"KEYS", "*"},
      {"SPUBLISH", "b", "x"},
      {"SPUBLISH", "a", "x"},
      {"EVAL", "return 1", "0"},
      {"EVAL", "return 1", "1", "b"},
      {"EVAL_RO", "return 1", "1", "b"},
      {"EVAL", "#!lua flags=no-writes\nreturn 1", "1", "b"},
      {"EVAL", "#!lua\nreturn 1", "1", "b"},
      {"EVAL", "return redis.pcall('get', 'b')", "0"},
      {"EVAL", "return redis.pcall('set', 'b', '1')", "0"},
      {"EVAL", "return redis.pcall('get', 'a')", "0"},
      {"EVAL", "return redis.pcall('get', 'foo{x}')", "0"},
      {"MULTI"},
      {"GET", "b"},
      {"SET", "b", "1"},
      {"EXEC"},
      {"BLPOP", "b", "0"},
      {"WATCH", "b"},
      {"UNWATCH"},
      {"CLUSTER", "SLOTS"},
      {"CLUSTER", "KEYSLOT", "b"},
      {"ASKING"},
      {"READONLY"},
      {"GET", "a"},
  };
  Compare(requests);
  Compare({{"CONFIG", "SET", "cluster-allow-reads-when-down", "yes"}});
  Compare(requests);
  Compare({{"CONFIG", "SET", "cluster-allow-pubsubshard-when-down", "no"}});
  Compare(requests);
}

}  // namespace mayfly::testing

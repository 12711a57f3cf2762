// Slots at the ends of ranges and their keys, what the subcommands of CLUSTER say of every kind of cluster, and whom a new map
// concerns.
#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/log/log.h"
#include "base/time/tsc.h"
#include "commands/cluster/cluster_world.h"
#include "commands/memory/failing_allocation.h"
#include "exec/cluster/cluster_reload.h"
#include "server/hubs/hubs.h"
#include "support/cluster_test.h"
#include "support/folder.h"

namespace mayfly::testing {
namespace {

// Keys by their slots.
constexpr const char* kIn0 = "k596";
constexpr const char* kIn8191 = "k8036";
constexpr const char* kIn8192 = "k3962";
constexpr const char* kIn8193 = "k2398";
constexpr const char* kIn8194 = "k38595";
constexpr const char* kIn16000 = "k13474";
constexpr const char* kIn16001 = "k100148";
constexpr const char* kIn16383 = "k10322";

const Reply kNoInteger = Error("ERR value is not an integer or out of range");

std::set<std::string> Texts(const Reply& reply) {
  std::set<std::string> texts;
  for (const Reply& element : reply.elements) texts.insert(element.text);
  return texts;
}

class RereadTest : public ClusterTest {
 public:
  RereadTest() : reload_(server().server) {
    server().files.read_again = [this](const std::string&, std::string& text) -> config::Problem {
      text = file_;
      return std::nullopt;
    };
    SetOption("cluster-announce-port", "7000");  // by which it finds its line
  }
  // The slots of this node and the other one are these now.
  void Take(const std::string& own, const std::string& others) {
    file_ = "node " + std::string(kSelf) + " 127.0.0.1:7000 " + own + "\nnode " + kOther +
            " 127.0.0.1:7001 " + others + "\n";
    REQUIRE(Run({"CONFIG", "SET", "cluster-config-file", "cluster.conf"}) == Ok());
  }
  void TakeText(const std::string& text) { file_ = text; }
  void Slice(size_t keys) { server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, keys); }

 private:
  std::string file_;
  ClusterReload reload_;
};

}  // namespace

// ---- the ends of ranges

TEST_CASE_METHOD(ClusterTest, "the first and the last slot of each range are served, redirected or refused") {
  const auto slot = [&](const char* key) { return Run({"CLUSTER", "KEYSLOT", key}).integer; };
  const auto moved = [&](const char* key) {
    return Error("MOVED " + std::to_string(slot(key)) + " 127.0.0.1:7001");
  };
  const Reply not_served = Error("CLUSTERDOWN Hash slot not served");
  for (const char* own : {kIn0, kIn8191, kIn8193}) {
    CAPTURE(own);
    CHECK(Run({"SET", own, "v"}) == Ok());
    CHECK(Run({"MGET", own, own}) == Bulks({"v", "v"}));
    CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", std::to_string(slot(own))}) == Integer(1));
    CHECK(Run({"CLUSTER", "GETKEYSINSLOT", std::to_string(slot(own)), "2"}) == Bulks({own}));
  }
  for (const char* others : {kIn8194, kIn16000}) {
    CAPTURE(others);
    CHECK(Run({"GET", others}) == moved(others));
    CHECK(Run({"MGET", others, others}) == moved(others));
  }
  for (const char* nobodys : {kIn8192, kIn16001, kIn16383}) {
    CAPTURE(nobodys);
    CHECK(Run({"GET", nobodys}) == not_served);
    CHECK(Run({"MGET", nobodys, kIn0}) == not_served);
    CHECK(Run({"MGET", kIn0, nobodys}) == Error("CROSSSLOT Keys in request don't hash to the same slot"));
  }
}

TEST_CASE_METHOD(EmulatedClusterTest, "keys are counted and listed in the first slot and in the last") {
  CHECK(Run({"CLUSTER", "KEYSLOT", kIn0}) == Integer(0));
  CHECK(Run({"CLUSTER", "KEYSLOT", kIn16383}) == Integer(16383));
  Run({"MSET", kIn0, "1", kIn16383, "2", std::string("{") + kIn16383 + "}b", "3"});
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "0"}) == Integer(1));
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "1"}) == Integer(0));
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "16382"}) == Integer(0));
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "16383"}) == Integer(2));
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "0", "9"}) == Bulks({kIn0}));
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "16383", "9"}).elements.size() == 2);
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "16383", "1"}).elements.size() == 1);
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "1", "9"}) == Array({}));
  Run({"DEL", kIn0, kIn16383});
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "0"}) == Integer(0));
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "16383"}) == Integer(1));
}

TEST_CASE_METHOD(EmulatedClusterTest, "keys of other databases, as a file may have, count in no slot") {
  Run({"SET", "b", "v"});
  client().session().db = 1;
  Run({"MSET", "b", "v", "{b}2", "v"});
  client().session().db = 0;
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "3300"}) == Integer(1));
  client().session().db = 1;
  Run({"DEL", "b"});
  Run({"FLUSHDB"});
  client().session().db = 0;
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "3300"}) == Integer(1));
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "3300", "9"}) == Bulks({"b"}));
}

TEST_CASE_METHOD(ClusterTest,
                 "GETKEYSINSLOT lists keys of the slot alone, each once, and no more than asked for") {
  constexpr size_t kKeys = 100;
  std::set<std::string> all;
  for (size_t i = 0; i < kKeys; ++i) {
    all.insert("{b}" + std::to_string(i));
    Run({"SET", "{b}" + std::to_string(i), "v"});
    Run({"SET", "{bar}" + std::to_string(i), "v"});
  }
  const auto keys = [&](const char* most) { return Run({"CLUSTER", "GETKEYSINSLOT", "3300", most}); };
  for (const size_t most : {1, 2, 50, 99, 100}) {
    const Reply found = keys(std::to_string(most).c_str());
    CHECK(found.elements.size() == most);
    const std::set<std::string> names = Texts(found);
    CHECK(names.size() == most);
    CHECK(std::includes(all.begin(), all.end(), names.begin(), names.end()));
  }
  CHECK(Texts(keys("101")) == all);
  CHECK(keys("101").elements.size() == kKeys);
  CHECK(keys("9223372036854775807").elements.size() == kKeys);
  CHECK(keys("9223372036854775808") == kNoInteger);
}

TEST_CASE_METHOD(ClusterTest, "a wrong slot or number is refused in Redis's order") {
  const Reply out_of_range = Error("ERR Invalid slot or number of keys");
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "16383"}) == Integer(0));
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "-1"}) == Error("ERR Invalid slot"));
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "65536"}) == Error("ERR Invalid slot"));
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "1.0"}) == kNoInteger);
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "16384", "x"}) == kNoInteger);
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "x", "-1"}) == kNoInteger);
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "-1", "1"}) == out_of_range);
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "65536", "1"}) == out_of_range);
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "16384", "0"}) == out_of_range);
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "16383", "0"}) == Array({}));
}

TEST_CASE_METHOD(ClusterTest,
                 "the names that GETKEYSINSLOT has found count as memory while its client waits") {
  for (int i = 0; i < 3000; ++i) Run({"SET", "{b}" + std::to_string(i) + std::string(100, 'x'), "v"});
  const uint64_t before = server().server.hubs.accounts.Sum();
  REQUIRE(Run({"CLUSTER", "GETKEYSINSLOT", "3300", "3000"}) == NoReply());
  const uint64_t begun = server().server.hubs.accounts.Sum();
  CHECK(begun > before + 100'000);
  server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, 500);
  CHECK(server().server.hubs.accounts.Sum() > begun + 50'000);
  while (server().sliced_work.waits())
    server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, 500);
  Connect().Run({"PING"});
  REQUIRE(client().Received().size() == 1);
  CHECK(server().server.hubs.accounts.Sum() == before);
}

TEST_CASE_METHOD(ClusterTest,
                 "without memory for a name in a slice GETKEYSINSLOT answers that, and no part of the keys") {
  for (int i = 0; i < 3000; ++i) Run({"SET", "{b}" + std::to_string(i) + std::string(100, 'x'), "v"});
  TestClient& other = Connect();
  const size_t nth = GENERATE(1, 2, 7);
  REQUIRE(Run({"CLUSTER", "GETKEYSINSLOT", "3300", "3000"}) == NoReply());
  {
    const FailingAllocation failing(nth);
    server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, 500);
  }
  REQUIRE(AllocationFailed());
  CHECK_FALSE(server().sliced_work.waits());
  CHECK(other.Run({"PING"}) == Simple("PONG"));
  CHECK(client().Received() ==
        std::vector<Reply>{Error("OOM command not allowed when used memory > 'maxmemory'.")});
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "3300", "3"}).elements.size() == 3);
}

// ---- what the subcommands say

TEST_CASE_METHOD(ClusterTest,
                 "an unknown node is repeated in its error as one line, and a long one in part") {
  for (const char* subcommand : {"COUNT-FAILURE-REPORTS", "FORGET", "REPLICAS", "REPLICATE", "SLAVES"}) {
    CAPTURE(subcommand);
    CHECK(Run({"CLUSTER", subcommand, "a\r\nb"}) == Error("ERR Unknown node a  b"));
    CHECK(Run({"CLUSTER", subcommand, ""}) == Error("ERR Unknown node "));
    const std::string text = Run({"CLUSTER", subcommand, std::string(5000, 'x')}).text;
    CHECK(text.starts_with("ERR Unknown node " + std::string(128, 'x')));
    CHECK(text.size() < 200);
    CHECK(Run({"CLUSTER", subcommand, std::string(kSelf) + " "}).text.starts_with("ERR Unknown node "));
  }
}

TEST_CASE_METHOD(ClusterTest,
                 "SLOTS is in the order of slots, SHARDS and NODES in that of the file, by any node") {
  ClusterMap map;
  const std::string file =
      "node z 10.0.0.3:7003 16383 9\nnode y 10.0.0.2:7002 10-16382 hostname=x\nnode x 10.0.0.1:7001 1-8\n";
  std::string text = file;
  text.replace(text.find(" 10-16382 hostname=x"), 20, " hostname=x 10-16382");
  REQUIRE_FALSE(map.Read("f", text));
  REQUIRE_FALSE(map.FindSelf("f", {.name = "y", .hosts = {}}));
  const std::vector<std::string> ids = {map.nodes()[0].id, map.nodes()[1].id, map.nodes()[2].id};
  Join(std::move(map));
  const Reply slots = Run({"CLUSTER", "SLOTS"});
  REQUIRE(slots.elements.size() == 4);
  const std::vector<std::pair<int64_t, int64_t>> ranges = {{1, 8}, {9, 9}, {10, 16382}, {16383, 16383}};
  const std::vector<size_t> owners = {2, 0, 1, 0};
  for (size_t i = 0; i < ranges.size(); ++i) {
    CHECK(slots.elements[i].elements.size() == 3);
    CHECK(slots.elements[i].elements[0] == Integer(ranges[i].first));
    CHECK(slots.elements[i].elements[1] == Integer(ranges[i].second));
    CHECK(slots.elements[i].elements[2].elements[2] == Bulk(ids[owners[i]]));
  }
  const Reply shards = Run({"CLUSTER", "SHARDS"});
  REQUIRE(shards.elements.size() == 3);
  CHECK(shards.elements[0].elements[1] == Array({Integer(9), Integer(9), Integer(16383), Integer(16383)}));
  for (size_t i = 0; i < 3; ++i)
    CHECK(shards.elements[i].elements[3].elements[0].elements[1] == Bulk(ids[i]));
  CHECK(Run({"CLUSTER", "NODES"}) ==
        Bulk(ids[0] + " 10.0.0.3:7003@0 master - 0 0 1 connected 9 16383\n" + ids[1] +
             " 10.0.0.2:7002@0,x myself,master - 0 0 2 connected 10-16382\n" + ids[2] +
             " 10.0.0.1:7001@0 master - 0 0 3 connected 1-8\n"));
  const std::string info = Run({"CLUSTER", "INFO"}).text;
  for (const char* line :
       {"cluster_slots_assigned:16383\r\n", "cluster_slots_ok:16383\r\n", "cluster_known_nodes:3\r\n",
        "cluster_size:3\r\n", "cluster_current_epoch:3\r\n", "cluster_my_epoch:2\r\n"}) {
    CAPTURE(line);
    CHECK(info.find(line) != std::string::npos);
  }
  CHECK(Run({"CLUSTER", "MYID"}) == Bulk(ids[1]));
  CHECK(Run({"CLUSTER", "MYSHARDID"}) == Bulk(ids[1]));
  CHECK(Run({"CLUSTER", "REPLICAS", ids[1]}) == Array({}));
  CHECK(Run({"CLUSTER", "COUNT-FAILURE-REPORTS", ids[0]}) == Integer(0));
}

TEST_CASE_METHOD(EmulatedClusterTest,
                 "SHARDS of an emulated cluster has the ports and names that are announced") {
  UseResp3();
  const auto node = [&] { return Run({"CLUSTER", "SHARDS"}).elements.at(0).elements.at(3).elements.at(0); };
  const auto fields = [](const std::string& port, const std::string& endpoint) {
    return std::vector<Reply>{Bulk("id"), Bulk(kSelf),      Bulk("port"),     Integer(std::stoll(port)),
                              Bulk("ip"), Bulk("10.1.2.3"), Bulk("endpoint"), Bulk(endpoint)};
  };
  const std::vector<Reply> end = {Bulk("role"), Bulk("master"), Bulk("replication-offset"),
                                  Integer(0),   Bulk("health"), Bulk("online")};
  const auto with = [&](std::vector<Reply> begin, const std::vector<Reply>& more) {
    begin.insert(begin.end(), more.begin(), more.end());
    begin.insert(begin.end(), end.begin(), end.end());
    return Map(std::move(begin));
  };
  client().session().local = SharedBytes::Copy("10.1.2.3:6380");
  CHECK(node() == with(fields("6380", "10.1.2.3"), {}));
  SetOption("cluster-announce-port", "443");
  CHECK(node() == with(fields("443", "10.1.2.3"), {}));
  SetOption("cluster-announce-hostname", "cache.example");
  CHECK(node() == with(fields("443", "10.1.2.3"), {Bulk("hostname"), Bulk("cache.example")}));
  SetOption("cluster-announce-tls-port", "444");
  SetOption("cluster-preferred-endpoint-type", "hostname");
  std::vector<Reply> both = fields("443", "cache.example");
  both.insert(both.begin() + 4, {Bulk("tls-port"), Integer(444)});
  CHECK(node() == with(both, {Bulk("hostname"), Bulk("cache.example")}));
  CHECK(Run({"CLUSTER", "SHARDS"}).elements.at(0).elements.at(1) == Array({Integer(0), Integer(16383)}));
  CHECK(Run({"CLUSTER", "NODES"}).text ==
        "txt:" + std::string(kSelf) +
            " 10.1.2.3:443@0,cache.example myself,master - 0 0 1 connected 0-16383\n");
}

TEST_CASE_METHOD(EmulatedClusterTest,
                 "an emulated cluster is whole, and refuses to be changed as any other") {
  SetOption("cluster-require-full-coverage", "yes");
  const std::string info = Run({"CLUSTER", "INFO"}).text;
  CHECK(info.starts_with("cluster_state:ok\r\ncluster_slots_assigned:16384\r\ncluster_slots_ok:16384\r\n"));
  CHECK(info.find(
            "cluster_known_nodes:1\r\ncluster_size:1\r\ncluster_current_epoch:1\r\ncluster_my_epoch:1\r\n") !=
        std::string::npos);
  CHECK(Run({"CLUSTER", "MYSHARDID"}) == Bulk(kSelf));
  CHECK(Run({"CLUSTER", "REPLICAS", kSelf}) == Array({}));
  CHECK(Run({"CLUSTER", "REPLICAS", kOther}) == Error(std::string("ERR Unknown node ") + kOther));
  CHECK(Run({"CLUSTER", "LINKS"}) == Array({}));
  CHECK(Run({"CLUSTER", "FAILOVER"}) == Error("ERR You should send CLUSTER FAILOVER to a replica"));
  for (const std::vector<std::string>& change : std::vector<std::vector<std::string>>{
           {"ADDSLOTS", "1"}, {"FORGET", kSelf}, {"RESET", "HARD"}, {"FLUSHSLOTS"}}) {
    std::vector<std::string> words = {"CLUSTER"};
    words.insert(words.end(), change.begin(), change.end());
    CHECK(Run(words).text.starts_with("ERR The slots and roles of this cluster are written in a file"));
  }
  CHECK(Run({"WATCH", "a", "b"}) == Ok());
  CHECK(Run({"MULTI"}) == Ok());
  CHECK(Run({"SET", "a", "1"}) == Simple("QUEUED"));
  CHECK(Run({"SET", "b", "1"}) == Simple("QUEUED"));
  CHECK(Run({"EXEC"}) == Array({Ok(), Ok()}));
  const std::vector<Reply> subscribed = TakeReplies(RunRaw("SSUBSCRIBE a b\r\n"));
  CHECK(subscribed == std::vector<Reply>{Array({Bulk("ssubscribe"), Bulk("a"), Integer(1)}),
                                         Array({Bulk("ssubscribe"), Bulk("b"), Integer(2)})});
}

TEST_CASE_METHOD(CommandTest,
                 "without a cluster every subcommand of CLUSTER says so, after the number of its arguments") {
  const Reply none = Error("ERR This instance has cluster support disabled");
  for (const std::vector<std::string>& call :
       std::vector<std::vector<std::string>>{{"ADDSLOTS", "1"},
                                             {"COUNTKEYSINSLOT", "x"},
                                             {"COUNT-FAILURE-REPORTS", "x"},
                                             {"FAILOVER", "x"},
                                             {"FORGET", "x"},
                                             {"GETKEYSINSLOT", "x", "x"},
                                             {"INFO"},
                                             {"KEYSLOT", "k"},
                                             {"LINKS"},
                                             {"MYID"},
                                             {"MYSHARDID"},
                                             {"REPLICAS", "x"},
                                             {"REPLICATE", "x"},
                                             {"SAVECONFIG"},
                                             {"SHARDS"},
                                             {"SLAVES", "x"}}) {
    std::vector<std::string> words = {"CLUSTER"};
    words.insert(words.end(), call.begin(), call.end());
    CAPTURE(call);
    CHECK(Run(words) == none);
  }
  CHECK(Run({"CLUSTER", "KEYSLOT"}) == Error("ERR wrong number of arguments for 'cluster|keyslot' command"));
  CHECK(Run({"CLUSTER", "NOSUCH"}) == Error("ERR unknown subcommand 'NOSUCH'. Try CLUSTER HELP."));
}

// ---- a new map

TEST_CASE_METHOD(
    RereadTest,
    "who waits for a key of a slot that stays waits on, in the same order and until the same time") {
  TestClient& first = Connect();
  TestClient& second = Connect();
  TestClient& third = Connect();
  CHECK(first.Run({"BLPOP", "b", "0"}) == NoReply());
  CHECK(second.Run({"BLPOP", "b", "0"}) == NoReply());
  CHECK(third.Run({"BLPOP", "bar", "1"}) == NoReply());
  AdvanceTime(600);
  Take("0-8190", "8191-16000");
  for (TestClient* waiter : {&first, &second, &third}) CHECK(waiter->Received().empty());
  AdvanceTime(399);
  CHECK(third.Received().empty());
  AdvanceTime(1);
  CHECK(third.Received() == std::vector<Reply>{NullArray()});
  Run({"RPUSH", "b", "x"});
  CHECK(first.Received() == std::vector<Reply>{Bulks({"b", "x"})});
  CHECK(second.Received().empty());
  Run({"RPUSH", "b", "y"});
  CHECK(second.Received() == std::vector<Reply>{Bulks({"b", "y"})});
}

TEST_CASE_METHOD(RereadTest, "a client whose last shard channel goes stays, and hears of what it tracks") {
  TestClient& ended = Connect();
  TestClient& stays = Connect();
  for (TestClient* client : {&ended, &stays}) {
    client->UseResp3();
    client->Run({"CLIENT", "TRACKING", "ON", "BCAST"});
    client->Run({"SSUBSCRIBE", client == &ended ? "b" : "bar"});
  }
  Take("0-3299 3301-8191", "3300");
  CHECK(ended.Received() == std::vector<Reply>{Push({Bulk("sunsubscribe"), Bulk("b"), Integer(0)})});
  for (int i = 0; i < 30; ++i) {
    Run({"SET", "{bar}" + std::to_string(i) + std::string(10'000, 'x'), "v"});
    TurnWheels();
  }
  CHECK_FALSE(ended.session().closes());
  CHECK_FALSE(ended.session().output.full());
  CHECK(ended.Received().size() == 30);
  stays.Received();
  CHECK(stays.Run({"CLIENT", "INFO"}).text.find(" ssub=1 ") != std::string::npos);
  CHECK(ended.Run({"CLIENT", "INFO"}).text.find(" ssub=0 ") != std::string::npos);
}

TEST_CASE_METHOD(RereadTest, "subscribers are told of a slot that goes in the turn in which it goes") {
  TestClient& subscriber = Connect();
  subscriber.Run({"SSUBSCRIBE", "b"});
  subscriber.Received();
  server().sessions.TakeDirty();
  subscriber.session().dirty = false;
  Take("0-3299 3301-8191", "3300");
  CHECK(subscriber.session().dirty);
  CHECK(Run({"SPUBLISH", "bar", "x"}) == Integer(0));
}

TEST_CASE_METHOD(
    RereadTest,
    "a reader that wants no word of its own changes hears of keys that are dropped after its request") {
  Run({"SET", "b", "1"});
  TestClient& reader = Connect();
  reader.UseResp3();
  reader.Run({"CLIENT", "TRACKING", "ON", "NOLOOP"});
  CHECK(reader.Run({"GET", "b"}) == Bulk("1"));
  Take("0-3299 3301-8191", "3300");
  CHECK(reader.Run({"SET", "bar", "v"}) == Ok());  // the last request before the drop
  while (server().sliced_work.waits()) Slice(1000);
  TurnWheels();
  CHECK(reader.Received() == std::vector<Reply>{Push({Bulk("invalidate"), Bulks({"b"})})});
}

TEST_CASE_METHOD(RereadTest,
                 "the log says how many slots came and went, what is odd in the map, and why it stays") {
  const Folder folder;
  Log log(server().clock, Log::Level::kNotice, folder / "log");
  server().server.log = &log;
  SetOption("cluster-announce-tls-port", "7100");
  Take("0-8190 8193-8195", "8196-16383");
  TakeText("node x 127.0.0.1:7000 0-99999\n");
  CHECK(Run({"CONFIG", "SET", "cluster-config-file", "cluster.conf"}).kind == Reply::Kind::kError);
  server().server.log = nullptr;
  std::ifstream file(folder / "log");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  const auto logged = [&](const std::string& text) {
    return std::count_if(lines.begin(), lines.end(),
                         [&](const std::string& line) { return line.ends_with(text); });
  };
  CHECK(logged(" * cluster: this is node " + std::string(kSelf) +
               ", one of 2, with 8194 slots; 2 slots have no node; slots that came: 2, that went: 1") == 1);
  CHECK(logged(" # cluster-announce-tls-port is ignored: cluster-config-file says tls-port=<port> for each "
               "node") == 1);
  CHECK(logged(
            " # the cluster stays as it is: cluster-config-file cluster.conf:1: 0-99999: slots are <slot> or "
            "<first>-<last>, from 0 to 16383") == 1);
}

TEST_CASE_METHOD(RereadTest,
                 "keys of the first and the last slot are dropped when those go, and the others stay") {
  Take("0-8191 16383", "8192-16382");
  for (const char* key : {kIn0, kIn8191, kIn16383, "b"}) REQUIRE(Run({"SET", key, "v"}) == Ok());
  Take("1-8190", "0 8191-16383");
  CHECK(Run({"GET", kIn0}) == Error("MOVED 0 127.0.0.1:7001"));
  CHECK(Run({"GET", kIn16383}) == Error("MOVED 16383 127.0.0.1:7001"));
  while (server().sliced_work.waits()) Slice(1000);
  CHECK(Run({"KEYS", "*"}) == Bulks({"b"}));
  Take("0-8191 16383", "8192-16382");
  CHECK(Run({"GET", kIn0}) == Null());
  CHECK(Run({"SET", kIn16383, "v"}) == Ok());
  CHECK_FALSE(server().sliced_work.waits());
}

TEST_CASE("readers that wait at a replica, and its subscribers, stay when other slots go") {
  ClusterWorld world(
      "node one 10.0.0.1:7001 0-8191\nnode two 10.0.0.2:7002 8192-16383\nnode three 10.0.0.3:7003 "
      "replica-of=one\n");
  world.Settle();
  TestClient& reader = world.at("three").Connect();
  TestClient& subscriber = world.at("three").Connect();
  reader.Run({"READONLY"});
  CHECK(reader.Run({"XREAD", "BLOCK", "0", "STREAMS", "b", "$"}) == NoReply());
  subscriber.Run({"SSUBSCRIBE", "b"});
  world.Write(
      "node one 10.0.0.1:7001 1-8191\nnode two 10.0.0.2:7002 0 8192-16383\nnode three 10.0.0.3:7003 "
      "replica-of=one\n");
  for (const char* node : {"one", "two", "three"}) world.at(node).ReadFile();
  world.Pass(10);
  CHECK(reader.Received().empty());
  CHECK(subscriber.Received().empty());
  world.at("one").Run({"XADD", "b", "1-1", "f", "v"});
  world.at("one").Run({"SPUBLISH", "b", "x"});
  world.Pass(10);
  CHECK(reader.Received().size() == 1);
  CHECK(subscriber.Received() == std::vector<Reply>{Bulks({"smessage", "b", "x"})});
  CHECK(reader.Run({"GET", kIn0}) == Error("MOVED 0 10.0.0.2:7002"));
}

}  // namespace mayfly::testing

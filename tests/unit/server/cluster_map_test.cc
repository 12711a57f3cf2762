#include "server/cluster/cluster_map.h"

#include <random>
#include <string>

#include "support/catch.h"

namespace mayfly {
namespace {

constexpr std::string_view kId = "1c804338219df6882f759e3371314d61099573b9";

std::string ProblemOf(std::string_view text) {
  ClusterMap map;
  return map.Read("cluster.conf", text).value_or("");
}

}  // namespace

TEST_CASE("each line of the file is a node with its slots") {
  ClusterMap map;
  REQUIRE_FALSE(
      map.Read("cluster.conf",
               "# name address slots\n"
               "\n"
               "node one 10.0.0.1:6379 0-99 101 100\r\n"
               "  node\ttwo  cache2.example:7000 tls-port=7100 hostname=two.example  16383 102-200\n"
               "node 1C804338219df6882f759e3371314d61099573b9 [fd00::1]:6379"));
  REQUIRE(map.nodes().size() == 3);
  const ClusterNode& one = map.nodes()[0];
  CHECK(one.host == "10.0.0.1");
  CHECK(one.port == 6379);
  CHECK(one.slots == std::vector<SlotRange>{{0, 101}});
  CHECK(one.tls_port == 0);
  CHECK(map.nodes()[1].tls_port == 7100);
  CHECK(map.nodes()[1].hostname == "two.example");
  CHECK(one.hostname.empty());
  CHECK(map.nodes()[1].slots == std::vector<SlotRange>{{102, 200}, {16383, 16383}});
  CHECK(map.nodes()[2].host == "fd00::1");
  CHECK(map.nodes()[2].slots.empty());
  CHECK(map.slots_assigned() == 202);
  CHECK(map.OwnerOf(150) == 1);
  CHECK(map.OwnerOf(201) == ClusterMap::kNobody);
}

TEST_CASE(
    "a name of 40 hexadecimal digits is the id, and from any other name the same id follows everywhere") {
  ClusterMap map;
  ClusterMap other;
  REQUIRE_FALSE(map.Read("a", "node one h:1 0\nnode " + std::string(kId) + " h:2 1\n"));
  REQUIRE_FALSE(other.Read("b", "node " + std::string(kId) + " h:2 1\nnode one h:1 0\n"));
  CHECK(map.nodes()[1].id == kId);
  CHECK(map.nodes()[0].id.size() == 40);
  CHECK(map.nodes()[0].id == other.nodes()[1].id);
  CHECK(map.FindById(kId) == &map.nodes()[1]);
  CHECK(map.FindById("one") == nullptr);
}

TEST_CASE("a wrong line is named, with what is wrong about it") {
  constexpr std::string_view kLine =
      ": a line is: node <name> <host>:<port> [tls-port=<port>] [hostname=<name>] [replica-of=<name>] "
      "[<slot>|<first>-<last> ...]";
  CHECK(ProblemOf("") == "cluster.conf: there is no node in it");
  CHECK(ProblemOf("# nothing\n\n") == "cluster.conf: there is no node in it");
  CHECK(ProblemOf("\nnodes a h:1 0") == "cluster.conf:2: nodes" + std::string(kLine));
  CHECK(ProblemOf("node") == "cluster.conf:1: a name and an address are missing");
  CHECK(ProblemOf("node a") == "cluster.conf:1: a: an address is missing");
  CHECK(ProblemOf("node a/b h:1") ==
        "cluster.conf:1: a/b: a name is at most 64 letters, digits, '.', '_' and '-'");
  CHECK(ProblemOf("node " + std::string(65, 'a') + " h:1").ends_with("'.', '_' and '-'"));
  for (const std::string address : {"h", ":1", "[]:1", "[h]:1", "fd00::1:6379", "h/:1", "[fd00::1:1", "**:1"})
    CHECK(ProblemOf("node a " + address) ==
          "cluster.conf:1: " + address + ": an address is <host>:<port>, with an IPv6 host in brackets");
  for (const std::string address : {"0.0.0.0:6379", "[::]:6379", "[0:0:0:0:0:0:0:0]:1", "0:1"})
    CHECK(ProblemOf("node a " + address) ==
          "cluster.conf:1: " + address +
              ": no client can connect to that address; * stands for the one by which it has come");
  for (const std::string address : {"h:", "h:0", "h:65536", "h:x", "h:-1", "h:01"})
    CHECK(ProblemOf("node a " + address) == "cluster.conf:1: " + address + ": a port is between 1 and 65535");
  for (const std::string port : {"", "0", "65536", "x"})
    CHECK(ProblemOf("node a h:1 tls-port=" + port) ==
          "cluster.conf:1: tls-port=" + port + ": a port is between 1 and 65535");
  const std::string hostname = ": a hostname is at most 255 letters, digits, '.' and '-'";
  for (const std::string name : {"", "a_b", "a:b"})
    CHECK(ProblemOf("node a h:1 hostname=" + name) == "cluster.conf:1: hostname=" + name + hostname);
  CHECK(ProblemOf("node a h:1 hostname=" + std::string(256, 'a')).ends_with(hostname));
  CHECK(ProblemOf("node a h:1 hostname=" + std::string(255, 'a') + " tls-port=5 1").empty());
  for (const std::string word : {"port=1", "=", "hostname=b", "tls-port=6"})
    CHECK(ProblemOf("node a h:1 tls-port=5 hostname=a " + word + " 1") ==
          "cluster.conf:1: " + word +
              ": an address may be followed by one tls-port=<port>, one hostname=<name> and one "
              "replica-of=<name>");
  for (const std::string slots : {"16384", "-1", "5-4", "0-16384", "x", "1-", "-", "1-2-3", "00"})
    CHECK(ProblemOf("node a h:1 " + slots) ==
          "cluster.conf:1: " + slots + ": slots are <slot> or <first>-<last>, from 0 to 16383");
  CHECK(
      ProblemOf("node a h:1 0-5 foo=bar").starts_with("cluster.conf:1: foo=bar: an address may be followed"));
  CHECK(ProblemOf("node a h:1 0-5 hostname=a") == "cluster.conf:1: hostname=a: stands before the slots");
  CHECK(ProblemOf("node a h:1 0-5\nnode b h:2 6 3") == "cluster.conf:2: slot 3 belongs to a already");
  CHECK(ProblemOf("node a h:1 0-5 5") == "cluster.conf:1: slot 5 belongs to a already");
  CHECK(ProblemOf("node a h:1\nnode a h:2") == "cluster.conf:2: a: there is a node of that name already");
  CHECK(ProblemOf("node a H:1\nnode b h:1") == "cluster.conf:2: b: a has the same address");
  // What would disturb a terminal is not shown as it is.
  CHECK(ProblemOf("node \x1b[2J h:1").find('\x1b') == std::string::npos);
}

TEST_CASE("a line may name the master of a replica, in any order of lines, by name or id") {
  ClusterMap map;
  REQUIRE_FALSE(map.Read("f",
                         "node four h:4 replica-of=one hostname=four.example\n"
                         "node one h:1 0-99\n"
                         "node five *:5 tls-port=6 replica-of=1C804338219df6882f759e3371314d61099573b9\n"
                         "node " +
                             std::string(kId) +
                             " h:2 100\n"
                             "node six h:6 replica-of=one"));
  CHECK(map.nodes()[0].master == 1);
  CHECK(map.nodes()[0].hostname == "four.example");
  CHECK(map.nodes()[2].master == 3);
  CHECK(map.nodes()[1].replicas == std::vector<ClusterNode::Index>{0, 4});
  CHECK(map.nodes()[3].replicas == std::vector<ClusterNode::Index>{2});
  CHECK_FALSE(map.nodes()[1].is_replica());
  CHECK(map.ShardOf(4) == 1);
  CHECK(map.ShardOf(3) == 3);
  CHECK(map.slots_assigned() == 101);
}

TEST_CASE("a replica has the keys of its master's slots, and owns no slot") {
  const auto read = [](std::string_view self) {
    ClusterMap map;
    REQUIRE_FALSE(map.Read("f", "node a h:1 0-9\nnode b h:2 10-19\nnode c h:3 replica-of=b\n"));
    REQUIRE_FALSE(map.FindSelf("f", {.name = self, .hosts = {}}));
    return map;
  };
  const ClusterMap replica = read("c");
  REQUIRE(replica.master() == &replica.nodes()[1]);
  CHECK(replica.Holds(10));
  CHECK_FALSE(replica.Holds(9));
  CHECK_FALSE(replica.Holds(20));
  CHECK_FALSE(replica.IsOwn(10));
  CHECK(replica.OwnerOf(10) == 1);
  const ClusterMap master = read("b");
  CHECK(master.master() == nullptr);
  CHECK(master.Holds(10));
  CHECK_FALSE(master.Holds(9));
}

TEST_CASE("a replica of nobody, of itself, of a replica or of a host without an address is refused") {
  CHECK(ProblemOf("node a h:1\nnode b h:2 replica-of=c") ==
        "cluster.conf:2: replica-of=c: there is no node of that name");
  CHECK(ProblemOf("node a h:1\nnode b h:2 replica-of=") ==
        "cluster.conf:2: replica-of=: the name of a node is missing");
  CHECK(ProblemOf("node b h:2 replica-of=b\nnode a h:1") ==
        "cluster.conf:1: replica-of=b: a node is no replica of itself");
  CHECK(ProblemOf("node a h:1\nnode b h:2 replica-of=c\nnode c h:3 replica-of=a") ==
        "cluster.conf:2: replica-of=c: c is a replica itself; name its master");
  CHECK(ProblemOf("node a h:1 replica-of=b\nnode b h:2 replica-of=a") ==
        "cluster.conf:1: replica-of=b: b is a replica itself; name its master");
  CHECK(ProblemOf("node a *:1 0\nnode b h:2 replica-of=a") ==
        "cluster.conf:2: replica-of=a: a replica connects to its master, and a has no address but *");
  CHECK(ProblemOf("node a h:1 0\nnode b h:2 replica-of=a 1") ==
        "cluster.conf:2: 1: b is a replica, and has no slots but those of its master");
  CHECK(ProblemOf("node a h:1 0\nnode b h:2 1 replica-of=a") ==
        "cluster.conf:2: replica-of=a: stands before the slots");
  CHECK(ProblemOf("node a h:1 0\nnode b h:2 replica-of=a replica-of=a").find("and one replica-of=<name>") !=
        std::string::npos);
}

TEST_CASE("there is a limit on nodes") {
  std::string text;
  for (int i = 0; i < 1001; ++i) text += "node n" + std::to_string(i) + " h:" + std::to_string(i + 1) + "\n";
  CHECK(ProblemOf(text) == "cluster.conf:1001: more than 1000 nodes");
}

TEST_CASE("a node finds itself by its name or its address, if nothing else is meant") {
  const auto find = [](const NodeClues& clues) {
    ClusterMap map;
    REQUIRE_FALSE(map.Read("f", "node a 10.0.0.1:1 0\nnode b 10.0.0.1:2 1\nnode c Cache:1 2\n"));
    const config::Problem problem = map.FindSelf("f", clues);
    return problem ? *problem : map.self().name;
  };
  CHECK(find({.name = "b", .hosts = {}}) == "b");
  CHECK(find({.name = {}, .hosts = {}, .port = 2}) == "b");
  CHECK(find({.name = {}, .hosts = {"127.0.0.1", "10.0.0.1"}, .port = 1}) == "a");
  CHECK(find({.name = {}, .hosts = {"cache"}, .port = 1}) == "c");
  const std::string which = ": which of them is this one? Say it by cluster-announce-human-nodename <name>";
  CHECK(find({.name = "x", .hosts = {}}) == "f: no node named x" + which);
  CHECK(find({.name = {}, .hosts = {}, .port = 1}) == "f: 2 nodes with port 1" + which);
  CHECK(find({.name = {}, .hosts = {"10.0.0.9"}, .port = 1}) == "f: no node at 10.0.0.9 with port 1" + which);
}

TEST_CASE("an emulated cluster is one node with all slots") {
  ClusterMap map;
  map.MakeSingle(kId);
  CHECK(map.nodes().size() == 1);
  CHECK(map.self().slots == std::vector<SlotRange>{{0, 16383}});
  CHECK(map.slots_assigned() == kSlots);
  CHECK(map.IsOwn(16383));
}

TEST_CASE("whatever the file holds, it is read or refused with one line") {
  constexpr std::string_view kPieces[] = {"node",
                                          " ",
                                          "a",
                                          "b",
                                          "h:1",
                                          "[::1]:2",
                                          "0-16383",
                                          "5",
                                          "-",
                                          "#",
                                          "tls-port=7",
                                          "hostname=x.y",
                                          "=",
                                          "\n",
                                          "\r",
                                          "\t",
                                          ":",
                                          "9999999999999999999999",
                                          "\xff",
                                          "replica-of=a",
                                          "replica-of=b",
                                          "node b h:2"};
  std::mt19937 random(20261124);
  size_t accepted = 0;
  size_t replicas = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = random() % 2 == 0 ? "node a h:1 5\n" : "";
    if (random() % 4 == 0) text += "node c h:3 replica-of=a";
    for (size_t n = random() % 24; n != 0; --n) text += kPieces[random() % std::size(kPieces)];
    if (random() % 4 == 0) text.push_back('\0');
    ClusterMap map;
    const config::Problem problem = map.Read("f", text);
    if (problem) {
      REQUIRE(problem->starts_with("f:"));
      REQUIRE(problem->find_first_of("\n\r") == std::string::npos);
    } else {
      ++accepted;
      REQUIRE_FALSE(map.nodes().empty());
      for (size_t at = 0; at < map.nodes().size(); ++at) {
        const ClusterNode& node = map.nodes()[at];
        if (!node.is_replica()) continue;
        ++replicas;
        REQUIRE(node.master != at);
        REQUIRE_FALSE(map.nodes()[node.master].is_replica());
        REQUIRE(node.slots.empty());
      }
    }
  }
  CHECK(accepted > 100);
  CHECK(replicas > 10);
}

}  // namespace mayfly

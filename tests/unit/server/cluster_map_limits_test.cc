// The cluster's file at its limits: what just fits, and which ids follow from names.
#include <string>

#include "server/cluster/cluster_map.h"
#include "support/catch.h"

namespace mayfly {
namespace {

constexpr const char* kOneId = "fe05bcdcdc4928012781a5f1a2a77cbb5398e106";  // `printf one | sha1sum`

std::string ProblemWith(std::string_view text) {
  ClusterMap map;
  return map.Read("f", text).value_or("");
}

}  // namespace

TEST_CASE("the id of a node is the SHA-1 of its name, and 40 hexadecimal digits are an id in small letters") {
  ClusterMap map;
  const std::string hex = "ABCDEFabcdef0123456789012345678901234567";
  const std::string no_hex = "g" + hex.substr(1);
  REQUIRE_FALSE(map.Read("f", "node one h:1\nnode " + hex + " h:2\nnode " + hex + "0 h:3\nnode " +
                                  hex.substr(1) + " h:4\nnode " + no_hex + " h:5\n"));
  CHECK(map.nodes()[0].id == kOneId);
  CHECK(map.nodes()[0].name == "one");
  CHECK(map.nodes()[1].id == "abcdefabcdef0123456789012345678901234567");
  CHECK(map.nodes()[1].name == hex);
  CHECK(map.nodes()[2].id == "820e7349b329d3fb0704a98780feb113991dda70");
  for (const size_t node : {2, 3, 4}) {
    CHECK(map.nodes()[node].id.size() == 40);
    CHECK(map.nodes()[node].id.find("0123456789012345") == std::string::npos);
  }
  CHECK(map.FindById(kOneId) == &map.nodes()[0]);
  CHECK(map.FindById("abcdefabcdef0123456789012345678901234567") == &map.nodes()[1]);
  CHECK(map.FindById("") == nullptr);
  // An id that another name already has is no second node.
  CHECK(ProblemWith("node one h:1\nnode " + std::string(kOneId) + " h:2") ==
        "f:2: " + std::string(kOneId) + ": there is a node of that name already");
}

TEST_CASE("names, hosts, ports and slots are read up to their limits") {
  ClusterMap map;
  const std::string name(64, 'N');
  const std::string host(255, 'h');
  REQUIRE_FALSE(map.Read("f", "node " + name + " " + host + ":65535 tls-port=65535 0 5-5 16383\n" +
                                  "node a.b_c-9 a_b-c.9:1 tls-port=1 6-7\n" +
                                  "node x [::ffff:10.0.0.1]:2 8\n" + "node y *:3 9\nnode z 1:4 10\n"));
  const ClusterNode& longest = map.nodes()[0];
  CHECK(longest.name == name);
  CHECK(longest.host == host);
  CHECK(longest.port == 65535);
  CHECK(longest.tls_port == 65535);
  CHECK(longest.slots == std::vector<SlotRange>{{0, 0}, {5, 5}, {16383, 16383}});
  CHECK(map.OwnerOf(0) == 0);
  CHECK(map.OwnerOf(16383) == 0);
  CHECK(map.OwnerOf(1) == ClusterMap::kNobody);
  CHECK(map.OwnerOf(16382) == ClusterMap::kNobody);
  CHECK(map.nodes()[1].host == "a_b-c.9");
  CHECK(map.nodes()[1].tls_port == 1);
  CHECK(map.nodes()[2].host == "::ffff:10.0.0.1");
  CHECK(map.nodes()[3].host == ClusterMap::kSameHost);
  CHECK(map.slots_assigned() == 8);
  CHECK(ProblemWith("node a " + host + "h:1")
            .ends_with(": an address is <host>:<port>, with an IPv6 host in brackets"));
  for (const std::string slots : {"x-16383", "-16383", "16384-16383", "99999999999-5"}) {
    CHECK(ProblemWith("node a h:1 " + slots) ==
          "f:1: " + slots + ": slots are <slot> or <first>-<last>, from 0 to 16383");
  }
  CHECK(ProblemWith("node a h:1 0-16383") == "");
  CHECK(ProblemWith("node a h:1 16383-16383") == "");
  CHECK(ProblemWith("node a h:1 16382-16384").starts_with("f:1: 16382-16384: slots are "));
}

TEST_CASE("slots of neighbours and of interleaved nodes are ranges of their own") {
  ClusterMap map;
  REQUIRE_FALSE(map.Read("f", "node a h:1 0 2 4-5\nnode b h:2 1 3 7 6\nnode c h:3 16380-16383\n"));
  CHECK(map.nodes()[0].slots == std::vector<SlotRange>{{0, 0}, {2, 2}, {4, 5}});
  CHECK(map.nodes()[1].slots == std::vector<SlotRange>{{1, 1}, {3, 3}, {6, 7}});
  CHECK(map.nodes()[2].slots == std::vector<SlotRange>{{16380, 16383}});
  CHECK(map.OwnerOf(6) == 1);
  CHECK(map.slots_assigned() == 12);
}

TEST_CASE("nodes may share a host or a port, but not both") {
  CHECK(ProblemWith("node a h:1\nnode b h:2\nnode c i:1") == "");
  CHECK(ProblemWith("node a *:1\nnode b *:2\nnode c h:1") == "");
  CHECK(ProblemWith("node a [FD00::1]:1\nnode b [fd00::1]:1") == "f:2: b: a has the same address");
  CHECK(ProblemWith("node a *:1\nnode b *:1") == "f:2: b: a has the same address");
}

TEST_CASE("what follows an address stands in any order, each once, and empty words are no words") {
  ClusterMap map;
  REQUIRE_FALSE(map.Read("f",
                         "node a h:1 0-1 \t\r\n \t \r\n\t# node x h:9\n#\n"
                         "node b h:2 replica-of=a hostname=B.Example tls-port=3\t\r\n"
                         "node c h:3 hostname=c tls-port=4 replica-of=a"));
  REQUIRE(map.nodes().size() == 3);
  for (const size_t node : {1, 2}) CHECK(map.nodes()[node].master == 0);
  CHECK(map.nodes()[1].hostname == "B.Example");
  CHECK(map.nodes()[1].tls_port == 3);
  CHECK(map.nodes()[2].hostname == "c");
  CHECK(map.nodes()[2].tls_port == 4);
  CHECK(map.nodes()[0].replicas == std::vector<ClusterNode::Index>{1, 2});
  // The line is the one in the file, also for what is looked at after all of them.
  CHECK(ProblemWith("# one\n\nnode a h:1 0\n# four\nnode b h:2 replica-of=c\n") ==
        "f:5: replica-of=c: there is no node of that name");
  CHECK(ProblemWith("# one\n\nnode c h:3 replica-of=a\nnode a h:1\n\nnode b h:2 replica-of=c\n") ==
        "f:6: replica-of=c: c is a replica itself; name its master");
  CHECK(ProblemWith("node a h:1 0\nNode b h:2").starts_with("f:2: Node: a line is: node "));
  CHECK(ProblemWith("node a h:1 Hostname=x").starts_with("f:1: Hostname=x: an address may be followed"));
}

TEST_CASE("a node with the host * fits whatever address is sought, and all clues have to fit") {
  const auto find = [](const NodeClues& clues) {
    ClusterMap map;
    REQUIRE_FALSE(
        map.Read("f", "node a *:1 0\nnode b 10.0.0.2:2 1\nnode c *:3 2\nnode d d.example:3 replica-of=b\n"));
    const config::Problem problem = map.FindSelf("f", clues);
    return problem ? *problem
                   : map.self().name + (map.master() != nullptr ? " of " + map.master()->name : "");
  };
  const std::string which = ": which of them is this one? Say it by cluster-announce-human-nodename <name>";
  CHECK(find({.name = {}, .hosts = {"10.0.0.9"}, .port = 1}) == "a");
  CHECK(find({.name = {}, .hosts = {"10.0.0.9"}, .port = 3}) == "c");
  CHECK(find({.name = {}, .hosts = {"D.EXAMPLE"}, .port = 3}) ==
        "f: 2 nodes at D.EXAMPLE with port 3" + which);
  CHECK(find({.name = "d", .hosts = {}}) == "d of b");
  CHECK(find({.name = "b", .hosts = {"10.0.0.2"}, .port = 2}) == "b");
  CHECK(find({.name = "b", .hosts = {}, .port = 1}) == "f: no node named b with port 1" + which);
  CHECK(find({.name = "b", .hosts = {"10.0.0.3", "h"}}) == "f: no node named b at 10.0.0.3" + which);
  CHECK(find({.name = "B", .hosts = {}}) == "f: no node named B" + which);
  CHECK(find({.name = {}, .hosts = {}}) == "f: 4 nodes" + which);
}

}  // namespace mayfly

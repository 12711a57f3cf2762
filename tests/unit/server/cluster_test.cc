// A daemon as a part of a cluster: how it finds its line, where it sends clients to, and which calls run here.
#include "server/cluster/cluster.h"

#include <string>
#include <vector>

#include "base/memory/output.h"
#include "server/clients/session.h"
#include "support/catch.h"

namespace mayfly {
namespace {

constexpr std::string_view kRunId = "0123456789abcdef0123456789abcdef01234567";

config::Files FilesWith(const std::string& text) {
  config::Files files;
  files.read_again = [text](const std::string& path, std::string& read) -> config::Problem {
    if (path != "c.conf") return path + ": No such file or directory";
    read = text;
    return std::nullopt;
  };
  return files;
}

config::Settings InCluster() {
  config::Settings settings;
  settings.cluster_enabled = true;
  settings.cluster_config_file = "c.conf";
  return settings;
}

// The name of the node that this daemon is, or the problem.
std::string SelfOf(const std::string& text, const config::Settings& settings) {
  std::optional<ClusterMap> map;
  const config::Problem problem = FormCluster(settings, FilesWith(text), kRunId, map);
  CHECK(map.has_value() != problem.has_value());
  return problem ? *problem : map->self().name;
}

ClusterMap MapOf(const std::string& text, std::string_view self) {
  ClusterMap map;
  REQUIRE_FALSE(map.Read("c.conf", text));
  REQUIRE_FALSE(map.FindSelf("c.conf", {.name = self, .hosts = {}}));
  return map;
}

// A cluster, its settings, and the client that asks.
class AskedCluster {
 public:
  AskedCluster(const std::string& text, std::string_view self)
      : cluster_(MapOf(text, self), false, changes_) {
    cluster_.Follow(settings);
  }
  AskedCluster() : cluster_(Single(), true, changes_) { cluster_.Follow(settings); }

  Cluster& cluster() noexcept { return cluster_; }
  void ComeTo(std::string_view local) { session_.local = SharedBytes::Copy(local); }
  void ComeByUnixSocket() {
    session_.over_unix_socket = true;
    ComeTo("/run/mayfly.sock:0");
  }
  // The place of a node, as "address port".
  std::string PlaceOf(size_t node) const {
    const Endpoint endpoint = cluster_.EndpointOf(cluster_.map().nodes()[node], session_);
    return std::string(endpoint.address) + ' ' + std::to_string(endpoint.port);
  }
  std::string HostnameOf(size_t node) const {
    return std::string(cluster_.EndpointOf(cluster_.map().nodes()[node], session_).hostname);
  }
  std::string PreferredOf(size_t node) const {
    const Endpoint endpoint = cluster_.EndpointOf(cluster_.map().nodes()[node], session_);
    return std::string(cluster_.PreferredHost(endpoint).value_or("(none)"));
  }

  config::Settings settings;

 private:
  static ClusterMap Single() {
    ClusterMap map;
    map.MakeSingle(kRunId);
    return map;
  }

  ChangeHub changes_;
  Cluster cluster_;
  ChunkPool chunks_;
  Session session_{chunks_};
};

}  // namespace

// ---- which line is this daemon's

TEST_CASE("a daemon of a cluster finds its line by its name, its ports and its addresses") {
  const std::string text =
      "node a 10.0.0.1:7000 0\nnode b 10.0.0.2:7000 1\nnode c 10.0.0.1:7001 2\nnode d 10.0.0.3:7002 3\n";
  const std::string which = ": which of them is this one? Say it by cluster-announce-human-nodename <name>";
  config::Settings settings = InCluster();
  settings.port = 7001;
  CHECK(SelfOf(text, settings) == "c");
  settings.port = 7000;
  CHECK(SelfOf(text, settings) == "cluster-config-file c.conf: 2 nodes with port 7000" + which);
  settings.bind = {{"10.0.0.9", true}, {"10.0.0.2", false}};
  CHECK(SelfOf(text, settings) == "b");
  settings.cluster_announce_ip = "10.0.0.1";  // counts more than bind
  CHECK(SelfOf(text, settings) == "a");
  settings.cluster_announce_port = 7001;  // counts more than port
  CHECK(SelfOf(text, settings) == "c");
  settings.cluster_announce_ip = "10.0.0.8";
  CHECK(SelfOf(text, settings) == "cluster-config-file c.conf: no node at 10.0.0.8 with port 7001" + which);
  settings.cluster_announce_human_nodename = "d";  // counts more than all
  CHECK(SelfOf(text, settings) == "d");
  settings.cluster_announce_human_nodename = "e";
  CHECK(SelfOf(text, settings) == "cluster-config-file c.conf: no node named e" + which);
}

TEST_CASE("without a port a daemon of a cluster finds its line by its tls-port") {
  const std::string text = "node a 10.0.0.1:7000 0\nnode b 10.0.0.1:7100 1\n";
  config::Settings settings = InCluster();
  settings.port = 7000;
  settings.tls_port = 7100;
  CHECK(SelfOf(text, settings) == "a");
  settings.port = 0;
  CHECK(SelfOf(text, settings) == "b");
}

TEST_CASE("a daemon that listens at all addresses may be at any of them") {
  const std::string text = "node a 10.0.0.1:7000 0\nnode b 10.0.0.2:7001 1\n";
  const std::string wildcard = GENERATE("*", "::*", "0.0.0.0", "::");
  CAPTURE(wildcard);
  config::Settings settings = InCluster();
  settings.port = 7001;
  settings.bind = {{"10.0.0.1", false}, {wildcard, false}};
  CHECK(SelfOf(text, settings) == "b");
  settings.bind = {{wildcard, false}, {"10.0.0.1", false}};
  CHECK(SelfOf(text, settings) == "b");
  settings.bind = {{"10.0.0.1", false}};
  CHECK(SelfOf(text, settings).starts_with("cluster-config-file c.conf: no node at 10.0.0.1 with port 7001"));
}

TEST_CASE("there is a cluster if the options say so, of a file or of this daemon alone") {
  config::Settings settings;
  std::optional<ClusterMap> map;
  CHECK(FormCluster(settings, FilesWith(""), kRunId, map) == std::nullopt);
  CHECK_FALSE(map.has_value());

  settings.cluster_mode = config::ClusterMode::kEmulated;
  CHECK(FormCluster(settings, FilesWith(""), kRunId, map) == std::nullopt);
  REQUIRE(map.has_value());
  CHECK(map->self().id == kRunId);
  CHECK(map->self().name == kRunId);
  CHECK(map->self().host == ClusterMap::kSameHost);
  CHECK(map->master() == nullptr);
  CHECK(map->IsOwn(0));
  CHECK(map->Holds(16383));

  map.reset();
  settings.cluster_enabled = true;
  CHECK(FormCluster(settings, FilesWith("node a h:6379 0"), kRunId, map) ==
        "cluster-mode emulated: this daemon plays a cluster alone, and cluster-enabled makes it one of many; "
        "leave out one of them");
  CHECK_FALSE(map.has_value());

  CHECK(SelfOf("node a h:6379 0", InCluster()) == "a");
  CHECK(SelfOf("node a h:6379 16384", InCluster()) ==
        "cluster-config-file c.conf:1: 16384: slots are <slot> or <first>-<last>, from 0 to 16383");
  config::Settings missing = InCluster();
  missing.cluster_config_file = "d.conf";
  CHECK(SelfOf("node a h:6379 0", missing) == "cluster-config-file d.conf: No such file or directory");
}

// ---- where clients are sent to

TEST_CASE("clients find a node at the address of its line, and for * at the one that they have come to") {
  AskedCluster asked("node a *:7000 0\nnode b 10.0.0.2:7001 1\nnode c [fd00::3]:7002 2\n", "a");
  asked.ComeTo("10.1.2.3:7000");
  CHECK(asked.PlaceOf(0) == "10.1.2.3 7000");
  CHECK(asked.PlaceOf(1) == "10.0.0.2 7001");
  CHECK(asked.PlaceOf(2) == "fd00::3 7002");
  asked.ComeTo("[fd00::1]:7000");
  CHECK(asked.PlaceOf(0) == "fd00::1 7000");
  asked.settings.cluster_announce_ip = "cache.example";
  asked.settings.cluster_announce_port = 1;
  CHECK(asked.PlaceOf(0) == "cache.example 7000");
  CHECK(asked.PlaceOf(1) == "10.0.0.2 7001");
  asked.ComeByUnixSocket();
  CHECK(asked.PlaceOf(0) == "cache.example 7000");
  asked.settings.cluster_announce_ip.clear();
  CHECK(asked.PlaceOf(0) == " 7000");
  CHECK(asked.PlaceOf(1) == "10.0.0.2 7001");
}

TEST_CASE("clients of TLS are sent to the tls-port of a line, and to the port of a line without one") {
  AskedCluster asked("node a 10.0.0.1:7000 tls-port=7100 0\nnode b 10.0.0.2:7001 1\n", "a");
  asked.settings.tls_port = 7100;
  asked.ComeTo("10.0.0.1:7100");
  CHECK(asked.PlaceOf(0) == "10.0.0.1 7100");
  CHECK(asked.PlaceOf(1) == "10.0.0.2 7001");
  asked.ComeTo("10.0.0.1:7000");
  CHECK(asked.PlaceOf(0) == "10.0.0.1 7000");
  asked.settings.cluster_announce_tls_port = 9;  // only the file counts
  asked.ComeTo("10.0.0.1:7100");
  CHECK(asked.PlaceOf(0) == "10.0.0.1 7100");
  CHECK(asked.PlaceOf(1) == "10.0.0.2 7001");
  CHECK(asked.cluster().TlsPortOf(asked.cluster().map().nodes()[1]) == 0);
  asked.settings.tls_port = 0;  // nobody comes over TLS
  asked.ComeByUnixSocket();
  CHECK(asked.PlaceOf(0) == "10.0.0.1 7000");
}

TEST_CASE("the port of an emulated cluster is the announced one, or the one that the client has come to") {
  AskedCluster asked;
  asked.settings.port = 6379;
  asked.settings.tls_port = 6380;
  asked.ComeTo("10.1.2.3:6379");
  CHECK(asked.PlaceOf(0) == "10.1.2.3 6379");
  asked.ComeTo("10.1.2.3:6380");
  CHECK(asked.PlaceOf(0) == "10.1.2.3 6380");
  asked.settings.cluster_announce_port = 443;
  CHECK(asked.PlaceOf(0) == "10.1.2.3 6380");
  asked.settings.cluster_announce_tls_port = 444;
  CHECK(asked.PlaceOf(0) == "10.1.2.3 444");
  CHECK(asked.cluster().TlsPortOf(asked.cluster().map().self()) == 444);
  asked.ComeTo("10.1.2.3:6379");
  CHECK(asked.PlaceOf(0) == "10.1.2.3 443");
  asked.ComeByUnixSocket();
  CHECK(asked.PlaceOf(0) == " 443");
  asked.settings.cluster_announce_port = 0;
  CHECK(asked.PlaceOf(0) == " 6379");
}

TEST_CASE("a node has the hostname of its line, and the announced one is for a line with * alone") {
  AskedCluster asked(
      "node a *:1 0\nnode b *:2 hostname=b.example 1\nnode c 10.0.0.3:3 2\nnode d d.example:4 "
      "hostname=other.example 3\nnode e e.example:5 4\nnode f [fd00::abcd]:6 5\n",
      "a");
  asked.ComeTo("10.0.0.1:1");
  asked.settings.cluster_announce_hostname.text = "a.example";
  CHECK(asked.HostnameOf(0) == "a.example");
  CHECK(asked.HostnameOf(1) == "b.example");
  CHECK(asked.HostnameOf(2).empty());
  CHECK(asked.HostnameOf(3) == "other.example");
  CHECK(asked.HostnameOf(4).empty());
  CHECK(asked.PreferredOf(3) == "d.example");
  asked.settings.cluster_preferred_endpoint_type = config::EndpointType::kHostname;
  const std::vector<std::string> preferred = {"a.example",     "b.example", "?",
                                              "other.example", "e.example", "?"};
  for (size_t node = 0; node < preferred.size(); ++node) CHECK(asked.PreferredOf(node) == preferred[node]);
  asked.settings.cluster_preferred_endpoint_type = config::EndpointType::kUnknown;
  for (size_t node = 0; node < preferred.size(); ++node) CHECK(asked.PreferredOf(node) == "(none)");
}

// ---- what is said at the start

TEST_CASE("a daemon says what it is in its cluster") {
  const std::string text =
      "node a h:1 0-9 16383\nnode b h:2 replica-of=a\nnode c h:3 20-16382\nnode d h:4 10-19\n";
  const auto describe = [](const std::string& file, std::string_view self) {
    return AskedCluster(file, self).cluster().Describe();
  };
  CHECK(describe(text, "a") == "cluster: this is node a, one of 4, with 11 slots");
  CHECK(describe(text, "b") == "cluster: this is node b, one of 4, a replica of a");
  CHECK(describe("node a h:1 0-9\nnode b h:2 replica-of=a\nnode c h:3\n", "c") ==
        "cluster: this is node c, one of 3, with 0 slots; 16374 slots have no node");
  CHECK(describe("node a h:1 0-9\nnode b h:2 replica-of=a\n", "b") ==
        "cluster: this is node b, one of 2, a replica of a; 16374 slots have no node");
  CHECK(AskedCluster().cluster().Describe() ==
        "cluster-mode emulated: this daemon plays a cluster of one node");
}

TEST_CASE(
    "there is a warning of each node without the preferred hostname, and of what the file says otherwise") {
  const std::string nameless =
      "cluster-preferred-endpoint-type is hostname, but node a has none: clients are sent to \"?\" instead";
  AskedCluster asked("node a 10.0.0.1:7000 0\nnode b b.example:7001 1\n", "a");
  CHECK(asked.cluster().Warnings().empty());
  asked.settings.cluster_preferred_endpoint_type = config::EndpointType::kUnknown;
  CHECK(asked.cluster().Warnings().empty());
  asked.settings.cluster_preferred_endpoint_type = config::EndpointType::kHostname;
  CHECK(asked.cluster().Warnings() == std::vector<std::string>{nameless});
  asked.settings.cluster_announce_hostname.text = "a.example";
  asked.settings.cluster_announce_tls_port = 7100;
  CHECK(asked.cluster().Warnings().size() == 3);

  AskedCluster same("node a 10.0.0.1:7000 tls-port=7100 hostname=a.example 0\n", "a");
  same.settings.cluster_preferred_endpoint_type = config::EndpointType::kHostname;
  same.settings.cluster_announce_hostname.text = "a.example";
  same.settings.cluster_announce_tls_port = 7100;
  CHECK(same.cluster().Warnings().empty());
  same.settings.cluster_announce_tls_port = 7101;
  CHECK(same.cluster().Warnings() ==
        std::vector<std::string>{
            "cluster-announce-tls-port is ignored: cluster-config-file says tls-port=<port> for each node"});
  same.settings.cluster_announce_tls_port = 0;
  same.settings.cluster_announce_hostname.text = "b.example";
  CHECK(same.cluster().Warnings() ==
        std::vector<std::string>{
            "cluster-announce-hostname is ignored: cluster-config-file says hostname=<name> for each node"});

  same.settings.cluster_announce_hostname.text.clear();
  CHECK(same.cluster().Warnings().empty());

  AskedCluster emulated;
  emulated.settings.cluster_announce_tls_port = 7100;
  CHECK(emulated.cluster().Warnings().empty());
  emulated.settings.cluster_preferred_endpoint_type = config::EndpointType::kHostname;
  REQUIRE(emulated.cluster().Warnings().size() == 1);
  CHECK(emulated.cluster().Warnings()[0].find("node " + std::string(kRunId) + " has none") !=
        std::string::npos);
  emulated.settings.cluster_announce_hostname.text = "cache.example";
  CHECK(emulated.cluster().Warnings().empty());
}

// ---- which calls run here

TEST_CASE("a call runs here by its slot, what it does, and whether the cluster is whole") {
  using enum Elsewhere;
  using Use = Cluster::Use;
  constexpr uint16_t kMine = 0;
  constexpr uint16_t kTheirs = 1;
  constexpr uint16_t kNobodys = 16383;
  AskedCluster asked("node a h:1 0\nnode b h:2 1-16382\n", "a");
  Cluster& cluster = asked.cluster();
  const auto places = [&](uint16_t slot) {
    return std::vector<Elsewhere>{cluster.PlaceOf(slot, Use::kReads, false),
                                  cluster.PlaceOf(slot, Use::kWrites, false),
                                  cluster.PlaceOf(slot, Use::kShardChannels, false)};
  };
  const std::vector<Elsewhere> unserved(3, kUnserved);
  CHECK(places(kMine) == std::vector<Elsewhere>(3, kHere));
  CHECK(places(kTheirs) == std::vector<Elsewhere>(3, kMoved));
  CHECK(places(kNobodys) == unserved);
  CHECK(cluster.Serves(kMine));
  CHECK_FALSE(cluster.Serves(kTheirs));
  CHECK_FALSE(cluster.Serves(kNobodys));
  CHECK_FALSE(cluster.down());

  asked.settings.cluster_require_full_coverage = true;
  cluster.Follow(asked.settings);
  CHECK(cluster.down());
  CHECK_FALSE(cluster.Serves(kMine));
  CHECK(places(kMine) == std::vector<Elsewhere>{kDown, kDown, kHere});
  CHECK(places(kTheirs) == std::vector<Elsewhere>{kDown, kDown, kMoved});
  CHECK(places(kNobodys) == unserved);

  asked.settings.cluster_allow_reads_when_down = true;
  asked.settings.cluster_allow_pubsubshard_when_down = false;
  cluster.Follow(asked.settings);
  CHECK(places(kMine) == std::vector<Elsewhere>{kHere, kDownReadOnly, kDown});
  CHECK(places(kTheirs) == std::vector<Elsewhere>{kMoved, kDownReadOnly, kDown});

  cluster.Adopt(MapOf("node a h:1 0\nnode b h:2 1-16383\n", "a"));
  CHECK_FALSE(cluster.down());
  CHECK(places(kMine) == std::vector<Elsewhere>(3, kHere));
  CHECK(places(kNobodys) == std::vector<Elsewhere>(3, kMoved));
  cluster.Adopt(MapOf("node a h:1 0\nnode b h:2 2-16383\n", "a"));
  CHECK(cluster.down());
}

TEST_CASE("a replica serves its master's slots once it has had the master's keys, and no others") {
  AskedCluster asked("node a h:1 0-9\nnode b h:2 10-19\nnode c h:3 replica-of=a\n", "c");
  Cluster& cluster = asked.cluster();
  using Use = Cluster::Use;
  CHECK_FALSE(cluster.ServesAtReplica(9));
  CHECK(cluster.PlaceOf(9, Use::kReads, true) == Elsewhere::kMoved);
  cluster.NoteMasterKeys(true);
  CHECK(cluster.has_master_keys());
  CHECK(cluster.ServesAtReplica(0));
  CHECK(cluster.ServesAtReplica(9));
  CHECK_FALSE(cluster.ServesAtReplica(10));
  CHECK_FALSE(cluster.ServesAtReplica(20));
  CHECK_FALSE(cluster.Serves(9));
  CHECK(cluster.PlaceOf(9, Use::kReads, true) == Elsewhere::kHere);
  CHECK(cluster.PlaceOf(9, Use::kReads, false) == Elsewhere::kMoved);
  CHECK(cluster.PlaceOf(10, Use::kReads, true) == Elsewhere::kMoved);
  CHECK(cluster.PlaceOf(20, Use::kReads, true) == Elsewhere::kUnserved);
  asked.settings.cluster_require_full_coverage = true;
  cluster.Follow(asked.settings);
  CHECK_FALSE(cluster.ServesAtReplica(9));
  CHECK(cluster.PlaceOf(9, Use::kReads, true) == Elsewhere::kDown);
  asked.settings.cluster_require_full_coverage = false;
  cluster.Follow(asked.settings);
  cluster.NoteMasterKeys(false);
  CHECK_FALSE(cluster.ServesAtReplica(9));
}

}  // namespace mayfly

#include "net/process/shards.h"

#include <unistd.h>

#include <algorithm>

#include "net/process/restarts.h"
#include "net/process/shard_rules.h"
#include "net/socket/descriptor.h"
#include "net/socket/ready_socket.h"
#include "server/cluster/cluster_map.h"
#include "support/catch.h"

namespace mayfly::net {

TEST_CASE("shards have all slots, in parts of nearly the same size") {
  for (const unsigned shards : {1U, 2U, 3U, 7U, 256U}) {
    CAPTURE(shards);
    ClusterMap map;
    REQUIRE_FALSE(map.Read("f", ShardsFile(shards, 7000, 0)));
    REQUIRE(map.nodes().size() == shards);
    CHECK(map.slots_assigned() == kSlots);
    for (const ClusterNode& node : map.nodes()) {
      REQUIRE(node.slots.size() == 1);
      const size_t size = node.slots[0].last - node.slots[0].first + size_t{1};
      CHECK(size >= kSlots / shards);
      CHECK(size <= kSlots / shards + 1);
    }
    CHECK(map.nodes().back().port == 7000 + shards - 1);
    CHECK(map.nodes().back().name == "shard-" + std::to_string(shards));
    REQUIRE_FALSE(map.FindSelf("f", {.name = "shard-1", .hosts = {}}));
  }
}

TEST_CASE("shards with TLS have tls-ports in a row") {
  CHECK(ShardsFile(2, 7000, 7100) ==
        "node shard-1 *:7000 tls-port=7100 0-8191\nnode shard-2 *:7001 tls-port=7101 8192-16383\n");
}

TEST_CASE("a shard gets its port, its name, and its part of a maxmemory that is no number of bytes") {
  const auto value = [](const std::vector<std::string>& words, std::string_view name) {
    for (size_t i = 0; i + 1 < words.size(); i += 2) {
      if (words[i] == name) return words[i + 1];
    }
    return std::string("(none)");
  };
  config::Settings settings;
  settings.port = 7000;
  settings.shards = 4;
  settings.maxmemory.bytes = 1000;
  std::vector<std::string> words = ShardOptions(settings, 2, "/file");
  CHECK(value(words, "--port") == "7002");
  CHECK(value(words, "--shards") == "0");
  CHECK(value(words, "--cluster-config-file") == "/file");
  CHECK(value(words, "--cluster-announce-human-nodename") == "shard-3");
  CHECK(value(words, "--maxmemory") == "250");
  CHECK(value(words, "--pidfile").empty());
  CHECK(value(words, "--unixsocket") == "(none)");
  CHECK(value(words, "--tls-port") == "(none)");
  CHECK(value(words, "--metrics-port") == "(none)");
  CHECK(value(words, "--supervised") == "systemd");
  settings.maxmemory.request = config::MaxMemory::Request::kPercent;
  settings.unixsocket = "/run/mayfly.sock";
  settings.tls_port = 7100;
  settings.metrics_port = 9100;
  CHECK(value(ShardOptions(settings, 3, "/file"), "--tls-port") == "7103");
  CHECK(value(ShardOptions(settings, 3, "/file"), "--metrics-port") == "9103");
  words = ShardOptions(settings, 0, "/file");
  CHECK(value(words, "--maxmemory") == "250");
  CHECK(value(words, "--unixsocket") == "/run/mayfly.sock.7000");
  settings.maxmemory.request = config::MaxMemory::Request::kBytes;
  CHECK(value(ShardOptions(settings, 0, "/file"), "--maxmemory") == "(none)");
  settings.port = 0;  // TLS only
  words = ShardOptions(settings, 1, "/file");
  CHECK(value(words, "--port") == "0");
  CHECK(value(words, "--tls-port") == "7101");
  CHECK(value(words, "--unixsocket") == "/run/mayfly.sock.7101");
  settings.maxmemory = {config::MaxMemory::Request::kAuto, 75, 0};  // unknown: no limit
  CHECK(value(ShardOptions(settings, 0, "/file"), "--maxmemory") == "(none)");
}

TEST_CASE("each daemon of --shards needs ports of its own, up to the highest one there is") {
  const auto problem = [](int64_t port, int64_t tls_port, int64_t metrics_port, int64_t shards) {
    config::Settings settings;
    settings.port = port;
    settings.tls_port = tls_port;
    settings.metrics_port = metrics_port;
    settings.shards = shards;
    return CheckShards(settings).value_or("");
  };
  const std::string none = "shards needs a port or a tls-port: ";
  const std::string too_high = "shards needs a port for each daemon, ";
  CHECK(problem(6379, 0, 0, 2).empty());
  CHECK(problem(0, 6380, 0, 2).empty());
  CHECK(problem(0, 0, 9121, 2).starts_with(none));
  CHECK(problem(65'535, 0, 0, 1).empty());
  CHECK(problem(65'534, 65'530, 65'534, 2).empty());
  CHECK(problem(65'535, 0, 0, 2).starts_with(too_high));
  CHECK(problem(6379, 65'535, 0, 2).starts_with(too_high));
  CHECK(problem(6379, 0, 65'535, 2).starts_with(too_high));
}

TEST_CASE("a cluster that is given by other options is none that --shards can make") {
  config::Settings settings;
  settings.shards = 2;
  settings.cluster_enabled = true;
  CHECK(CheckShards(settings).value_or("").starts_with("shards makes a cluster of its own"));
  settings.cluster_enabled = false;
  settings.cluster_mode = config::ClusterMode::kEmulated;
  CHECK(CheckShards(settings).value_or("").starts_with("shards makes a cluster of its own"));
}

TEST_CASE("the file of a shard's keys has its port in its name, and without a file there is none") {
  config::Settings settings;
  settings.port = 7000;
  settings.shards = 2;
  settings.dbfilename = "dump.rdb";
  const auto has = [&](const std::string& word) {
    const std::vector<std::string> words = ShardOptions(settings, 1, "/file");
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  CHECK(has("dump.rdb.7001"));
  settings.dbfilename.clear();
  CHECK_FALSE(has("--dbfilename"));
}

TEST_CASE("a shard hears nothing of this program's service manager, and knows whose shard it is") {
  std::vector<std::string> environment =
      ShardEnvironment({"HOME=/x", "NOTIFY_SOCKET=/systemd", "WATCHDOG_USEC=1", "WATCHDOG_PID=2",
                        "MAYFLY_SHARD_OF=5", "MAYFLY_PORT=7"},
                       77, "@shards");
  CHECK(environment ==
        std::vector<std::string>{"HOME=/x", "MAYFLY_PORT=7", "NOTIFY_SOCKET=@shards", "MAYFLY_SHARD_OF=77"});
  std::vector<std::string> of_another = environment;
  CHECK(TakeShardMark(environment, 77));
  CHECK(environment.size() == 3);
  CHECK_FALSE(TakeShardMark(environment, 77));
  CHECK_FALSE(TakeShardMark(of_another, 1));
  CHECK(of_another.size() == 3);
}

TEST_CASE("who says that it is ready is known, and other words are not taken for that") {
  ReadySocket socket;
  REQUIRE(socket.Open().value_or("") == "");
  CHECK(socket.name().starts_with("@"));
  CHECK(socket.Take() == -1);
  REQUIRE(SendDatagram(socket.name(), "WATCHDOG=1", 0) == 0);
  REQUIRE(SendDatagram(socket.name(), "READY=1\nSTATUS=x", 0) == 0);
  CHECK(socket.Take() == 0);
  CHECK(socket.Take() == getpid());
  CHECK(socket.Take() == -1);
}

TEST_CASE("a process that keeps ending is started less and less soon, until it has run well") {
  Restarts restarts;
  CHECK(restarts.NextMs(0) == 100);
  CHECK(restarts.NextMs(59'999) == 200);
  CHECK(restarts.NextMs(0) == 400);
  for (int i = 0; i < 20; ++i) static_cast<void>(restarts.NextMs(0));
  CHECK(restarts.NextMs(0) == 30'000);
  CHECK(restarts.NextMs(60'000) == 100);
  CHECK(restarts.NextMs(0) == 200);
}

}  // namespace mayfly::net

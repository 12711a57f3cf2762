// What --shards refuses, which files each shard has to itself, and what a shard leaves to the program that started it.
#include <string>
#include <vector>

#include "base/log/log.h"
#include "net/process/shard_rules.h"
#include "net/process/shards.h"
#include "support/catch.h"
#include "unit/config/load.h"

namespace mayfly::net {
namespace {

config::Settings WithShards(int64_t shards, int64_t port, int64_t tls_port = 0, int64_t metrics_port = 0) {
  config::Settings settings;
  settings.shards = shards;
  settings.port = port;
  settings.tls_port = tls_port;
  settings.metrics_port = metrics_port;
  return settings;
}

}  // namespace

TEST_CASE("shards need a port or tls-port, and room for one port each after each of their ports") {
  const std::string none = "shards needs a port or a tls-port: from it on, each daemon has one of its own";
  const std::string no_room =
      "shards needs a port for each daemon, from the option port on (and from tls-port and metrics-port on)";
  CHECK(CheckShards(WithShards(1, 65535)) == std::nullopt);
  CHECK(CheckShards(WithShards(2, 65534)) == std::nullopt);
  CHECK(CheckShards(WithShards(2, 65535)) == no_room);
  CHECK(CheckShards(WithShards(2, 0)) == none);
  CHECK(CheckShards(WithShards(2, 0, 65534)) == std::nullopt);
  CHECK(CheckShards(WithShards(2, 7000, 65535)) == no_room);
  CHECK(CheckShards(WithShards(2, 7000, 7100, 65534)) == std::nullopt);
  CHECK(CheckShards(WithShards(3, 7000, 7100, 65534)) == no_room);
  const std::string own = "shards makes a cluster of its own: leave out cluster-enabled and cluster-mode";
  config::Settings settings = WithShards(2, 7000);
  settings.cluster_enabled = true;
  CHECK(CheckShards(settings) == own);
  settings.cluster_enabled = false;
  settings.cluster_mode = config::ClusterMode::kEmulated;
  CHECK(CheckShards(settings) == own);
}

TEST_CASE("--shards starts nothing that cannot be, nor with options from standard input") {
  const config::TestFiles files;
  SteppedClock clock;
  Log log(clock, Log::Level::kNothing, "");
  const StartFolder start;
  const config::Loaded no_port(files, {"--shards", "2", "--port", "0"});
  CHECK(RunShards(no_port.options, {"--shards", "2", "--port", "0"}, {}, start, log)
            .value_or("")
            .starts_with("shards needs a port or a tls-port"));
  const config::Loaded fits(files, {"--shards", "2"});
  CHECK(RunShards(fits.options, {"-", "--shards", "2"}, {}, start, log) ==
        "shards: the daemons cannot read their options from standard input, too");
}

TEST_CASE("each shard has a snapshot file of its own, and is a node of the cluster of shards") {
  config::Settings settings = WithShards(3, 7000);
  const auto words = [&](unsigned index) { return ShardOptions(settings, index, "/proc/self/fd/5"); };
  const std::vector<std::string> second = {"--shards",
                                           "0",
                                           "--port",
                                           "7001",
                                           "--cluster-enabled",
                                           "yes",
                                           "--cluster-config-file",
                                           "/proc/self/fd/5",
                                           "--cluster-announce-human-nodename",
                                           "shard-2",
                                           "--supervised",
                                           "systemd",
                                           "--pidfile",
                                           "",
                                           "--dbfilename",
                                           "dump.rdb.7001"};
  settings.dbfilename = "dump.rdb";
  settings.maxmemory.request = config::MaxMemory::Request::kBytes;
  settings.maxmemory.bytes = 300;
  CHECK(words(1) == second);
  settings.dbfilename.clear();  // nothing is saved
  CHECK(words(1) == std::vector<std::string>(second.begin(), second.end() - 2));
  settings.maxmemory = {config::MaxMemory::Request::kAuto, 75, 1000};
  CHECK(words(0).back() == "333");
}

TEST_CASE("the slots of shards follow one another from the first to the last") {
  CHECK(ShardsFile(1, 65535, 0) == "node shard-1 *:65535 0-16383\n");
  CHECK(ShardsFile(3, 7000, 0) ==
        "node shard-1 *:7000 0-5460\nnode shard-2 *:7001 5461-10921\nnode shard-3 *:7002 10922-16383\n");
}

TEST_CASE("a shard refuses each setting that decides where it listens, unless it stays as it is") {
  const config::TestFiles files;
  config::Loaded shard(files, {"--port", "7001", "--maxmemory", "100mb", "--bind", "127.0.0.1"});
  REQUIRE(shard.error == "");
  LeaveToShards(shard.options);
  using Pairs = std::vector<config::NameValue>;
  for (const auto& [name, value] : Pairs{{"port", "7002"},
                                         {"tls-port", "7102"},
                                         {"bind", "127.0.0.2"},
                                         {"cluster-announce-ip", "10.0.0.1"},
                                         {"cluster-announce-port", "7002"}}) {
    CAPTURE(name);
    const std::string before = shard.Get(name);
    CHECK(shard.Set({{name, value}})
              .find("this daemon is a shard: where it listens is decided by the program that "
                    "--shards has started") != std::string::npos);
    CHECK(shard.Set({{"maxkeys", "7"}, {name, value}}) != "");
    CHECK(shard.Get(name) == before);
    CHECK(shard.Get("maxkeys") == "0");
    CHECK(shard.Set({{name, before}}) == "");
  }
  for (const char* part : {"auto", "50%"})
    CHECK(shard.Set({{"maxmemory", part}})
              .find("its part of the machine's memory has to be a number of bytes") != std::string::npos);
  CHECK(shard.Get("maxmemory") == std::to_string(100 << 20));
  CHECK(shard.Set({{"maxmemory", "0"}}) == "");
  CHECK(shard.Get("maxmemory") == "0");
  CHECK(shard.options.Rewrite() ==
        "this daemon is a shard, and the conf file is for all of them: change it there");
}

TEST_CASE("only the mark with the parent's own number makes a shard, and no mark stays") {
  const auto take = [](std::vector<std::string> environment, pid_t parent) {
    const bool is_shard = TakeShardMark(environment, parent);
    return std::pair(is_shard, environment);
  };
  using Words = std::vector<std::string>;
  CHECK(take({"MAYFLY_SHARD_OF=77"}, 77) == std::pair(true, Words{}));
  CHECK(take({"MAYFLY_SHARD_OF=78", "MAYFLY_SHARD_OF=77", "MAYFLY_SHARD_OF=79"}, 77) ==
        std::pair(true, Words{}));
  CHECK(take({"MAYFLY_SHARD_OF=777", "MAYFLY_SHARD_OF=7", "A=b"}, 77) == std::pair(false, Words{"A=b"}));
  CHECK(take({"MAYFLY_SHARD_OF="}, 77) == std::pair(false, Words{}));
  CHECK(take({"MAYFLY_SHARD_OFF=77"}, 77) == std::pair(false, Words{"MAYFLY_SHARD_OFF=77"}));
  CHECK(take({}, 77) == std::pair(false, Words{}));
}

TEST_CASE("a folder at the start is one that can be entered again") {
  const StartFolder start;
  CHECK(start.Enter());
}

}  // namespace mayfly::net

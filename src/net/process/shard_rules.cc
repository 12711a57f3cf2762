#include "net/process/shard_rules.h"

#include <optional>

namespace mayfly::net {
namespace {

using config::Problem;

Problem ProblemWith(const config::Settings& now, const config::Settings& wanted, std::string_view name) {
  const bool moves =
      (name == "port" && wanted.port != now.port) ||
      (name == "tls-port" && wanted.tls_port != now.tls_port) ||
      (name == "cluster-announce-ip" && wanted.cluster_announce_ip != now.cluster_announce_ip) ||
      (name == "cluster-announce-port" && wanted.cluster_announce_port != now.cluster_announce_port);
  if (moves)
    return "this daemon is a shard: where it listens is decided by the program that --shards has started";
  if (name == "maxmemory" && wanted.maxmemory.request != config::MaxMemory::Request::kBytes)
    return "this daemon is a shard: its part of the machine's memory has to be a number of bytes";
  return std::nullopt;
}

}  // namespace

bool TakeShardMark(std::vector<std::string>& environment, pid_t parent) {
  const std::string own = std::string(kShardMark) + std::to_string(parent);
  bool is_shard = false;
  std::erase_if(environment, [&](const std::string& variable) {
    is_shard |= variable == own;
    return variable.starts_with(kShardMark);
  });
  return is_shard;
}

void LeaveToShards(config::Options& options) {
  options.BeforeSet([&options](const config::Settings& wanted, std::string_view name) {
    return ProblemWith(options.settings(), wanted, name);
  });
  options.ForbidRewrite("this daemon is a shard, and the conf file is for all of them: change it there");
}

}  // namespace mayfly::net

#include "net/process/shard_rules.h"

#include <optional>

#include "config/sources/candidate.h"
#include "config/sources/options.h"

namespace mayfly::net {
namespace {

using config::Problem;
using config::Settings;

template <typename Value>
void Fix(Value Settings::* member, config::Options& options) {
  const auto refuse_another = [member, &now = options.settings()](const Settings& wanted) -> Problem {
    if (wanted.*member == now.*member) return std::nullopt;
    return "this daemon is a shard: where it listens is decided by the program that --shards has started";
  };
  options.Prepare({.prepare = refuse_another}, member);
}

Problem RefusePartOfMachine(const Settings& wanted) {
  if (wanted.maxmemory.request == config::MaxMemory::Request::kBytes) return std::nullopt;
  return "this daemon is a shard: its part of the machine's memory has to be a number of bytes";
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
  Fix(&Settings::port, options);
  Fix(&Settings::tls_port, options);
  Fix(&Settings::bind, options);
  Fix(&Settings::cluster_announce_ip, options);
  Fix(&Settings::cluster_announce_port, options);
  options.Prepare({.prepare = RefusePartOfMachine}, &Settings::maxmemory);
  options.ForbidRewrite("this daemon is a shard, and the conf file is for all of them: change it there");
}

}  // namespace mayfly::net

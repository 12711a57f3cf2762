// The rules for a daemon started by --shards (net/process/shards.h): settings that only the parent changes. These are its ports
// and its part of the memory, and the conf file, which all shards share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/sources/options.h"

#include <sys/types.h>

namespace mayfly::net {

// A variable of the environment that says so: its value is the process id of that program, so that nobody else who
// inherits it is taken for a shard.
inline constexpr std::string_view kShardMark = "MAYFLY_SHARD_OF=";

// Takes the mark from the environment, since it is no option. True if this process is a shard of `parent`.
bool TakeShardMark(std::vector<std::string>& environment, pid_t parent);

// From now on CONFIG SET and CONFIG REWRITE refuse what is not this shard's to decide. `options` outlives its use.
void LeaveToShards(config::Options& options);

}  // namespace mayfly::net

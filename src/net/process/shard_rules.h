// The rules for a daemon started by --shards (net/process/shards.h): settings that only the parent changes. The parent
// decides the shard's ports, the shard's part of the memory, and the conf file of all shards.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/sources/options.h"

#include <sys/types.h>

namespace mayfly::net {

// The environment variable of a shard: the value is the process id of the parent program. Any other process that inherits
// the variable is thus not taken for a shard.
inline constexpr std::string_view kShardMark = "MAYFLY_SHARD_OF=";

// Takes the mark from the environment, because the mark is no option. True if this process is a shard of `parent`.
bool TakeShardMark(std::vector<std::string>& environment, pid_t parent);

// CONFIG SET and CONFIG REWRITE refuse the parent's settings from now on. `options` outlives its use.
void LeaveToShards(config::Options& options);

}  // namespace mayfly::net

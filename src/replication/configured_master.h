// Follows the master that the options name, from the start on: what main needs to know of replication.
#pragma once

namespace mayfly {

struct Server;

// No effect if replicaof names none. Defined in master_link.cc. Throws std::bad_alloc.
void FollowConfiguredMaster(Server& server);

}  // namespace mayfly

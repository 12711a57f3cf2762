// What main needs to know of replication.
#pragma once

namespace mayfly {

struct Server;

// Makes the part for replicas, so that writes are refused without them if the options say so, and follows the master that the
// options name, if they name one. Throws std::bad_alloc.
void StartReplication(Server& server);

}  // namespace mayfly

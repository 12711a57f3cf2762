// What main needs to know of replication.
#pragma once

#include <functional>

namespace mayfly {

struct Server;

// Makes the part for replicas, so that writes are refused without them if the options say so, and follows the master that the
// options name, if they name one. In a cluster the map of the nodes names it, and each later map as well. Throws std::bad_alloc.
void StartReplication(Server& server);

// A signal tells the server to stop. True: it may. False: it serves on while replicas are waited for, and `stop` is called then,
// unless a client gives the stop up. Throws std::bad_alloc.
bool MayStop(Server& server, bool waits_for_replicas, std::function<void()> stop);
// The server does not stop, although it may.
void GoOnServing(Server& server) noexcept;

}  // namespace mayfly

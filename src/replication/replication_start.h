// Replication's interface for main: start, and a stop that waits for replicas.
#pragma once

#include <functional>

namespace mayfly {

struct Server;

// Makes Replicas, and follows the master named by the options. Writes are refused from now on if the options require more
// replicas than there are. In a cluster each map of the nodes names the master. Throws std::bad_alloc.
void StartReplication(Server& server);

// A signal tells the server to stop. Returns true if the server may stop at once. Returns false if the server serves on and
// waits for replicas: `stop` is called after the wait, unless a client aborts the stop. Throws std::bad_alloc.
bool MayStop(Server& server, bool waits_for_replicas, std::function<void()> stop);
// The server serves on, although allowed to stop.
void GoOnServing(Server& server) noexcept;

}  // namespace mayfly

// Replication's interface for main: start, and a stop that waits for replicas and the snapshot file.
#pragma once

#include <functional>

#include "config/settings.h"

namespace mayfly {

struct Server;

// What follows the wait before a stop.
struct StopEnds {
  std::function<void()> stop;      // nothing is left to save: the server stops
  std::function<void()> given_up;  // the stop was given up; empty: nothing
  // Called with true several times a second while the loop turns, and with false before work that may take longer; empty: nothing.
  std::function<void(bool turns)> turns = {};
};

// Makes Replicas, and follows the master named by the options. Writes are refused from now on if the options require more
// replicas than there are. In a cluster each map of the nodes names the master. Throws std::bad_alloc.
void StartReplication(Server& server);

// A signal with these words tells the server to stop. Returns true if the server may stop at once. Returns false if the server
// serves on meanwhile (replication/stop_wait.h): one of `ends` is called at the end, unless another request to stop came first.
// Throws std::bad_alloc.
bool MayStop(Server& server, const config::ShutdownFlags& words, StopEnds ends);
// The server stops, and replicas and file have everything.
bool IsReadyToStop(Server& server) noexcept;

}  // namespace mayfly

// What becomes of expired keys and of tasks, by the server's role.
#pragma once

#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "server/figures/link_figures.h"
#include "server/server.h"
#include "server/watch/event_log.h"

namespace mayfly {

// A replica hides expired keys until its master removes them, and a server that waits to stop does so until the next start.
// Neither has clients that write: a put does not find a hidden key, and the key would exist twice.
inline void TreatExpiredByRole(Server& server) noexcept {
  const bool hides =
      server.waits_to_stop || (server.link.follows() && server.options.settings().replica_read_only);
  server.databases.FollowMaster(server.link.follows());
  server.event_log.set_at_replica(server.link.follows());
  server.databases.TreatExpired(hides ? ExpiredKeys::kHidden : ExpiredKeys::kRemoved);
}

}  // namespace mayfly

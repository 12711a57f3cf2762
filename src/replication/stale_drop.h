// A replica has no stale values (STALE). The stream does not say when the master's stale value of a key goes, by INVALIDATE for
// one, and a replica that becomes a master must not hand out what was dropped. A server that takes a
// master's keys, or goes on with a master's stream, drops its own stale values in slices.
//
// Borrows the server. Loop thread only.
#pragma once

#include <cstddef>
#include <limits>

#include "base/time/clock.h"
#include "cache/keyspace/databases.h"
#include "server/figures/link_figures.h"
#include "server/server.h"
#include "server/sliced_work.h"

namespace mayfly {

class StaleDrop final : private SlicedWork::Step {
 public:
  explicit StaleDrop(Server& server) : Step(server.sliced_work), server_(server) {}

  // REQUIRES: a master is followed, so that no value becomes stale (Databases::FollowMaster).
  void Begin() noexcept {
    if (server_.databases.stale_values() != 0) Announce();
  }
  // Drops the rest at once: this server is about to follow no master.
  void End() noexcept {
    if (waits()) server_.databases.DropSomeStale(std::numeric_limits<size_t>::max());
  }

 private:
  bool DoSome(Now, size_t budget) noexcept override {
    return server_.link.follows() && server_.databases.DropSomeStale(budget);
  }

  Server& server_;
};

}  // namespace mayfly

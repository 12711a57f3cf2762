// A replica has no stale values (STALE). The stream does not say when the master's stale value of a key goes, by INVALIDATE for
// one, and a replica that becomes a master must not hand out what was dropped. A server that begins to follow a master drops its
// own stale values in slices.
//
// Borrows the server. Loop thread only.
#pragma once

#include <cstddef>
#include <limits>

#include "base/time/clock.h"
#include "cache/keyspace/databases.h"
#include "server/server.h"
#include "server/sliced_work.h"

namespace mayfly {

class StaleDrop final : private SlicedWork::Step {
 public:
  explicit StaleDrop(Server& server) : Step(server.sliced_work), databases_(server.databases) {}

  // REQUIRES: a master is followed, so that no value becomes stale (Databases::FollowMaster).
  void Begin() noexcept {
    if (databases_.stale_values() != 0) Announce();
  }
  // Drops the rest at once: this server is about to follow no master.
  void End() noexcept {
    if (waits()) databases_.DropSomeStale(std::numeric_limits<size_t>::max());
  }

 private:
  bool DoSome(Now, size_t budget) noexcept override { return databases_.DropSomeStale(budget); }

  Databases& databases_;
};

}  // namespace mayfly

// Puts a new map of the cluster in force while the daemon serves. By SIGHUP, and by CONFIG SET cluster-config-file, even
// with the same file name. A file with a problem changes nothing.
//
// When slots go to other nodes, as in Redis
//   - requests that wait for keys of these slots run again, and are redirected then
//   - subscribers of these slots' shard channels get a message that their subscriptions have ended
//   - the keys are dropped, in slices, and no request reaches these keys meanwhile.
// A returning slot is thus empty: this node does not know the changes made by other nodes. If a slot returns before all its
// keys are dropped, the rest is dropped at once.
//
// When this node gets another role or another master, the link to the master is informed (Cluster::GiveRole). A replica drops no
// keys by itself: its master's keys decide. A replica that becomes a master drops what its master had not dropped yet.
//
// Invariant: without a waiting slice, a master has no key of another node's slot. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>

#include "config/problem.h"
#include "config/settings.h"
#include "server/cluster/cluster_map.h"
#include "server/server.h"
#include "server/sliced_work.h"

namespace mayfly {

class ClusterReload final : private SlicedWork::Step {
 public:
  // Borrows the server. The server's options may change as long as this lives, and not after. REQUIRES: the server belongs
  // to a cluster that is not emulated.
  explicit ClusterReload(Server& server);

  // Reads the file again. The log has the outcome. Throws std::bad_alloc without a change.
  void Reload();

 private:
  // Makes the next map for Commit, unless there is a problem.
  config::Problem Prepare(const config::Settings& settings);
  // REQUIRES: a map waits.
  void Commit() noexcept;
  // Gives this server the role that the map says, but later if memory runs out or a long script runs.
  void GiveRole(const ClusterMap& map) noexcept;
  void DropFromStart() noexcept;
  void RedirectWaiters() noexcept;
  void EndShardSubscriptions() noexcept;
  bool DoSome(Now now, size_t budget) noexcept override;
  // Drops some keys of other nodes' slots. Returns true if there may be more.
  bool DropSome(Now now, size_t budget) noexcept;

  Server& server_;
  std::unique_ptr<ClusterMap> next_;  // null: no map was prepared
  uint64_t cursor_ = 0;               // of the keys
  bool keys_dropped_ = true;
  bool role_missing_ = false;  // this server does not have the role that the map says
};

}  // namespace mayfly

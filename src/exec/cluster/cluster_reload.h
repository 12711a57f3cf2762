// Puts a new map of the cluster in force while the daemon serves. By SIGHUP, and by CONFIG SET cluster-config-file,
// also if that names the same file. A file with a problem changes nothing.
//
// When slots go to other nodes, as in Redis
//   - clients that wait for keys of these slots have their requests run again, which are redirected then
//   - subscribers of these slots' shard channels are told that their subscriptions have ended
//   - the keys are dropped, in slices, and no request reaches them meanwhile.
// So a slot that comes back is empty: what other nodes have done to its keys is not known here. If it comes back before all
// keys are dropped, the rest is dropped at once.
//
// Invariant: unless it waits for a slice, there is no key here of another node's slot. Loop thread only.
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
  // Borrows the server. Its options may change as long as this lives, and not after.
  // REQUIRES: it is a part of a cluster that is not emulated.
  explicit ClusterReload(Server& server);

  // Reads the file again. The log has the outcome. Throws std::bad_alloc, and then nothing has changed.
  void Reload();

 private:
  // A map waits for Commit, unless there is a problem.
  config::Problem Prepare(const config::Settings& settings);
  void Commit() noexcept;
  void RedirectWaiters() noexcept;
  void EndShardSubscriptions() noexcept;
  bool DoSome(Now now, size_t budget) noexcept override;
  // Drops some keys of other nodes' slots. Returns true if there may be more.
  bool DropSome(Now now, size_t budget) noexcept;
  // Stale values are dropped whatever their slots: they are optional, and seldom.
  bool DropSomeStale(size_t budget) noexcept;

  Server& server_;
  std::unique_ptr<ClusterMap> next_;  // null: none was prepared
  uint64_t cursor_ = 0;               // of the keys
  bool keys_dropped_ = true;
};

}  // namespace mayfly

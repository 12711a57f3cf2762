#include "replication/replication_start.h"

#include "base/log/log.h"
#include "config/sources/options.h"
#include "replication/master_link.h"
#include "replication/replicas.h"

namespace mayfly {

void StartReplication(Server& server) {
  static_cast<void>(Replicas::Of(server));
  const config::MasterAddress& master = server.options.settings().replicaof;
  if (master.host.empty()) return;
  if (server.cluster == nullptr) return MasterLink::Of(server).Follow(master, server.clock.Read());
  if (server.log != nullptr)
    server.log->Warning("replicaof has no effect: a node of a cluster follows no master");
}

}  // namespace mayfly

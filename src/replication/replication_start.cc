#include "replication/replication_start.h"

#include <utility>

#include "base/log/log.h"
#include "config/sources/options.h"
#include "replication/master_link.h"
#include "replication/replicas.h"
#include "server/cluster/cluster.h"
#include "server/figures/link_figures.h"

namespace mayfly {
namespace {

void TakeRole(Server& server, const ClusterMap& map) {
  const LinkFigures& link = server.link;
  const ClusterNode* const master = map.master();
  if (master == nullptr) {
    if (link.follows()) MasterLink::Of(server).FollowNone(server.clock.Read());
    server.options.ShowMaster({});
    return;
  }
  const bool by_tls = server.options.settings().tls_replication && master->tls_port != 0;
  config::MasterAddress address{.host = master->host, .port = by_tls ? master->tls_port : master->port};
  if (!link.follows() || link.host != address.host || link.port != address.port)
    MasterLink::Of(server).Follow(address, server.clock.Read());
  server.options.ShowMaster(std::move(address));
}

}  // namespace

void StartReplication(Server& server) {
  static_cast<void>(Replicas::Of(server));
  const config::MasterAddress& master = server.options.settings().replicaof;
  if (server.cluster == nullptr) {
    if (!master.host.empty()) MasterLink::Of(server).Follow(master, server.clock.Read());
    return;
  }
  const bool is_named = !master.host.empty();  // before the cluster's file overrides replicaof
  server.cluster->LetTakeRole([&server](const ClusterMap& map) { TakeRole(server, map); });
  server.cluster->GiveRole(server.cluster->map());
  if (is_named && server.log != nullptr)
    server.log->Warning("replicaof has no effect in a cluster: cluster-config-file names the masters");
}

}  // namespace mayfly

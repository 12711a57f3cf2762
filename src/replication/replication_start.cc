#include "replication/replication_start.h"

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
    return;
  }
  const bool by_tls = server.options.settings().tls_replication && master->tls_port != 0;
  const uint16_t port = by_tls ? master->tls_port : master->port;
  if (!link.follows() || link.host != master->host || link.port != port)
    MasterLink::Of(server).Follow({.host = master->host, .port = port}, server.clock.Read());
}

}  // namespace

void StartReplication(Server& server) {
  static_cast<void>(Replicas::Of(server));
  const config::MasterAddress& master = server.options.settings().replicaof;
  if (server.cluster == nullptr) {
    if (!master.host.empty()) MasterLink::Of(server).Follow(master, server.clock.Read());
    return;
  }
  server.cluster->LetTakeRole([&server](const ClusterMap& map) { TakeRole(server, map); });
  server.cluster->GiveRole(server.cluster->map());
  if (!master.host.empty() && server.log != nullptr)
    server.log->Warning("replicaof has no effect in a cluster: cluster-config-file names the masters");
}

}  // namespace mayfly

#include "server/cluster.h"

#include "base/numbers.h"
#include "server/session.h"

namespace mayfly {
namespace {

NodeClues CluesOf(const config::Settings& settings) {
  if (!settings.cluster_announce_human_nodename.empty())
    return {.name = settings.cluster_announce_human_nodename, .hosts = {}};
  const int64_t announced = settings.cluster_announce_port;
  const int64_t own = settings.port != 0 ? settings.port : settings.tls_port;
  NodeClues clues{.name = {}, .hosts = {}, .port = static_cast<uint16_t>(announced != 0 ? announced : own)};
  if (!settings.cluster_announce_ip.empty()) {
    clues.hosts.emplace_back(settings.cluster_announce_ip);
    return clues;
  }
  // Without an announced address those that it listens on, unless one of them stands for all.
  for (const config::BindAddress& address : settings.bind) {
    if (address.host == "*" || address.host == "::*" || address.host == "0.0.0.0" || address.host == "::")
      return {.name = {}, .hosts = {}, .port = clues.port};
    clues.hosts.emplace_back(address.host);
  }
  return clues;
}

}  // namespace

config::Problem ReadClusterFile(const config::Settings& settings, const config::Files& files,
                                ClusterMap& map) {
  const std::string& path = settings.cluster_config_file;
  std::string text;
  config::Problem problem = files.read_again(path, text);
  if (!problem) problem = map.Read(path, text);
  if (!problem) problem = map.FindSelf(path, CluesOf(settings));
  if (problem) return "cluster-config-file " + *problem;
  return std::nullopt;
}

config::Problem FormCluster(const config::Settings& settings, const config::Files& files,
                            std::string_view run_id, std::optional<ClusterMap>& map) {
  if (settings.cluster_mode == config::ClusterMode::kEmulated) {
    map.emplace().MakeSingle(run_id);
    return std::nullopt;
  }
  if (!settings.cluster_enabled) return std::nullopt;
  config::Problem problem = ReadClusterFile(settings, files, map.emplace());
  if (problem) map.reset();
  return problem;
}

void Cluster::Adopt(ClusterMap&& map) noexcept {
  map_ = std::move(map);
  Follow(*settings_);
}

Endpoint Cluster::EndpointOf(const ClusterNode& node, const Session& session) const noexcept {
  Endpoint endpoint{node.host, node.port};
  const std::string_view local = session.over_unix_socket ? std::string_view() : session.local_text();
  const size_t colon = local.rfind(':');
  if (endpoint.host == ClusterMap::kSameHost) {
    endpoint.host = settings_->cluster_announce_ip;
    if (endpoint.host.empty() && colon != std::string_view::npos) {
      endpoint.host = local.substr(0, colon);
      if (endpoint.host.starts_with('[')) endpoint.host = endpoint.host.substr(1, colon - 2);
    }
  }
  const uint16_t local_port = colon != std::string_view::npos
                                  ? static_cast<uint16_t>(ParseUnsigned(local.substr(colon + 1)).value_or(0))
                                  : 0;
  const bool over_tls = local_port != 0 && local_port == settings_->tls_port;
  if (over_tls && node.tls_port != 0) endpoint.port = node.tls_port;
  if (endpoint.port == 0 && !over_tls)
    endpoint.port = static_cast<uint16_t>(settings_->cluster_announce_port);
  if (endpoint.port == 0) endpoint.port = local_port;
  if (endpoint.port == 0) endpoint.port = static_cast<uint16_t>(settings_->port);
  return endpoint;
}

std::string Cluster::Describe() const {
  if (emulated_) return "cluster-mode emulated: this daemon plays a cluster of one node";
  size_t slots = 0;
  for (const SlotRange& range : map_.self().slots) slots += range.last - range.first + size_t{1};
  std::string text = "cluster: this is node " + map_.self().name + ", one of " +
                     std::to_string(map_.nodes().size()) + ", with " + std::to_string(slots) + " slots";
  if (const size_t left = kSlots - map_.slots_assigned(); left != 0)
    text += "; " + std::to_string(left) + " slots have no node";
  return text;
}

}  // namespace mayfly

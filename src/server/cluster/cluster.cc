#include "server/cluster/cluster.h"

#include <algorithm>

#include "base/text/numbers.h"
#include "server/clients/session.h"

namespace mayfly {
namespace {

constexpr std::string_view kUnknownHostname = "?";  // as in Redis

// True if a host of the map is a name and no address.
bool IsName(std::string_view host) noexcept {
  constexpr std::string_view kOfAddresses = "0123456789.:*";
  return host.find(':') == std::string_view::npos &&
         host.find_first_not_of(kOfAddresses) != std::string_view::npos;
}

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
  // Without an announced address: the addresses of `bind`, unless a wildcard is among the addresses.
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
    if (settings.cluster_enabled)
      return "cluster-mode emulated: this daemon plays a cluster alone, and cluster-enabled makes it one of "
             "many; leave out one of them";
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
  Endpoint endpoint{node.host, HostnameOf(node), node.port};
  const std::string_view local = session.over_unix_socket ? std::string_view() : session.local_text();
  const size_t colon = local.rfind(':');
  if (endpoint.address == ClusterMap::kSameHost) {
    endpoint.address = settings_->cluster_announce_ip;
    if (endpoint.address.empty() && colon != std::string_view::npos) {
      endpoint.address = local.substr(0, colon);
      if (endpoint.address.starts_with('[')) endpoint.address = endpoint.address.substr(1, colon - 2);
    }
  }
  const uint16_t local_port = colon != std::string_view::npos
                                  ? static_cast<uint16_t>(ParseUnsigned(local.substr(colon + 1)).value_or(0))
                                  : 0;
  const bool over_tls = local_port != 0 && local_port == settings_->tls_port;
  if (const uint16_t tls_port = TlsPortOf(node); over_tls && tls_port != 0) endpoint.port = tls_port;
  if (endpoint.port == 0 && !over_tls)
    endpoint.port = static_cast<uint16_t>(settings_->cluster_announce_port);
  if (endpoint.port == 0) endpoint.port = local_port;
  if (endpoint.port == 0) endpoint.port = static_cast<uint16_t>(settings_->port);
  return endpoint;
}

std::string_view Cluster::HostnameOf(const ClusterNode& node) const noexcept {
  const bool same_host = node.hostname.empty() && node.host == ClusterMap::kSameHost;
  return same_host ? settings_->cluster_announce_hostname.text : node.hostname;
}

// In the file, a name may stand in place of the address.
std::optional<std::string_view> Cluster::PreferredHost(const Endpoint& endpoint) const noexcept {
  if (preferred() == config::EndpointType::kIp) return endpoint.address;
  if (preferred() == config::EndpointType::kUnknown) return std::nullopt;
  if (!endpoint.hostname.empty()) return endpoint.hostname;
  return IsName(endpoint.address) ? endpoint.address : kUnknownHostname;
}

uint16_t Cluster::TlsPortOf(const ClusterNode& node) const noexcept {
  return node.tls_port != 0 || !emulated_ ? node.tls_port
                                          : static_cast<uint16_t>(settings_->cluster_announce_tls_port);
}

std::vector<std::string> Cluster::Warnings() const {
  std::vector<std::string> warnings;
  const auto lacks_hostname = [this](const ClusterNode& node) {
    return HostnameOf(node).empty() && !IsName(node.host);
  };
  const auto nameless = std::find_if(map_.nodes().begin(), map_.nodes().end(), lacks_hostname);
  if (preferred() == config::EndpointType::kHostname && nameless != map_.nodes().end())
    warnings.push_back("cluster-preferred-endpoint-type is hostname, but node " + nameless->name +
                       " has none: clients are sent to \"?\" instead");
  if (emulated_) return warnings;
  const std::string_view hostname = settings_->cluster_announce_hostname.text;
  if (!hostname.empty() && HostnameOf(map_.self()) != hostname)
    warnings.emplace_back(
        "cluster-announce-hostname is ignored: cluster-config-file says hostname=<name> for each node");
  if (settings_->cluster_announce_tls_port != 0 &&
      map_.self().tls_port != settings_->cluster_announce_tls_port)
    warnings.emplace_back(
        "cluster-announce-tls-port is ignored: cluster-config-file says tls-port=<port> for each node");
  return warnings;
}

std::string Cluster::Describe() const {
  if (emulated_) return "cluster-mode emulated: this daemon plays a cluster of one node";
  std::string text =
      "cluster: this is node " + map_.self().name + ", one of " + std::to_string(map_.nodes().size()) + ", ";
  if (const ClusterNode* const master = map_.master()) {
    text += "a replica of " + master->name;
  } else {
    size_t slots = 0;
    for (const SlotRange& range : map_.self().slots) slots += range.last - range.first + size_t{1};
    text += "with " + std::to_string(slots) + " slots";
  }
  if (const size_t left = kSlots - map_.slots_assigned(); left != 0)
    text += "; " + std::to_string(left) + " slots have no node";
  return text;
}

}  // namespace mayfly

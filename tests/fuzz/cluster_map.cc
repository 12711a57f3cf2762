// The file of a cluster: whatever it holds, it is read, or refused with one line. What was read is consistent.
#include "server/cluster/cluster_map.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using mayfly::ClusterMap;
  ClusterMap map;
  const mayfly::config::Problem problem = map.Read("f", {reinterpret_cast<const char*>(data), size});
  if (problem) {
    if (!problem->starts_with("f:") || problem->find('\n') != std::string::npos) std::abort();
    return 0;
  }
  size_t slots = 0;
  for (size_t index = 0; index < map.nodes().size(); ++index) {
    const mayfly::ClusterNode& node = map.nodes()[index];
    if (node.id.size() != 40 || node.host.empty() || node.port == 0) std::abort();
    if (node.hostname.size() > 255 || node.hostname.find_first_of(" :,\n") != std::string::npos) std::abort();
    if (node.is_replica()) {
      if (node.master >= map.nodes().size() || node.master == index) std::abort();
      const mayfly::ClusterNode& master = map.nodes()[node.master];
      if (master.is_replica() || master.host == ClusterMap::kSameHost) std::abort();
      if (std::count(master.replicas.begin(), master.replicas.end(), index) != 1) std::abort();
      if (!node.slots.empty() || !node.replicas.empty()) std::abort();
    }
    for (const mayfly::SlotRange& range : node.slots) {
      for (size_t slot = range.first; slot <= range.last; ++slot, ++slots) {
        if (map.OwnerOf(static_cast<uint16_t>(slot)) != index) std::abort();
      }
    }
  }
  if (slots != map.slots_assigned()) std::abort();
  return 0;
}

// This daemon as a part of a cluster: the node of each slot, and the number of keys in each slot here.
//
// Static: the map is read at the start, and again when an operator wants that (exec/cluster/cluster_reload.h); nothing
// moves by itself. Emulated: a cluster of this daemon alone,
// for clients that only speak to clusters; then no request is redirected, and one may name keys of several slots.
// Loop thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/keyspace/databases.h"
#include "config/settings.h"
#include "config/sources/files.h"
#include "server/cluster/cluster_map.h"
#include "server/cluster/slot_counts.h"

namespace mayfly {

struct Session;

// Why a call does not run here; in the order in which Redis looks for them.
enum class Elsewhere : uint8_t {
  kHere,      // it runs
  kUnserved,  // the slot of its first key has no owner
  kCrossSlot,
  kDown,          // some slot has no owner, and cluster-require-full-coverage
  kDownReadOnly,  // likewise, and it is no read
  kMoved,
};

// Reads the file that the options name, and finds this node in it. A problem is one line, and then nothing can be said
// of the map. REQUIRES: the map is empty.
[[nodiscard]] config::Problem ReadClusterFile(const config::Settings& settings, const config::Files& files,
                                              ClusterMap& map);

// What the options say, with the file that they name; nothing if this is no part of a cluster. `run_id`: 40
// hexadecimal digits, the id of an emulated cluster's node.
[[nodiscard]] config::Problem FormCluster(const config::Settings& settings, const config::Files& files,
                                          std::string_view run_id, std::optional<ClusterMap>& map);

// Where a client finds a node.
struct Endpoint {
  std::string_view address;   // empty, over a unix socket: clients know it themselves
  std::string_view hostname;  // empty: there is none
  uint16_t port;              // for clients that came as this one did: over TLS, or not
};

class Cluster {
 public:
  // The databases must outlive this.
  Cluster(ClusterMap&& map, bool emulated, ChangeHub& changes, Databases& databases)
      : map_(std::move(map)), emulated_(emulated), counts_(changes, databases) {}

  // One line for the log.
  std::string Describe() const;
  // A line for each option that does not fit the map, or has no effect with it.
  std::vector<std::string> Warnings() const;
  const ClusterMap& map() const noexcept { return map_; }
  bool emulated() const noexcept { return emulated_; }
  SlotCounts& counts() noexcept { return counts_; }

  // From now on the slots are where this map says. REQUIRES: not emulated.
  void Adopt(ClusterMap&& map) noexcept;

  // Where a client with this session finds the node. Valid as long as the session and the settings are.
  Endpoint EndpointOf(const ClusterNode& node, const Session& session) const noexcept;

  // The host that a client is sent to, by cluster-preferred-endpoint-type; nothing: the one that it knows.
  std::optional<std::string_view> PreferredHost(const Endpoint& endpoint) const noexcept;
  config::EndpointType preferred() const noexcept { return settings_->cluster_preferred_endpoint_type; }
  // 0: none.
  uint16_t TlsPortOf(const ClusterNode& node) const noexcept;

  // What they say counts from now on. Borrows them.
  void Follow(const config::Settings& settings) noexcept {
    settings_ = &settings;
    down_ = settings.cluster_require_full_coverage && map_.slots_assigned() != kSlots;
    reads_when_down_ = settings.cluster_allow_reads_when_down;
    channels_when_down_ = settings.cluster_allow_pubsubshard_when_down;
  }
  bool down() const noexcept { return down_; }
  // Whether a call that names one key of this slot runs here for sure.
  bool Serves(uint16_t slot) const noexcept { return map_.IsOwn(slot) && !down_; }

  enum class Use : uint8_t { kReads, kWrites, kShardChannels };
  // For a call whose keys, or shard channels, all have this slot. REQUIRES: not emulated.
  Elsewhere PlaceOf(uint16_t slot, Use use) const noexcept {
    if (map_.OwnerOf(slot) == ClusterMap::kNobody) return Elsewhere::kUnserved;
    if (down_ && use == Use::kShardChannels && !channels_when_down_) return Elsewhere::kDown;
    if (down_ && use != Use::kShardChannels) {
      if (!reads_when_down_) return Elsewhere::kDown;
      if (use == Use::kWrites) return Elsewhere::kDownReadOnly;
    }
    return map_.IsOwn(slot) ? Elsewhere::kHere : Elsewhere::kMoved;
  }

 private:
  std::string_view HostnameOf(const ClusterNode& node) const noexcept;

  ClusterMap map_;
  bool emulated_;
  SlotCounts counts_;
  const config::Settings* settings_ = nullptr;
  bool down_ = false;
  bool reads_when_down_ = false;
  bool channels_when_down_ = true;
};

}  // namespace mayfly

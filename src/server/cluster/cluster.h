// This daemon as a part of a cluster: the node of each slot, and the number of keys in each slot here.
//
// Static: the map is read at the start, and again at an operator's command (exec/cluster/cluster_reload.h); no slot moves by
// itself. A node of the map is a master or the replica of one. A replica serves the reads of clients that have said READONLY,
// as long as its keys are its master's: not before its first link to this master was up. Emulated: a cluster of this daemon alone, for clients that only speak to clusters; no request is redirected, and a
// request may name keys of several slots. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
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

// Why a call does not run here; in the order of Redis's tests.
enum class Elsewhere : uint8_t {
  kHere,      // the call runs
  kUnserved,  // the slot of the first key has no owner
  kCrossSlot,
  kDown,          // some slot has no owner, and cluster-require-full-coverage
  kDownReadOnly,  // likewise, and the call is no read
  kMoved,
};

// Reads the file named by the options, and finds this node in the file. A problem is one line; the map is then undefined.
// REQUIRES: the map is empty.
[[nodiscard]] config::Problem ReadClusterFile(const config::Settings& settings, const config::Files& files,
                                              ClusterMap& map);

// Makes the map by the options and the file named there; no map if this daemon belongs to no cluster. `run_id`: 40
// hexadecimal digits, the id of an emulated cluster's node.
[[nodiscard]] config::Problem FormCluster(const config::Settings& settings, const config::Files& files,
                                          std::string_view run_id, std::optional<ClusterMap>& map);

// The place where a client finds a node.
struct Endpoint {
  std::string_view address;   // empty, over a unix socket: clients know the address themselves
  std::string_view hostname;  // empty: no name
  uint16_t port;              // the TLS port or the plain port, as the client itself came
};

class Cluster {
 public:
  // Borrows `changes`.
  Cluster(ClusterMap&& map, bool emulated, ChangeHub& changes)
      : map_(std::move(map)), emulated_(emulated), counts_(changes) {}

  // One line for the log.
  std::string Describe() const;
  // A line for each option that contradicts the map, or has no effect in a cluster.
  std::vector<std::string> Warnings() const;
  const ClusterMap& map() const noexcept { return map_; }
  bool emulated() const noexcept { return emulated_; }
  SlotCounts& counts() noexcept { return counts_; }

  // Replaces the map. REQUIRES: not emulated.
  void Adopt(ClusterMap&& map) noexcept;

  // ---- the role of this node
  //
  // For the link to the master: gives this server the role that a map says. May throw std::bad_alloc, without a change.
  using TakeRole = std::function<void(const ClusterMap&)>;
  void LetTakeRole(TakeRole take_role) noexcept { take_role_ = std::move(take_role); }
  // Throws std::bad_alloc; a further call makes up for that. No effect if the server has the role.
  void GiveRole(const ClusterMap& map) const {
    if (take_role_) take_role_(map);
  }
  // The link to the master reports: this replica has the keys of its master, perhaps of some time ago.
  void NoteMasterKeys(bool has_them) noexcept { has_master_keys_ = has_them; }
  bool has_master_keys() const noexcept { return has_master_keys_; }

  // The place where the client of this session finds the node. Valid as long as the session and the settings.
  Endpoint EndpointOf(const ClusterNode& node, const Session& session) const noexcept;

  // The host for a redirection, by cluster-preferred-endpoint-type; nullopt: the host known to the client.
  std::optional<std::string_view> PreferredHost(const Endpoint& endpoint) const noexcept;
  config::EndpointType preferred() const noexcept { return settings_->cluster_preferred_endpoint_type; }
  // 0: none.
  uint16_t TlsPortOf(const ClusterNode& node) const noexcept;

  // Follows these settings from now on. Borrows the settings.
  void Follow(const config::Settings& settings) noexcept {
    settings_ = &settings;
    down_ = settings.cluster_require_full_coverage && map_.slots_assigned() != kSlots;
    reads_when_down_ = settings.cluster_allow_reads_when_down;
    channels_when_down_ = settings.cluster_allow_pubsubshard_when_down;
  }
  bool down() const noexcept { return down_; }
  // True if a call with one key of this slot surely runs here.
  bool Serves(uint16_t slot) const noexcept { return map_.IsOwn(slot) && !down_; }
  // Likewise for a call that replicas may run.
  bool ServesAtReplica(uint16_t slot) const noexcept {
    return has_master_keys_ && map_.Holds(slot) && !down_;
  }

  enum class Use : uint8_t { kReads, kWrites, kShardChannels };
  // For a call whose keys or shard channels are all in this slot. `at_replica`: replicas of the slot's node may run the call.
  // REQUIRES: not emulated.
  Elsewhere PlaceOf(uint16_t slot, Use use, bool at_replica) const noexcept {
    if (map_.OwnerOf(slot) == ClusterMap::kNobody) return Elsewhere::kUnserved;
    if (down_ && use == Use::kShardChannels && !channels_when_down_) return Elsewhere::kDown;
    if (down_ && use != Use::kShardChannels) {
      if (!reads_when_down_) return Elsewhere::kDown;
      if (use == Use::kWrites) return Elsewhere::kDownReadOnly;
    }
    const bool is_here = map_.IsOwn(slot) || (at_replica && has_master_keys_ && map_.Holds(slot));
    return is_here ? Elsewhere::kHere : Elsewhere::kMoved;
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
  bool has_master_keys_ = false;
  TakeRole take_role_;
};

}  // namespace mayfly

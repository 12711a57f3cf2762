// The cluster map: the node of each slot, read from a file. Nodes do not talk to each other: a map changes only by
// another file.
//
// The file has one line for each node, in any order. All nodes have the same file:
//
//   # name or id   address              slots
//   node one       10.0.0.1:6379        0-5460
//   node two       10.0.0.2:6379        hostname=cache2.example 5461-10922
//   node three     cache3.example:6379  tls-port=6380 10923-16382 16383
//   node four      10.0.0.4:6379        replica-of=one
//
// A name is letters, digits, '.', '_' and '-'; a name of 40 hexadecimal digits is the node's id itself, and from another
// name the id is computed. Clients are sent to the address; an IPv6 address is in brackets, and the host * is the address
// used by the client to reach this node. Clients of TLS are sent to the tls-port, if present, and to the hostname if
// cluster-preferred-endpoint-type says hostname. A slot has at most one owner, and may have none. A replica follows the node
// that its line names (replication/replication_start.h), has that node's keys, and owns no slot. Empty lines and lines that
// begin with '#' are ignored.
//
// Invariants: owners_[slot] is the index of a master, or kNobody; a replica's master is no replica, and has an address.
// Loop thread only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bits/key_slot.h"
#include "config/problem.h"

namespace mayfly {

struct SlotRange {
  uint16_t first;
  uint16_t last;  // inclusive

  bool operator==(const SlotRange&) const = default;
};

struct ClusterNode {
  using Index = uint16_t;  // in ClusterMap::nodes()
  static constexpr Index kNobody = UINT16_MAX;

  bool is_replica() const noexcept { return master != kNobody; }

  std::string name;                   // as in the file
  std::string id;                     // 40 hexadecimal digits
  std::string host;                   // an address without brackets, or a name, or kSameHost
  uint16_t port = 0;                  // 0: the port of the client's own connection
  uint16_t tls_port = 0;              // 0: none
  std::string hostname = {};          // empty: none
  Index master = kNobody;             // the node that this one is a replica of
  std::vector<Index> replicas = {};   // in the order of the file
  std::vector<SlotRange> slots = {};  // in order; neighbours are joined
};

// How a node finds its own line. An empty clue, or 0, fits every line.
struct NodeClues {
  std::string_view name;
  std::vector<std::string_view> hosts;  // any of them
  uint16_t port = 0;
};

class ClusterMap {
 public:
  using NodeIndex = ClusterNode::Index;
  static constexpr NodeIndex kNobody = ClusterNode::kNobody;
  static constexpr size_t kNodesMax = 1000;
  static constexpr std::string_view kSameHost = "*";

  ClusterMap() noexcept { owners_.fill(kNobody); }

  // Reads the file's `text`. A problem is one line that begins with `path`; the map is then undefined.
  // REQUIRES: the map is empty.
  [[nodiscard]] config::Problem Read(std::string_view path, std::string_view text);
  // Finds the only node that fits all clues. REQUIRES: Read had no problem.
  [[nodiscard]] config::Problem FindSelf(std::string_view path, const NodeClues& clues);
  // The map with this node alone, the owner of all slots.
  void MakeSingle(std::string_view id);

  const std::vector<ClusterNode>& nodes() const noexcept { return nodes_; }
  NodeIndex self_index() const noexcept { return self_; }
  const ClusterNode& self() const noexcept { return nodes_[self_]; }
  // kNobody: the slot has no owner. REQUIRES: slot < kSlots.
  NodeIndex OwnerOf(uint16_t slot) const noexcept { return owners_[slot]; }
  bool IsOwn(uint16_t slot) const noexcept { return owners_[slot] == self_; }
  // This node's master; null if this node is no replica.
  const ClusterNode* master() const noexcept { return shard_ != self_ ? &nodes_[shard_] : nullptr; }
  // True if this node stores the slot, as its master or as a replica of its master.
  bool Holds(uint16_t slot) const noexcept { return owners_[slot] == shard_; }
  // The master of the node, or the node itself if it is a master.
  NodeIndex ShardOf(NodeIndex node) const noexcept {
    return nodes_[node].is_replica() ? nodes_[node].master : node;
  }
  size_t slots_assigned() const noexcept { return assigned_; }
  // Finds a node by its id, in the same case; null if there is none.
  const ClusterNode* FindById(std::string_view id) const noexcept;

 private:
  // The end of a replica's line, until all nodes are known.
  struct Wish {
    NodeIndex replica;
    std::string_view master;
    size_t line;
  };

  config::Problem ReadNode(std::string_view line, std::string_view& master);
  config::Problem GrantWish(const Wish& wish);
  config::Problem ReadSlots(std::string_view text, NodeIndex owner);
  void CollectRanges();

  std::vector<ClusterNode> nodes_;
  std::array<NodeIndex, kSlots> owners_;
  size_t assigned_ = 0;
  NodeIndex self_ = kNobody;
  NodeIndex shard_ = kNobody;  // ShardOf(self_)
};

}  // namespace mayfly

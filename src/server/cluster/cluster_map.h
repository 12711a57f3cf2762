// The cluster map: the node of each slot, read from a file. Nodes do not talk to each other: a map changes only by
// another file.
//
// The file has one line for each node, in any order. All nodes have the same file:
//
//   # name or id   address              slots
//   node one       10.0.0.1:6379        0-5460
//   node two       10.0.0.2:6379        hostname=cache2.example 5461-10922
//   node three     cache3.example:6379  tls-port=6380 10923-16382 16383
//
// A name is letters, digits, '.', '_' and '-'; a name of 40 hexadecimal digits is the node's id itself, and from another
// name the id is computed. Clients are sent to the address; an IPv6 address is in brackets, and the host * is the address
// used by the client to reach this node. Clients of TLS are sent to the tls-port, if present, and to the hostname if
// cluster-preferred-endpoint-type says hostname. A slot has at most one owner, and may have none. Empty lines and lines that
// begin with '#' are ignored.
//
// Invariant: owners_[slot] is an index of nodes(), or kNobody. Loop thread only.
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
  std::string name;                   // as in the file
  std::string id;                     // 40 hexadecimal digits
  std::string host;                   // an address without brackets, or a name, or kSameHost
  uint16_t port = 0;                  // 0: the port of the client's own connection
  uint16_t tls_port = 0;              // 0: none
  std::string hostname = {};          // empty: none
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
  using NodeIndex = uint16_t;
  static constexpr NodeIndex kNobody = UINT16_MAX;
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
  size_t slots_assigned() const noexcept { return assigned_; }
  // Finds a node by id, in upper or lower case; null if there is none.
  const ClusterNode* FindById(std::string_view id) const noexcept;

 private:
  config::Problem ReadNode(std::string_view line);
  config::Problem ReadSlots(std::string_view text, NodeIndex owner);
  void CollectRanges();

  std::vector<ClusterNode> nodes_;
  std::array<NodeIndex, kSlots> owners_;
  size_t assigned_ = 0;
  NodeIndex self_ = kNobody;
};

}  // namespace mayfly

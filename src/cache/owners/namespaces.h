// Namespaces: tenants of one server, each with a prefix of keys, limits and figures. The data of a namespace pushes out no
// data of other namespaces.
//
//   namespace "app1", prefix "app1:"
//     share in keyspace 0  ->  Quota: two LRU lists, bytes       its owner id: 16
//     share in keyspace 3  ->  Quota                             its owner id: 17
//
// The keys of a namespace in one keyspace are its *share* of the keyspace: a Quota; the entries name the Quota's owner id.
// The keyspace finds a key's namespace from the key's prefix once, when the key is created (Owners::ForNew); of
// several prefixes the longest counts. So a key that is older than its namespace stays outside of the namespace. A share is
// made with the first key. Its id is taken back when the share is empty and another share needs an id (Owners::AddShare).
//
// Limits hold for all shares together. Writes only note which namespaces have grown; after the command the Evictor trims
// these namespaces (Evictor::Trim).
//
// A namespace without a name in the options is *retired*: its keys stay, without limits, until they go. The same name with
// the same prefix revives the namespace.
//
// Owns no quota: the keyspaces do. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/owners/quota.h"
#include "cache/owners/quota_limits.h"
#include "cache/table/prefix_table.h"

namespace mayfly {

// A key was not created: its namespace has no share in this keyspace, and all ids are in use by shares with keys.
struct OwnersExhausted : std::bad_alloc {
  const char* what() const noexcept override { return "namespaces have keys in too many databases"; }
};

struct NamespaceStats {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t evicted = 0;
  uint64_t expired = 0;
};

class Namespace {
 public:
  // The bytes of a key in the hash table, rounded up. A constant, so that no neighbour's keys change the count.
  static constexpr uint64_t kTableBytesPerKey = 8;

  Namespace(std::string name, std::string prefix) : name_(std::move(name)), prefix_(std::move(prefix)) {}
  Namespace(const Namespace&) = delete;
  Namespace& operator=(const Namespace&) = delete;

  const std::string& name() const noexcept { return name_; }
  const std::string& prefix() const noexcept { return prefix_; }
  const QuotaLimits& limits() const noexcept { return limits_; }
  // Keys of all shares, including expired ones that are not freed yet.
  size_t keys() const noexcept;
  // Memory of the entries and values of all shares, and their part of the hash tables.
  uint64_t bytes() const noexcept;
  bool TooBig() const noexcept { return limits_.bytes != 0 && bytes() > limits_.bytes; }
  bool TooMany() const noexcept { return limits_.keys != 0 && keys() > limits_.keys; }
  bool Exceeded() const noexcept { return TooBig() || TooMany(); }

  const std::vector<Quota*>& shares() const noexcept { return shares_; }
  Quota* ShareIn(const Keyspace& keyspace) const noexcept;
  // Makes room for one more share. Throws std::bad_alloc.
  void ReserveShare() { shares_.reserve(shares_.size() + 1); }
  // REQUIRES: ReserveShare.
  void AddShare(Quota& share) noexcept;
  void ForgetShare(const Quota& share) noexcept;

  // ---- for the Evictor. Excess over the limits: the Evictor evicts a command's excess at once, and earlier excess (after a
  // limit was lowered) in slices.
  bool AboveSettled() const noexcept { return bytes() > settled_.bytes || keys() > settled_.keys; }
  void Rebase() noexcept;

  NamespaceStats stats;

 private:
  friend class Namespaces;

  std::string name_;
  std::string prefix_;
  QuotaLimits limits_;
  QuotaLimits settled_;     // the limits, or the earlier excess above the limits
  uint8_t promised_ = 0;    // EvictionPool bits, for its shares
  bool full_ = false;       // at the last trim: above its limits with nothing to evict
  bool has_grown_ = false;  // is in the list of grown namespaces
  Namespace* next_grown_ = nullptr;
  std::vector<Quota*> shares_;
};

class Namespaces {
  using List = std::vector<std::unique_ptr<Namespace>>;

 public:
  struct Wanted {
    std::string name;
    std::string prefix;
    QuotaLimits limits = {};
  };
  // Namespaces that are ready to be put in force.
  class Prepared {
    friend class Namespaces;
    List spaces_;  // null: an existing namespace
    std::vector<Wanted> wanted_;
    PrefixTable prefixes_;
    List retired_;  // empty, with enough capacity
  };

  Namespaces() = default;
  Namespaces(const Namespaces&) = delete;
  Namespaces& operator=(const Namespaces&) = delete;

  // Gets the memory for other namespaces, and changes nothing. Throws std::bad_alloc.
  // REQUIRES: no two have the same name or prefix.
  Prepared Prepare(std::vector<Wanted> wanted);
  // Puts them in force. REQUIRES: no other namespaces were adopted since Prepare.
  void Adopt(Prepared prepared) noexcept;

  bool any() const noexcept { return !active_.empty(); }
  const std::vector<std::unique_ptr<Namespace>>& active() const noexcept { return active_; }
  Namespace* Find(std::string_view name) const noexcept;  // an active namespace, or else a retired namespace
  // The namespace of a new key, or null.
  Namespace* Of(std::string_view key) const noexcept {
    const size_t found = prefixes_.Find(key);
    return found != PrefixTable::kNone ? active_[found].get() : nullptr;
  }
  // True if the namespace's prefix is the longest one that fits the name. A retired namespace gives way to any active
  // namespace whose prefix is as long.
  bool Covers(const Namespace& space, std::string_view name) const noexcept {
    if (!name.starts_with(space.prefix())) return false;
    const Namespace* const of = Of(name);
    return of == nullptr || of == &space || of->prefix().size() < space.prefix().size();
  }
  void CountMiss(std::string_view key) const noexcept {
    if (Namespace* const space = Of(key)) ++space->stats.misses;
  }
  void ResetStats() noexcept;

  // While the limits of all namespaces fit into `all`, each limit is a promise: entries within the limit are not evicted for
  // others. If a member of `all` is 0, the limits of this kind are no promises.
  void Promise(const QuotaLimits& all) noexcept;
  // Returns true if the limits on bytes are promises now.
  bool promises_bytes() const noexcept { return promised_ & EvictionPool::kForBytes; }

  // ---- namespaces that have grown since their last trim
  void NoteGrown(Namespace& space) noexcept {
    if (space.has_grown_ || (space.limits_.bytes | space.limits_.keys) == 0) return;
    space.has_grown_ = true;
    space.next_grown_ = std::exchange(grown_, &space);
  }
  bool any_grown() const noexcept { return grown_ != nullptr; }
  // Empties the list of grown namespaces, and calls fn(Namespace&) for each. `fn` may call NoteGrown.
  template <typename Fn>
  void TakeGrown(Fn&& fn) {
    Namespace* next = std::exchange(grown_, nullptr);
    while (next != nullptr) {
      Namespace& space = *next;
      next = std::exchange(space.next_grown_, nullptr);
      space.has_grown_ = false;
      fn(space);
    }
  }

  // ---- namespaces above their limits with nothing to evict
  bool any_full() const noexcept { return full_ != 0; }
  static bool IsFull(const Namespace& space) noexcept { return space.full_; }
  void SetFull(Namespace& space, bool full) noexcept {
    full_ += static_cast<size_t>(full) - static_cast<size_t>(space.full_);
    space.full_ = full;
  }

 private:
  static std::unique_ptr<Namespace>* FindIn(List& list, const Wanted& wanted) noexcept;
  void Retire(std::unique_ptr<Namespace> space, List& retired) noexcept;

  List active_;
  List retired_;
  PrefixTable prefixes_;  // of active_, in that order
  Namespace* grown_ = nullptr;
  size_t full_ = 0;
  uint8_t promised_ = 0;
};

}  // namespace mayfly

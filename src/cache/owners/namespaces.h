// Namespaces: tenants of one server, each with a prefix of keys, limits and figures. What one of them stores pushes out
// nothing of the others.
//
//   namespace "app1", prefix "app1:"
//     share in keyspace 0  ->  Quota: two LRU lists, bytes       its owner id: 16
//     share in keyspace 3  ->  Quota                             its owner id: 17
//
// The keys that a namespace has in one keyspace are its *share* of that keyspace: a Quota, whose owner id the entries
// name. A key's namespace is found from its prefix once, when it is created (Keyspace::OwnerOfNew); of several prefixes
// the longest counts. So a key that was there before its namespace stays outside of it. A share is made with the first
// key and its id is taken back when it is empty and another share needs one (Keyspace::AddShare).
//
// Limits hold for all shares together. Writes only note which namespaces have grown; after the command the Evictor
// trims those (Evictor::Trim).
//
// A namespace that is no longer named is *retired*: its keys stay, without limits, until they go. The same name with the
// same prefix revives it.
//
// Owns no quota: the keyspaces do. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/owners/quota.h"
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
  // What the hash table takes for a key, rounded up. A constant, so that no neighbour's keys change the count.
  static constexpr uint64_t kTableBytesPerKey = 8;

  Namespace(std::string name, std::string prefix) : name_(std::move(name)), prefix_(std::move(prefix)) {}
  Namespace(const Namespace&) = delete;
  Namespace& operator=(const Namespace&) = delete;

  const std::string& name() const noexcept { return name_; }
  const std::string& prefix() const noexcept { return prefix_; }
  const QuotaLimits& limits() const noexcept { return limits_; }
  // Keys of all shares, including expired ones that are not freed yet.
  size_t keys() const noexcept;
  // Memory of their entries and values, and their part of the hash tables.
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

  // ---- for the Evictor: what a command adds above the limits is evicted at once, whatever was above them before
  // (after a limit was lowered) in slices.
  bool AboveSettled() const noexcept { return bytes() > settled_.bytes || keys() > settled_.keys; }
  void Settle() noexcept;

  NamespaceStats stats;

 private:
  friend class Namespaces;

  std::string name_;
  std::string prefix_;
  QuotaLimits limits_;
  QuotaLimits settled_;     // the limits, or what is above them
  uint8_t promised_ = 0;    // EvictionPool bits: of its shares
  bool full_ = false;       // above its limits with nothing to evict, when that was last looked at
  bool has_grown_ = false;  // is in the list of those that have
  Namespace* next_grown_ = nullptr;
  std::vector<Quota*> shares_;
};

class Namespaces {
 public:
  struct Wanted {
    std::string name;
    std::string prefix;
    QuotaLimits limits = {};
  };

  Namespaces() = default;
  Namespaces(const Namespaces&) = delete;
  Namespaces& operator=(const Namespaces&) = delete;

  // Keeps other namespaces ready until Adopt puts them in force or Drop gives them up. Throws std::bad_alloc.
  // REQUIRES: no two have the same name or prefix.
  void Prepare(const std::vector<Wanted>& wanted);
  // No effect if nothing is ready; nor has Drop.
  void Adopt() noexcept;
  void Drop() noexcept { prepared_.reset(); }

  bool any() const noexcept { return !active_.empty(); }
  const std::vector<std::unique_ptr<Namespace>>& active() const noexcept { return active_; }
  Namespace* Find(std::string_view name) const noexcept;  // an active one, or else a retired one
  // That of a new key, or null.
  Namespace* Of(std::string_view key) const noexcept {
    const size_t found = prefixes_.Find(key);
    return found != PrefixTable::kNone ? active_[found].get() : nullptr;
  }
  void CountMiss(std::string_view key) const noexcept {
    if (Namespace* const space = Of(key)) ++space->stats.misses;
  }
  void ResetStats() noexcept;

  // While the limits of all namespaces fit into `all`, each is a promise: what is within it is not evicted for others.
  // Limits for which `all` is 0 are none.
  void Promise(const QuotaLimits& all) noexcept;
  // Whether the limits on bytes are promises now.
  bool promises_bytes() const noexcept { return promised_ & EvictionPool::kForBytes; }

  // ---- namespaces that have grown since they were last trimmed
  void NoteGrown(Namespace& space) noexcept {
    if (space.has_grown_ || (space.limits_.bytes | space.limits_.keys) == 0) return;
    space.has_grown_ = true;
    space.next_grown_ = std::exchange(grown_, &space);
  }
  bool any_grown() const noexcept { return grown_ != nullptr; }
  // Empties the list of those that have grown, and calls fn(Namespace&) for each. `fn` may call NoteGrown.
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

  // ---- those that are above their limits and may evict nothing
  bool any_full() const noexcept { return full_ != 0; }
  static bool IsFull(const Namespace& space) noexcept { return space.full_; }
  void SetFull(Namespace& space, bool full) noexcept {
    full_ += static_cast<size_t>(full) - static_cast<size_t>(space.full_);
    space.full_ = full;
  }

 private:
  using List = std::vector<std::unique_ptr<Namespace>>;
  struct Prepared {
    List spaces;  // null: one that is there
    std::vector<Wanted> wanted;
    PrefixTable prefixes;
    List retired;  // has room
  };
  static std::unique_ptr<Namespace>* FindIn(List& list, const Wanted& wanted) noexcept;
  void Retire(std::unique_ptr<Namespace> space, List& retired) noexcept;

  List active_;
  List retired_;
  PrefixTable prefixes_;  // of active_, in that order
  std::optional<Prepared> prepared_;
  Namespace* grown_ = nullptr;
  size_t full_ = 0;
  uint8_t promised_ = 0;
};

}  // namespace mayfly

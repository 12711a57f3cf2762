// The shadow list: the keys that a server with twice the memory would still have. A miss of a key in the shadow list would
// have been a hit on that server.
//
//   hottest                       coldest | newest victim                oldest
//   the LRU list: keys with their values  | the shadow list: hashes of evicted keys
//   ------------- maxmemory ------------->|<------------- maxmemory ------------->
//
// Under an exact LRU policy, the keys evicted with one limit are the second half of the list with twice the limit. So a
// victim enters the shadow list at the hot end. At the cold end keys leave until the bytes of the rest, counted as in their
// entries, are within the limit again. A key leaves when a client creates or deletes the key; a lookup after its deadline
// does not find the key. A hit moves the key to the hot end, as in the larger list; mostly a client creates the key then.
//
// A key takes a Node (32 bytes) and about 6 bytes of a table. So with entries of 100 bytes the list takes four tenths of the
// limit. This memory is not part of the measured bytes (MemoryMeter::NotEvictable). Without memory, a victim is not added.
//
// A flushed keyspace gets another salt, so lookups do not find its keys any more; the keys leave at the cold end. After
// Clear all keys of the list are forgotten (doomed_) and leave there, in slices (FreeSome). An expired key leaves when a
// lookup asks for the key, at the cold end, or when the hand finds the key; the hand looks at a few keys for each added key.
//
// Invariants (Validate): the table has the keys of the list; bytes_ is their sum without the forgotten keys; the forgotten
// keys are the coldest. Owns its nodes. Loop thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/memory/heap.h"
#include "base/prefetch.h"
#include "base/time/clock.h"
#include "cache/entry/expiry.h"
#include "cache/entry/id_set.h"
#include "cache/owners/lru_list.h"
#include "cache/owners/quota_limits.h"
#include "cache/table/hash_table.h"

namespace mayfly {

class ShadowList {
 public:
  // For one added key: the maximum of keys that leave by the cold end; and the number of keys that the hand looks at.
  static constexpr size_t kDropsPerAdd = 16;
  static constexpr size_t kLooksPerAdd = 2;

  // Off at first. Borrows `heap`.
  explicit ShadowList(Heap& heap) noexcept;
  ~ShadowList();
  ShadowList(const ShadowList&) = delete;
  ShadowList& operator=(const ShadowList&) = delete;

  bool on() const noexcept { return on_; }
  // Turns the list on or off; turning off forgets all keys. Sets the limits of the keys' bytes and number, 0 for none.
  void Follow(bool on, const QuotaLimits& limits) noexcept;

  // In all functions below, `keyspace` is the id of the key's keyspace.
  //
  // The key was evicted. `bytes`: the memory of the evicted entry.
  // REQUIRES: on().
  void Add(uint8_t keyspace, uint64_t hash, uint64_t bytes, Expiry deadline, Now now) noexcept;
  // Returns true if an absent key would exist with twice the memory. `touches`: the lookup is an access.
  bool Hit(uint8_t keyspace, uint64_t hash, bool touches, Now now) noexcept;
  // The key was created, or a command deletes the key.
  [[gnu::always_inline]] void Forget(uint8_t keyspace, uint64_t hash) noexcept {
    if (on_) [[unlikely]]
      Erase(MarkOf(keyspace, hash));
  }
  // ForgetAll: the keyspace was flushed. Clear: all keyspaces were flushed.
  void ForgetAll(uint8_t keyspace) noexcept { salts_[keyspace] = NextSalt(); }
  void Clear() noexcept;

  // Keys that Clear has forgotten and FreeSome has not freed yet.
  size_t doomed() const noexcept { return doomed_; }
  // Frees at most `budget` forgotten keys, and returns the rest of the budget.
  size_t FreeSome(size_t budget) noexcept;

  size_t size() const noexcept { return list_.size() - doomed_; }
  // Memory of the shadow list itself.
  uint64_t memory() const noexcept { return list_.size() * Heap::SizeClass(sizeof(Node)) + table_.memory(); }
  bool Validate() const noexcept;

 private:
  struct Node {
    HeapRef colder;
    HeapRef hotter;
    uint64_t mark;  // the hash, salted
    uint64_t deadline_ms;
    uint64_t bytes : 62;
    uint64_t clock : 2;  // Expiry::Kind
  };
#ifndef MAYFLY_SANITIZE
  static_assert(sizeof(Node) == 32);
#endif

  class ListHooks {
   public:
    using Ref = HeapRef;
    static constexpr Ref kNull{};
    explicit ListHooks(HeapBase base) noexcept : base_(base) {}
    Ref Colder(Ref ref) const noexcept { return base_.Resolve<Node>(ref)->colder; }
    Ref Hotter(Ref ref) const noexcept { return base_.Resolve<Node>(ref)->hotter; }
    void SetColder(Ref ref, Ref colder) const noexcept { base_.Resolve<Node>(ref)->colder = colder; }
    void SetHotter(Ref ref, Ref hotter) const noexcept { base_.Resolve<Node>(ref)->hotter = hotter; }

   private:
    HeapBase base_;
  };

  class TablePolicy {
   public:
    using Ref = HeapRef;
    static constexpr Ref kNull{};
    using Key = uint64_t;  // a mark
    explicit TablePolicy(Heap& heap) noexcept : heap_(&heap), base_(heap.base()) {}
    uint64_t HashOf(Ref ref) const noexcept { return base_.Resolve<Node>(ref)->mark; }
    bool Equals(Ref ref, Key mark) const noexcept { return HashOf(ref) == mark; }
    void Prefetch(Ref ref) const noexcept { PrefetchToRead(base_.Resolve<Node>(ref)); }
    void* Allocate(size_t bytes) const noexcept { return heap_->AllocateLines(bytes); }
    void Free(void* memory, size_t bytes) const noexcept { heap_->FreeLines(memory, bytes); }

   private:
    Heap* heap_;
    HeapBase base_;
  };

  Node* At(HeapRef ref) const noexcept { return heap_.base().Resolve<Node>(ref); }
  uint64_t NextSalt() noexcept { return salt_ += kSaltStep; }
  uint64_t MarkOf(uint8_t keyspace, uint64_t hash) const noexcept { return hash ^ salts_[keyspace]; }
  static bool Expired(const Node& node, Now now) noexcept {
    return Expiry{static_cast<Expiry::Kind>(node.clock), node.deadline_ms}.Reached(now);
  }
  bool TooMany() const noexcept {
    return (limits_.bytes != 0 && bytes_ > limits_.bytes) || (limits_.keys != 0 && size() > limits_.keys);
  }
  void Erase(uint64_t mark) noexcept;
  // REQUIRES: Clear has not forgotten the node, or the node is the coldest.
  void Drop(HeapRef ref) noexcept;
  void DropExpired(Now now) noexcept;

  static constexpr uint64_t kSaltStep = 0x9E3779B97F4A7C15;  // 2^64 by the golden ratio

  Heap& heap_;
  bool on_ = false;
  QuotaLimits limits_;
  uint64_t bytes_ = 0;  // of the keys' former entries
  size_t doomed_ = 0;
  LruList<ListHooks> list_;
  HashTable<TablePolicy> table_;
  uint64_t salt_ = 0;
  std::array<uint64_t, IdSet::kIds> salts_;  // by keyspace
};

}  // namespace mayfly

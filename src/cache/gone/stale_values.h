// The values of expired keys until the end of their windows (EntryExtra::stale_ms). Only TAKE reads these stale values.
//
//   SET k v EX 60 STALE 30       deadline                 end of the window
//   |------- 60 s ---------------|--------- 30 s ---------|
//     a key like any other         a stale value, unless   gone
//                                  the key was created again
//
// At the deadline the keyspace takes the entry out of its own containers and passes the same entry to StaleValues, so the
// value is not copied. StaleValues keeps the entry in three containers: a hash table for lookups; a list in the order of
// last use, for eviction from the cold end; and Deadlines, by the end of the window on the clock of the former deadline.
//
// Invariants (Validate): every entry is in all three; bytes() is the sum of Add's `bytes`, and the table. Owns no entry: the
// keyspace does. Without memory for the table, Add refuses the entry; then there is no stale value. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/bits/hash.h"
#include "base/memory/heap.h"
#include "base/time/clock.h"
#include "cache/entry/entry.h"
#include "cache/entry/entry_hooks.h"
#include "cache/entry/expiry.h"
#include "cache/entry/id_set.h"
#include "cache/owners/lru_list.h"
#include "cache/table/hash_table.h"
#include "cache/time/deadlines.h"

namespace mayfly {

class StaleValues {
 public:
  // Notes `id` in `rearm` as Deadlines does. Borrows heap, hasher and rearm.
  StaleValues(Heap& heap, const Hasher& hasher, uint32_t table_order, Rearm& rearm, uint8_t id,
              Now now) noexcept;

  size_t size() const noexcept { return order_.size(); }
  // Bytes of the entries with their values, and of the table.
  uint64_t bytes() const noexcept { return bytes_ + table_.memory(); }
  uint64_t entry_bytes() const noexcept { return bytes_; }

  // The entry of the key, or null. Here and below, `hash` is the key's hash. The entry's window may have passed.
  Entry* Find(std::string_view key, uint64_t hash) const noexcept;
  // Takes an entry of `bytes` until `end`; `end` becomes the entry's deadline. Returns false, and changes nothing, if there
  // is no memory.
  // REQUIRES: the entry has EntryTimes and is in no container; there is no stale value of its key.
  [[nodiscard]] bool Add(Entry& entry, uint64_t hash, uint64_t bytes, Expiry end, Now now) noexcept;
  // REQUIRES: Add took the entry, with `bytes`.
  void Remove(Entry& entry, uint64_t hash, uint64_t bytes) noexcept;
  // Records an access.
  void Touch(Entry& entry, Now now) noexcept;
  // The least recently used entry, or null. The entry's stamp is the time of its last use.
  Entry* Coldest() const noexcept;

  // Calls drop(entry) for each entry whose window has passed; drop must Remove the entry. Subtracts from `*budget` the
  // number of touched entries. Returns true if work is left at `now`.
  template <typename Drop>
  bool Advance(Now now, size_t* budget, Drop&& drop) {
    return deadlines_.Advance(now, budget, [&](std::span<const HeapRef> due, size_t*) {
      for (const HeapRef ref : due) drop(*At(ref));
    });
  }
  uint64_t NextWakeMs(Now now) const noexcept { return deadlines_.NextWakeMs(now); }
  void FollowWallStep(Now now) noexcept { deadlines_.FollowWallStep(now); }

  // Takes about `budget` entries out of the table, at most a table segment more, and calls drop(entry) for each; drop may
  // free the entry. Returns true if no entry is left.
  // REQUIRES: afterwards the caller only calls DrainSome or the destructor.
  template <typename Drop>
  bool DrainSome(size_t budget, Drop&& drop) noexcept {
    return table_.DrainSome(budget, [&](HeapRef ref) { drop(*At(ref)); });
  }

  // Calls fn(entry) for one page from `cursor` and returns the next cursor; 0 starts and 0 ends.
  // REQUIRES: fn does not change this object.
  template <typename Fn>
  uint64_t Scan(uint64_t cursor, Fn&& fn) const {
    return table_.Scan(cursor, [&](HeapRef ref) { fn(*At(ref)); });
  }
  // Calls fn(entry) for each entry.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    table_.ForEach([&](HeapRef ref) { fn(static_cast<const Entry&>(*At(ref))); });
  }
  bool Validate() const noexcept;

 private:
  Entry* At(HeapRef ref) const noexcept { return base_.Resolve<Entry>(ref); }

  HeapBase base_;
  IdSet cold_end_moved_;  // for the list's hooks; not read
  HashTable<EntryTablePolicy> table_;
  LruList<EntryLruHooks> order_;
  Deadlines deadlines_;
  uint64_t bytes_ = 0;  // of the entries
};

}  // namespace mayfly

// The stale values of one keyspace: the values of expired keys until their windows have passed (STALE).
//
// Either a key exists or its value is stale, never both: the creation of a key drops its stale value. The first stale value
// makes the store (cache/gone/stale_values.h). Expiry may not fail: without memory for the store, the value is freed.
//
// While a master is followed no value becomes stale: the master's stream does not say when a stale value goes.
//
// Owns the entries. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/time/clock.h"
#include "cache/entry/entry.h"
#include "cache/entry/key.h"
#include "cache/keyspace/entry_memory.h"
#include "cache/keyspace/keyspace_parts.h"
#include "cache/keyspace/owners.h"
#include "cache/tags/tags.h"

namespace mayfly {

class StaleValues;

class StaleKeys {
 public:
  // Borrows the parameters.
  StaleKeys(KeyspaceParts& parts, Owners& owners, Tags& tags, EntryMemory& memory, uint8_t id) noexcept;
  // REQUIRES: DrainSome has returned true.
  ~StaleKeys();
  StaleKeys(const StaleKeys&) = delete;
  StaleKeys& operator=(const StaleKeys&) = delete;

  // The stale value of a key, or null. Counts as an access of the stale value.
  // REQUIRES: the key is absent.
  const Entry* Find(const Key& key, Now now) noexcept;
  // Drops the key's stale value if it has one.
  void Drop(const Key& key) noexcept {
    if (values_ != nullptr) [[unlikely]]
      DropOf(key);
  }
  size_t size() const noexcept;
  uint64_t bytes() const noexcept;  // with their table
  // The least recently used stale value, or null.
  const Entry* Coldest() const noexcept;
  // Both drop the least recently used stale value, and Evict counts it as evicted. REQUIRES: size() is not 0.
  void DropColdest() noexcept;
  void Evict() noexcept;

  // ---- for the keyspace
  //
  // Takes an entry that is in no container of the keyspace; its owner's bytes are without it. Returns false if the entry's window
  // has passed or there is no memory: then the caller frees the entry.
  bool Keep(uint64_t hash, Entry& entry, Now now) noexcept;
  void Free(uint64_t hash, Entry& entry) noexcept;
  // Frees some stale values of doomed shares. REQUIRES: there are some.
  void FreeDoomed(size_t* budget) noexcept;
  // Frees stale values after their windows; see Reaper::Advance.
  bool Advance(Now now, size_t* budget);
  uint64_t NextWakeMs(Now now) const noexcept;
  void FollowWallStep(Now now) noexcept;
  // Frees about `budget` stale values of a keyspace that is not in use any more. Returns true if none are left.
  bool DrainSome(size_t budget) noexcept;
  // Null if no stale value was ever kept.
  const StaleValues* values() const noexcept { return values_.get(); }

 private:
  void DropOf(const Key& key) noexcept;

  KeyspaceParts& parts_;
  Owners& owners_;
  Tags& tags_;
  EntryMemory& memory_;
  uint8_t id_;
  std::unique_ptr<StaleValues> values_;  // null until the first stale value
  uint64_t cursor_ = 0;                  // of FreeDoomed
};

}  // namespace mayfly

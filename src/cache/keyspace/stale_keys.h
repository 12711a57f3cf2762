// The stale values of one keyspace: what keys held, from their deadlines until their windows have passed (STALE).
//
// A key is there or its value is stale, never both: whoever creates the key drops the stale value. The store
// (cache/gone/stale_values.h) is made when the first one comes. When a key expires nothing may fail: if there is no memory
// for its value, that is freed.
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
#include "cache/keyspace/tags.h"

namespace mayfly {

class StaleValues;

class StaleKeys {
 public:
  // Borrows all.
  StaleKeys(KeyspaceParts& parts, Owners& owners, Tags& tags, EntryMemory& memory, uint8_t id) noexcept;
  // REQUIRES: DrainSome has returned true.
  ~StaleKeys();
  StaleKeys(const StaleKeys&) = delete;
  StaleKeys& operator=(const StaleKeys&) = delete;

  // The stale value of a key, or null. Counts as an access of it.
  // REQUIRES: the key is not there.
  const Entry* Find(const Key& key, Now now) noexcept;
  // Drops the key's stale value if it has one.
  void Drop(const Key& key) noexcept {
    if (values_ != nullptr) [[unlikely]]
      DropOf(key);
  }
  size_t size() const noexcept;
  uint64_t bytes() const noexcept;  // with their table
  // The least recently used one, or null.
  const Entry* Coldest() const noexcept;
  // Drops that one, and counts it as evicted. REQUIRES: there is one.
  void Evict() noexcept;

  // ---- for the keyspace
  //
  // Takes an entry that has just left all containers of the keyspace, with its bytes. False if its window has passed or
  // there is no memory: the caller frees it.
  bool Keep(uint64_t hash, Entry& entry, Now now) noexcept;
  void Free(uint64_t hash, Entry& entry) noexcept;
  // Frees some of those whose share is doomed. REQUIRES: there are some.
  void FreeDoomed(size_t* budget) noexcept;
  // Frees those whose windows have passed; see Keyspace::Advance.
  bool Advance(Now now, size_t* budget);
  uint64_t NextWakeMs(Now now) const noexcept;
  void FollowWallStep(Now now) noexcept;
  // Of a keyspace that is not in use any more. True if none is left.
  bool DrainSome(size_t budget) noexcept;
  // Null if there is none.
  const StaleValues* values() const noexcept { return values_.get(); }

 private:
  void DropOf(const Key& key) noexcept;

  KeyspaceParts& parts_;
  Owners& owners_;
  Tags& tags_;
  EntryMemory& memory_;
  uint8_t id_;
  std::unique_ptr<StaleValues> values_;  // null until there is one
  uint64_t cursor_ = 0;                  // of FreeDoomed
};

}  // namespace mayfly

// The Adopter puts the keys of a snapshot file into a keyspace. A loaded key keeps its time of use, deadline and tags: a load is no
// access and no command, so no rule, no jitter and no eviction changes them. RESTORE takes over the time of use alone (SetLastUse).
//
// Borrows the keyspace. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/time/clock.h"
#include "cache/entry/entry.h"
#include "cache/entry/expiry.h"
#include "cache/entry/key.h"
#include "cache/entry/rich_value.h"
#include "cache/entry/value.h"

namespace mayfly {

class Keyspace;

// What a saved key has beside its value.
struct Adoption {
  Expiry expiry = {};
  EntryTerms terms = {};
  std::span<const std::string_view> tags = {};  // at most EntryExtra::kMostTags different ones
  uint32_t stamp = 0;                           // Entry::stamp
};

class Adopter {
 public:
  explicit Adopter(Keyspace& keyspace) noexcept : keyspace_(keyspace) {}

  // The expected number of keys, if the keyspace is empty now; 0: no more keys will come (HashTable::Expect).
  void Expect(size_t keys) noexcept;
  // Prefetches what Put will look at for this key.
  void Prefetch(std::string_view key) const noexcept;
  // Puts a key at the cold end of its list: a file has the most recently used keys first. `rich` or `text` is the value. Throws
  // std::bad_alloc, OwnersExhausted among them; then frees the value.
  // REQUIRES: the key does not exist.
  Entry* Put(const Key& key, StringValue&& text, std::unique_ptr<RichValue> rich, const Adoption& as,
             Now now);
  // Keeps the value of an expired key as a stale value, until the window of `as` has passed: `as.expiry` is over. Returns
  // false if the window has passed, too, or there is no memory for the store. Throws as Put.
  // REQUIRES: the key does not exist, and has no stale value.
  bool PutStale(const Key& key, StringValue&& text, const Adoption& as, Now now);
  // Removes a key that gives way to the keys of a master's file. Nobody hears why: clients get no notification, EXPLOG has no
  // event.
  void GiveWay(const Key& key, Entry& entry);
  // Gives an entry another time of last use, and the place in its list that the time demands, if the list is in the order of
  // use: see Quota::MoveByUse. REQUIRES: the entry was put in this turn.
  void SetLastUse(Entry& entry, uint32_t stamp, Now now) noexcept;
  // Moves a loaded entry to the cold end of its list: entries that were loaded later had been used later.
  void MoveToColdest(Entry& entry) noexcept;

 private:
  Keyspace& keyspace_;
};

}  // namespace mayfly

// Chooses SIEVE's victims from all lists of all quotas. Each list has a hand of its own (cache/owners/sieve_hand.h).
//
// The ideal is a single queue: its hand examines every other entry once before the hand comes to the same entry again. To
// come close to the ideal, all hands move in step and complete a turn in the same time. The hand with the shortest way so
// far, measured in parts of a turn (Quota::Turned), moves next, until this hand finds a victim or reaches the front of its
// list. So every key has the same time to be visited, in any list, and a list loses entries in proportion to its number of
// unvisited entries. A formerly empty list joins one turn later, because a single queue would examine its new entries last.
// The newest entry of a list is evicted only if nothing else is left.
//
// Work is bounded: after kMostPassed visited entries in a row, the hand's walk ends, and the least recently used of the
// visited entries is evicted. So a full turn over a million visited entries is spread over 250 evictions, and every call
// finds a victim unless there is no entry at all. Amortised, each hit pays for the step that clears its bit.
//
// A namespace above its limits has a queue of its own, made of its shares (EvictionPool).
//
// S3-FIFO evicts the entries that are past their probation in the same way (Scope). Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time/clock.h"
#include "cache/keyspace/databases.h"

namespace mayfly {

class SieveEvictor {
 public:
  static constexpr size_t kMostPassed = 4096;

  // Borrows `databases`.
  explicit SieveEvictor(Databases& databases) noexcept : databases_(databases) {}

  // The possible victims. If all entries of a list but one are young, young entries are victims, too.
  struct Scope {
    bool with_lasting = true;   // also entries without a TTL
    bool passes_young = false;  // no entries on probation (Entry::young)
    EvictionPool pool = {};
  };
  // Evicts one entry. Returns the number of entries examined, at most kMostPassed; 0 if there is no victim.
  size_t EvictOne(Now now) { return EvictOne(now, Scope{}); }
  size_t EvictOne(Now now, const Scope& scope);

 private:
  struct Place {
    Quota* quota = nullptr;
    Quota::List list = Quota::kLasting;
  };
  // The list whose hand has moved least; null if no list has two entries.
  Place LeastFar(const Scope& scope) noexcept;
  // Evicts the least recently used entry, for lists with a single entry each.
  size_t EvictSingle(const Scope& scope, Now now);

  Databases& databases_;
  uint64_t reached_ = 0;  // every hand has moved at least this far; wraps
};

}  // namespace mayfly

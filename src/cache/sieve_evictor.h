// Chooses SIEVE's victims over all lists of all databases: each has a hand of its own (cache/sieve_hand.h).
//
// One queue would be the ideal: between two looks at one entry its hand looks once at every other. So all
// hands go round in step, each making its turn in the same time: the next to walk is the one that has come
// least far, counted in parts of a turn (Keyspace::Turned), and it walks to its first victim or to the front
// of its list. Every key then has the same time to be visited, wherever it lies, and lists lose in proportion
// to what they hold of keys that nobody asks for. A list that was empty joins one turn later, as entries in
// front of one queue are looked at last. The newest entry of each list goes only when nothing else is left.
//
// Work is bounded: after kMostPassed visited entries in a row, the one of them that was used longest ago
// goes. A full turn over a million visited entries is thus spread over 250 evictions, each of which gives a
// victim: nothing to evict means that there is no entry at all. Amortised, a hit pays for the look that
// clears its bit. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "cache/databases.h"

namespace mayfly {

class SieveEvictor {
 public:
  static constexpr size_t kMostPassed = 4096;

  // Borrows `databases`.
  explicit SieveEvictor(Databases& databases) noexcept : databases_(databases) {}

  // Evicts one entry. The number of entries looked at, at most kMostPassed; 0 where there is none.
  size_t EvictOne(Now now);

 private:
  struct Place {
    Keyspace* keyspace = nullptr;
    Keyspace::List list = Keyspace::kLasting;
  };
  // The list whose hand has come least far; null where no list has two entries.
  Place LeastFar() noexcept;
  // Evicts the one used longest ago of lists with a single entry.
  size_t EvictSingle(Now now);

  Databases& databases_;
  uint64_t reached_ = 0;  // how far every hand has come at least; wraps
};

}  // namespace mayfly

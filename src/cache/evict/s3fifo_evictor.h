// Chooses the victims of S3-FIFO (Yang et al., SOSP 2023). Most keys are used once, so a new key is on probation at
// first, and only one that is used again gets a place among the others.
//
//   hottest (newest)                                                     coldest (oldest)
//     young entry -> young -> entry -> young -> entry -> entry -> entry -> entry
//                                      <- gate            <-------- hand
//
// A list holds both kinds; a bit of the entry tells them apart (Entry::young). A new entry is young, unless
// the ghost of its key is remembered (cache/gone/ghost_ring.h): then it has been evicted too early. The gate
// goes after the oldest young entries, while a list has more of them than its part: one that was visited is
// young no more and stays where it is; the first other one is the victim. If no list has too many young
// entries, SIEVE's hand chooses among the rest (cache/evict/sieve_evictor.h). So unlike in the paper the main
// queue is one of SIEVE: it needs a single bit, no entry moves, and it missed less in all traces of
// scripts/bench.
//
// All that a hit does is to set the visited bit, as under SIEVE. After a change to this policy the entries
// that are there are past their probation; after a change from it, young entries stay marked and nobody
// looks at that.
//
// The ghosts of a namespace's entries are among those of all others.
//
// Work is bounded as in SieveEvictor: one eviction examines at most kMostPassed entries. Loop thread only.
#pragma once

#include <cstddef>

#include "base/time/clock.h"
#include "cache/evict/sieve_evictor.h"
#include "cache/keyspace/databases.h"

namespace mayfly {

class S3FifoEvictor {
 public:
  static constexpr size_t kMostPassed = 2 * SieveEvictor::kMostPassed;
  // The part of a list that young entries may take. In the traces of scripts/bench 1 in 100 to 1 in 10 differ
  // little; where popular keys change, 1 in 20 misses least.
  static constexpr size_t kYoungPart = 20;

  // Borrows both.
  S3FifoEvictor(Databases& databases, SieveEvictor& sieve) noexcept : databases_(databases), sieve_(sieve) {}

  // Evicts one entry of the pool; if `with_lasting` is false, only one with a TTL. Returns the number of entries examined,
  // at most kMostPassed; 0 if there is none.
  // REQUIRES: the databases keep ghosts (Databases::KeepGhosts).
  size_t EvictOne(bool with_lasting, Now now, const EvictionPool& pool = {});

 private:
  struct Place {
    Quota* quota = nullptr;  // null: no list has too many
    Quota::List list = Quota::kLasting;
    size_t keep = 0;        // young entries that the list may have
    size_t candidates = 0;  // entries of all lists
  };
  // The list that has most young entries above its part.
  Place MostYoung(bool with_lasting, const EvictionPool& pool) const noexcept;

  Databases& databases_;
  SieveEvictor& sieve_;
};

}  // namespace mayfly

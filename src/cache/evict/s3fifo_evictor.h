// Chooses the victims of S3-FIFO (Yang et al., SOSP 2023). Most keys are used once, so a new key is on probation at first,
// and only a second use gives the key a place among the others.
//
//   hottest (newest)                                                     coldest (oldest)
//     young entry -> young -> entry -> young -> entry -> entry -> entry -> entry
//                                      <- gate            <-------- hand
//
// A list holds both kinds; a bit of the entry distinguishes them (Entry::young). A new entry is young, unless the ring still
// has the ghost of its key (cache/gone/ghost_ring.h): then the key was evicted too early. While a list has more young
// entries than its part, the gate examines the oldest young entries: a visited entry is young no more and stays in its
// place; the first other young entry is the victim. If no list has too many young entries, SIEVE's hand chooses among the
// rest (cache/evict/sieve_evictor.h). So unlike in the paper the main queue is a queue of SIEVE: SIEVE needs a single bit,
// no entry moves, and the misses in all traces of scripts/bench were fewer.
//
// A hit only sets the visited bit, as under SIEVE. After a change to this policy the existing entries are past their
// probation; after a change to another policy, young entries stay marked, and no code reads the marks.
//
// The ghosts of all namespaces' entries are in one ring.
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
  // The part of a list for young entries. In the traces of scripts/bench 1 in 100 to 1 in 10 differ little; when popular
  // keys change, 1 in 20 misses least.
  static constexpr size_t kYoungPart = 20;

  // Borrows `databases` and `sieve`.
  S3FifoEvictor(Databases& databases, SieveEvictor& sieve) noexcept : databases_(databases), sieve_(sieve) {}

  // Evicts one entry of the pool; if `with_lasting` is false, an entry with a TTL. Returns the number of entries examined,
  // at most kMostPassed; 0 if there is no victim.
  // REQUIRES: the databases keep ghosts (Databases::KeepGhosts).
  size_t EvictOne(bool with_lasting, Now now, const EvictionPool& pool = {});

 private:
  struct Place {
    Quota* quota = nullptr;  // null: no list has too many young entries
    Quota::List list = Quota::kLasting;
    size_t keep = 0;        // young entries that the list may have
    size_t candidates = 0;  // entries of all lists
  };
  // The list with most young entries above its part.
  Place MostYoung(bool with_lasting, const EvictionPool& pool) const noexcept;

  Databases& databases_;
  SieveEvictor& sieve_;
};

}  // namespace mayfly

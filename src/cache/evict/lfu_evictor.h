// Chooses the victims of the LFU policies as Redis does, from a sample of each database. The best candidates of all
// samples so far stay in a pool for later evictions.
//
// The best candidate has the lowest counter, and of equal counters the longest idle time. The pool stores keys, not entries:
// a candidate that was removed or accessed since its sampling is skipped. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "cache/keyspace/databases.h"

namespace mayfly {

class LfuEvictor {
 public:
  static constexpr size_t kCandidates = 16;

  // Borrows `databases` and `random`.
  LfuEvictor(Databases& databases, std::mt19937_64& random) : databases_(databases), random_(random) {
    candidates_.reserve(kCandidates);
  }

  // Evicts one entry; if `with_lasting` is false, an entry with a TTL. Leaves out quotas with a promise in `leaves_out`. Returns
  // the number of entries sampled, or 0 if there is nothing to evict.
  // REQUIRES: samples > 0 and databases.access_effect() == AccessEffect::kFrequency.
  size_t EvictOne(bool with_lasting, uint8_t leaves_out, size_t samples, Now now);
  // The same within one namespace, without a memory of candidates: evicts the best of a few entries in turn.
  size_t EvictWithin(const Namespace& space, bool with_lasting, Now now);

 private:
  struct Candidate {
    uint64_t rank;  // the candidate of the highest rank is evicted first
    unsigned database;
    uint32_t stamp;  // at the time of sampling
    std::string key;
  };
  // Samples up to `samples` entries of each database. Returns the number of sampled entries. Sets `evicted` if a sampled
  // entry was evicted at once, for lack of memory to remember the candidate.
  size_t Look(bool with_lasting, uint8_t leaves_out, size_t samples, Now now, bool& evicted);
  // Throws std::bad_alloc.
  void Offer(unsigned database, const Entry& entry, Now now);
  // Returns false if no look-up finds the candidate, or if it was accessed, or left the pool, since it was sampled.
  bool Evict(const Candidate& candidate, bool with_lasting, uint8_t leaves_out, Now now);
  // Evicts one sample, whatever its rank. Returns false if there is no sample.
  bool EvictAny(bool with_lasting, uint8_t leaves_out, Now now);

  Databases& databases_;
  std::mt19937_64& random_;
  std::vector<Candidate> candidates_;  // by rising rank
};

}  // namespace mayfly

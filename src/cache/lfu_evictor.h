// Chooses the victims of the LFU policies as Redis does: a few entries of each database are looked at by
// chance, and the best candidates of all looks so far are kept for the next time.
//
// The best is who has the lowest count; of equal counts, who idled longest. A candidate is known by its key:
// one that went away, or was used since it was looked at, is passed over. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cache/databases.h"

namespace mayfly {

class LfuEvictor {
 public:
  static constexpr size_t kCandidates = 16;

  // Borrows both.
  LfuEvictor(Databases& databases, std::mt19937_64& random) noexcept
      : databases_(databases), random_(random) {}

  // Evicts one entry; where `with_lasting` is false, one with a TTL. The number of entries looked at; 0 where
  // there is none to evict. REQUIRES: samples > 0, and Databases::TrackAccesses(AccessTracking::kFrequency).
  size_t EvictOne(bool with_lasting, size_t samples, Now now);

 private:
  struct Candidate {
    uint64_t rank;  // the higher, the sooner it goes
    unsigned database;
    uint32_t stamp;  // when it was looked at
    std::string key;
  };
  // The number of entries looked at.
  size_t Look(bool with_lasting, size_t samples, Now now);
  void Offer(unsigned database, const Entry& entry, Now now);
  bool Evict(const Candidate& candidate, bool with_lasting, Now now);

  Databases& databases_;
  std::mt19937_64& random_;
  std::vector<Candidate> candidates_;  // by rank, the best at the end
};

}  // namespace mayfly

// Makes room: chooses victims by the policy until memory and number of keys are within their limits.
//
// LRU is exact: the victim is the entry with the oldest access stamp among the cold ends of all lists.
// volatile-ttl takes from the wheels' earliest slots. allkeys-sieve is explained in cache/sieve_evictor.h,
// the LFU policies in cache/lfu_evictor.h. `maxkeys` evicts the coldest entry under any policy but these,
// which do not know it: there the victim is theirs, of all keys. SIEVE needs AccessTracking::kVisitedBit, the
// LFU policies AccessTracking::kFrequency. Run stops when its slice is used up; the caller goes on in the
// next loop turn. Loop thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "base/clock.h"
#include "base/eviction_policy.h"
#include "cache/databases.h"
#include "cache/lfu_evictor.h"
#include "cache/sieve_evictor.h"

namespace mayfly {

struct EvictionLimits {
  uint64_t maxmemory_bytes = 0;  // 0: no limit
  uint64_t maxkeys = 0;          // 0: no limit
  EvictionPolicy policy = EvictionPolicy::kNoEviction;
  size_t samples = 5;  // entries of each database that LFU looks at for a victim; not 0
};

class Evictor {
 public:
  enum class Outcome : uint8_t { kWithin, kMore, kNothingToEvict };

  Evictor(Databases& databases, std::mt19937_64& random) noexcept
      : databases_(databases), random_(random), sieve_(databases), lfu_(databases, random) {}

  // Evicts entries until `budget` of them have been looked at, at least one where it must and can.
  // `used_bytes` is asked again after each; it must not count what waits to be freed. kMore: over a limit
  // still, but victims are left. kNothingToEvict: over maxmemory and no victim.
  template <typename UsedBytes>
  Outcome Run(const EvictionLimits& limits, Now now, size_t budget, UsedBytes&& used_bytes) {
    for (;;) {
      const bool too_many = limits.maxkeys != 0 && databases_.total_keys() > limits.maxkeys;
      const bool too_big = limits.maxmemory_bytes != 0 && used_bytes() > limits.maxmemory_bytes;
      if (!too_many && !too_big) return Outcome::kWithin;
      if (budget == 0) return Outcome::kMore;
      const size_t looked = EvictOne(limits, too_big, too_many, now);
      if (looked == 0) return Outcome::kNothingToEvict;
      budget -= std::min(budget, looked);
    }
  }

 private:
  // Each: the number of entries looked at; 0: there is no victim.
  size_t EvictOne(const EvictionLimits& limits, bool too_big, bool too_many, Now now);
  size_t EvictLru(bool with_lasting, Now now);
  size_t EvictNearestDeadline(Now now);
  size_t EvictRandom(bool with_lasting);

  Databases& databases_;
  std::mt19937_64& random_;
  SieveEvictor sieve_;
  LfuEvictor lfu_;
};

}  // namespace mayfly

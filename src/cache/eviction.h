// Makes room: chooses victims by the policy until memory and number of keys are within their limits.
//
// LRU is exact: the victim is the entry with the oldest access stamp among the cold ends of all lists.
// volatile-ttl takes from the wheels' earliest slots. `maxkeys` evicts the coldest entry under any policy.
// Run stops when its slice is used up; the caller goes on in the next loop turn. Loop thread only.
#pragma once

#include <cstdint>
#include <random>

#include "base/clock.h"
#include "cache/databases.h"

namespace mayfly {

enum class EvictionPolicy : uint8_t {
  kNoEviction,
  kAllKeysLru,
  kVolatileLru,
  kVolatileTtl,
  kAllKeysRandom,
  kVolatileRandom,
};

struct EvictionLimits {
  uint64_t maxmemory_bytes = 0;  // 0: no limit
  uint64_t maxkeys = 0;          // 0: no limit
  EvictionPolicy policy = EvictionPolicy::kNoEviction;
};

class Evictor {
 public:
  enum class Outcome : uint8_t { kWithin, kMore, kNothingToEvict };

  Evictor(Databases& databases, std::mt19937_64& random) noexcept : databases_(databases), random_(random) {}

  // Evicts at most `budget` entries. `used_bytes` is asked again after each; it must not count what waits to
  // be freed. kMore: over a limit still, but victims are left. kNothingToEvict: over maxmemory and no victim.
  template <typename UsedBytes>
  Outcome Run(const EvictionLimits& limits, Now now, size_t budget, UsedBytes&& used_bytes) {
    for (;; --budget) {
      const bool too_many = limits.maxkeys != 0 && databases_.total_keys() > limits.maxkeys;
      const bool too_big = limits.maxmemory_bytes != 0 && used_bytes() > limits.maxmemory_bytes;
      if (!too_many && !too_big) return Outcome::kWithin;
      if (budget == 0) return Outcome::kMore;
      const bool evicted = (too_big && EvictOne(limits.policy, now)) || (too_many && EvictColdest(now));
      if (!evicted) return Outcome::kNothingToEvict;
    }
  }

 private:
  bool EvictOne(EvictionPolicy policy, Now now);
  bool EvictColdest(Now now);
  bool EvictLru(bool with_lasting, Now now);
  bool EvictNearestDeadline(Now now);
  bool EvictRandom(bool with_lasting);

  Databases& databases_;
  std::mt19937_64& random_;
};

}  // namespace mayfly

// Frees memory: evicts victims of the policy until used memory and the number of keys are within their limits.
//
// The LRU policies are exact: the victim is the entry with the oldest access among the cold ends of all lists
// (cache/owners/quotas.h). volatile-ttl takes an entry from the wheels' earliest slots. For allkeys-sieve see
// cache/evict/sieve_evictor.h, for the S3-FIFO policies cache/evict/s3fifo_evictor.h, for the LFU policies
// cache/evict/lfu_evictor.h. The limit `maxkeys` evicts the least recently used key. The lists of SIEVE, S3-FIFO and LFU are
// in another order: under these policies `maxkeys` evicts the policy's own victim, chosen from all keys. SIEVE and S3-FIFO
// need AccessEffect::kVisitedBit, S3-FIFO also ghosts (Databases::KeepGhosts), the LFU policies need
// AccessEffect::kFrequency.
//
// Stale values (cache/gone/stale_values.h) go before any key, under every policy, allkeys or not, and noeviction too. A
// stale value is no key, so `maxkeys` does not count stale values.
//
// Trim keeps a namespace within its own limits, at the cost of no other: the limit of bytes by the policy, from the
// namespace's own keys, and the limit of keys like `maxkeys`. While the promises to namespaces fit (Namespaces::Promise),
// Run takes nothing from namespaces with a promise; if the policy finds no victim in the rest, Run evicts nothing.
//
// No policy takes a stream while work would be lost with it (cache/keyspace/spared_streams.h). An eviction that meets such a
// stream spares it, and the next eviction follows. While there are spared streams, each eviction looks at one of each list
// again, and an eviction without a victim at about kLooksInNeed, before it gives up.
//
// Run stops when its budget is used up; the caller continues in the next loop turn. Loop thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "base/eviction_policy.h"
#include "base/time/clock.h"
#include "cache/evict/lfu_evictor.h"
#include "cache/evict/s3fifo_evictor.h"
#include "cache/evict/sieve_evictor.h"
#include "cache/keyspace/databases.h"

namespace mayfly {

struct EvictionLimits {
  uint64_t maxmemory_bytes = 0;  // 0: no limit
  uint64_t maxkeys = 0;          // 0: no limit
  EvictionPolicy policy = EvictionPolicy::kNoEviction;
  size_t samples = 5;  // entries of each database that LFU samples for a victim; not 0
};

// The excess that one call must evict with any number of entries: the call goes on beyond its budget while bytes or keys are
// above these values.
struct EvictionOwed {
  uint64_t above_bytes = UINT64_MAX;
  uint64_t above_keys = UINT64_MAX;
};

class Evictor {
 public:
  enum class Outcome : uint8_t { kWithin, kMore, kNothingToEvict };
  // After this number of streams that were spared, Run and Trim return kMore, whatever is owed.
  static constexpr uint64_t kMostSpared = 1024;
  // Spared streams that an eviction looks at again before it finds that there is no victim.
  static constexpr size_t kLooksInNeed = 256;

  Evictor(Databases& databases, std::mt19937_64& random)
      : databases_(databases),
        random_(random),
        sieve_(databases),
        s3fifo_(databases, sieve_),
        lfu_(databases, random) {}

  // Evicts entries until the limits are met or `budget` entries have been examined. Evicts at least one entry if a limit is
  // exceeded, `budget` is not 0 and there is a victim. Calls used_bytes() before each eviction; the result must not include
  // memory that only waits to be freed. Returns kWithin if both limits are met; kMore if a limit is exceeded but there are
  // victims left; kNothingToEvict if a limit is exceeded and there is no victim.
  template <typename UsedBytes>
  Outcome Run(const EvictionLimits& limits, Now now, size_t budget, UsedBytes&& used_bytes,
              const EvictionOwed& owed = {}) {
    const uint64_t met_before = databases_.sparing().met;
    for (;;) {
      const uint64_t keys = limits.maxkeys != 0 ? databases_.total_keys() : 0;
      const uint64_t used = limits.maxmemory_bytes != 0 ? used_bytes() : 0;
      const bool too_many = keys > limits.maxkeys;
      const bool too_big = used > limits.maxmemory_bytes;
      if (!too_many && !too_big) return Outcome::kWithin;
      if (budget == 0 && keys <= owed.above_keys && used <= owed.above_bytes) return Outcome::kMore;
      if (SparedTooMany(met_before)) [[unlikely]]
        return Outcome::kMore;
      const size_t looked = EvictOne({limits.policy, limits.samples, nullptr, too_big, too_many}, now);
      if (looked == 0) return Outcome::kNothingToEvict;
      budget -= std::min(budget, looked);
    }
  }

  // Evicts entries of the namespace until its limits are met. After `budget` examined entries, an excess from before the
  // last write may stay (Namespace::AboveSettled). Of `limits`, only policy and samples count.
  Outcome Trim(Namespace& space, const EvictionLimits& limits, Now now, size_t budget);

 private:
  // The purpose of an eviction, and the quotas for the victim.
  struct Task {
    EvictionPolicy policy;
    size_t samples;
    const Namespace* only;  // null: all quotas without such a promise
    bool too_big;
    bool too_many;
  };
  bool SparedTooMany(uint64_t met_before) const noexcept {
    return databases_.sparing().met - met_before >= kMostSpared;
  }
  // Looks again at up to `most` spared streams of each list of the task's pool. Returns the number of those that may go now.
  size_t LookAgainAtSpared(const Task& task, size_t most, Now now) noexcept;
  // Each of the following functions returns the number of entries examined, or 0 if there is no victim.
  size_t EvictOne(const Task& task, Now now);
  size_t EvictByPolicy(const Task& task, Now now);
  size_t EvictLru(bool with_lasting, const EvictionPool& pool, Now now);
  size_t EvictNearestDeadline(const EvictionPool& pool, Now now);
  size_t EvictRandom(bool with_lasting, const EvictionPool& pool, Now now);
  size_t EvictLfu(bool with_lasting, const EvictionPool& pool, size_t samples, Now now);

  Databases& databases_;
  std::mt19937_64& random_;
  SieveEvictor sieve_;
  S3FifoEvictor s3fifo_;
  LfuEvictor lfu_;
};

}  // namespace mayfly

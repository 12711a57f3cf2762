#include "cache/evict/s3fifo_evictor.h"

#include <algorithm>
#include <cassert>

#include "cache/evict/eviction_pool.h"

namespace mayfly {
S3FifoEvictor::Place S3FifoEvictor::MostYoung(bool with_lasting, const EvictionPool& pool) const noexcept {
  Place best;
  size_t most = 0;
  ForEachIn(pool, databases_.quotas(), [&](Quota& quota) {
    for (const Quota::List list : Quota::kEvictable) {
      if (list == Quota::kLasting && !with_lasting) continue;
      const size_t count = quota.CountOf(list);
      best.candidates += count;
      const size_t keep = std::max<size_t>(count / kYoungPart, 1);
      if (quota.YoungIn(list) <= keep + most) continue;
      most = quota.YoungIn(list) - keep;
      best.quota = &quota;
      best.list = list;
      best.keep = keep;
    }
  });
  return best;
}

size_t S3FifoEvictor::EvictOne(bool with_lasting, Now now, const EvictionPool& pool) {
  assert(databases_.access_effect() == AccessEffect::kVisitedBit);
  size_t looked = 0;
  while (looked < SieveEvictor::kMostPassed) {
    const Place place = MostYoung(with_lasting, pool);
    if (pool.only == nullptr) databases_.WantGhosts(place.candidates);
    if (place.quota == nullptr) break;
    const HandWalk<Entry*> walk =
        place.quota->Gate(place.list, SieveEvictor::kMostPassed - looked, place.keep);
    looked += walk.looked;
    if (walk.victim == nullptr) continue;
    place.quota->home().Evict(*walk.victim, now);
    return looked;
  }
  const size_t more =
      sieve_.EvictOne(now, {.with_lasting = with_lasting, .passes_young = true, .pool = pool});
  return more == 0 ? 0 : looked + more;
}

}  // namespace mayfly

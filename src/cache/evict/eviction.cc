#include "cache/evict/eviction.h"

#include <algorithm>

#include "cache/evict/eviction_pool.h"
#include "cache/keyspace/sampling.h"
#include "cache/keyspace/spared_streams.h"

namespace mayfly {
namespace {

struct Victim {
  Keyspace* keyspace = nullptr;
  Entry* entry = nullptr;
};

size_t Evict(const Victim& victim, Now now) {
  if (victim.entry == nullptr) return 0;
  victim.keyspace->Evict(*victim.entry, now);
  return 1;
}

}  // namespace

size_t Evictor::EvictLru(bool with_lasting, const EvictionPool& pool, Now now) {
  if (pool.only == nullptr) {
    Entry* const victim = databases_.quotas().Oldest(with_lasting, now, pool.leaves_out);
    if (victim == nullptr) return 0;
    databases_.quotas().Of(*victim).home().Evict(*victim, now);
    return 1;
  }
  Victim oldest;
  int64_t longest_ms = -1;
  for (const Quota* const share : pool.only->shares()) {
    for (const Quota::List list : {Quota::kExpiring, Quota::kLasting}) {
      Entry* const entry = list == Quota::kLasting && !with_lasting ? nullptr : share->Coldest(list);
      if (entry == nullptr) continue;
      const auto idle_ms = static_cast<int64_t>(Entry::IdleMs(entry->stamp(), now.mono_ms));
      if (idle_ms <= longest_ms) continue;
      longest_ms = idle_ms;
      oldest = {&share->home(), entry};
    }
  }
  return Evict(oldest, now);
}

Evictor::Outcome Evictor::Trim(Namespace& space, const EvictionLimits& limits, Now now, size_t budget) {
  const uint64_t met_before = databases_.sparing().met;
  for (;;) {
    const bool too_big = space.TooBig();
    const bool too_many = space.TooMany();
    if (!too_big && !too_many) return space.Rebase(), Outcome::kWithin;
    if (budget == 0 && !space.AboveSettled()) return space.Rebase(), Outcome::kMore;
    if (SparedTooMany(met_before)) return space.Rebase(), Outcome::kMore;
    const size_t looked = EvictOne({limits.policy, limits.samples, &space, too_big, too_many}, now);
    if (looked == 0) return space.Rebase(), Outcome::kNothingToEvict;
    budget -= std::min(budget, looked);
  }
}

// If a database's nearest entry is outside the pool, some entries of the pool are compared: the least recently used entries
// and a few random entries. The entries in turn by the hand are no choice: this policy keeps the order of use, and a hit
// under this policy does not maintain a hand.
size_t Evictor::EvictNearestDeadline(const EvictionPool& pool, Now now) {
  constexpr size_t kColdest = 12;
  constexpr size_t kAtRandom = 4;
  Victim nearest;
  int64_t least = 0;
  const auto offer = [&](Keyspace& keyspace, Entry* entry) {
    // An entry past its deadline counts as due now.
    const int64_t left = std::max<int64_t>(TtlMs(*entry, now), 0);
    if (nearest.entry != nullptr && left >= least) return;
    least = left;
    nearest = {&keyspace, entry};
  };
  for (unsigned i = 0; pool.only == nullptr && i < databases_.count(); ++i) {
    Keyspace& keyspace = databases_.At(i);
    Entry* const entry = Sampling(keyspace).NearestDeadline(now);
    if (entry != nullptr && pool.Has(databases_.quotas().Of(*entry))) offer(keyspace, entry);
  }
  if (nearest.entry != nullptr) return Evict(nearest, now);
  ForEachIn(pool, databases_.quotas(), [&](Quota& quota) {
    Keyspace& keyspace = quota.home();
    quota.ForColdest(Quota::kExpiring, kColdest, [&](Entry& entry) { offer(keyspace, &entry); });
    if (quota.CountOf(Quota::kExpiring) <= kColdest) return;
    for (size_t left = kAtRandom; left != 0; --left)
      offer(keyspace, Sampling(keyspace).RandomOf(quota, Quota::kExpiring, random_));
  });
  return Evict(nearest, now);
}

// Draws a list by its number of candidates, then a random key of the list.
size_t Evictor::EvictRandom(bool with_lasting, const EvictionPool& pool, Now now) {
  const auto candidates_of = [&](const Quota& quota) {
    return with_lasting ? quota.evictable() : quota.CountOf(Quota::kExpiring);
  };
  uint64_t candidates = 0;
  ForEachIn(pool, databases_.quotas(), [&](Quota& quota) { candidates += candidates_of(quota); });
  if (candidates == 0) return 0;
  uint64_t at = std::uniform_int_distribution<uint64_t>(0, candidates - 1)(random_);
  Victim victim;
  ForEachIn(pool, databases_.quotas(), [&](Quota& quota) {
    if (victim.keyspace != nullptr) return;
    if (at >= candidates_of(quota)) {
      at -= candidates_of(quota);
      return;
    }
    const Quota::List list = at >= quota.CountOf(Quota::kExpiring) ? Quota::kLasting : Quota::kExpiring;
    victim = {&quota.home(), Sampling(quota.home()).RandomOf(quota, list, random_)};
  });
  return Evict(victim, now);
}

size_t Evictor::EvictLfu(bool with_lasting, const EvictionPool& pool, size_t samples, Now now) {
  if (pool.only != nullptr) return lfu_.EvictWithin(*pool.only, with_lasting, now);
  return lfu_.EvictOne(with_lasting, pool.leaves_out, samples, now);
}

size_t Evictor::EvictOne(const Task& task, Now now) {
  if (!databases_.sparing().any) [[likely]]
    return EvictByPolicy(task, now);
  LookAgainAtSpared(task, 1, now);
  const size_t looked = EvictByPolicy(task, now);
  if (looked != 0 || !databases_.sparing().any) return looked;
  size_t lists = 0;
  databases_.quotas().ForEach([&](const Quota& quota) { lists += quota.spared() != 0 ? 1 : 0; });
  const size_t most = std::max<size_t>(kLooksInNeed / std::max<size_t>(lists, 1), 1);
  return LookAgainAtSpared(task, most, now) != 0 ? EvictByPolicy(task, now) : 0;
}

size_t Evictor::LookAgainAtSpared(const Task& task, size_t most, Now now) noexcept {
  const EvictionPool pool{.only = task.only,
                          .leaves_out = task.too_big ? EvictionPool::kForBytes : EvictionPool::kForKeys};
  size_t released = 0;
  bool any = false;
  databases_.quotas().ForEach([&](Quota& quota) {
    if (quota.spared() != 0 && pool.Has(quota))
      released += SparedStreams(quota.home()).LookAgain(quota, most, now);
    any = any || quota.spared() != 0;
  });
  databases_.sparing().any = any;
  return released;
}

size_t Evictor::EvictByPolicy(const Task& task, Now now) {
  const EvictionPool for_keys{.only = task.only, .leaves_out = EvictionPool::kForKeys};
  const EvictionPool pool = task.too_big ? EvictionPool{task.only, EvictionPool::kForBytes} : for_keys;
  const bool too_big = task.too_big;
  const bool too_many = task.too_many;
  size_t looked = 0;
  if (databases_.RemoveInvalidated()) return 1;
  if (too_big && task.only == nullptr && databases_.EvictStale(now)) return 1;
  switch (task.policy) {
    case EvictionPolicy::kAllKeysSieve:
      looked = sieve_.EvictOne(now, {.pool = pool});
      return looked == 0 && too_many ? sieve_.EvictOne(now, {.pool = for_keys}) : looked;
    case EvictionPolicy::kAllKeysS3Fifo:
      looked = s3fifo_.EvictOne(true, now, pool);
      return looked == 0 && too_many ? s3fifo_.EvictOne(true, now, for_keys) : looked;
    case EvictionPolicy::kVolatileS3Fifo:
      if (too_big) looked = s3fifo_.EvictOne(false, now, pool);
      return looked == 0 && too_many ? s3fifo_.EvictOne(true, now, for_keys) : looked;
    case EvictionPolicy::kAllKeysLfu:
      looked = EvictLfu(true, pool, task.samples, now);
      return looked == 0 && too_many ? EvictLfu(true, for_keys, task.samples, now) : looked;
    case EvictionPolicy::kVolatileLfu:
      if (too_big) looked = EvictLfu(false, pool, task.samples, now);
      return looked == 0 && too_many ? EvictLfu(true, for_keys, task.samples, now) : looked;
    case EvictionPolicy::kNoEviction:
      break;
    case EvictionPolicy::kAllKeysLru:
      if (too_big) looked = EvictLru(true, pool, now);
      break;
    case EvictionPolicy::kVolatileLru:
      if (too_big) looked = EvictLru(false, pool, now);
      break;
    case EvictionPolicy::kVolatileTtl:
      if (too_big) looked = EvictNearestDeadline(pool, now);
      break;
    case EvictionPolicy::kAllKeysRandom:
      if (too_big) looked = EvictRandom(true, pool, now);
      break;
    case EvictionPolicy::kVolatileRandom:
      if (too_big) looked = EvictRandom(false, pool, now);
      break;
  }
  return looked == 0 && too_many ? EvictLru(true, for_keys, now) : looked;
}

}  // namespace mayfly

#include "cache/eviction.h"

#include <algorithm>

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

size_t Evictor::EvictLru(bool with_lasting, Now now) {
  Entry* const victim = databases_.quotas().Oldest(with_lasting, now);
  if (victim == nullptr) return 0;
  databases_.quotas().Of(*victim).home().Evict(*victim, now);
  return 1;
}

Evictor::Outcome Evictor::RunWithin(Quota& quota, Now now, size_t budget) {
  const auto age = [&](const Entry* entry) {
    return entry == nullptr ? -1 : static_cast<int64_t>(Entry::IdleMs(entry->stamp(), now.mono_ms));
  };
  for (; quota.Exceeded(); --budget) {
    Entry* const lasting = quota.Coldest(Quota::kLasting);
    Entry* const expiring = quota.Coldest(Quota::kExpiring);
    Entry* const victim = age(lasting) > age(expiring) ? lasting : expiring;
    if (victim == nullptr) return Outcome::kNothingToEvict;
    if (budget == 0) return Outcome::kMore;
    quota.home().Evict(*victim, now);
  }
  return Outcome::kWithin;
}

size_t Evictor::EvictNearestDeadline(Now now) {
  Victim nearest;
  int64_t least = 0;
  for (unsigned i = 0; i < databases_.count(); ++i) {
    Keyspace& keyspace = databases_.At(i);
    Entry* const entry = keyspace.NearestDeadline(now);
    if (entry == nullptr) continue;
    // An entry that waits to be freed counts as due now.
    const int64_t left = std::max<int64_t>(Keyspace::TtlMs(*entry, now), 0);
    if (nearest.entry != nullptr && left >= least) continue;
    least = left;
    nearest = {&keyspace, entry};
  }
  return Evict(nearest, now);
}

size_t Evictor::EvictRandom(bool with_lasting, Now now) {
  // Draws a database by its number of candidates, then a random key of it.
  uint64_t candidates = 0;
  const auto candidates_of = [&](const Keyspace& k) { return with_lasting ? k.size() : k.expiring(); };
  for (unsigned i = 0; i < databases_.count(); ++i) candidates += candidates_of(databases_.At(i));
  if (candidates == 0) return 0;
  uint64_t at = std::uniform_int_distribution<uint64_t>(0, candidates - 1)(random_);
  unsigned index = 0;
  for (; at >= candidates_of(databases_.At(index)); ++index) at -= candidates_of(databases_.At(index));
  Keyspace& keyspace = databases_.At(index);
  const bool lasting = at >= keyspace.expiring();
  const Keyspace::List list = lasting ? Keyspace::kLasting : Keyspace::kExpiring;
  return Evict({&keyspace, keyspace.RandomOf(list, random_)}, now);
}

size_t Evictor::EvictOne(const EvictionLimits& limits, bool too_big, bool too_many, Now now) {
  const auto lfu = [&](bool with_lasting) { return lfu_.EvictOne(with_lasting, limits.samples, now); };
  size_t looked = 0;
  if (databases_.RemoveInvalidated()) return 1;
  if (too_big && databases_.EvictStale(now)) return 1;
  switch (limits.policy) {
    case EvictionPolicy::kAllKeysSieve:
      return sieve_.EvictOne(now);
    case EvictionPolicy::kAllKeysS3Fifo:
      return s3fifo_.EvictOne(true, now);
    case EvictionPolicy::kVolatileS3Fifo:
      if (too_big) looked = s3fifo_.EvictOne(false, now);
      return looked == 0 && too_many ? s3fifo_.EvictOne(true, now) : looked;
    case EvictionPolicy::kAllKeysLfu:
      return lfu(true);
    case EvictionPolicy::kVolatileLfu:
      if (too_big) looked = lfu(false);
      return looked == 0 && too_many ? lfu(true) : looked;
    case EvictionPolicy::kNoEviction:
      break;
    case EvictionPolicy::kAllKeysLru:
      if (too_big) looked = EvictLru(true, now);
      break;
    case EvictionPolicy::kVolatileLru:
      if (too_big) looked = EvictLru(false, now);
      break;
    case EvictionPolicy::kVolatileTtl:
      if (too_big) looked = EvictNearestDeadline(now);
      break;
    case EvictionPolicy::kAllKeysRandom:
      if (too_big) looked = EvictRandom(true, now);
      break;
    case EvictionPolicy::kVolatileRandom:
      if (too_big) looked = EvictRandom(false, now);
      break;
  }
  return looked == 0 && too_many ? EvictLru(true, now) : looked;
}

}  // namespace mayfly

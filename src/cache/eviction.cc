#include "cache/eviction.h"

#include <algorithm>

namespace mayfly {
namespace {

struct Victim {
  Keyspace* keyspace = nullptr;
  Entry* entry = nullptr;
};

// The entry with the highest score among those that `choose` offers for each keyspace.
template <typename Choose, typename Score>
Victim Oldest(Databases& databases, Choose&& choose, Score&& score) {
  Victim victim;
  int64_t best = -1;
  for (unsigned i = 0; i < databases.count(); ++i) {
    Keyspace& keyspace = databases.At(i);
    choose(keyspace, [&](Entry* entry) {
      if (entry == nullptr) return;
      const int64_t age = score(*entry);
      if (age <= best) return;
      best = age;
      victim = {&keyspace, entry};
    });
  }
  return victim;
}

size_t Evict(const Victim& victim) {
  if (victim.entry == nullptr) return 0;
  victim.keyspace->Evict(*victim.entry);
  return 1;
}

}  // namespace

size_t Evictor::EvictLru(bool with_lasting, Now now) {
  return Evict(Oldest(
      databases_,
      [&](Keyspace& keyspace, auto&& offer) {
        offer(keyspace.Coldest(Keyspace::kExpiring));
        if (with_lasting) offer(keyspace.Coldest(Keyspace::kLasting));
      },
      [&](const Entry& entry) { return static_cast<int64_t>(Entry::IdleMs(entry.stamp(), now.mono_ms)); }));
}

size_t Evictor::EvictNearestDeadline(Now now) {
  // The nearer the deadline, the higher the score. An entry that waits to be freed counts as due now.
  return Evict(Oldest(
      databases_, [&](Keyspace& keyspace, auto&& offer) { offer(keyspace.NearestDeadline(now)); },
      [&](const Entry& entry) { return INT64_MAX - std::max<int64_t>(Keyspace::TtlMs(entry, now), 0); }));
}

size_t Evictor::EvictRandom(bool with_lasting) {
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
  return Evict({&keyspace, keyspace.RandomOf(lasting ? Keyspace::kLasting : Keyspace::kExpiring, random_)});
}

size_t Evictor::EvictOne(const EvictionLimits& limits, bool too_big, bool too_many, Now now) {
  const auto lfu = [&](bool with_lasting) { return lfu_.EvictOne(with_lasting, limits.samples, now); };
  size_t looked = 0;
  switch (limits.policy) {
    case EvictionPolicy::kAllKeysSieve:
      return sieve_.EvictOne(now);
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
      if (too_big) looked = EvictRandom(true);
      break;
    case EvictionPolicy::kVolatileRandom:
      if (too_big) looked = EvictRandom(false);
      break;
  }
  return looked == 0 && too_many ? EvictLru(true, now) : looked;
}

}  // namespace mayfly

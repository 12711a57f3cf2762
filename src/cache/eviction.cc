#include "cache/eviction.h"

#include <algorithm>

namespace mayfly {
namespace {

struct Victim {
  Keyspace* keyspace = nullptr;
  Entry* entry = nullptr;
};

// The oldest of the entries that a keyspace's lists have at their cold ends.
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

bool Evict(const Victim& victim) {
  if (victim.entry == nullptr) return false;
  victim.keyspace->Evict(*victim.entry);
  return true;
}

}  // namespace

bool Evictor::EvictLru(bool with_lasting, Now now) {
  return Evict(Oldest(
      databases_,
      [&](Keyspace& keyspace, auto&& offer) {
        offer(keyspace.Coldest(Keyspace::kExpiring));
        if (with_lasting) offer(keyspace.Coldest(Keyspace::kLasting));
      },
      [&](const Entry& entry) { return static_cast<int64_t>(Entry::IdleMs(entry.stamp(), now.mono_ms)); }));
}

bool Evictor::EvictNearestDeadline(Now now) {
  // Times to live are never negative for long, so the horizon minus what is left ranks them.
  return Evict(Oldest(
      databases_, [&](Keyspace& keyspace, auto&& offer) { offer(keyspace.NearestDeadline(now)); },
      [&](const Entry& entry) { return INT64_MAX - std::max<int64_t>(Keyspace::TtlMs(entry, now), 0); }));
}

bool Evictor::EvictRandom(bool with_lasting) {
  // A database by the number of its candidates, then a key of it.
  uint64_t candidates = 0;
  const auto candidates_of = [&](const Keyspace& k) { return with_lasting ? k.size() : k.expiring(); };
  for (unsigned i = 0; i < databases_.count(); ++i) candidates += candidates_of(databases_.At(i));
  if (candidates == 0) return false;
  uint64_t at = std::uniform_int_distribution<uint64_t>(0, candidates - 1)(random_);
  unsigned index = 0;
  for (; at >= candidates_of(databases_.At(index)); ++index) at -= candidates_of(databases_.At(index));
  Keyspace& keyspace = databases_.At(index);
  const bool lasting = at >= keyspace.expiring();
  return Evict({&keyspace, keyspace.RandomOf(lasting ? Keyspace::kLasting : Keyspace::kExpiring, random_)});
}

size_t Evictor::EvictOne(const EvictionLimits& limits, bool too_big, bool too_many, Now now) {
  switch (limits.policy) {
    case EvictionPolicy::kAllKeysSieve:
      return sieve_.EvictOne(now);
    case EvictionPolicy::kAllKeysLfu:
      return lfu_.EvictOne(/*with_lasting=*/true, limits.samples, now);
    case EvictionPolicy::kVolatileLfu: {
      const size_t looked = too_big ? lfu_.EvictOne(/*with_lasting=*/false, limits.samples, now) : 0;
      return looked == 0 && too_many ? lfu_.EvictOne(/*with_lasting=*/true, limits.samples, now) : looked;
    }
    default:
      return (too_big && EvictBy(limits.policy, now)) || (too_many && EvictLru(true, now)) ? 1 : 0;
  }
}

bool Evictor::EvictBy(EvictionPolicy policy, Now now) {
  switch (policy) {
    case EvictionPolicy::kNoEviction:
    case EvictionPolicy::kAllKeysSieve:  // EvictOne has done these
    case EvictionPolicy::kAllKeysLfu:
    case EvictionPolicy::kVolatileLfu:
      return false;
    case EvictionPolicy::kAllKeysLru:
      return EvictLru(true, now);
    case EvictionPolicy::kVolatileLru:
      return EvictLru(false, now);
    case EvictionPolicy::kVolatileTtl:
      return EvictNearestDeadline(now);
    case EvictionPolicy::kAllKeysRandom:
      return EvictRandom(true);
    case EvictionPolicy::kVolatileRandom:
      return EvictRandom(false);
  }
  return false;
}

}  // namespace mayfly

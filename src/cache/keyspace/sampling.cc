#include "cache/keyspace/sampling.h"

#include <cassert>

namespace mayfly {

Entry* Sampling::NearestDeadline(Now now) const noexcept {
  const Owners& owners = keyspace_.owners();
  if (owners.CountOf(Keyspace::kExpiring) == 0) return nullptr;
  Entry* const entry = keyspace_.lifetimes().deadlines().Nearest(now);
  if (entry != nullptr && !owners.Doomed(*entry)) return entry;
  // The nearest slots are full of entries that no policy evicts, of entries with an own time, or of a doomed share. So the search
  // compares a few entries with a TTL.
  constexpr size_t kSamples = 16;
  Entry* nearest = nullptr;
  owners.With(Keyspace::kExpiring)->ForColdest(Keyspace::kExpiring, kSamples, [&](Entry& sample) {
    if (nearest == nullptr || TtlMs(sample, now) < TtlMs(*nearest, now)) nearest = &sample;
  });
  return nearest;
}

Entry* Sampling::RandomOf(List list, std::mt19937_64& random) const {
  constexpr int kTries = 64;  // if few of many keys are in `list`, return its coldest
  const Quota* const quota = keyspace_.owners().With(list);
  if (quota == nullptr) return nullptr;
  for (int i = 0; i < kTries; ++i) {
    Entry& entry = Any(random);
    if (Quota::ListOf(entry) == list && !keyspace_.owners().Doomed(entry)) return &entry;
  }
  return quota->Coldest(list);
}

Entry* Sampling::RandomOf(const Quota& quota, List list, std::mt19937_64& random) const {
  constexpr int kTries = 64;
  if (quota.CountOf(list) == 0) return nullptr;
  for (int i = 0; i < kTries; ++i) {
    Entry& entry = Any(random);
    if (Quota::ListOf(entry) == list && entry.owner() == quota.owner()) return &entry;
  }
  return quota.Coldest(list);
}

Entry* Sampling::Sample(bool with_lasting, const EvictionPool& pool, std::mt19937_64& random) noexcept {
  assert(keyspace_.parts().access_effect == AccessEffect::kFrequency);
  const Owners& owners = keyspace_.owners();
  Quota* quota = owners.With(Keyspace::kExpiring, pool);
  const List list = quota != nullptr ? Keyspace::kExpiring : Keyspace::kLasting;
  if (quota == nullptr && with_lasting) quota = owners.With(Keyspace::kLasting, pool);
  if (quota == nullptr) return nullptr;
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    Entry& entry = Any(random);
    if ((with_lasting || entry.expires()) && entry.evictable() && pool.Has(owners.Of(entry))) return &entry;
  }
  return quota->NextInTurn(list);
}

}  // namespace mayfly

#include "cache/evict/sieve_evictor.h"

#include "cache/evict/eviction_pool.h"

namespace mayfly {
namespace {

constexpr uint64_t kHasNotJoined = 0;

// `turned` counts parts of turns and wraps; therefore the sign of the difference decides which hand is behind.
bool IsBehind(uint64_t turned, uint64_t other) noexcept { return static_cast<int64_t>(turned - other) < 0; }

// Remembers the least recently used of the offered entries; of equal entries the first.
class Idlest {
 public:
  void Offer(Quota& quota, Entry& entry, Now now) noexcept {
    const auto idle_ms = static_cast<int64_t>(Entry::IdleMs(entry.stamp(), now.mono_ms));
    if (idle_ms <= idle_ms_) return;
    idle_ms_ = idle_ms;
    quota_ = &quota;
    entry_ = &entry;
  }
  bool Evict(Now now) {
    if (entry_ == nullptr) return false;
    quota_->home().Evict(*entry_, now);
    return true;
  }

 private:
  Quota* quota_ = nullptr;
  Entry* entry_ = nullptr;
  int64_t idle_ms_ = -1;
};

}  // namespace

SieveEvictor::Place SieveEvictor::LeastFar(const Scope& scope) noexcept {
  Place best;
  uint64_t least = 0;
  ForEachIn(scope.pool, databases_.quotas(), [&](Quota& quota) {
    for (const Quota::List list : Quota::kEvictable) {
      if (list == Quota::kLasting && !scope.with_lasting) continue;
      uint64_t& turned = quota.Turned(list);
      if (quota.CountOf(list) < 2) {
        turned = kHasNotJoined;
        continue;
      }
      if (turned == kHasNotJoined) turned = reached_ + Quota::kTurn;
      if (best.quota != nullptr && !IsBehind(turned, least)) continue;
      best = {&quota, list};
      least = turned;
    }
  });
  if (best.quota != nullptr) reached_ = least;
  return best;
}

size_t SieveEvictor::EvictSingle(const Scope& scope, Now now) {
  Idlest idlest;
  ForEachIn(scope.pool, databases_.quotas(), [&](Quota& quota) {
    for (const Quota::List list : Quota::kEvictable) {
      if (list == Quota::kLasting && !scope.with_lasting) continue;
      Entry* entry = quota.Coldest(list);
      if (entry != nullptr) idlest.Offer(quota, *entry, now);
    }
  });
  return idlest.Evict(now) ? 1 : 0;
}

size_t SieveEvictor::EvictOne(Now now, const Scope& scope) {
  Idlest idlest;
  size_t looked = 0;
  while (looked < kMostPassed) {
    const Place place = LeastFar(scope);
    if (place.quota == nullptr) return EvictSingle(scope, now);
    const size_t turn = place.quota->CountOf(place.list) - 1;
    const bool passes_young = scope.passes_young && turn > place.quota->YoungIn(place.list);
    const HandWalk<Entry*> walk =
        place.quota->Sieve(place.list, kMostPassed - looked, passes_young,
                           [&](Entry& passed) { idlest.Offer(*place.quota, passed, now); });
    place.quota->Turned(place.list) += walk.looked * Quota::kTurn / turn;
    looked += walk.looked;
    if (walk.victim == nullptr) continue;
    place.quota->home().Evict(*walk.victim, now);
    return looked;
  }
  idlest.Evict(now);
  return looked;
}

}  // namespace mayfly

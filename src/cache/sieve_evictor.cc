#include "cache/sieve_evictor.h"

namespace mayfly {
namespace {

constexpr Keyspace::List kLists[] = {Keyspace::kLasting, Keyspace::kExpiring};

constexpr uint64_t kHasNotJoined = 0;

// `turned` counts parts of turns and wraps, so the sign of the difference decides which hand is behind.
bool IsBehind(uint64_t turned, uint64_t other) noexcept { return static_cast<int64_t>(turned - other) < 0; }

// Remembers the least recently used of the entries that it is offered; of equal ones the first.
class Idlest {
 public:
  void Offer(Keyspace& keyspace, Entry& entry, Now now) noexcept {
    const auto idle_ms = static_cast<int64_t>(Entry::IdleMs(entry.stamp(), now.mono_ms));
    if (idle_ms <= idle_ms_) return;
    idle_ms_ = idle_ms;
    keyspace_ = &keyspace;
    entry_ = &entry;
  }
  bool Evict() {
    if (entry_ == nullptr) return false;
    keyspace_->Evict(*entry_);
    return true;
  }

 private:
  Keyspace* keyspace_ = nullptr;
  Entry* entry_ = nullptr;
  int64_t idle_ms_ = -1;
};

}  // namespace

SieveEvictor::Place SieveEvictor::LeastFar() noexcept {
  Place best;
  uint64_t least = 0;
  for (unsigned i = 0; i < databases_.count(); ++i) {
    Keyspace& keyspace = databases_.At(i);
    for (const Keyspace::List list : kLists) {
      uint64_t& turned = keyspace.Turned(list);
      if (keyspace.CountOf(list) < 2) {
        turned = kHasNotJoined;
        continue;
      }
      if (turned == kHasNotJoined) turned = reached_ + Keyspace::kTurn;
      if (best.keyspace != nullptr && !IsBehind(turned, least)) continue;
      best = {&keyspace, list};
      least = turned;
    }
  }
  if (best.keyspace != nullptr) reached_ = least;
  return best;
}

size_t SieveEvictor::EvictSingle(Now now) {
  Idlest idlest;
  for (unsigned i = 0; i < databases_.count(); ++i) {
    for (const Keyspace::List list : kLists) {
      Entry* entry = databases_.At(i).Coldest(list);
      if (entry != nullptr) idlest.Offer(databases_.At(i), *entry, now);
    }
  }
  return idlest.Evict() ? 1 : 0;
}

size_t SieveEvictor::EvictOne(Now now) {
  Idlest idlest;
  size_t looked = 0;
  while (looked < kMostPassed) {
    const Place place = LeastFar();
    if (place.keyspace == nullptr) return EvictSingle(now);
    const size_t turn = place.keyspace->CountOf(place.list) - 1;
    const HandWalk<Entry*> walk = place.keyspace->Sieve(
        place.list, kMostPassed - looked, [&](Entry& passed) { idlest.Offer(*place.keyspace, passed, now); });
    place.keyspace->Turned(place.list) += walk.looked * Keyspace::kTurn / turn;
    looked += walk.looked;
    if (walk.victim == nullptr) continue;
    place.keyspace->Evict(*walk.victim);
    return looked;
  }
  idlest.Evict();
  return looked;
}

}  // namespace mayfly

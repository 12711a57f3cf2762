#include "cache/owners/quotas.h"

#include <cassert>

namespace mayfly {
namespace {

// The time at which the stamp was set, in ms of monotonic time plus a constant, so that the time is never negative. Does not
// depend on `now` unless the stamp has wrapped.
uint64_t UsedAt(uint32_t stamp, Now now) noexcept {
  constexpr uint64_t kMoreThanAnyAge = uint64_t{1} << 40;
  const uint64_t unit_ms = Entry::StampUnitMs(stamp);
  return kMoreThanAnyAge + now.mono_ms / unit_ms * unit_ms - Entry::IdleMs(stamp, now.mono_ms);
}

}  // namespace

void Quotas::Enter(Quota& quota) noexcept {
  assert(by_owner_[quota.owner()] == nullptr);
  by_owner_[quota.owner()] = &quota;
  present_.Add(quota.owner());
  moved_.Add(quota.owner());
  FollowPromiseTo(quota);
}

void Quotas::Leave(Quota& quota) noexcept {
  assert(by_owner_[quota.owner()] == &quota);
  by_owner_[quota.owner()] = nullptr;
  present_.Remove(quota.owner());
  moved_.Add(quota.owner());
}

std::optional<uint8_t> Quotas::Unused(size_t from) const noexcept {
  for (size_t id = from; id < IdSet::kIds; ++id) {
    if (!present_.Has(static_cast<uint8_t>(id))) return static_cast<uint8_t>(id);
  }
  return std::nullopt;
}

void Quotas::FollowPromises() noexcept {
  ForEach([this](Quota& quota) { FollowPromiseTo(quota); });
}

void Quotas::FollowPromiseTo(const Quota& quota) noexcept {
  uint8_t& kind = kind_[quota.owner()];
  if (kind == quota.promised) return;
  for (const Quota::List list : Quota::kEvictable) oldest_[kind][list].Set(quota.owner(), Tournament::kNone);
  kind = quota.promised;
  moved_.Add(quota.owner());
}

uint64_t Quotas::KeyOf(uint8_t owner, Quota::List list, Now now) const noexcept {
  if (!present_.Has(owner) || by_owner_[owner]->doomed) return Tournament::kNone;
  const Entry* coldest = by_owner_[owner]->Coldest(list);
  return coldest == nullptr ? Tournament::kNone : UsedAt(coldest->stamp(), now);
}

void Quotas::Record(uint8_t owner, Now now) noexcept {
  for (const Quota::List list : Quota::kEvictable)
    oldest_[kind_[owner]][list].Set(owner, KeyOf(owner, list, now));
}

Quotas::Winner Quotas::LeastOf(bool with_lasting, uint8_t leaves_out) const noexcept {
  Winner winner{Tournament::kNone, 0, Quota::kExpiring};
  for (size_t kind = 0; kind < kKinds; ++kind) {
    if ((kind & leaves_out) != 0) continue;
    for (const Quota::List list : {Quota::kExpiring, Quota::kLasting}) {
      if (list == Quota::kLasting && !with_lasting) continue;
      const Tournament& oldest = oldest_[kind][list];
      if (oldest.least() == Tournament::kNone || oldest.least() > winner.used_at) continue;
      const uint8_t owner = oldest.First();
      const bool level = oldest.least() == winner.used_at;
      // Of an owner's equal lists the list with a TTL wins: the loop visits this list first.
      if (!level || owner < winner.owner) winner = {oldest.least(), owner, list};
    }
  }
  return winner;
}

Entry* Quotas::Oldest(bool with_lasting, Now now, uint8_t leaves_out) noexcept {
  // A stamp wraps after weeks and looks young then: so all keys are computed anew each minute.
  if (const uint64_t minute = now.mono_ms / Entry::kMinuteMs; minute != recorded_minute_) {
    recorded_minute_ = minute;
    ForgetOrder();
  }
  moved_.TakeEach([&](uint8_t owner) { Record(owner, now); });
  for (;;) {
    const Winner winner = LeastOf(with_lasting, leaves_out);
    if (winner.used_at == Tournament::kNone) return nullptr;
    const uint64_t used_at = KeyOf(winner.owner, winner.list, now);
    if (used_at == winner.used_at) return by_owner_[winner.owner]->Coldest(winner.list);
    oldest_[kind_[winner.owner]][winner.list].Set(winner.owner, used_at);
  }
}

}  // namespace mayfly

#include "cache/quotas.h"

#include <cassert>

namespace mayfly {
namespace {

constexpr Quota::List kLists[] = {Quota::kLasting, Quota::kExpiring};

// When the stamp was set, in ms of monotonic time plus a constant, so that it is never negative. Does not
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
}

void Quotas::Leave(Quota& quota) noexcept {
  assert(by_owner_[quota.owner()] == &quota);
  by_owner_[quota.owner()] = nullptr;
  present_.Remove(quota.owner());
  moved_.Add(quota.owner());
}

uint64_t Quotas::KeyOf(uint8_t owner, Quota::List list, Now now) const noexcept {
  const Entry* coldest = present_.Has(owner) ? by_owner_[owner]->Coldest(list) : nullptr;
  return coldest == nullptr ? Tournament::kNone : UsedAt(coldest->stamp(), now);
}

void Quotas::Record(uint8_t owner, Now now) noexcept {
  for (const Quota::List list : kLists) oldest_[list].Set(owner, KeyOf(owner, list, now));
}

Entry* Quotas::Oldest(bool with_lasting, Now now) noexcept {
  // A stamp wraps after weeks and looks young then: so all keys are computed anew now and again.
  if (const uint64_t minute = now.mono_ms / Entry::kMinuteMs; minute != recorded_minute_) {
    recorded_minute_ = minute;
    ForgetOrder();
  }
  moved_.TakeEach([&](uint8_t owner) { Record(owner, now); });
  for (;;) {
    const Tournament& lasting = oldest_[Quota::kLasting];
    const Tournament& expiring = oldest_[Quota::kExpiring];
    const bool older = lasting.least() < expiring.least();
    const bool level = lasting.least() == expiring.least() && lasting.First() < expiring.First();
    const Quota::List list = with_lasting && (older || level) ? Quota::kLasting : Quota::kExpiring;
    const uint64_t least = oldest_[list].least();
    if (least == Tournament::kNone) return nullptr;
    const uint8_t owner = oldest_[list].First();
    const uint64_t used_at = KeyOf(owner, list, now);
    if (used_at == least) return by_owner_[owner]->Coldest(list);
    oldest_[list].Set(owner, used_at);
  }
}

}  // namespace mayfly

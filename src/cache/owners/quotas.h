// The quotas in use, by owner: finds the quota with the least recently used entry in O(log n).
//
// Two tournaments, one for each kind of list, hold when the cold end of a quota's list was used last. A list
// tells (IdSet moved) when its cold end becomes another entry; such keys are computed anew at the next look.
// Under LRU a hit on the cold end itself only makes it younger, so a key is at worst too old. It is corrected
// when it wins, until the winner's key is right.
//
// There are two tournaments for each combination of what may be promised to a quota (Quota::promised), so that those
// quotas can be left out. Loop thread only.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time/clock.h"
#include "cache/entry/entry.h"
#include "cache/entry/id_set.h"
#include "cache/owners/quota.h"
#include "cache/owners/tournament.h"

namespace mayfly {

class Quotas {
 public:
  // Where the cold ends tell that they moved; also for who gives an entry another stamp.
  IdSet& moved() noexcept { return moved_; }

  // Borrows `quota` until Leave.
  // REQUIRES: its owner has no other quota here.
  void Enter(Quota& quota) noexcept;
  void Leave(Quota& quota) noexcept;

  // The quota of the entry's owner.
  // REQUIRES: it has entered.
  [[gnu::always_inline]] Quota& Of(const Entry& entry) const noexcept {
    assert(by_owner_[entry.owner()] != nullptr);
    return *by_owner_[entry.owner()];
  }
  // REQUIRES: it has entered.
  Quota& WithId(uint8_t owner) const noexcept { return *by_owner_[owner]; }
  // Calls fn(quota) for each, lowest owner first.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    present_.ForEach([&](uint8_t owner) { fn(*by_owner_[owner]); });
  }

  // The lowest id from `from` on that is no owner's.
  std::optional<uint8_t> Unused(size_t from) const noexcept;

  // The least recently used entry of all lists, or, if `with_lasting` is false, of those with a TTL. Of
  // equal ones that of the lowest owner, with a TTL first. Null if there is none. Leaves out quotas to which one of
  // `spares` is promised, and doomed ones.
  // REQUIRES: AccessTracking::kRecency.
  Entry* Oldest(bool with_lasting, Now now, uint8_t spares = 0) noexcept;
  // What is promised to quotas may have changed.
  void FollowPromises() noexcept;
  // Says that stamps changed, or how they are read: all keys are computed anew.
  void ForgetOrder() noexcept { moved_.AddAll(present_); }

 private:
  static constexpr size_t kKinds = 4;  // of promises
  struct Winner {
    uint64_t used_at;
    uint8_t owner;
    Quota::List list;
  };
  Winner LeastOf(bool with_lasting, uint8_t spares) const noexcept;
  void FollowPromiseTo(const Quota& quota) noexcept;
  void Record(uint8_t owner, Now now) noexcept;
  uint64_t KeyOf(uint8_t owner, Quota::List list, Now now) const noexcept;

  std::array<Quota*, IdSet::kIds> by_owner_{};
  IdSet present_;
  IdSet moved_;
  std::array<uint8_t, IdSet::kIds> kind_{};  // Quota::promised of the owner
  Tournament oldest_[kKinds][2];             // by that and by Quota::List
  uint64_t recorded_minute_ = 0;
};

}  // namespace mayfly

// The quotas in use, by owner, and which of them holds the least recently used entry: O(log n) of them.
//
// Two tournaments, one for each kind of list, hold when the cold end of a quota's list was used last. A list
// tells (IdSet moved) when its cold end becomes another entry; such keys are computed anew at the next look.
// Under LRU a hit on the cold end itself only makes it younger, so a key is at worst too old. It is corrected
// when it wins, until the winner's key is right. Loop thread only.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "cache/entry.h"
#include "cache/id_set.h"
#include "cache/quota.h"
#include "cache/tournament.h"

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
  // Calls fn(quota) for each, lowest owner first.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    present_.ForEach([&](uint8_t owner) { fn(*by_owner_[owner]); });
  }

  // The least recently used entry of all lists, or, if `with_lasting` is false, of those with a TTL. Of
  // equal ones that of the lowest owner, with a TTL first. Null if there is none.
  // REQUIRES: AccessTracking::kRecency.
  Entry* Oldest(bool with_lasting, Now now) noexcept;
  // Says that stamps changed, or how they are read: all keys are computed anew.
  void ForgetOrder() noexcept { moved_.AddAll(present_); }

 private:
  void Record(uint8_t owner, Now now) noexcept;
  uint64_t KeyOf(uint8_t owner, Quota::List list, Now now) const noexcept;

  std::array<Quota*, IdSet::kIds> by_owner_{};
  IdSet present_;
  IdSet moved_;
  Tournament oldest_[2];  // by Quota::List
  uint64_t recorded_minute_ = 0;
};

}  // namespace mayfly

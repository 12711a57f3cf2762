// The quotas in use, by owner: finds the quota with the least recently used entry in O(log n).
//
// Two tournaments, one for each kind of list, hold the time of last use of each quota's cold end. A list reports a new cold
// end (IdSet moved); the next look computes the keys of the reported quotas anew. Under LRU a hit on the cold end itself
// only makes the cold end younger, so a tournament's key is at worst too old. A winner's key is corrected until the winner's
// key is right.
//
// Each combination of promises to a quota (Quota::promised) has two tournaments of its own, so that a search can leave out
// quotas with a promise. Loop thread only.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>

#include "base/time/clock.h"
#include "cache/entry/entry.h"
#include "cache/entry/id_set.h"
#include "cache/owners/quota.h"
#include "cache/owners/tournament.h"

namespace mayfly {

class Quotas {
 public:
  // The set in which lists report a new cold end. A caller that changes an entry's stamp adds the owner, too.
  IdSet& moved() noexcept { return moved_; }

  // Borrows `quota` until Leave.
  // REQUIRES: no other quota of the same owner is in use.
  void Enter(Quota& quota) noexcept;
  void Leave(Quota& quota) noexcept;

  // The quota of the entry's owner.
  // REQUIRES: the quota has entered.
  [[gnu::always_inline]] Quota& Of(const Entry& entry) const noexcept {
    assert(by_owner_[entry.owner()] != nullptr);
    return *by_owner_[entry.owner()];
  }
  // REQUIRES: the quota has entered.
  Quota& WithId(uint8_t owner) const noexcept { return *by_owner_[owner]; }
  // Calls fn(quota) for each quota, lowest owner first.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    present_.ForEach([&](uint8_t owner) { fn(*by_owner_[owner]); });
  }

  // The lowest unused owner id from `from` on.
  std::optional<uint8_t> Unused(size_t from) const noexcept;

  // The least recently used entry of all lists; if `with_lasting` is false, of the lists with a TTL. Of equal entries the
  // lowest owner's comes first, and of one owner the entry with a TTL. Null if there is none. Leaves out doomed quotas, and
  // quotas with a promise in `leaves_out`.
  // REQUIRES: AccessEffect::kRecency.
  Entry* Oldest(bool with_lasting, Now now, uint8_t leaves_out = 0) noexcept;
  // Reads the promises to the quotas again (Quota::promised).
  void FollowPromises() noexcept;
  // For changed stamps, or another way to read stamps: all keys are computed anew.
  void ForgetOrder() noexcept { moved_.AddAll(present_); }

 private:
  static constexpr size_t kKinds = 4;  // combinations of promises
  struct Winner {
    uint64_t used_at;
    uint8_t owner;
    Quota::List list;
  };
  Winner LeastOf(bool with_lasting, uint8_t leaves_out) const noexcept;
  void FollowPromiseTo(const Quota& quota) noexcept;
  void Record(uint8_t owner, Now now) noexcept;
  uint64_t KeyOf(uint8_t owner, Quota::List list, Now now) const noexcept;

  std::array<Quota*, IdSet::kIds> by_owner_{};
  IdSet present_;
  IdSet moved_;
  std::array<uint8_t, IdSet::kIds> kind_{};                  // Quota::promised of the owner
  Tournament oldest_[kKinds][std::size(Quota::kEvictable)];  // by kind and by Quota::List
  uint64_t recorded_minute_ = 0;
};

}  // namespace mayfly

// The lifetimes of one keyspace's keys: deadlines by commands and by rules, moves of deadlines by accesses, and the wheels
// that return due entries. The rules are those of cache/time/ttl_rules.h; an access moves a deadline that slides (SLIDE).
//
//   command's --Obeying: floor, ceiling, default, jitter--> FitSlide --> Deadlines --when due--> Reaper::OnDue
//   expiry                                                                   ^
//                                Slid: a later deadline after an access -----'
//
// Owns no entry and frees nothing. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/time/clock.h"
#include "cache/entry/entry.h"
#include "cache/entry/expiry.h"
#include "cache/keyspace/keyspace_parts.h"
#include "cache/time/deadlines.h"

namespace mayfly {

class Lifetimes {
 public:
  Lifetimes(KeyspaceParts& parts, uint8_t id, Now now) noexcept
      : parts_(parts), deadlines_(parts.heap.base(), parts.rearm, id, now) {}

  Deadlines& deadlines() noexcept { return deadlines_; }
  const Deadlines& deadlines() const noexcept { return deadlines_; }

  // ---- rules. A write may be refused by TtlRequired: the key would have no TTL but must have a TTL.
  bool ruled() const noexcept { return parts_.ttl_rules.any(); }
  // The deadline by the rules for a write that asks for `wanted`. Throws TtlRequired.
  [[gnu::always_inline]] Expiry Obeying(std::string_view key, Expiry wanted, Now now) const {
    if (ruled()) [[unlikely]]
      return ObeyingRules(key, wanted, now);
    return wanted;
  }
  // The deadline of a key when only its value changes: the present deadline, or a deadline by the rules. Refuses nothing.
  Expiry Kept(std::string_view key, const Entry& existing, Now now) const noexcept;
  // Returns true if a rule makes the key a task when it gets a deadline.
  bool IsTaskByRules(std::string_view key) const noexcept {
    return ruled() && !parts_.ttl_rules.TaskTagOf(key).empty();
  }
  // The deadline by the rules for a key without a TTL when its value changes; Never: none.
  Expiry ForLasting(std::string_view key, Now now) const noexcept;

  // ---- deadlines that slide
  //
  // Keeps a sliding deadline within the rules and its own maximum. The rules have turned `wanted` into `expiry`.
  void FitSlide(std::string_view key, EntryTerms& terms, Expiry wanted, Expiry& expiry,
                Now now) const noexcept;
  // The later deadline of the key after an access; Never: the deadline does not move.
  static Expiry Slid(const Entry& entry, Now now) noexcept;

  // ---- figures: the lag of freeing
  void CountExpired(const Entry& entry, Now now) noexcept;
  // `first` is the nearest deadline of the members.
  void CountExpiredMembers(size_t members, Expiry first, Now now) noexcept;

 private:
  Expiry ObeyingRules(std::string_view key, Expiry wanted, Now now) const;

  KeyspaceParts& parts_;
  Deadlines deadlines_;
};

}  // namespace mayfly

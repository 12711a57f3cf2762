// The lifetimes of one keyspace's keys: which deadline a key gets, by what a command asks for and by the rules
// (cache/time/ttl_rules.h); how an access moves it (SLIDE); and the wheels that hand back what is due.
//
//   asked for --Obeying: floor, ceiling, default, jitter--> FitSlide --> Deadlines --when it has come--> Keyspace::OnDue
//                                                                            ^
//                                              Slid: an access moves it ------'
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

  // ---- rules. What a write asks for may be refused by TtlRequired: the key would have no TTL but must have one.
  bool ruled() const noexcept { return parts_.ttl_rules.any(); }
  // What the rules make of the deadline that a write asks for. Throws TtlRequired.
  [[gnu::always_inline]] Expiry Obeying(std::string_view key, Expiry wanted, Now now) const {
    if (ruled()) [[unlikely]]
      return ObeyingRules(key, wanted, now);
    return wanted;
  }
  // The deadline of a key of which only the value changes: what it has, or what the rules give it. Refuses nothing.
  Expiry Kept(std::string_view key, const Entry& existing, Now now) const noexcept;
  // What the rules give a key without a TTL when its value changes; Never: nothing.
  Expiry ForLasting(std::string_view key, Now now) const noexcept;

  // ---- deadlines that slide
  //
  // Keeps what slides within the rules and its own maximum. The rules have made `expiry` of what was `wanted`.
  void FitSlide(std::string_view key, EntryTerms& terms, Expiry wanted, Expiry& expiry,
                Now now) const noexcept;
  // The later deadline that an access gives the key; Never: its deadline stays.
  static Expiry Slid(const Entry& entry, Now now) noexcept;

  // ---- figures: how late what is due is freed
  void CountExpired(const Entry& entry, Now now) noexcept;
  // `first` is the deadline of one of them that no other precedes.
  void CountExpiredMembers(size_t members, Expiry first, Now now) noexcept;

 private:
  Expiry ObeyingRules(std::string_view key, Expiry wanted, Now now) const;

  KeyspaceParts& parts_;
  Deadlines deadlines_;
};

}  // namespace mayfly

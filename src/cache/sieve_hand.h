// The hand of SIEVE (Zhang et al., NSDI 2024) on a list of entries.
//
// New entries come in front, and a hit sets the entry's visited bit and moves nobody, so that the list is in
// the order of insertion. The hand goes from the back to the front and starts again at the back: an entry
// whose bit is set stays where it is and loses the bit; the first one without it is the victim.
//
//   hottest (newest) -> entry -> entry -> entry -> entry -> coldest (oldest)
//     not looked at       <-------  hand
//
// The newest entry is not looked at. A command stores first and makes room for the number of keys afterwards,
// so this gives exactly the victim that SIEVE, which makes room first, would have chosen; and nobody loses
// what was stored just now. A hand that has taken the entry next to the newest starts again at the back.
#pragma once

#include <cstddef>

#include "cache/lru_list.h"

namespace mayfly {

template <typename Ref>
struct HandWalk {
  Ref victim;     // null: the hand reached the front, or has looked at as many as it may
  size_t looked;  // entries, the victim among them
};

// Lets the hand look at up to `most` entries. `take_visited(entry)` tells whether the bit was set, and clears
// it. The victim stays in the list; the hand has gone on. REQUIRES: list.size() >= 2.
template <typename List, typename TakeVisited>
HandWalk<typename List::Ref> WalkHand(List& list, size_t most, TakeVisited&& take_visited) noexcept {
  using Ref = typename List::Ref;
  constexpr Ref kNobody{};
  Ref at = list.hand() == kNobody ? list.coldest() : list.hand();
  size_t looked = 0;
  while (looked < most && !(at == list.hottest())) {
    ++looked;
    const Ref next = list.Hotter(at);
    if (!take_visited(at)) {
      list.set_hand(next == list.hottest() ? kNobody : next);
      return {at, looked};
    }
    at = next;
  }
  list.set_hand(at == list.hottest() ? kNobody : at);
  return {kNobody, looked};
}

}  // namespace mayfly

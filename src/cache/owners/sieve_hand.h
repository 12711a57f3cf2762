// The hand of SIEVE (Zhang et al., NSDI 2024) on a list of entries.
//
// New entries enter at the front. A hit sets the entry's visited bit and does not move the entry, so the list is in the
// order of insertion. The hand moves from the back to the front and then starts at the back again. An entry with the bit
// stays in its place and loses the bit. The first entry without the bit is the victim.
//
//   hottest (newest) -> entry -> entry -> entry -> entry -> coldest (oldest)
//     not examined        <-------  hand
//
// The newest entry is not examined. A command stores its key first and then makes room for the key, while SIEVE makes room
// first. Skipping the newest entry gives exactly SIEVE's victim, and no client loses a key that the client has just stored.
// After the entry next to the newest, the hand starts at the back again.
#pragma once

#include <cassert>
#include <cstddef>

#include "cache/owners/lru_list.h"

namespace mayfly {

template <typename Ref>
struct HandWalk {
  Ref victim;     // null: the hand reached the front or examined `most` entries
  size_t looked;  // entries examined, including the victim
};

// Lets the hand examine up to `most` entries and moves the hand. take_visited(entry) clears the visited bit and returns the
// former bit. The victim stays in the list.
// REQUIRES: list.size() >= 2.
template <typename List, typename TakeVisited>
HandWalk<typename List::Ref> WalkHand(List& list, size_t most, TakeVisited&& take_visited) noexcept {
  assert(list.size() >= 2);
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

// Exact recency order: who was used last is in front, the coldest is at the back.
//
//   hottest_ -> entry -> entry -> ... -> coldest_        (colder links)
//            <-       <-       <-                        (hotter links)
//
// Intrusive: the links lie in the entries, so every operation is O(1), allocates nothing and cannot fail.
// Hooks is a small copyable object that reads and writes links:
//   using Ref; static constexpr Ref kNull;  Ref Colder(Ref), Ref Hotter(Ref), SetColder(Ref, Ref),
//   SetHotter(Ref, Ref)
// SIEVE (cache/sieve_hand.h) walks the same list with a hand, which stays valid whatever leaves or is
// replaced. Only MoveToHottest does not mind it, since it is on the way of every hit: under SIEVE nobody
// moves. Invariants (Validate): the two directions mirror each other; size() entries lie between the ends;
// the hand is null or one of them. Owns nothing. Loop thread only.
#pragma once

#include <cstddef>

namespace mayfly {

template <typename Hooks>
class LruList {
 public:
  using Ref = typename Hooks::Ref;

  explicit LruList(Hooks hooks = Hooks()) noexcept : hooks_(hooks) {}

  Ref hottest() const noexcept { return hottest_; }
  Ref coldest() const noexcept { return coldest_; }
  size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  // Who was used next after `entry`, or null. REQUIRES: `entry` is in this list.
  Ref Hotter(Ref entry) const noexcept { return hooks_.Hotter(entry); }
  // The entry that SIEVE looks at next; null: the coldest.
  Ref hand() const noexcept { return hand_; }
  // REQUIRES: `entry` is null or in this list.
  void set_hand(Ref entry) noexcept { hand_ = entry; }

  // REQUIRES: `entry` is in no list.
  void PushHottest(Ref entry) noexcept {
    hooks_.SetHotter(entry, Hooks::kNull);
    hooks_.SetColder(entry, hottest_);
    if (hottest_ == Hooks::kNull) {
      coldest_ = entry;
    } else {
      hooks_.SetHotter(hottest_, entry);
    }
    hottest_ = entry;
    ++size_;
  }

  // REQUIRES: `entry` is in this list.
  void Remove(Ref entry) noexcept {
    if (entry == hand_) hand_ = hooks_.Hotter(entry);
    Join(hooks_.Hotter(entry), hooks_.Colder(entry));
    --size_;
  }

  // REQUIRES: `entry` is in this list, and hand() is null.
  [[gnu::always_inline]] void MoveToHottest(Ref entry) noexcept {
    if (entry == hottest_) return;
    Join(hooks_.Hotter(entry), hooks_.Colder(entry));
    hooks_.SetHotter(entry, Hooks::kNull);
    hooks_.SetColder(entry, hottest_);
    hooks_.SetHotter(hottest_, entry);
    hottest_ = entry;
  }

  // `fresh` takes the place of `old`, which leaves the list. REQUIRES: old is in this list, fresh in none.
  void Replace(Ref old, Ref fresh) noexcept {
    const Ref hotter = hooks_.Hotter(old);
    const Ref colder = hooks_.Colder(old);
    if (old == hand_) hand_ = fresh;
    hooks_.SetHotter(fresh, hotter);
    hooks_.SetColder(fresh, colder);
    (hotter == Hooks::kNull) ? void(hottest_ = fresh) : hooks_.SetColder(hotter, fresh);
    (colder == Hooks::kNull) ? void(coldest_ = fresh) : hooks_.SetHotter(colder, fresh);
  }

  // Forgets everybody. Their links are left as they were.
  void Clear() noexcept { *this = LruList(hooks_); }

  bool Validate() const noexcept {
    size_t seen = 0;
    bool hand_seen = hand_ == Hooks::kNull;
    Ref hotter = Hooks::kNull;
    for (Ref at = hottest_; !(at == Hooks::kNull); at = hooks_.Colder(at)) {
      if (!(hooks_.Hotter(at) == hotter) || ++seen > size_) return false;
      hand_seen = hand_seen || at == hand_;
      hotter = at;
    }
    return seen == size_ && hotter == coldest_ && hand_seen;
  }

 private:
  // Makes two neighbours of a leaving entry meet; either may be nobody.
  [[gnu::always_inline]] void Join(Ref hotter, Ref colder) noexcept {
    (hotter == Hooks::kNull) ? void(hottest_ = colder) : hooks_.SetColder(hotter, colder);
    (colder == Hooks::kNull) ? void(coldest_ = hotter) : hooks_.SetHotter(colder, hotter);
  }

  [[no_unique_address]] Hooks hooks_;
  Ref hottest_ = Hooks::kNull;
  Ref coldest_ = Hooks::kNull;
  Ref hand_ = Hooks::kNull;
  size_t size_ = 0;
};

}  // namespace mayfly

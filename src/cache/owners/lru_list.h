// A list of entries in the exact order of their last use. The most recently used entry is the hottest, at the front; the
// least recently used entry is the coldest, at the back.
//
//   hottest_ -> entry -> entry -> ... -> coldest_        (colder links)
//            <-       <-       <-                        (hotter links)
//
// Intrusive: the links are in the entries, so every operation is O(1), allocates nothing and cannot fail.
// Hooks is a small copyable object that reads and writes the links:
//   using Ref;  static constexpr Ref kNull;
//   Ref Colder(Ref), Ref Hotter(Ref), SetColder(Ref, Ref), SetHotter(Ref, Ref)
// Optionally, Hooks has ColdEndMoved(): the list calls this method when another entry than before is the coldest.
//
// The list also stores the hand of SIEVE (cache/owners/sieve_hand.h), a position that moves from the back to the front. The
// hand stays valid when entries are removed or replaced. Only MoveToHottest does not maintain the hand, since every hit
// under LRU runs through MoveToHottest; under SIEVE, hits move no entry. The gate of S3-FIFO (cache/evict/s3fifo_evictor.h)
// is a second position of the same kind. The walker is a third position, which moves from the front to the back: the next
// entry of a walk (cache/snapshot_walk.h). While there is a walk, hits run through MoveWalked.
//
// Invariants (Validate): the links of both directions agree; size() entries lie between the two ends; the
// hand, the gate and the walker are null or an entry of the list. Owns nothing. Loop thread only.
#pragma once

#include <cassert>
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
  // The entry used next after `entry`; null if `entry` is the hottest.
  // REQUIRES: `entry` is in this list.
  Ref Hotter(Ref entry) const noexcept {
    assert(Linked(entry));
    return hooks_.Hotter(entry);
  }
  // The hand: the entry that SIEVE examines next. Null: start at the coldest.
  Ref hand() const noexcept { return hand_; }
  // REQUIRES: `entry` is null or in this list.
  void set_hand(Ref entry) noexcept {
    assert(entry == Hooks::kNull || Linked(entry));
    hand_ = entry;
  }

  // The gate: the entry on probation that S3-FIFO examines next. Null: start at the coldest.
  Ref gate() const noexcept { return gate_; }
  // REQUIRES: `entry` is null or in this list.
  void set_gate(Ref entry) noexcept {
    assert(entry == Hooks::kNull || Linked(entry));
    gate_ = entry;
  }

  // The walker: the entry that a walk visits next. Null: there is none left.
  Ref walker() const noexcept { return walker_; }
  void StartWalk() noexcept { walker_ = hottest_; }
  void EndWalk() noexcept { walker_ = Hooks::kNull; }
  // REQUIRES: the walker is not null.
  void StepWalk() noexcept { walker_ = hooks_.Colder(walker_); }

  // REQUIRES: `entry` is in no list.
  void PushHottest(Ref entry) noexcept {
    assert(!(entry == hottest_) && !(entry == coldest_));
    hooks_.SetHotter(entry, Hooks::kNull);
    hooks_.SetColder(entry, hottest_);
    if (hottest_ == Hooks::kNull) {
      SetColdest(entry);
    } else {
      hooks_.SetHotter(hottest_, entry);
    }
    hottest_ = entry;
    ++size_;
  }

  // REQUIRES: `entry` is in this list.
  void Remove(Ref entry) noexcept {
    assert(size_ != 0 && Linked(entry));
    if (entry == hand_) hand_ = hooks_.Hotter(entry);
    if (entry == gate_) gate_ = hooks_.Hotter(entry);
    if (entry == walker_) walker_ = hooks_.Colder(entry);
    Join(hooks_.Hotter(entry), hooks_.Colder(entry));
    --size_;
  }

  // REQUIRES: `entry` is in this list.
  void MoveToColdest(Ref entry) noexcept {
    if (entry == coldest_) return;
    Remove(entry);
    hooks_.SetColder(entry, Hooks::kNull);
    hooks_.SetHotter(entry, coldest_);
    hooks_.SetColder(coldest_, entry);
    SetColdest(entry);
    ++size_;
  }

  // Moves `entry` to the place just colder than `hotter`.
  // REQUIRES: both are in this list, and they are not the same.
  void MoveBehind(Ref entry, Ref hotter) noexcept {
    assert(!(entry == hotter) && Linked(hotter));
    Remove(entry);
    const Ref colder = hooks_.Colder(hotter);
    hooks_.SetHotter(entry, hotter);
    hooks_.SetColder(entry, colder);
    hooks_.SetColder(hotter, entry);
    (colder == Hooks::kNull) ? SetColdest(entry) : hooks_.SetHotter(colder, entry);
    ++size_;
  }

  // As MoveToHottest, while there may be a walk.
  void MoveWalked(Ref entry) noexcept {
    if (entry == walker_) walker_ = hooks_.Colder(entry);
    MoveToHottest(entry);
  }
  // REQUIRES: `entry` is in this list, hand() is null, and there is no walk.
  [[gnu::always_inline]] void MoveToHottest(Ref entry) noexcept {
    assert(size_ != 0 && Linked(entry) && hand_ == Hooks::kNull);
    if (entry == hottest_) return;
    const Hooks hooks = hooks_;  // a copy stays in registers; the stores below might be to hooks_
    const Ref hottest = hottest_;
    const Ref hotter = hooks.Hotter(entry);  // not null
    const Ref colder = hooks.Colder(entry);
    hooks.SetColder(hotter, colder);
    (colder == Hooks::kNull) ? SetColdest(hotter) : hooks.SetHotter(colder, hotter);
    hooks.SetHotter(entry, Hooks::kNull);
    hooks.SetColder(entry, hottest);
    hooks.SetHotter(hottest, entry);
    hottest_ = entry;
  }

  // Puts `fresh` in the position of `old`; `old` leaves the list.
  // REQUIRES: `old` is in this list, `fresh` is in no list.
  void Replace(Ref old, Ref fresh) noexcept {
    assert(size_ != 0 && Linked(old) && !(fresh == hottest_) && !(fresh == coldest_));
    const Ref hotter = hooks_.Hotter(old);
    const Ref colder = hooks_.Colder(old);
    if (old == hand_) hand_ = fresh;
    if (old == gate_) gate_ = fresh;
    if (old == walker_) walker_ = fresh;
    hooks_.SetHotter(fresh, hotter);
    hooks_.SetColder(fresh, colder);
    (hotter == Hooks::kNull) ? void(hottest_ = fresh) : hooks_.SetColder(hotter, fresh);
    (colder == Hooks::kNull) ? SetColdest(fresh) : hooks_.SetHotter(colder, fresh);
  }

  // Empties the list in O(1). The links in the entries keep their values.
  void Clear() noexcept { *this = LruList(hooks_); }

  bool Validate() const noexcept {
    size_t seen = 0;
    bool hand_seen = hand_ == Hooks::kNull;
    bool gate_seen = gate_ == Hooks::kNull;
    bool walker_seen = walker_ == Hooks::kNull;
    Ref hotter = Hooks::kNull;
    for (Ref at = hottest_; !(at == Hooks::kNull); at = hooks_.Colder(at)) {
      if (!(hooks_.Hotter(at) == hotter) || ++seen > size_) return false;
      hand_seen = hand_seen || at == hand_;
      gate_seen = gate_seen || at == gate_;
      walker_seen = walker_seen || at == walker_;
      hotter = at;
    }
    return seen == size_ && hotter == coldest_ && hand_seen && gate_seen && walker_seen;
  }

 private:
  // Returns true if the neighbours of `entry`, or the list's ends, link to `entry`: true for every entry of the list.
  bool Linked(Ref entry) const noexcept {
    const Ref hotter = hooks_.Hotter(entry);
    const Ref colder = hooks_.Colder(entry);
    return (hotter == Hooks::kNull ? hottest_ : hooks_.Colder(hotter)) == entry &&
           (colder == Hooks::kNull ? coldest_ : hooks_.Hotter(colder)) == entry;
  }
  // Links the two neighbours of a leaving entry; either may be null.
  [[gnu::always_inline]] void Join(Ref hotter, Ref colder) noexcept {
    (hotter == Hooks::kNull) ? void(hottest_ = colder) : hooks_.SetColder(hotter, colder);
    (colder == Hooks::kNull) ? SetColdest(hotter) : hooks_.SetHotter(colder, hotter);
  }
  [[gnu::always_inline]] void SetColdest(Ref entry) noexcept {
    coldest_ = entry;
    if constexpr (requires { hooks_.ColdEndMoved(); }) hooks_.ColdEndMoved();
  }

  [[no_unique_address]] Hooks hooks_;
  Ref hottest_ = Hooks::kNull;
  Ref coldest_ = Hooks::kNull;
  Ref hand_ = Hooks::kNull;
  Ref gate_ = Hooks::kNull;
  Ref walker_ = Hooks::kNull;
  size_t size_ = 0;
};

}  // namespace mayfly

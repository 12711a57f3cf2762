// Finds the entries whose deadline has passed; set, move and remove are O(1), whatever the number of entries.
//
// Unit: a tick, which is a millisecond for all its users, but the wheel does not care. Levels of 64 slots
// span 1, 64, 4096 ... ticks (wheel_geometry.h). An entry waits on the level that its distance calls for and
// moves down, level by level, when the slot that it is in comes near: a *cascade*. At the start of its slot
// on level 0 it is due.
//
//   level 2  [ .  .  c  x  .  x ... ]     c = current position, x = occupied: one bit each in a bitmap
//   level 1  [ .  x  c  N  .  . ... ]     N = next slot: may be emptied from half a span before its start on
//   level 0  [ .  .  .  .  c  x ... ]
//
// Cascades ahead of time. Emptying a slot of a million entries at the moment it starts would hold up whatever
// falls due then. So every list above level 0 has a time at which it must be empty, and may be worked on as
// background work from half its level's span earlier:
//   - a slot must be empty at its start S;
//   - each level has a *side list* for entries of the next slot that do not fit the level below yet. Seen
//   from the
//     last half span before S these are the ones due in the second half of the slot or later, so the list
//     must be empty at S + span / 2, and at S all of them fit. New entries of that kind go there at once.
// So each entry has half a span of its level's time to move down, and given the budget it lies on level 0
// before it is due. A half emptied list is an ordinary list: entries may be removed from it or moved at any
// time. Level 0 needs no such list; its side list takes what was overdue when it was set, and must always be
// empty.
//
// Order: work that must be done goes by time and, at equal times, from the top level down; background work
// comes after all of it, the most pressing list first. Therefore due entries come out in the order of their
// ticks, however long the wheel was not advanced. Within one tick the order is not defined.
//
// Lazy move: an entry whose deadline moves later stays where it is, and is filed anew when its list comes up.
// What is promised about an entry is only this invariant (Validate): the list it is on must be empty no later
// than at its deadline. All else - lateness, cascades, Rewind - follows from it.
//
// The operations are go-zero's: set (Insert), move, remove, drain. There is no stop: the wheel runs no timer
// and no thread, so it stops when its owner no longer calls Advance, and may then be drained or destroyed as
// it stands. The wheel runs no code of its users but the hooks. Owns nothing, allocates nothing. Loop thread
// only.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cache/wheel_geometry.h"
#include "cache/wheel_lists.h"

namespace mayfly {

template <wheel::WheelHooks Hooks>
class TimingWheel {
 public:
  using Ref = typename Hooks::Ref;
  static constexpr Ref kNull = Hooks::kNull;
  static constexpr uint64_t kNever = wheel::kNever;

  // What one call of Advance did.
  struct Progress {
    size_t due = 0;      // entries handed back
    size_t touched = 0;  // these and the entries that were filed anew; never above the budget
    bool more = false;   // something is left to be done at the same `now`
  };

  explicit TimingWheel(Hooks hooks, uint64_t now = 0) noexcept : lists_(hooks), elapsed_(now) {}

  // Files `ref` by its deadline; a deadline already behind elapsed() is handed back by the next Advance.
  // True when the wheel must now be advanced earlier than NextWake() or the last Advance promised: re-arm the
  // timer. REQUIRES: ref is not in the wheel, and its slot field reads kUnfiled.
  [[nodiscard]] bool Insert(Ref ref) noexcept {
    assert(hooks().Slot(ref) == wheel::kUnfiled);
    ++size_;
    return File(ref);
  }

  // To be called after the owner has stored another deadline in `ref`; the result is that of Insert.
  // Costs one look at the entry when the new deadline is no earlier than the start of the slot it is in.
  // REQUIRES: ref is in the wheel.
  [[nodiscard]] [[gnu::always_inline]] bool Move(Ref ref) noexcept {
    if (hooks().Deadline(ref) >= EmptyBy(wheel::ListOf(hooks().Slot(ref)))) return false;
    return FileAnew(ref);
  }

  // REQUIRES: ref is in the wheel.
  void Remove(Ref ref) noexcept {
    --size_;
    lists_.Unlink(ref);
  }

  bool Contains(Ref ref) const noexcept { return hooks().Slot(ref) != wheel::kUnfiled; }

  // Goes through the ticks up to `now` and writes what is due to `due`, in the order of the ticks and no
  // longer in the wheel. Stops early when `budget` entries have been touched or when the next one due finds
  // no room; call again while `more`. An empty `due` lets everything happen but the handing back. O(1) when
  // nothing is to be done. A `now` before elapsed() counts as elapsed(): see Rewind.
  Progress Advance(uint64_t now, std::span<Ref> due, size_t budget) noexcept;

  // For a clock that was set back: time goes on from `now`. Costs O(levels); re-arm the timer afterwards.
  //
  // Nothing comes out late: a slot at position p on a level that now stands at c <= p comes up at the first
  // position from c on that equals p modulo 64, which is p or before it, and what is not due then is filed
  // anew. The side lists are worked on at once. (A clock that was set forward just means a larger Advance.)
  // REQUIRES: now <= elapsed().
  void Rewind(uint64_t now) noexcept;

  // The earliest time at which Advance would find anything to do, background work included; kNever when
  // empty. May be early (it need not be the time of a deadline), never late. O(levels).
  uint64_t NextWake() const noexcept {
    earliest_ = kNever;
    if (size_ == 0) return kNever;
    ForEachFront([this](int level, uint64_t by, ListId) {
      const uint64_t from = WorkableFrom(level, by);
      if (from < earliest_) earliest_ = from;
    });
    return earliest_;
  }

  // Whether Advance(now) would find anything to do.
  bool HasWork(uint64_t now) const noexcept { return size_ != 0 && NextWake() <= now; }

  // An entry of the list that comes up first, kNull when empty: of the soonest deadlines, though seldom the
  // very soonest, as upper slots are wide and moves are lazy.
  Ref Soonest() const noexcept {
    const Front front = MostPressing();
    if (front.list != wheel::kNoList) {
      for (const Ref head : lists_.Heads(front.list)) {
        if (head != kNull) return head;
      }
    }
    return kNull;
  }

  // Calls fn(ref) -> bool for the entries with a deadline of at most `to`, in no order, until it returns
  // false. Looks only at lists that can hold such. REQUIRES: fn does not change the wheel.
  template <typename Fn>
  void ForEachUntil(uint64_t to, Fn fn) const;

  // Hands out everything to fn(ref), in no order; each one is out of the wheel before the call, so fn may
  // free it. REQUIRES: fn does not touch the wheel.
  template <typename Fn>
  void Drain(Fn fn);

  size_t size() const noexcept { return size_; }
  // The tick that the wheel stands at: everything due before it has been handed back.
  uint64_t elapsed() const noexcept { return elapsed_; }
  // Entries taken down from an upper list so far, and entries met on level 0 whose deadline had moved on.
  uint64_t cascaded() const noexcept { return cascaded_; }
  uint64_t refiled() const noexcept { return refiled_; }

  // Walks everything and checks the invariants. For tests and debug builds.
  [[nodiscard]] bool Validate() const noexcept;

 private:
  using ListId = wheel::ListId;
  using Lists = wheel::WheelLists<Hooks>;

  // The list of a level that comes up first, and the time at which it must be empty.
  struct Front {
    uint64_t by = kNever;
    ListId list = wheel::kNoList;
  };

  const Hooks& hooks() const noexcept { return lists_.hooks(); }

  // The time at which `list` must be empty. REQUIRES: something is on it.
  uint64_t EmptyBy(ListId list) const noexcept {
    const int level = wheel::LevelOf(list);
    if (wheel::IsSideList(list)) return side_by_[static_cast<size_t>(level)];
    const uint64_t current = wheel::PositionOf(elapsed_, level);
    return wheel::StartOf(wheel::PositionAt(current, list % wheel::kSlots), level);
  }

  // From when on a list that must be empty by `by` may be worked on.
  uint64_t WorkableFrom(int level, uint64_t by) const noexcept {
    const uint64_t lead = wheel::SpanOf(level) / 2;  // 0 on level 0: nothing is handed back before its tick
    return std::max(by - std::min(by, lead), elapsed_);
  }

  // Calls fn(level, by, list) for the first list in time of each row, from the top level down.
  template <typename Fn>
  void ForEachFront(Fn fn) const noexcept {
    for (int level = wheel::kLevels - 1; level >= 0; --level) {
      const ListId side = wheel::SideList(level);
      if (lists_.Holds(side)) fn(level, std::max(side_by_[static_cast<size_t>(level)], elapsed_), side);
      const uint64_t occupied = lists_.Occupied(level);
      if (occupied == 0) continue;
      const uint64_t position = wheel::FirstOccupied(occupied, wheel::PositionOf(elapsed_, level));
      fn(level, std::max(wheel::StartOf(position, level), elapsed_), wheel::SlotList(level, position));
    }
  }

  Front MostPressing() const noexcept {
    Front front;
    ForEachFront([&front](int, uint64_t by, ListId list) {
      if (by < front.by || front.list == wheel::kNoList) front = {by, list};
    });
    return front;
  }

  Front MostPressingAhead() const noexcept {
    Front front;
    ForEachFront([this, &front](int level, uint64_t by, ListId list) {
      if (WorkableFrom(level, by) <= elapsed_ && by < front.by) front = {by, list};
    });
    return front;
  }

  bool File(Ref ref) noexcept;
  [[gnu::noinline]] bool FileAnew(Ref ref) noexcept {
    lists_.Unlink(ref);
    return File(ref);
  }
  bool FileOn(Ref ref, ListId list, int level, uint64_t by) noexcept {
    if (!lists_.Push(ref, list)) return false;
    const uint64_t from = WorkableFrom(level, by);
    if (from >= earliest_) return false;
    earliest_ = from;
    return true;
  }

  bool Run(ListId list, std::span<Ref> due, size_t budget, Progress& progress) noexcept;
  bool RunUpTo(uint64_t now, std::span<Ref> due, size_t budget, Progress& progress) noexcept;

  Lists lists_;
  uint64_t elapsed_;
  // No later than NextWake(), and what the caller's timer is taken to be armed for.
  mutable uint64_t earliest_ = kNever;
  // When the side list of each level must be empty; means nothing where the list is empty. Always 0 for level
  // 0.
  std::array<uint64_t, wheel::kLevels> side_by_{};
  size_t size_ = 0;
  uint64_t cascaded_ = 0;
  uint64_t refiled_ = 0;
};

// Inlined by force: a set or a move is not much more than this.
template <wheel::WheelHooks Hooks>
[[gnu::always_inline]] inline bool TimingWheel<Hooks>::File(Ref ref) noexcept {
  const uint64_t deadline = hooks().Deadline(ref);
  if (deadline < elapsed_) [[unlikely]]
    return FileOn(ref, wheel::SideList(0), 0, 0);
  const int level = wheel::LevelFor(elapsed_, deadline);
  const uint64_t position = wheel::PositionOf(deadline, level);
  const uint64_t start = wheel::StartOf(position, level);
  // One branch that is seldom taken: apart, each of these is hard to predict.
  const bool in_next_slot = position - wheel::PositionOf(elapsed_, level) == 1;
  const bool ahead = wheel::InSecondHalf(elapsed_, level);
  if (in_next_slot & ahead) [[unlikely]] {
    // A side list that is still to be emptied at this moment belongs to the slot before and takes nothing
    // new, or the work on it would never end.
    const ListId side = wheel::SideList(level);
    const uint64_t by = start + wheel::SpanOf(level) / 2;
    uint64_t& side_by = side_by_[static_cast<size_t>(level)];
    if (!lists_.Holds(side) || side_by == by) {
      side_by = by;
      return FileOn(ref, side, level, by);
    }
  }
  return FileOn(ref, wheel::SlotList(level, position), level, start);
}

// Works on `list` until it is empty (true) or a limit is met. Nothing is filed back onto the list that is
// worked on: what is not due at elapsed_ never goes to a current slot, an entry that leaves the next slot of
// its level fits below or goes to the side list, and for side lists see File. So the cursors may be kept
// aside meanwhile.
template <wheel::WheelHooks Hooks>
bool TimingWheel<Hooks>::Run(ListId list, std::span<Ref> due, size_t budget, Progress& progress) noexcept {
  uint64_t& moved = wheel::LevelOf(list) == 0 ? refiled_ : cascaded_;
  typename Lists::Strands cursors = lists_.Heads(list);
  bool any = true;
  bool stopped = false;
  while (any && !stopped) {
    any = false;
    for (Ref& cursor : cursors) {
      const Ref ref = cursor;
      if (ref == kNull) continue;
      any = true;
      if (progress.touched == budget) {
        stopped = true;
        break;
      }
      const Ref next = hooks().Next(ref);
      if (next != kNull) hooks().Prefetch(next);
      if (hooks().Deadline(ref) <= elapsed_) {
        if (progress.due == due.size()) {
          stopped = true;
          break;
        }
        hooks().SetSlot(ref, wheel::kUnfiled);
        due[progress.due++] = ref;
        --size_;
      } else {
        static_cast<void>(File(ref));  // whether to re-arm is settled at the end of Advance
        ++moved;
      }
      ++progress.touched;
      cursor = next;
    }
  }
  lists_.CutTo(list, cursors);
  return !stopped;
}

// The work that must be done, then the background work; false when a limit was met first.
template <wheel::WheelHooks Hooks>
bool TimingWheel<Hooks>::RunUpTo(uint64_t now, std::span<Ref> due, size_t budget,
                                 Progress& progress) noexcept {
  for (Front front = MostPressing(); front.list != wheel::kNoList && front.by <= now;
       front = MostPressing()) {
    elapsed_ = front.by;
    if (!Run(front.list, due, budget, progress)) return false;
  }
  elapsed_ = now;
  for (Front front = MostPressingAhead(); front.list != wheel::kNoList; front = MostPressingAhead()) {
    if (!Run(front.list, due, budget, progress)) return false;
  }
  return true;
}

template <wheel::WheelHooks Hooks>
auto TimingWheel<Hooks>::Advance(uint64_t now, std::span<Ref> due, size_t budget) noexcept -> Progress {
  Progress progress;
  now = std::max(now, elapsed_);
  if (now < earliest_) {
    elapsed_ = now;
    return progress;
  }
  progress.more = !RunUpTo(now, due, budget, progress);
  static_cast<void>(NextWake());  // refreshes earliest_
  return progress;
}

template <wheel::WheelHooks Hooks>
void TimingWheel<Hooks>::Rewind(uint64_t now) noexcept {
  assert(now <= elapsed_);
  elapsed_ = now;
  for (uint64_t& by : side_by_) by = std::min(by, now);
  static_cast<void>(NextWake());
}

template <wheel::WheelHooks Hooks>
template <typename Fn>
void TimingWheel<Hooks>::ForEachUntil(uint64_t to, Fn fn) const {
  for (ListId list = 0; list < wheel::kLists; ++list) {
    if (!lists_.Holds(list) || EmptyBy(list) > to) continue;
    if (!lists_.ForEach(list, [&](Ref ref) { return hooks().Deadline(ref) > to || fn(ref); })) return;
  }
}

template <wheel::WheelHooks Hooks>
template <typename Fn>
void TimingWheel<Hooks>::Drain(Fn fn) {
  for (ListId list = 0; list < wheel::kLists; ++list) {
    lists_.ForEach(list, [&](Ref ref) {
      hooks().SetSlot(ref, wheel::kUnfiled);
      fn(ref);
      return true;
    });
    lists_.CutTo(list, Lists::kEmpty);
  }
  size_ = 0;
  earliest_ = kNever;
}

template <wheel::WheelHooks Hooks>
bool TimingWheel<Hooks>::Validate() const noexcept {
  size_t seen = 0;
  for (ListId list = 0; list < wheel::kLists; ++list) {
    const size_t count = lists_.Validate(list, size_ - seen);
    if (count == SIZE_MAX) return false;
    seen += count;
    const uint64_t by = EmptyBy(list);
    if (!lists_.ForEach(list, [&](Ref ref) { return hooks().Deadline(ref) >= by; })) return false;
  }
  const uint64_t promised = earliest_;
  return seen == size_ && promised <= NextWake();
}

}  // namespace mayfly

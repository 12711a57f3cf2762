// A hierarchical timing wheel: finds the entries past their deadline. Insert, Move and Remove are O(1).
//
// Time is counted in ticks. All users of this class use ticks of one millisecond, but the wheel does not depend on this.
// Each level has 64 slots; a slot spans 1, 64, 4096 ... ticks by level (wheel_geometry.h). The distance of an entry's
// deadline decides its level. When the start of its slot approaches, an entry moves to a lower level: a *cascade*. An entry
// is due at the start of its slot on level 0.
//
//   level 2  [ .  .  c  x  .  x ... ]     c = current position, x = occupied (one bit each in a bitmap)
//   level 1  [ .  x  c  N  .  . ... ]     N = next slot: may be emptied from half a span before its start
//   level 0  [ .  .  .  .  c  x ... ]
//
// Cascades ahead of time. Emptying a slot of a million entries at its start would delay the entries that are due at that
// moment. Therefore every list above level 0 has a time by which the list must be empty, and the wheel may empty the list in
// the background during the half span of its level before that time:
//   - A slot must be empty at its start S.
//   - Each level has a *side list*, for entries of the next slot that do not fit the level below yet. During the last half
//   span before S these are the entries due in the second half of the slot or later. From S on all entries of the side list
//   fit the level below, and the side list must be empty at S + span / 2. During the half span before S such entries are
//   inserted into the side list directly.
// So each entry has half a span of its level to move down in, and reaches level 0 before the entry is due if the caller
// grants enough budget. A half-emptied list is an ordinary list: its entries may be removed or moved at any time. Level 0
// needs no such side list; its side list holds entries that were overdue when filed. The time of this side list is 0, so the
// next Advance empties the list.
//
// Order. Work that must be done goes by time and, at equal times, from the top level down. Background work comes afterwards,
// the list with the nearest time first. Therefore Advance returns due entries in the order of their ticks, however long the
// caller has not called. The order within one tick is undefined.
//
// Lazy moves. An entry whose deadline moves later stays in its list until the list is emptied, and is filed again then. The
// wheel guarantees one invariant (Validate): the list of an entry must be empty no later than the entry's deadline.
// Punctuality, cascades and Rewind all follow from this invariant.
//
// The operations are those of go-zero's wheel: set (Insert), move and remove. There is no stop: the wheel has no timer and
// no thread, so the owner just no longer calls Advance. The wheel calls no user code but the hooks. The wheel owns nothing
// and allocates nothing. Loop thread only.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cache/time/wheel_geometry.h"
#include "cache/time/wheel_lists.h"

namespace mayfly {

template <wheel::WheelHooks Hooks>
class TimingWheel {
 public:
  using Ref = typename Hooks::Ref;
  static constexpr Ref kNull = Hooks::kNull;
  static constexpr uint64_t kNever = wheel::kNever;

  // The work of one call of Advance.
  struct Progress {
    size_t due = 0;      // entries returned
    size_t touched = 0;  // returned entries and entries filed again; at most the budget
    bool more = false;   // work is left at the same `now`
  };

  explicit TimingWheel(Hooks hooks, uint64_t now = 0) noexcept : lists_(hooks), elapsed_(now) {}

  // Files `ref` by its deadline. The next Advance returns `ref` if the deadline is before elapsed(). Returns true if the
  // wheel must now be advanced earlier than the last NextWake() or Advance implied: the caller must re-arm its timer.
  // REQUIRES: ref is not in the wheel: its slot field is kUnfiled.
  [[nodiscard]] bool Insert(Ref ref) noexcept {
    assert(hooks().Slot(ref) == wheel::kUnfiled);
    ++size_;
    return File(ref);
  }

  // Call Move after storing a new deadline in `ref`. Returns the same as Insert. If the new deadline is not before the start
  // of the entry's slot, Move only reads the entry.
  // REQUIRES: ref is in the wheel.
  [[nodiscard]] [[gnu::always_inline]] bool Move(Ref ref) noexcept {
    assert(Contains(ref));
    return !MayStay(hooks().Slot(ref), hooks().Deadline(ref)) && FileAnew(ref);
  }
  // The two halves of Move, for an owner who knows the slot and the new deadline without the hooks. MayStay returns true if
  // an entry of the slot stays where it is. FileAnew returns the same as Insert.
  [[gnu::always_inline]] bool MayStay(wheel::Place slot, uint64_t deadline) const noexcept {
    return deadline >= EmptyBy(wheel::ListOf(slot));
  }
  [[nodiscard]] [[gnu::noinline]] bool FileAnew(Ref ref) noexcept {
    lists_.Unlink(ref);
    return File(ref);
  }

  // REQUIRES: ref is in the wheel.
  void Remove(Ref ref) noexcept {
    assert(Contains(ref));
    --size_;
    lists_.Unlink(ref);
  }

  bool Contains(Ref ref) const noexcept { return hooks().Slot(ref) != wheel::kUnfiled; }

  // Goes through the ticks up to `now`. Removes the due entries from the wheel and writes them to `due` in the order of
  // their ticks. Stops early when `budget` entries have been touched, or when `due` is full and another entry is due; then
  // `more` is true and the caller calls again. With an empty `due`, Advance does everything except returning entries. O(1)
  // if there is nothing to do. A `now` before elapsed() counts as elapsed(); see Rewind.
  Progress Advance(uint64_t now, std::span<Ref> due, size_t budget) noexcept;

  // For a clock that was set back: time continues from `now`. O(levels). Re-arm the timer afterwards. (A clock that was set
  // forward only means a larger step for Advance.)
  //
  // No entry becomes late. On a level whose position is now c <= p, the slot of position p is emptied at the first position
  // from c on that equals p modulo 64. This first position is p or earlier, and entries that are not due then are filed
  // again. The side lists are emptied at once.
  // REQUIRES: now <= elapsed().
  void Rewind(uint64_t now) noexcept;

  // The earliest time at which Advance has work, background work included; kNever if the wheel is empty. The time may be
  // earlier than the first deadline, never later. O(levels).
  uint64_t NextWake() const noexcept {
    earliest_ = kNever;
    if (size_ == 0) return kNever;
    ForEachFront([this](int level, uint64_t by, ListId) {
      const uint64_t from = WorkableFrom(level, by);
      if (from < earliest_) earliest_ = from;
    });
    return earliest_;
  }

  // Returns true if Advance(now) has work.
  bool HasWork(uint64_t now) const noexcept { return size_ != 0 && NextWake() <= now; }

  // An entry with one of the nearest deadlines for which accept(ref) is true: one of the first entries of the list that must
  // be emptied first. Seldom the very nearest, because upper slots are wide and moves are lazy. Passes over lists if accept
  // refuses all their first entries. kNull if no entry was found.
  template <typename Accept>
  Ref Soonest(Accept accept) const noexcept {
    Front front;
    Ref soonest = kNull;
    ForEachFront([&](int, uint64_t by, ListId list) {
      if (by >= front.by && front.list != wheel::kNoList) return;
      const Ref found = FirstOf(list, accept);
      if (found == kNull) return;
      front = {by, list};
      soonest = found;
    });
    return soonest;
  }

  // Calls fn(ref) -> bool for each entry with a deadline of at most `to`, in no particular order, until fn returns false.
  // Visits only lists that can hold such a deadline.
  // REQUIRES: fn does not change the wheel.
  template <typename Fn>
  void ForEachUntil(uint64_t to, Fn fn) const;

  // For walks that stop and go on later (cache/time/due_page.h). Calls fn(list, by, last) for each list that is not empty.
  // The entries of the list are due at `by` or later, and no later than `last` unless their deadline has moved since their
  // filing. While the list is not empty, only Rewind changes `by`.
  // REQUIRES: fn does not change the wheel; likewise ForEachOf.
  template <typename Fn>
  void ForEachList(Fn fn) const;
  // Calls fn(ref) -> bool for each entry of the list until fn returns false. Returns false if fn did.
  template <typename Fn>
  bool ForEachOf(wheel::ListId list, Fn fn) const {
    return lists_.ForEach(list, fn);
  }

  size_t size() const noexcept { return size_; }
  // The current tick: the wheel has returned every entry that was due before this tick.
  uint64_t elapsed() const noexcept { return elapsed_; }
  // Both since construction. cascaded: entries moved down from a list above level 0. refiled: entries of level 0 filed again
  // because their deadline had moved.
  uint64_t cascaded() const noexcept { return cascaded_; }
  uint64_t refiled() const noexcept { return refiled_; }

  // Checks all invariants by visiting every entry. For tests and debug builds.
  [[nodiscard]] bool Validate() const noexcept;

  // The slots of a level with entries: bit i stands for the i-th slot from `now` on. A slot that is being emptied ahead of
  // its time counts as the next slot. O(1).
  uint64_t SlotsAhead(int level, uint64_t now) const noexcept {
    const uint64_t slots = wheel::SlotsAhead(lists_.Occupied(level), level, elapsed_, now);
    return slots | (lists_.Holds(wheel::SideList(level)) ? 2U : 0U);
  }

 private:
  using ListId = wheel::ListId;
  using Lists = wheel::WheelLists<Hooks>;

  // The list to empty first, and the time by which the list must be empty.
  struct Front {
    uint64_t by = kNever;
    ListId list = wheel::kNoList;
  };

  const Hooks& hooks() const noexcept { return lists_.hooks(); }

  // The time by which `list` must be empty. Meaningless for an empty list.
  uint64_t EmptyBy(ListId list) const noexcept {
    const int level = wheel::LevelOf(list);
    if (wheel::IsSideList(list)) return side_by_[static_cast<size_t>(level)];
    const uint64_t current = wheel::PositionOf(elapsed_, level);
    return wheel::StartOf(wheel::PositionAt(current, list % wheel::kSlots), level);
  }

  // The time from which the wheel may empty a list with the time `by`.
  uint64_t WorkableFrom(int level, uint64_t by) const noexcept {
    const uint64_t lead = wheel::SpanOf(level) / 2;  // 0 on level 0: no entry is returned before its tick
    return std::max(by - std::min(by, lead), elapsed_);
  }

  // Calls fn(level, by, list) for the side list and the first occupied slot of each level, from the top level
  // down.
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

  // One of the first entries of the list's strands for which accept(ref) is true, or kNull.
  template <typename Accept>
  Ref FirstOf(ListId list, Accept& accept) const noexcept {
    constexpr int kMostLooked = 16;
    for (Ref ref : lists_.Heads(list)) {
      for (int looked = 0; ref != kNull && looked < kMostLooked; ref = hooks().Next(ref), ++looked) {
        if (accept(ref)) return ref;
      }
    }
    return kNull;
  }

  bool File(Ref ref) noexcept;
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
  // At most NextWake(); the caller is assumed to have armed its timer for this time.
  mutable uint64_t earliest_ = kNever;
  // The time by which the side list of each level must be empty; meaningless for an empty list. Always 0 for level 0.
  std::array<uint64_t, wheel::kLevels> side_by_{};
  size_t size_ = 0;
  uint64_t cascaded_ = 0;
  uint64_t refiled_ = 0;
};

// Forced inline: File is nearly all the work of an Insert or a Move.
template <wheel::WheelHooks Hooks>
[[gnu::always_inline]] inline bool TimingWheel<Hooks>::File(Ref ref) noexcept {
  const uint64_t deadline = hooks().Deadline(ref);
  if (deadline < elapsed_) [[unlikely]]
    return FileOn(ref, wheel::SideList(0), 0, 0);
  const int level = wheel::LevelFor(elapsed_, deadline);
  const uint64_t position = wheel::PositionOf(deadline, level);
  const uint64_t start = wheel::StartOf(position, level);
  // A single branch, seldom taken: each condition alone is hard to predict.
  const bool in_next_slot = position - wheel::PositionOf(elapsed_, level) == 1;
  const bool ahead = wheel::InSecondHalf(elapsed_, level);
  if (in_next_slot & ahead) [[unlikely]] {
    // A side list that must be emptied at this moment belongs to the previous slot. File adds nothing to this side list;
    // otherwise emptying the list would never end.
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

// Empties `list`: returns true when the list is empty, false when the budget or the room in `due` ran out.
//
// While Run empties a list, no entry is filed back into this list, so the cursors stay valid: an entry that is not due at
// elapsed_ never goes to a current slot; an entry that leaves the next slot of its level fits the level below or goes to the
// side list; for side lists see File.
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
        static_cast<void>(File(ref));  // Advance decides at its end whether to re-arm
        ++moved;
      }
      ++progress.touched;
      cursor = next;
    }
  }
  lists_.CutTo(list, cursors);
  return !stopped;
}

// Does the work that must be done by `now`, then background work. Returns false when a limit was reached
// first.
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
void TimingWheel<Hooks>::ForEachList(Fn fn) const {
  for (ListId list = 0; list < wheel::kLists; ++list) {
    if (!lists_.Holds(list)) continue;
    const uint64_t by = EmptyBy(list);
    const uint64_t rest = wheel::SpanOf(wheel::LevelOf(list)) - 1;
    fn(list, by, by + std::min(rest, UINT64_MAX - by));
  }
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

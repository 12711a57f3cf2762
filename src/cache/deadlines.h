// The deadlines of a keyspace's entries: two timing wheels, one for each clock. An entry with a TTL is filed in
// the wheel of its clock (EntryFlag::kWallDeadline), so a step of the wall clock moves no relative TTL. A wall
// deadline is a promise in Unix time: a step forward makes it due, and after a step back it is due later.
//
// Invariants (Validate): those of both wheels. Owns no entry, allocates nothing. Loop thread only.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/clock.h"
#include "base/heap.h"
#include "cache/entry.h"
#include "cache/entry_hooks.h"
#include "cache/expiry.h"
#include "cache/id_set.h"
#include "cache/timing_wheel.h"

namespace mayfly {

// Told by the deadlines of several keyspaces that one was filed which is nearer than all others of its keyspace.
struct Rearm {
  bool any = false;
  IdSet who;  // ids of the keyspaces

  void Note(uint8_t id) noexcept {
    any = true;
    who.Add(id);
  }
};

class Deadlines {
 public:
  static constexpr size_t kBatch = 64;  // the most entries that Advance hands over at a time

  // Notes `id` in `rearm`, which it borrows, whenever NextWakeMs becomes less by anything but the passing of
  // time.
  Deadlines(HeapBase base, Rearm& rearm, uint8_t id, Now now) noexcept;

  // Number of filed entries.
  size_t size() const noexcept { return mono_.size() + wall_.size(); }

  // Files the entry by its deadline.
  // REQUIRES: entry.expires(), and it is not filed.
  void File(Entry& entry, Now now) noexcept;
  // No effect if the entry is not filed: Advance has just handed it back, or it has no deadline.
  void Unfile(Entry& entry) noexcept;
  // Gives a filed entry another deadline.
  // REQUIRES: entry.expires(), and expiry is not Never.
  [[gnu::always_inline]] void Move(Entry& entry, Expiry expiry, Now now) noexcept {
    assert(entry.expires() && expiry.kind != Expiry::Kind::kNever);
    if (expiry.kind == Expiry::Kind::kWall || entry.Has(EntryFlag::kWallDeadline)) [[unlikely]]
      return MoveByWall(entry, expiry, now);
    MoveOn(mono_, entry, expiry.deadline_ms);
  }

  // Takes the due entries out and calls on_due(refs, clock_ms) for a batch of them at a time; clock_ms is the
  // time on their clock. on_due frees them or files them again. Subtracts the entries that it touched from
  // `*budget`. Returns true if work is left at `now`.
  template <typename OnDue>
  bool Advance(Now now, size_t* budget, OnDue&& on_due) {
    FollowWallStepBack(now);
    const auto advance = [&](Wheel& wheel, uint64_t to) {
      return wheel.size() != 0 && AdvanceWheel(wheel, to, budget, on_due);
    };
    // The wheels take turns at going first, or a backlog on one would use up every budget.
    wall_first_ = !wall_first_;
    bool more = wall_first_ && advance(wall_, WallMs(now));
    more |= advance(mono_, now.mono_ms);
    if (!wall_first_) more |= advance(wall_, WallMs(now));
    return more;
  }

  // Milliseconds from `now` until Advance has work; UINT64_MAX if nothing is filed.
  uint64_t NextWakeMs(Now now) const noexcept;
  // Number of entries that are due and still filed. Stops counting at `most`.
  size_t Backlog(Now now, size_t most) const;
  // If the wall clock was set back, sets the wall wheel back. All that takes a `now` does so first; this is for
  // a keyspace that has nothing else to do.
  void FollowWallStepBack(Now now) noexcept;
  // An entry from the earliest slots, or null.
  Entry* Nearest(Now now) const noexcept;

  bool Validate() const noexcept { return mono_.Validate() && wall_.Validate(); }
  // Filed entries with a wall-clock deadline.
  size_t on_wall_clock() const noexcept { return wall_.size(); }

  static uint64_t WallMs(Now now) noexcept {
    return static_cast<uint64_t>(std::max<int64_t>(now.wall_ms, 0));
  }
  // The time on the clock of a deadline.
  static uint64_t NowOn(Expiry::Kind kind, Now now) noexcept {
    return kind == Expiry::Kind::kWall ? WallMs(now) : now.mono_ms;
  }

 private:
  using Wheel = TimingWheel<EntryWheelHooks>;

  Entry* At(HeapRef ref) const noexcept { return base_.Resolve<Entry>(ref); }
  Wheel& WheelOf(const Entry& entry) noexcept { return entry.Has(EntryFlag::kWallDeadline) ? wall_ : mono_; }
  [[gnu::always_inline]] void MoveOn(Wheel& wheel, Entry& entry, uint64_t deadline_ms) noexcept {
    entry.set_deadline_ms(deadline_ms);
    if (wheel.Move(base_.RefOf(&entry))) rearm_.Note(id_);
  }
  void MoveByWall(Entry& entry, Expiry expiry, Now now) noexcept;
  void FileOn(Wheel& wheel, Entry& entry, uint64_t clock_ms) noexcept;

  template <typename OnDue>
  static bool AdvanceWheel(Wheel& wheel, uint64_t to, size_t* budget, OnDue& on_due) {
    std::array<HeapRef, kBatch> due;
    for (;;) {
      const typename Wheel::Progress progress = wheel.Advance(to, due, *budget);
      on_due(std::span<const HeapRef>(due.data(), progress.due), to);
      *budget -= progress.touched;
      if (!progress.more) return false;
      if (*budget == 0) return true;
    }
  }

  HeapBase base_;
  Rearm& rearm_;
  Wheel mono_;
  Wheel wall_;
  uint8_t id_;
  bool wall_first_ = false;  // which wheel Advance empties first; changes with each call
};

}  // namespace mayfly

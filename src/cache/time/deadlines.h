// The deadlines of a keyspace's entries, on two timing wheels, one for each clock. An entry is filed once, at its wake
// (cache/entry/entry.h): its key's deadline, or an earlier own time. The caller of Advance gets the due entries and looks
// whether deadline or own time has come. Deadlines also counts the entries with deadlines of members.
//
// Clocks. A relative time is filed in the wheel of monotonic time, so a step of the wall clock does not move a relative
// time. A wall time is a promise in Unix time: a step forward makes a wall time due, and after a step back a wall time is
// due later. The wheels return no entry early.
// If a deadline and an own time are on two clocks, the setting of the wall clock decides which is earlier. Such entries are
// in a list, too, in the order in which their wake was chosen. After every step, even of a millisecond, Advance goes through
// the list, chooses each wake again and files each entry anew, in slices like all work of Advance.
//
// Invariants (Validate): those of both wheels and of the list. Owns no entry, allocates nothing. Loop thread only.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory/heap.h"
#include "base/time/clock.h"
#include "cache/entry/entry.h"
#include "cache/entry/entry_hooks.h"
#include "cache/entry/expiry.h"
#include "cache/entry/id_set.h"
#include "cache/time/timing_wheel.h"

namespace mayfly {

struct DuePage;

// The note of the deadlines of several keyspaces for the timer: some keyspace has a new nearest deadline.
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
  static constexpr size_t kBatch = 64;  // the most entries in one call of on_due

  // Notes `id` in `rearm` whenever NextWakeMs becomes less for another reason than the passing of time. Borrows `rearm`.
  Deadlines(HeapBase base, Rearm& rearm, uint8_t id, Now now) noexcept;

  // Number of filed entries.
  size_t size() const noexcept { return mono_.size() + wall_.size(); }
  // Number of entries with a deadline of a member, from SetTimes until Unfile.
  size_t with_timed_members() const noexcept { return with_timed_members_; }
  // As with_timed_members, hashes alone.
  size_t with_timed_fields() const noexcept { return with_timed_fields_; }

  // Files the entry by its times; a task that waits for its stream (Entry::ready) is not filed.
  // REQUIRES: the entry has a deadline or a wake, and is not filed.
  void File(Entry& entry, Now now) noexcept;
  // No effect if the entry is not filed: Advance has just returned the entry, or the entry has no time.
  // REQUIRES: a rich value of the entry is still there.
  void Unfile(Entry& entry) noexcept;
  static bool Filed(const Entry& entry) noexcept { return entry.timed() && entry.filed() != wheel::kUnfiled; }
  // Gives a filed entry another deadline, no own time, and no terms (EntryTerms).
  // REQUIRES: entry.expires(), and `deadline` is not Never; for a deadline above Entry::kMaxNearDeadline, an extra.
  [[gnu::always_inline]] void Move(Entry& entry, Expiry deadline, Now now) noexcept {
    assert(entry.expires() && deadline.kind != Expiry::Kind::kNever);
    if (deadline.kind == Expiry::Kind::kWall || (entry.flags() & kSeldom) != 0) [[unlikely]]
      return MoveSlowly(entry, deadline, now);
    MoveOn(mono_, entry, deadline.deadline_ms);
  }
  // Gives the entry a deadline and an own time, and files the entry by the earlier time. Both may be Never: then the entry
  // is only taken out.
  // REQUIRES: entry.expires() if and only if there is a deadline; the entry has the room: a timed block unless both are
  // Never, and an extra if NeedExtra.
  void SetTimes(Entry& entry, Expiry deadline, Expiry own, Now now) noexcept;
  // Returns true if a deadline and an own time need EntryTimes.
  static bool NeedExtra(Expiry deadline, Expiry own) noexcept;

  // Takes the due entries out and calls on_due(refs, budget) for a batch at a time. on_due frees the entries or files them
  // again, and subtracts from `*budget` all work beyond one step for each entry. Advance subtracts its own touched entries.
  // Returns true if work is left at `now`.
  template <typename OnDue>
  bool Advance(Now now, size_t* budget, OnDue&& on_due) {
    FollowWallStep(now);
    const bool unsure = RefileMixed(now, budget);
    const auto advance = [&](Wheel& wheel, uint64_t to) {
      return wheel.size() != 0 && AdvanceWheel(wheel, to, budget, on_due);
    };
    // The wheels go first in turn; otherwise a backlog on one wheel would use up every budget.
    wall_first_ = !wall_first_;
    bool more = wall_first_ && advance(wall_, WallMs(now));
    more |= advance(mono_, now.mono_ms);
    if (!wall_first_) more |= advance(wall_, WallMs(now));
    return more || unsure;
  }

  // As Advance, for clocks that somebody else sets: a master's, whatever the own clocks are (Reaper::FreeCutOff). A wheel that
  // is ahead of its time goes back.
  template <typename OnDue>
  bool AdvanceTo(Now to, size_t* budget, OnDue&& on_due) {
    const auto advance = [&](Wheel& wheel, uint64_t to_ms) {
      if (wheel.size() == 0) return false;
      if (to_ms < wheel.elapsed()) wheel.Rewind(to_ms);
      return AdvanceWheel(wheel, to_ms, budget, on_due);
    };
    const bool more = advance(wall_, WallMs(to));
    return (to.mono_ms != 0 && advance(mono_, to.mono_ms)) || more;
  }

  // Milliseconds from `now` until Advance has work; UINT64_MAX if nothing is filed.
  uint64_t NextWakeMs(Now now) const noexcept;
  // Number of keys that have expired and are still filed. Looks at `most` keys whose wake has come; on a replica, where no wheel
  // turns, some of these have a later deadline now.
  size_t Backlog(Now now, size_t most) const;
  // Notices that the wall clock was set. All methods that file by the wall clock call this first; a keyspace with nothing
  // else to do calls this alone.
  void FollowWallStep(Now now) noexcept {
    if (now.wall_ms - static_cast<int64_t>(now.mono_ms) != wall_minus_mono_ms_) [[unlikely]]
      OnWallStep(now);
  }
  // A key with one of the nearest deadlines, no task. Looks only at the first entries of the slots; null if these are tasks or
  // have only own times.
  Entry* Nearest(Now now) const noexcept;

  // Puts into page.entries the filed entries with a deadline from lists that may hold a deadline of at most `within_ms` from
  // now. Many of these entries may be due later, and some already are. Starts at page.cursor, and sets the cursor to the
  // start of the next page, or to 0 after the last page. Looks at no more than `most` entries. Returns false, with no
  // entries, if the page would need more or the cursor is void: the caller must walk the table instead. Throws
  // std::bad_alloc. See cache/time/due_page.h.
  // REQUIRES: FollowWallStep(now); page.entries is empty; page.cursor is 0 or a cursor for which DuePage::Owns is true.
  bool FillPage(DuePage& page, uint64_t within_ms, size_t most, Now now) const;

  // The slots of a level with entries, of both wheels: see TimingWheel::SlotsAhead.
  uint64_t SlotsAhead(int level, Now now) const noexcept {
    return mono_.SlotsAhead(level, now.mono_ms) | wall_.SlotsAhead(level, WallMs(now));
  }

  bool Validate() const noexcept;
  // Number of filed entries with Entry::has_two_times.
  size_t with_two_times() const noexcept { return with_two_times_; }
  // Filed entries with a wall-clock wake.
  size_t on_wall_clock() const noexcept { return wall_.size(); }
  // Returns true if the entry, with this deadline and own time, is filed correctly.
  bool ValidateEntry(const Entry& entry, Expiry own) const noexcept;

  static uint64_t WallMs(Now now) noexcept {
    return static_cast<uint64_t>(std::max<int64_t>(now.wall_ms, 0));
  }
  // The time on the clock of a deadline.
  static uint64_t NowOn(Expiry::Kind kind, Now now) noexcept {
    return kind == Expiry::Kind::kWall ? WallMs(now) : now.mono_ms;
  }

 private:
  using Wheel = TimingWheel<EntryWheelHooks>;
  // An entry without these flags is in the monotonic wheel and in no list.
  static constexpr unsigned kSeldom = Entry::Bit(EntryFlag::kWallDeadline) | Entry::Bit(EntryFlag::kExtra);

  Entry* At(HeapRef ref) const noexcept { return base_.Resolve<Entry>(ref); }
  Wheel& WheelOf(const Entry& entry) noexcept { return entry.Has(EntryFlag::kWallDeadline) ? wall_ : mono_; }
  // REQUIRES: the entry has no extra.
  [[gnu::always_inline]] void MoveOn(Wheel& wheel, Entry& entry, uint64_t deadline_ms) noexcept {
    assert(!entry.Has(EntryFlag::kExtra));
    entry.set_near_deadline_ms(deadline_ms);
    if (!wheel.MayStay(entry.filed(), deadline_ms) && wheel.FileAnew(base_.RefOf(&entry))) rearm_.Note(id_);
  }
  void MoveSlowly(Entry& entry, Expiry deadline, Now now) noexcept;
  void OnWallStep(Now now) noexcept;
  // Chooses again the wakes from before the last step. Returns true if some are left.
  bool RefileMixed(Now now, size_t* budget) noexcept;
  bool Unsure() const noexcept { return mixed_first_ && At(mixed_first_)->extra()->step != steps_; }
  void UnfileSeldom(Entry& entry) noexcept;
  void FileExtra(Entry& entry) noexcept;
  void UnfileExtra(Entry& entry) noexcept;
  void Link(Entry& entry) noexcept;
  void Unlink(Entry& entry) noexcept;
  void FileOn(Wheel& wheel, Entry& entry, uint64_t clock_ms) noexcept;

  template <typename OnDue>
  static bool AdvanceWheel(Wheel& wheel, uint64_t to, size_t* budget, OnDue& on_due) {
    std::array<HeapRef, kBatch> due;
    for (;;) {
      const typename Wheel::Progress progress = wheel.Advance(to, due, *budget);
      *budget -= progress.touched;
      if (progress.due != 0) on_due(std::span<const HeapRef>(due.data(), progress.due), budget);
      if (!progress.more && !wheel.HasWork(to)) return false;
      if (*budget == 0) return true;
    }
  }

  HeapBase base_;
  Rearm& rearm_;
  Wheel mono_;
  Wheel wall_;
  // The entries with times on two clocks, in the order in which their wakes were chosen.
  HeapRef mixed_first_{};
  HeapRef mixed_last_{};
  uint32_t steps_ = 1;  // of the wall clock
  int64_t wall_minus_mono_ms_;
  size_t with_timed_members_ = 0;
  size_t with_timed_fields_ = 0;
  size_t with_two_times_ = 0;
  uint8_t id_;
  bool wall_first_ = false;  // the wheel that Advance empties first; changes with each call
};

}  // namespace mayfly

#include "cache/time/deadlines.h"

#include "cache/entry/rich_value.h"

namespace mayfly {
namespace {

size_t OneIfHash(const Entry& entry) noexcept { return entry.rich()->type == ValueType::kHash ? 1 : 0; }

}  // namespace

Deadlines::Deadlines(HeapBase base, Rearm& rearm, uint8_t id, Now now) noexcept
    : base_(base),
      rearm_(rearm),
      mono_(EntryWheelHooks(base), now.mono_ms),
      wall_(EntryWheelHooks(base), WallMs(now)),
      wall_minus_mono_ms_(now.wall_ms - static_cast<int64_t>(now.mono_ms)),
      id_(id) {}

void Deadlines::File(Entry& entry, Now now) noexcept {
  assert(entry.timed() && !Filed(entry));
  if ((entry.flags() & kSeldom) == 0) return FileOn(mono_, entry, now.mono_ms);
  if (entry.ready()) return;
  FollowWallStep(now);
  if (entry.Has(EntryFlag::kExtra)) FileExtra(entry);
  entry.Has(EntryFlag::kWallDeadline) ? FileOn(wall_, entry, WallMs(now)) : FileOn(mono_, entry, now.mono_ms);
}

void Deadlines::FileOn(Wheel& wheel, Entry& entry, uint64_t clock_ms) noexcept {
  // An empty wheel is not advanced: its time is the time of its last entry.
  if (wheel.size() == 0) static_cast<void>(wheel.Advance(clock_ms, {}, 0));
  if (wheel.Insert(base_.RefOf(&entry))) rearm_.Note(id_);
}

void Deadlines::Unfile(Entry& entry) noexcept {
  constexpr unsigned kMore = Entry::Bit(EntryFlag::kExtra) | Entry::Bit(EntryFlag::kTimedMembers);
  if (Filed(entry)) WheelOf(entry).Remove(base_.RefOf(&entry));
  if ((entry.flags() & kMore) != 0) UnfileSeldom(entry);
}

void Deadlines::UnfileSeldom(Entry& entry) noexcept {
  if (entry.Has(EntryFlag::kExtra)) UnfileExtra(entry);
  if (!entry.Has(EntryFlag::kTimedMembers)) return;
  entry.Clear(EntryFlag::kTimedMembers);
  --with_timed_members_;
  with_timed_fields_ -= OneIfHash(entry);
}

void Deadlines::FileExtra(Entry& entry) noexcept {
  if (entry.mixed()) Link(entry);
  assert(!entry.extra()->counted);
  if (!entry.has_two_times()) return;
  entry.extra()->counted = true;
  ++with_two_times_;
}

void Deadlines::UnfileExtra(Entry& entry) noexcept {
  Unlink(entry);
  if (!entry.extra()->counted) return;
  entry.extra()->counted = false;
  --with_two_times_;
}

// For a deadline on the wall clock, an entry that changes wheels, or an entry with an own time.
void Deadlines::MoveSlowly(Entry& entry, Expiry deadline, Now now) noexcept {
  const bool wall = deadline.kind == Expiry::Kind::kWall;
  FollowWallStep(now);
  if (wall == entry.Has(EntryFlag::kWallDeadline) && !entry.Has(EntryFlag::kExtra))
    return MoveOn(WheelOf(entry), entry, deadline.deadline_ms);
  if (entry.has_times()) entry.times().terms = {};
  SetTimes(entry, deadline, Expiry::Never(), now);
}

bool Deadlines::NeedExtra(Expiry deadline, Expiry own) noexcept {
  if (deadline.kind == Expiry::Kind::kNever) return false;
  if (deadline.deadline_ms > Entry::kMaxNearDeadline) return true;
  if (own.kind == Expiry::Kind::kNever) return false;
  return own.kind != deadline.kind || own.deadline_ms < deadline.deadline_ms;
}

void Deadlines::SetTimes(Entry& entry, Expiry deadline, Expiry own, Now now) noexcept {
  assert(entry.expires() == (deadline.kind != Expiry::Kind::kNever));
  assert(entry.timed() || (deadline.kind == Expiry::Kind::kNever && own.kind == Expiry::Kind::kNever));
  assert(entry.has_times() || !NeedExtra(deadline, own));
  const auto left = [&](Expiry time) {
    const uint64_t clock_ms = NowOn(time.kind, now);
    if (time.kind == Expiry::Kind::kNever) return UINT64_MAX;
    return time.deadline_ms <= clock_ms ? 0 : time.deadline_ms - clock_ms;
  };
  Unfile(entry);
  const bool own_first = !entry.expires() || left(own) < left(deadline);
  const Expiry wake = own_first ? own : deadline;
  if (wake.kind == Expiry::Kind::kNever) {
    if (entry.timed()) entry.clear_wake();
    return;
  }
  if (own.kind != Expiry::Kind::kNever && entry.encoding() == Encoding::kRich) {
    entry.Set(EntryFlag::kTimedMembers);
    ++with_timed_members_;
    with_timed_fields_ += OneIfHash(entry);
  }
  wake.kind == Expiry::Kind::kWall ? entry.Set(EntryFlag::kWallDeadline)
                                   : entry.Clear(EntryFlag::kWallDeadline);
  if (!entry.expires()) {
    entry.set_wake_ms(wake.deadline_ms);
  } else if (NeedExtra(deadline, own)) {
    entry.set_two_times(deadline, own, wake.deadline_ms);
  } else {
    entry.set_deadline_ms(deadline.deadline_ms);
  }
  File(entry, now);
}

// ---- entries with times on two clocks

void Deadlines::OnWallStep(Now now) noexcept {
  wall_minus_mono_ms_ = now.wall_ms - static_cast<int64_t>(now.mono_ms);
  if (++steps_ == 0) steps_ = 1;
  if (WallMs(now) < wall_.elapsed()) wall_.Rewind(WallMs(now));
  rearm_.Note(id_);
}

bool Deadlines::RefileMixed(Now now, size_t* budget) noexcept {
  for (; Unsure(); --*budget) {
    if (*budget == 0) return true;
    Entry& entry = *At(mixed_first_);
    const EntryTimes times = entry.times();
    SetTimes(entry, times.deadline, times.own, now);
  }
  return false;
}

void Deadlines::Link(Entry& entry) noexcept {
  const HeapRef ref = base_.RefOf(&entry);
  EntryExtra& extra = *entry.extra();
  extra.step = steps_;
  extra.times().next = HeapRef{};
  extra.times().prev = mixed_last_;
  (mixed_last_ ? At(mixed_last_)->times().next : mixed_first_) = ref;
  mixed_last_ = ref;
}

void Deadlines::Unlink(Entry& entry) noexcept {
  EntryExtra& extra = *entry.extra();
  if (extra.step == 0) return;
  extra.step = 0;
  const EntryTimes& times = extra.times();
  (times.prev ? At(times.prev)->times().next : mixed_first_) = times.next;
  (times.next ? At(times.next)->times().prev : mixed_last_) = times.prev;
}

// ---- looks

uint64_t Deadlines::NextWakeMs(Now now) const noexcept {
  // Call NextWake on an empty wheel too: the wheel's next Insert compares with the result.
  const auto from = [](const Wheel& wheel, uint64_t clock) {
    const uint64_t wake = wheel.NextWake();
    if (wake == Wheel::kNever) return Wheel::kNever;
    return wake <= clock ? 0 : wake - clock;
  };
  const uint64_t wait = std::min(from(mono_, now.mono_ms), from(wall_, WallMs(now)));
  return Unsure() ? 0 : wait;
}

size_t Deadlines::Backlog(Now now, size_t most) const {
  size_t looked = 0;
  size_t count = 0;
  const auto counted = [&](HeapRef ref) {
    count += At(ref)->deadline().Reached(now) ? 1 : 0;
    return ++looked < most;
  };
  if (looked < most) mono_.ForEachUntil(now.mono_ms, counted);
  if (looked < most) wall_.ForEachUntil(WallMs(now), counted);
  return count;
}

Entry* Deadlines::Nearest(Now now) const noexcept {
  const auto expires_then = [&](HeapRef ref) {
    const Expiry deadline = At(ref)->deadline();
    const Expiry wake = At(ref)->wake();
    return At(ref)->evictable() && deadline.kind == wake.kind && deadline.deadline_ms == wake.deadline_ms;
  };
  const HeapRef mono = mono_.Soonest(expires_then);
  const HeapRef wall = wall_.Soonest(expires_then);
  if (!mono || !wall) return mono ? At(mono) : wall ? At(wall) : nullptr;
  const auto left = [&](HeapRef ref, uint64_t clock_ms) {
    return static_cast<int64_t>(At(ref)->wake_ms() - clock_ms);
  };
  return left(mono, now.mono_ms) <= left(wall, WallMs(now)) ? At(mono) : At(wall);
}

bool Deadlines::Validate() const noexcept {
  HeapRef prev{};
  bool later = false;  // an entry of the last setting of the clock was seen
  for (HeapRef at = mixed_first_; at; at = At(at)->times().next) {
    const Entry& entry = *At(at);
    const bool current = entry.extra()->step == steps_;
    if (!entry.mixed() || !Filed(entry) || entry.extra()->step == 0) return false;
    if (!(entry.times().prev == prev) || (later && !current)) return false;
    later = current;
    prev = at;
  }
  return prev == mixed_last_ && mono_.Validate() && wall_.Validate();
}

bool Deadlines::ValidateEntry(const Entry& entry, Expiry own) const noexcept {
  if (entry.ready()) return !Filed(entry);
  const Expiry deadline = entry.deadline();
  const auto wakes_by = [&](Expiry time) {
    if (time.kind == Expiry::Kind::kNever) return true;
    const uint64_t ms =
        entry.expires() ? time.deadline_ms : std::min(time.deadline_ms, Entry::kMaxNearDeadline);
    return Filed(entry) && (entry.mixed() || (time.kind == entry.wake().kind && entry.wake_ms() <= ms));
  };
  if (entry.expires() && !entry.timed()) return false;
  if (entry.mixed() && Filed(entry) && entry.extra()->step == 0) return false;
  if (entry.has_two_times() && Filed(entry) && !entry.extra()->counted) return false;
  return wakes_by(deadline) && wakes_by(own);
}

}  // namespace mayfly

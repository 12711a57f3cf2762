#include "cache/deadlines.h"

namespace mayfly {

Deadlines::Deadlines(HeapBase base, Rearm& rearm, uint8_t id, Now now) noexcept
    : base_(base),
      rearm_(rearm),
      mono_(EntryWheelHooks(base), now.mono_ms),
      wall_(EntryWheelHooks(base), WallMs(now)),
      id_(id) {}

void Deadlines::File(Entry& entry, Now now) noexcept {
  if (!entry.Has(EntryFlag::kWallDeadline)) return FileOn(mono_, entry, now.mono_ms);
  FollowWallStepBack(now);
  FileOn(wall_, entry, WallMs(now));
}

void Deadlines::FileOn(Wheel& wheel, Entry& entry, uint64_t clock_ms) noexcept {
  // An empty wheel is not advanced: it stands where its last entry left it.
  if (wheel.size() == 0) static_cast<void>(wheel.Advance(clock_ms, {}, 0));
  if (wheel.Insert(base_.RefOf(&entry))) rearm_.Note(id_);
}

void Deadlines::Unfile(Entry& entry) noexcept {
  const HeapRef ref = base_.RefOf(&entry);
  if (entry.expires() && WheelOf(entry).Contains(ref)) WheelOf(entry).Remove(ref);
}

// For a wall clock that was set back, or an entry that changes wheels.
void Deadlines::MoveByWall(Entry& entry, Expiry expiry, Now now) noexcept {
  const bool wall = expiry.kind == Expiry::Kind::kWall;
  if (wall) FollowWallStepBack(now);
  if (wall == entry.Has(EntryFlag::kWallDeadline)) return MoveOn(WheelOf(entry), entry, expiry.deadline_ms);
  Unfile(entry);
  wall ? entry.Set(EntryFlag::kWallDeadline) : entry.Clear(EntryFlag::kWallDeadline);
  entry.set_deadline_ms(expiry.deadline_ms);
  File(entry, now);
}

void Deadlines::FollowWallStepBack(Now now) noexcept {
  if (WallMs(now) >= wall_.elapsed()) return;
  wall_.Rewind(WallMs(now));
  rearm_.Note(id_);
}

uint64_t Deadlines::NextWakeMs(Now now) const noexcept {
  // Call NextWake on an empty wheel too: its result is what its next Insert compares with.
  const auto from = [](const Wheel& wheel, uint64_t clock) {
    const uint64_t wake = wheel.NextWake();
    if (wake == Wheel::kNever) return Wheel::kNever;
    return wake <= clock ? 0 : wake - clock;
  };
  return std::min(from(mono_, now.mono_ms), from(wall_, WallMs(now)));
}

size_t Deadlines::Backlog(Now now, size_t most) const {
  size_t count = 0;
  const auto counted = [&](HeapRef) { return ++count < most; };
  if (count < most) mono_.ForEachUntil(now.mono_ms, counted);
  if (count < most) wall_.ForEachUntil(WallMs(now), counted);
  return count;
}

Entry* Deadlines::Nearest(Now now) const noexcept {
  const HeapRef mono = mono_.Soonest();
  const HeapRef wall = wall_.Soonest();
  if (!mono || !wall) return mono ? At(mono) : wall ? At(wall) : nullptr;
  const auto left = [&](HeapRef ref, uint64_t clock_ms) {
    return static_cast<int64_t>(At(ref)->deadline_ms() - clock_ms);
  };
  return left(mono, now.mono_ms) <= left(wall, WallMs(now)) ? At(mono) : At(wall);
}

}  // namespace mayfly

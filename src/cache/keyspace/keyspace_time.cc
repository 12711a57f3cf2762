// The part of Keyspace for due entries: keys expire, members are dropped, own times come.
//
// In time nothing is relocated and nothing is allocated, so nothing can fail: an entry that has lost its last own
// time keeps the room for one.
#include <algorithm>
#include <array>
#include <cassert>

#include "cache/entry/rich_value.h"
#include "cache/gone/stale_values.h"
#include "cache/keyspace/keyspace.h"
#include "cache/time/due_policy.h"
#include "cache/time/expiry_stats.h"

namespace mayfly {
namespace {

const Event& MembersExpired(const RichValue& value) noexcept {
  if (value.type == ValueType::kSet) return events::kSetMembersExpired;
  return value.type == ValueType::kSortedSet ? events::kSortedSetMembersExpired : events::kFieldsExpired;
}

uint64_t LagMs(Expiry deadline, Now now) noexcept {
  return Deadlines::NowOn(deadline.kind, now) - deadline.deadline_ms;
}

uint64_t LagUs(Expiry deadline, Now now, const ExpiryStats& stats) noexcept {
  const uint64_t behind_us = deadline.kind == Expiry::Kind::kWall ? stats.wall_behind_us : 0;
  return LagMs(deadline, now) * 1000 + behind_us;
}

}  // namespace

Expiry Keyspace::OwnTimeOf(const Entry& entry) noexcept {
  if (entry.encoding() != Encoding::kRich) return entry.own();
  return entry.rich()->NextDeadline();
}

Entry* Keyspace::RoomForOwnTime(const Key& key, Entry& existing, Now now) {
  Entry::Shape shape = existing.shape();
  shape.timed = true;
  shape.extra.times |= shape.expires;  // the own time may be another than the deadline
  if (existing.HasParts(shape)) return &existing;
  return Relocate(key, existing, shape, existing.deadline(), OwnTimeOf(existing), now);
}

void Keyspace::SetOwnTime(Entry& entry, Expiry own, Now now) noexcept {
  assert(entry.encoding() != Encoding::kRich);
  deadlines_.SetTimes(entry, entry.deadline(), own, now);
}

void Keyspace::FileMembers(Entry& entry, Now now) noexcept {
  deadlines_.SetTimes(entry, entry.deadline(), OwnTimeOf(entry), now);
}

void Keyspace::CountExpired(const Entry& entry, Now now) noexcept {
  ++parts_.expiry_stats.expired_keys;
  if (Namespace* const space = QuotaOf(entry).space) ++space->stats.expired;
  const Expiry deadline = entry.deadline();
  // A key that was set with a deadline in the past is not late: its last access is after its deadline.
  const uint64_t age_ms = Entry::IdleMs(entry.stamp(), now.mono_ms) + Entry::StampUnitMs(entry.stamp());
  ExpiryStats& stats = parts_.expiry_stats;
  if (LagMs(deadline, now) <= age_ms) stats.lag_us.Add(LagUs(deadline, now, stats));
}

// Members that go together count with the lag of the first of them.
void Keyspace::CountExpiredMembers(size_t members, Expiry first, Now now) noexcept {
  ExpiryStats& stats = parts_.expiry_stats;
  stats.expired_members += members;
  stats.lag_us.Add(LagUs(first, now, stats), members);
}

bool Keyspace::AllMembersDue(const Entry& entry, Now now) noexcept { return entry.rich()->AllDue(now); }

void Keyspace::Expire(const Key& key, Entry& entry, Now now) {
  if (ExpiryOf(entry).Reached(now)) {
    CountExpired(entry, now);
    if (entry.stale_ms() != 0) [[unlikely]]
      return Retire(key, entry, now);
    return Remove(key, entry, ChangeReason::kExpired);
  }
  // The value is freed as a whole, in slices if it is large.
  TellBefore(entry);
  CountExpiredMembers(entry.rich()->Size(), entry.rich()->NextDeadline(), now);
  RemoveEmptied(key, entry, MembersExpired(*entry.rich()));
}

// Two passes: the memory that a removal touches is prefetched before the first removal.
void Keyspace::OnDue(std::span<const HeapRef> due, Now now, size_t* budget) {
  std::array<uint64_t, Deadlines::kBatch> hashes;
  for (size_t i = 0; i < due.size(); ++i) {
    const Entry& entry = *At(due[i]);
    hashes[i] = parts_.hasher(entry.key());
    table_.PrefetchGroup(hashes[i]);
    parts_.PrefetchGone(id_, hashes[i]);
    if (entry.colder()) PrefetchToWrite(At(entry.colder()));
    if (entry.hotter()) PrefetchToWrite(At(entry.hotter()));
  }
  for (size_t i = 0; i < due.size(); ++i) {
    Entry& entry = *At(due[i]);
    const Key key{entry.key(), hashes[i]};
    if (Absent(entry, now))
      RemoveAbsent(key, entry, now);
    else
      OnOwnTime(key, entry, now, budget);
  }
}

void Keyspace::OnOwnTime(const Key& key, Entry& entry, Now now, size_t* budget) {
  if (entry.encoding() != Encoding::kRich) {
    Expiry own = entry.own();
    if (own.Reached(now)) own = parts_.due != nullptr ? parts_.due->OnOwnTime(entry, now) : Expiry::Never();
    return SetOwnTime(entry, own, now);
  }
  // One more than the budget has left: the step that handed the entry back was for a member, too.
  size_t left = *budget + 1;
  Entry* const kept = DropMembers(key, entry, now, &left);
  *budget = std::min(*budget, left);
  if (kept != nullptr) FileMembers(*kept, now);
}

Entry* Keyspace::DropMembers(const Key& key, Entry& entry, Now now, size_t* budget) {
  RichValue& value = *entry.rich();
  const Expiry first = value.NextDeadline();
  if (!first.Reached(now)) return &entry;
  TellBefore(entry);
  const uint64_t before = value.Bytes();
  const size_t dropped = value.DropDue(now, *budget);
  assert(dropped != 0);
  *budget -= std::min(*budget, dropped);
  CountExpiredMembers(dropped, first, now);
  CountEdit(entry, before, value.Bytes());
  return FinishEdit(key, entry, value.Size() == 0, now, MembersExpired(value));
}

// Keys and stale values take turns at going first, or a backlog of the one would use up every budget. What was
// invalidated waits for neither: nobody is waiting for it.
bool Keyspace::Advance(Now now, size_t* budget) {
  stale_first_ = !stale_first_;
  bool more = stale_first_ && stale_ != nullptr && AdvanceStale(now, budget);
  more |= deadlines_.Advance(now, budget,
                             [&](std::span<const HeapRef> due, size_t* left) { OnDue(due, now, left); });
  if (!stale_first_ && stale_ != nullptr) more |= AdvanceStale(now, budget);
  return RemoveSomeInvalidated(budget) || more;
}

uint64_t Keyspace::NextWakeMs(Now now) const noexcept {
  const uint64_t wait = deadlines_.NextWakeMs(now);
  if (tags_.doomed() != 0) return 0;
  return stale_ == nullptr ? wait : std::min(wait, stale_->NextWakeMs(now));
}

void Keyspace::FollowWallStep(Now now) noexcept {
  deadlines_.FollowWallStep(now);
  if (stale_ != nullptr) stale_->FollowWallStep(now);
}

}  // namespace mayfly

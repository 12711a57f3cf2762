// The part of Keyspace for changes without a command: keys expire, due members are dropped, and invalidated or doomed
// entries are freed.
//
// This part relocates and allocates nothing, and therefore cannot fail: an entry without its last own time keeps the room
// for an own time.
#include <algorithm>
#include <array>
#include <cassert>
#include <new>
#include <vector>

#include "base/prefetch.h"
#include "cache/entry/rich_value.h"
#include "cache/keyspace/dropped_names.h"
#include "cache/keyspace/keyspace.h"
#include "cache/time/expiry_stats.h"

namespace mayfly {
namespace {

const Event& MembersExpired(const RichValue& value) noexcept {
  if (value.type == ValueType::kSet) return events::kSetMembersExpired;
  return value.type == ValueType::kSortedSet ? events::kSortedSetMembersExpired : events::kFieldsExpired;
}

}  // namespace

// Absent entries, met by a lookup or returned by the wheel, end here for one of three reasons.
void Keyspace::RemoveAbsent(Key key, Entry& entry, Now now) {
  parts_.rearm.Note(id_);  // a lookup has changed something
  if (owners_.Doomed(entry)) return RemoveDoomed(key, entry);
  if (Invalidated(entry)) return RemoveInvalidated(entry);
  if (parts_.expired_keys == ExpiredKeys::kRemoved) Expire(key, entry, now);
}

// ---- expiry

void Keyspace::Expire(const Key& key, Entry& entry, Now now) {
  if (entry.deadline().Reached(now)) {
    CountExpired(entry, now);
    if (entry.stale_ms() != 0) [[unlikely]]
      return Retire(key, entry, now);
    return Remove(key, entry, ChangeReason::kExpired);
  }
  // The value is freed as a whole, and a large value in slices.
  TellBefore(entry);
  lifetimes_.CountExpiredMembers(entry.rich()->Size(), entry.rich()->NextDeadline(), now);
  RemoveEmptied(key, entry, MembersExpired(*entry.rich()));
}

void Keyspace::CountExpired(const Entry& entry, Now now) noexcept {
  lifetimes_.CountExpired(entry, now);
  if (Namespace* const space = owners_.Of(entry).space) ++space->stats.expired;
}

void Keyspace::Retire(const Key& key, Entry& entry, Now now) {
  TellBefore(entry);
  TakeOut(key, entry);
  parts_.departures.Went(id_, key.hash, MissReason::kExpired);
  Tell(ChangeReason::kExpired, events::kExpired, entry.key(), &entry);
  if (!stale_.Keep(key.hash, entry, now)) return Free(entry);
  owners_.Of(entry).bytes -= EntryMemory::BytesOf(entry);
  if (entry.encoding() == Encoding::kBlock) memory_.ForgetSize(key.hash);
}

void Keyspace::RemoveEmptied(const Key& key, Entry& entry, const Event& event) {
  TakeOut(key, entry);
  const bool expired = events::IsOfExpiredMembers(event);
  parts_.departures.Went(id_, key.hash, expired ? MissReason::kExpired : MissReason::kDeleted);
  Tell(ChangeReason::kDeleted, {event.name, events::kDel.name, event.by_client}, entry.key(), &entry);
  Free(entry);
}

// Two passes: the first pass prefetches the memory that the removals touch.
void Keyspace::OnDue(std::span<const HeapRef> due, Now now, size_t* budget) {
  std::array<uint64_t, Deadlines::kBatch> hashes;
  for (size_t i = 0; i < due.size(); ++i) {
    const Entry& entry = *At(due[i]);
    hashes[i] = parts_.hasher(entry.key());
    table_.PrefetchGroup(hashes[i]);
    parts_.departures.Prefetch(id_, hashes[i]);
    if (entry.colder()) PrefetchToWrite(At(entry.colder()));
    if (entry.hotter()) PrefetchToWrite(At(entry.hotter()));
  }
  for (size_t i = 0; i < due.size(); ++i) {
    Entry& entry = *At(due[i]);
    const Key key{entry.key(), hashes[i]};
    if (Absent(entry, now))
      RemoveAbsent(key, entry, now);
    else if (entry.task() && entry.deadline().Reached(now))
      DeliverDue(key, entry, now);
    else
      OnOwnTime(key, entry, now, budget);
  }
}

void Keyspace::OnOwnTime(const Key& key, Entry& entry, Now now, size_t* budget) {
  assert(entry.encoding() == Encoding::kRich);
  // One more than the rest of the budget: the step that returned the entry pays for a member, too.
  size_t left = *budget + 1;
  Entry* const kept = DropMembers(key, entry, now, &left);
  *budget = std::min(*budget, left);
  if (kept != nullptr) FileMembers(*kept, now);
}

Entry* Keyspace::DropMembers(const Key& key, Entry& entry, Now now, size_t* budget) {
  RichValue& value = *entry.rich();
  const Expiry first = value.NextDeadline();
  // A master's command is late, and may give them another deadline.
  if (!first.Reached(now) || parts_.expired_keys == ExpiredKeys::kShown) return &entry;
  TellBefore(entry);
  const uint64_t before = value.Bytes();
  DroppedNames names(parts_.changes.WantsEffects());
  const size_t dropped = value.DropDue(now, *budget, names.ear());
  assert(dropped != 0);
  *budget -= std::min(*budget, dropped);
  lifetimes_.CountExpiredMembers(dropped, first, now);
  CountEdit(entry, before, value.Bytes());
  return FinishEdit(key, entry, value.Size() == 0, now, names.Tell(MembersExpired(value), value.type));
}

// Keys and stale values go first in turn; otherwise a backlog of keys or of stale values would use up every budget.
// Invalidated keys come last: no client waits for them.
bool Keyspace::Advance(Now now, size_t* budget) {
  stale_first_ = !stale_first_;
  bool more = stale_first_ && stale_.Advance(now, budget);
  more |= lifetimes_.deadlines().Advance(
      now, budget, [&](std::span<const HeapRef> due, size_t* left) { OnDue(due, now, left); });
  if (!stale_first_) more |= stale_.Advance(now, budget);
  more |= MakeDrainedReady(now, budget);
  more |= DeliverReady(now, budget);
  return FreeInvalidated(budget) || more;
}

uint64_t Keyspace::NextWakeMs(Now now) const noexcept {
  if (tags_.doomed() != 0 || tags_.draining()) return 0;
  return std::min({lifetimes_.deadlines().NextWakeMs(now), stale_.NextWakeMs(now), NextTaskMs(now)});
}

bool Keyspace::IsCutOff(const Entry& entry, Now cutoff) noexcept {
  return entry.deadline().Reached(cutoff) && !entry.task() && entry.terms().slide_ms == 0;
}

// What is due and not freed would be met again and again: it is filed anew at the end. The next call meets it once more, at no
// cost for its budget.
bool Keyspace::FreeCutOff(Now cutoff, bool expires, Now now, size_t* budget) {
  std::vector<Entry*> kept;
  const auto keep = [&](Entry& entry, size_t* left) {
    try {
      kept.push_back(&entry);
    } catch (const std::bad_alloc&) {
      FileMembers(entry, now);
      *left = 0;
    }
  };
  const auto on_due = [&](std::span<const HeapRef> due, size_t* left) {
    for (const HeapRef ref : due) {
      Entry& entry = *At(ref);
      const bool is_named = expires && entry.Has(EntryFlag::kTimedMembers);
      const bool goes = IsCutOff(entry, cutoff) && !is_named;
      if (goes && expires && entry.deadline().Reached(now))
        Expire(KeyOf(entry.key()), entry, now);
      else if (goes)
        Remove(KeyOf(entry.key()), entry, ChangeReason::kDeleted);
      else if (entry.task() && entry.deadline().Reached(cutoff))
        MakeReady(entry, now);
      else
        keep(entry, left);
    }
  };
  if (lifetimes_.deadlines().size() == 0) return false;
  parts_.rearm.Note(id_);
  *budget += kept_after_cutoff_;
  const bool more = lifetimes_.deadlines().AdvanceTo(cutoff, budget, on_due);
  for (Entry* const entry : kept) FileMembers(*entry, now);
  kept_after_cutoff_ = kept.size();
  return more;
}

void Keyspace::DropIfCutOff(const Key& key, Now cutoff) {
  Entry* const entry = LookUp(key.text, key.hash);
  if (entry != nullptr && IsCutOff(*entry, cutoff)) Remove(key, *entry, ChangeReason::kDeleted);
}

void Keyspace::FollowWallStep(Now now) noexcept {
  lifetimes_.deadlines().FollowWallStep(now);
  stale_.FollowWallStep(now);
}

// ---- tags (cache/keyspace/tags.h)
//
// Invalidate dooms the tags; every lookup sees the doom from then on. The entries with a doomed tag are freed a few at a
// time, and each removal is reported as kInvalidated. An entry that a lookup meets before is freed at once.

// The keys freed at once are counted key by key. The rest is counted by tags: a key with several of the tags counts for each
// tag, and an expired or doomed key counts, too.
size_t Keyspace::Invalidate(std::span<const std::string_view> names, Now now, size_t budget) {
  const uint64_t first = parts_.dooms + 1;
  int64_t dropped = 0;
  for (const std::string_view name : names) {
    const Tag* const tag = tags_.Doom(name, parts_.dooms + 1);
    if (tag == nullptr) continue;
    ++parts_.dooms;
    dropped += tag->keys;
  }
  for (Entry* entry = tags_.FirstDoomed(); entry != nullptr; entry = tags_.FirstDoomed()) {
    if (budget-- == 0) {
      parts_.rearm.Note(id_);
      break;
    }
    if (!entry->extra()->retired) {
      const unsigned counted = tags_.DoomedSince(*entry, first);
      const bool was_there =
          !tags_.DoomedBefore(*entry, first) && !HasExpired(*entry, now) && !owners_.Doomed(*entry);
      dropped += (was_there ? 1 : 0) - static_cast<int64_t>(counted);
    }
    RemoveInvalidated(*entry);
  }
  return static_cast<size_t>(std::max<int64_t>(dropped, 0));
}

void Keyspace::RemoveInvalidated(Entry& entry) {
  const Key key = KeyOf(entry.key());
  if (entry.extra()->retired) return stale_.Free(key.hash, entry);
  if (owners_.Doomed(entry)) return RemoveDoomed(key, entry);
  ++parts_.expiry_stats.invalidated_keys;
  Remove(key, entry, ChangeReason::kInvalidated);
}

bool Keyspace::FreeInvalidated(size_t* budget) {
  if (tags_.doomed() == 0) return false;
  for (Entry* entry = tags_.FirstDoomed(); entry != nullptr; entry = tags_.FirstDoomed()) {
    if (*budget == 0) return true;
    --*budget;
    RemoveInvalidated(*entry);
  }
  return false;
}

// ---- doomed shares (cache/keyspace/owners.h)

void Keyspace::RemoveDoomed(const Key& key, Entry& entry) noexcept {
  TellBefore(entry);
  TakeOut(key, entry);
  parts_.departures.Went(id_, key.hash, MissReason::kDeleted);
  Tell(ChangeReason::kFreed, events::kUnreported, entry.key(), &entry);
  Free(entry);
}

bool Keyspace::FreeDoomed(size_t* budget) noexcept {
  while (Quota* const share = owners_.NextDoomed()) {
    if (*budget == 0) return true;
    for (; *budget != 0 && share->size() != 0; --*budget) {
      Entry& entry = *share->Any();
      RemoveDoomed(KeyOf(entry.key()), entry);
    }
    while (*budget != 0 && share->stale != 0) stale_.FreeDoomed(budget);
  }
  return false;
}

}  // namespace mayfly

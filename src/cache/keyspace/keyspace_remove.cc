// The part of Keyspace for removals of keys and of due members, whatever the reason, and for the keyspace's end.
//
// Dropping members relocates nothing: an entry without its last own time keeps the room for one.
#include <algorithm>
#include <cassert>

#include "cache/changes/dropped_names.h"
#include "cache/entry/rich_value.h"
#include "cache/keyspace/keyspace.h"
#include "cache/keyspace/spared_streams.h"
#include "cache/time/expiry_stats.h"

namespace mayfly {
namespace {

const Event& EventOfRemoval(ChangeReason reason) noexcept {
  if (reason == ChangeReason::kExpired) return events::kExpired;
  return reason == ChangeReason::kEvicted ? events::kEvicted : events::kDel;
}

MissReason MissReasonOf(ChangeReason removal) noexcept {
  if (removal == ChangeReason::kExpired) return MissReason::kExpired;
  if (removal == ChangeReason::kEvicted) return MissReason::kEvicted;
  return removal == ChangeReason::kInvalidated ? MissReason::kInvalidated : MissReason::kDeleted;
}

const Event& MembersExpired(const RichValue& value) noexcept {
  if (value.type == ValueType::kSet) return events::kSetMembersExpired;
  return value.type == ValueType::kSortedSet ? events::kSortedSetMembersExpired : events::kFieldsExpired;
}

}  // namespace

void Keyspace::Remove(const Key& key, Entry& entry, ChangeReason reason) {
  parts_.departures.Prefetch(id_, key.hash);
  TellBefore(entry);
  TakeOut(key, entry);
  parts_.departures.Went(id_, key.hash, MissReasonOf(reason));
  Tell(reason, EventOfRemoval(reason), entry.key(), &entry);
  Free(entry);
}

bool Keyspace::Delete(const Key& key, Now now) {
  Entry* entry = Peek(key, now);
  if (entry == nullptr) {
    parts_.departures.Unwanted(id_, key.hash);
    stale_.Drop(key);
    Tell(ChangeReason::kDeleted, events::kDel, key.text, nullptr);
    return false;
  }
  Remove(key, *entry, ChangeReason::kDeleted);
  return true;
}

void Keyspace::Evict(Entry& entry, Now now) {
  if (Invalidated(entry)) return RemoveInvalidated(entry);
  SparedStreams spared(*this);
  if (spared.MustStay(entry)) [[unlikely]]
    return spared.Spare(entry, now);
  ExpiryStats& stats = parts_.expiry_stats;
  ++stats.evicted_keys;
  stats.evicted_age_ms.Add(Entry::IdleMs(entry.stamp(), now.mono_ms));
  if (Namespace* const space = owners_.Of(entry).space) ++space->stats.evicted;
  Departures& departures = parts_.departures;
  const uint64_t hash = parts_.hasher(entry.key());
  const uint64_t bytes =
      departures.NeedsBytes() ? EntryMemory::Of(entry) + table_.memory() / table_.size() : 0;
  const Expiry deadline = entry.deadline();
  Remove({entry.key(), hash}, entry, ChangeReason::kEvicted);
  departures.WasEvicted(id_, hash, bytes, deadline, now);
}

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
  assert(entry.encoding() != Encoding::kRich);
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

Entry* Keyspace::DropMembers(const Key& key, Entry& entry, Now now, size_t* budget) {
  RichValue& value = *entry.rich();
  const Expiry first = value.NextDeadline();
  // A master's command is late, and may give them another deadline.
  if (!first.Reached(now) || parts_.expired_keys == ExpiredKeys::kShown) return &entry;
  TellBefore(entry);
  const uint64_t before = value.Bytes();
  DroppedNames names(parts_.changes.WantsEffects());
  const size_t dropped = value.DropDue(now, *budget, names.listener());
  assert(dropped != 0);
  *budget -= std::min(*budget, dropped);
  lifetimes_.CountExpiredMembers(dropped, first, now);
  CountEdit(entry, before, value.Bytes());
  return FinishEdit(key, entry, value.Size() == 0, now, names.Tell(MembersExpired(value), value.type));
}

// ---- tags (cache/tags/tags.h)
//
// Invalidate dooms the tags; every lookup sees the doom from then on. The entries with a doomed tag are freed a few at a
// time, and each removal is reported as kInvalidated. An entry that a lookup meets before is freed at once.

// The keys freed at once are counted key by key. The rest is counted by tags: a key with several of the tags counts for each
// tag, and an expired or doomed key counts, too.
size_t Keyspace::Invalidate(std::span<const std::string_view> names, Now now, size_t budget) {
  const uint64_t first = parts_.dooms + 1;
  const Tag* tag = nullptr;
  int64_t dropped = 0;
  for (const std::string_view name : names) {
    const Tag* const doomed = tags_.Doom(name, parts_.dooms + 1);
    if (doomed == nullptr) continue;
    ++parts_.dooms;
    dropped += doomed->keys;
    if (tag == nullptr) tag = doomed;
  }
  while (tag != nullptr && budget != 0) {
    Entry* const entry = tags_.FirstOf(*tag);
    if (entry == nullptr) {
      tag = tags_.NextDoomed(*tag);
      continue;
    }
    --budget;
    if (!entry->extra()->retired) {
      const unsigned counted = tags_.DoomedSince(*entry, first);
      const bool was_there =
          !tags_.DoomedBefore(*entry, first) && !HasExpired(*entry, now) && !owners_.Doomed(*entry);
      dropped += (was_there ? 1 : 0) - static_cast<int64_t>(counted);
    }
    RemoveInvalidated(*entry);
  }
  if (tags_.FirstDoomed() != nullptr) parts_.rearm.Note(id_);
  return static_cast<size_t>(std::max<int64_t>(dropped, 0));
}

void Keyspace::RemoveInvalidated(Entry& entry) {
  const Key key = KeyOf(entry.key());
  if (entry.extra()->retired) return stale_.Free(key.hash, entry);
  if (owners_.Doomed(entry)) return RemoveDoomed(key, entry);
  ++parts_.expiry_stats.invalidated_keys;
  Remove(key, entry, ChangeReason::kInvalidated);
}

// ---- doomed shares (cache/keyspace/owners.h)

void Keyspace::RemoveDoomed(const Key& key, Entry& entry) noexcept {
  TellBefore(entry);
  TakeOut(key, entry);
  parts_.departures.Went(id_, key.hash, MissReason::kDeleted);
  Tell(ChangeReason::kFreed, events::kUnreported, entry.key(), &entry);
  Free(entry);
}

// ---- the keyspace's end

// The miss ring remembers the last keys of a large keyspace as deleted.
bool Keyspace::FreeSome(size_t budget) noexcept {
  if (!stale_.DrainSome(budget)) return false;
  return table_.DrainSome(budget, [this](HeapRef ref) {
    Entry& entry = *At(ref);
    if (table_.size() < parts_.departures.misses().capacity())
      parts_.departures.Went(id_, parts_.hasher(entry.key()), MissReason::kDeleted);
    owners_.own().bytes -= EntryMemory::BytesOf(entry);  // of any owner: only the sum counts now
    memory_.DeleteWhole(entry);
  });
}

}  // namespace mayfly

#include "cache/keyspace/reaper.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <new>
#include <vector>

#include "base/prefetch.h"
#include "cache/keyspace/keyspace.h"
#include "cache/keyspace/tasks.h"

namespace mayfly {

Reaper::Reaper(Keyspace& keyspace, Tasks& tasks) noexcept
    : keyspace_(keyspace),
      tasks_(tasks),
      parts_(keyspace.parts_),
      owners_(keyspace.owners_),
      tags_(keyspace.tags_),
      deadlines_(keyspace.lifetimes_.deadlines()),
      stale_(keyspace.stale_) {}

// ---- time

// The first pass prefetches the memory that the removals touch. Tasks come last: a delivery may make a share for the stream's key,
// and for its id free a doomed share, whose entries would be among the due ones.
void Reaper::OnDue(std::span<const HeapRef> due, Now now, size_t* budget) {
  std::array<uint64_t, Deadlines::kBatch> hashes;
  for (size_t i = 0; i < due.size(); ++i) {
    const Entry& entry = *keyspace_.At(due[i]);
    hashes[i] = parts_.hasher(entry.key());
    keyspace_.table_.PrefetchGroup(hashes[i]);
    parts_.departures.Prefetch(keyspace_.id(), hashes[i]);
    if (entry.colder()) PrefetchToWrite(keyspace_.At(entry.colder()));
    if (entry.hotter()) PrefetchToWrite(keyspace_.At(entry.hotter()));
  }
  std::array<size_t, Deadlines::kBatch> tasks;
  size_t task_count = 0;
  for (size_t i = 0; i < due.size(); ++i) {
    Entry& entry = *keyspace_.At(due[i]);
    const Key key{entry.key(), hashes[i]};
    if (keyspace_.Absent(entry, now))
      keyspace_.RemoveAbsent(key, entry, now);
    else if (entry.task() && entry.deadline().Reached(now))
      tasks[task_count++] = i;
    else
      OnOwnTime(key, entry, now, budget);
  }
  for (const size_t i : std::span(tasks).first(task_count)) {
    Entry& entry = *keyspace_.At(due[i]);
    tasks_.DeliverDue({entry.key(), hashes[i]}, entry, now);
  }
}

void Reaper::OnOwnTime(const Key& key, Entry& entry, Now now, size_t* budget) {
  assert(entry.encoding() == Encoding::kRich);
  // One more than the rest of the budget: the step that returned the entry pays for a member, too.
  size_t left = *budget + 1;
  Entry* const kept = keyspace_.DropMembers(key, entry, now, &left);
  *budget = std::min(*budget, left);
  if (kept != nullptr) keyspace_.FileAnew(*kept, now);
}

// Keys and stale values go first in turn; otherwise a backlog of keys or of stale values would use up every budget.
// Invalidated keys come last: no client waits for them.
bool Reaper::Advance(Now now, size_t* budget) {
  stale_first_ = !stale_first_;
  bool more = stale_first_ && stale_.Advance(now, budget);
  more |= deadlines_.Advance(now, budget,
                             [&](std::span<const HeapRef> due, size_t* left) { OnDue(due, now, left); });
  if (!stale_first_) more |= stale_.Advance(now, budget);
  more |= tasks_.Advance(now, budget);
  return FreeInvalidated(budget) || more;
}

uint64_t Reaper::NextWakeMs(Now now) const noexcept {
  if (tags_.doomed() != 0) return 0;
  return std::min({deadlines_.NextWakeMs(now), stale_.NextWakeMs(now), tasks_.NextWakeMs(now)});
}

// ---- a master's cutoff

// What is due and not freed would be met again and again: it is filed anew at the end. The next call meets it once more, at no
// cost for its budget.
bool Reaper::FreeCutOff(Now cutoff, bool expires, Now now, size_t* budget) {
  std::vector<Entry*> kept;
  const auto keep = [&](Entry& entry, size_t* left) {
    try {
      kept.push_back(&entry);
    } catch (const std::bad_alloc&) {
      keyspace_.FileAnew(entry, now);
      *left = 0;
    }
  };
  const auto on_due = [&](std::span<const HeapRef> due, size_t* left) {
    for (const HeapRef ref : due) {
      Entry& entry = *keyspace_.At(ref);
      const bool is_named = expires && entry.Has(EntryFlag::kTimedMembers);
      const bool goes = IsCutOff(entry, cutoff) && !is_named;
      if (goes && expires && entry.deadline().Reached(now))
        keyspace_.Expire(keyspace_.KeyOf(entry.key()), entry, now);
      else if (goes)
        keyspace_.Remove(keyspace_.KeyOf(entry.key()), entry, ChangeReason::kDeleted);
      else if (entry.task() && entry.deadline().Reached(cutoff))
        tasks_.MakeReady(entry, now);
      else
        keep(entry, left);
    }
  };
  if (deadlines_.size() == 0) return false;
  parts_.rearm.Note(keyspace_.id());
  *budget += kept_after_cutoff_;
  const bool more = deadlines_.AdvanceTo(cutoff, budget, on_due);
  for (Entry* const entry : kept) keyspace_.FileAnew(*entry, now);
  kept_after_cutoff_ = kept.size();
  return more;
}

void Reaper::DropIfCutOff(const Key& key, Now cutoff) {
  Entry* const entry = keyspace_.LookUp(key.text, key.hash);
  if (entry != nullptr && IsCutOff(*entry, cutoff)) keyspace_.Remove(key, *entry, ChangeReason::kDeleted);
}

// ---- invalidated and doomed keys

uint64_t Reaper::OldestDoom() const noexcept {
  const uint64_t of_tags = tags_.doomed() != 0 ? tags_.oldest_doom() : UINT64_MAX;
  return std::min(of_tags, owners_.OldestDoom());
}

bool Reaper::HasPromised(Now now) const noexcept {
  return tags_.doomed() != 0 || (tasks_.HasDrained() && tasks_.NextWakeMs(now) == 0);
}

bool Reaper::DoPromised(Now now, size_t* budget) {
  const bool more = tasks_.HasDrained() && tasks_.Advance(now, budget);
  return FreeInvalidated(budget) || more;
}

bool Reaper::FreeInvalidated(size_t* budget) {
  if (tags_.doomed() == 0) return false;
  for (Entry* entry = tags_.FirstDoomed(); entry != nullptr; entry = tags_.FirstDoomed()) {
    if (*budget == 0) return true;
    --*budget;
    keyspace_.RemoveInvalidated(*entry);
  }
  return false;
}

bool Reaper::FreeDoomed(size_t* budget) noexcept {
  while (Quota* const share = owners_.NextDoomed()) {
    if (*budget == 0) return true;
    for (; *budget != 0 && share->size() != 0; --*budget) {
      Entry& entry = *share->Any();
      keyspace_.RemoveDoomed(keyspace_.KeyOf(entry.key()), entry);
    }
    while (*budget != 0 && share->stale != 0) stale_.FreeDoomed(budget);
  }
  return false;
}

}  // namespace mayfly

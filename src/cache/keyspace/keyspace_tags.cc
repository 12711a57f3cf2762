// The part of Keyspace for keys with tags, and for dropping all keys of a tag (cache/keyspace/tags.h).
//
// Invalidate dooms the tags, which Absent and FindStale see from then on. RemoveSomeInvalidated frees who has them, a few at
// a time, and reports each as kInvalidated. What a lookup finds before is freed at once.
#include <algorithm>
#include <cassert>
#include <utility>

#include "cache/gone/stale_values.h"
#include "cache/keyspace/keyspace.h"
#include "cache/time/expiry_stats.h"

namespace mayfly {

Entry* Keyspace::AddTags(const Key& key, Entry& existing, std::span<const std::string_view> names, Now now) {
  TagHold tags = tags_.Hold(names, tags_.HoldThoseOf(existing));
  if (tags.size() == existing.tags()) return &existing;
  TellBefore(existing);
  Entry::Shape shape = existing.shape();
  shape.extra.tags = tags.size();
  Entry* const entry = Relocate(key, existing, shape, existing.deadline(), OwnTimeOf(existing), now);
  tags_.Link(*entry, std::move(tags));
  return entry;
}

// What is freed at once is counted key by key. Of the others, a key that has several of the tags counts for each of
// them, and so does one that has expired or was doomed before.
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
      const bool was_there = !tags_.DoomedBefore(*entry, first) && !Expired(*entry, now) && !Doomed(*entry);
      dropped += (was_there ? 1 : 0) - static_cast<int64_t>(counted);
    }
    RemoveInvalidated(*entry);
  }
  return static_cast<size_t>(std::max<int64_t>(dropped, 0));
}

void Keyspace::RemoveInvalidated(Entry& entry) {
  const Key key = KeyOf(entry.key());
  if (entry.extra()->retired) return FreeStale(key.hash, entry);
  if (Doomed(entry)) return RemoveDoomed(key, entry);
  ++parts_.expiry_stats.invalidated_keys;
  Remove(key, entry, ChangeReason::kInvalidated);
}

bool Keyspace::RemoveSomeInvalidated(size_t* budget) {
  if (tags_.doomed() == 0) return false;
  for (Entry* entry = tags_.FirstDoomed(); entry != nullptr; entry = tags_.FirstDoomed()) {
    if (*budget == 0) return true;
    --*budget;
    RemoveInvalidated(*entry);
  }
  return false;
}

void Keyspace::RemoveAbsent(Key key, Entry& entry, Now now) {
  if (Doomed(entry)) return RemoveDoomed(key, entry);
  Invalidated(entry) ? RemoveInvalidated(entry) : Expire(key, entry, now);
}

void Keyspace::FreeExtra(Entry& entry) noexcept {
  if (entry.tags() != 0) tags_.Unlink(entry);
  EntryExtra::Delete(entry.extra());
}

}  // namespace mayfly

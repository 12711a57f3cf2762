// The inline part of Keyspace for finding and accessing an entry.
#pragma once

#include "cache/keyspace/keyspace.h"

namespace mayfly {

[[gnu::always_inline]] inline bool Keyspace::Absent(const Entry& entry, Now now) const noexcept {
  if (HasExpired(entry, now)) [[unlikely]] {
    if (parts_.expired_keys != ExpiredKeys::kShown) return true;
  }
  if (parts_.doomed == 0) [[likely]]
    return false;
  return Invalidated(entry) || owners_.Doomed(entry);
}

[[gnu::always_inline]] inline Entry* Keyspace::Peek(const Key& key, Now now) {
  const bool alive = key.guess && !parts_.void_guesses.MayHold(key.guess);
  Entry* entry =
      alive && SameBytes(At(key.guess)->key(), key.text) ? At(key.guess) : LookUp(key.text, key.hash);
  if (entry != nullptr && Absent(*entry, now)) [[unlikely]] {
    RemoveAbsent(key, *entry, now);
    return nullptr;
  }
  return entry;
}

[[gnu::always_inline]] inline Entry* Keyspace::Find(const Key& key, Now now) {
  Entry* entry = Peek(key, now);
  if (entry != nullptr) Touch(*entry, now);
  return entry;
}

inline void Keyspace::TouchFound(Entry& entry, Now now) noexcept {
  if (parts_.access_effect != AccessEffect::kFrequency) Touch(entry, now);
}

[[gnu::always_inline]] inline void Keyspace::Touch(Entry& entry, Now now) noexcept {
  if (entry.Has(EntryFlag::kExtra)) [[unlikely]]
    return TouchExtra(entry, now);
  TouchPlain(entry, now);
}

[[gnu::always_inline]] inline void Keyspace::TouchPlain(Entry& entry, Now now) noexcept {
  if (parts_.access_effect == AccessEffect::kRecency) [[likely]] {
    entry.set_stamp(Entry::StampOf(now.mono_ms));
    return parts_.quotas.Of(entry).MoveToHottest(entry);
  }
  if (parts_.access_effect == AccessEffect::kFrequency) [[unlikely]]
    return CountHit(entry, now);
  if (parts_.access_effect == AccessEffect::kNone) return;
  if (parts_.access_effect == AccessEffect::kWalkedRecency) return TouchWalked(entry, now);
  entry.set_stamp(Entry::StampOf(now.mono_ms));
  entry.Set(EntryFlag::kVisited);
}

}  // namespace mayfly

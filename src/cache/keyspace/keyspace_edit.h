// The inline part of Keyspace for edits: a value is changed in place.
#pragma once

#include "cache/keyspace/keyspace.h"

namespace mayfly {

[[gnu::always_inline]] inline Entry* Keyspace::WithDeadline(const Key& key, Entry& entry, Now now) {
  if (lifetimes_.ruled() && !entry.expires()) [[unlikely]]
    return GiveDeadline(key, entry, now);
  return &entry;
}

[[gnu::always_inline]] inline Entry* Keyspace::DropDueMembers(const Key& key, Entry& entry, Now now,
                                                              size_t budget) {
  assert(entry.encoding() == Encoding::kRich);
  if (!NextDrop(entry, now).Reached(now)) [[likely]]
    return &entry;
  return DropMembers(key, entry, now, &budget);
}

template <typename T, typename Edit>
inline Entry* Keyspace::EditRich(const Key& key, Entry& existing, Now now, const Event& event, Edit&& edit) {
  assert(dynamic_cast<T*>(existing.rich()) != nullptr);
  Entry& entry = *WithDeadline(key, existing, now);
  TellBefore(entry);
  T& value = static_cast<T&>(*entry.rich());  // a final class, so that no call is virtual
  const uint64_t before = value.Bytes();
  bool changed = false;
  try {
    changed = edit(value);
  } catch (...) {
    CountEdit(entry, before, value.Bytes());
    throw;
  }
  CountEdit(entry, before, value.Bytes());
  return changed ? FinishEdit(key, entry, value.Size() == 0, now, event) : &entry;
}

inline void Keyspace::CountEdit(const Entry& entry, uint64_t before, uint64_t after) noexcept {
  owners_.Grow(entry, after - before);
  memory_.NoteSize(entry, before, after);
}

template <typename Write>
void Keyspace::EditBlock(Entry& existing, size_t size, const Event& event, Write&& write) {
  assert(existing.encoding() == Encoding::kBlock);
  TellBefore(existing);
  const bool grows = size > existing.TextLength();
  if (write(OwnBlock(existing, size)) || grows)
    Tell(ChangeReason::kValueChanged, event, existing.key(), &existing);
}

template <typename Write>
void Keyspace::EditText(Entry& existing, const Event& event, Write&& write) {
  assert(existing.encoding() == Encoding::kEdited);
  TellBefore(existing);
  if (write(existing.stored_data())) Tell(ChangeReason::kValueChanged, event, existing.key(), &existing);
}

}  // namespace mayfly

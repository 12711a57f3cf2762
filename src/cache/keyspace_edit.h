// The inline part of Keyspace: a rich value that is changed.
#pragma once

#include "cache/keyspace.h"

namespace mayfly {

template <typename T, typename Edit>
inline Entry* Keyspace::EditRich(const Key& key, Entry& existing, Now now, const Event& event, Edit&& edit) {
  assert(dynamic_cast<T*>(existing.rich()) != nullptr);
  TellBefore(existing);
  T& value = static_cast<T&>(*existing.rich());  // a final class, so that no call is virtual
  const uint64_t before = value.Bytes();
  bool changed = false;
  try {
    changed = edit(value);
  } catch (...) {
    CountEdit(existing, before, value.Bytes());
    throw;
  }
  CountEdit(existing, before, value.Bytes());
  return changed ? FinishEdit(key, existing, value.Size() == 0, now, event) : &existing;
}

inline void Keyspace::CountEdit(const Entry& entry, uint64_t before, uint64_t after) noexcept {
  QuotaOf(entry).bytes += after - before;
  if (BigKeys::Passes(before, after)) [[unlikely]]
    NoteSize(entry, before, after);
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

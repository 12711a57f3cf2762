// The inline part of Keyspace for a walk through its keys.
#pragma once

#include "cache/keyspace/keyspace.h"

namespace mayfly {

template <typename Fn>
uint64_t Keyspace::Scan(uint64_t cursor, Now now, Fn&& fn) const {
  return table_.Scan(cursor, [&](HeapRef ref) {
    const Entry& entry = *At(ref);
    if (!Absent(entry, now)) fn(entry);
  });
}

template <typename Fn>
void Keyspace::ForEach(Now now, Fn&& fn) const {
  table_.ForEach([&](HeapRef ref) {
    const Entry& entry = *At(ref);
    if (!Absent(entry, now)) fn(entry);
  });
}

template <typename Fn>
uint64_t Keyspace::ScanMarked(uint64_t cursor, Fn&& fn) {
  return table_.Scan(cursor, [&](HeapRef ref) {
    Entry& entry = *At(ref);
    if (!Marked(entry)) return;
    fn(static_cast<const Entry&>(entry));
    Unmark(entry);
  });
}

}  // namespace mayfly

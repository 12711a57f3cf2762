// The inline part of Keyspace for the last stages of the look-ahead of a batch. It decides what of a found entry is
// prefetched.
#pragma once

#include "base/prefetch.h"
#include "cache/keyspace/keyspace.h"

namespace mayfly {

inline void Keyspace::PrefetchNeighbours(HeapRef guess, bool writes) const noexcept {
  assert(guess);
  const Entry& entry = *At(guess);
  if (parts_.tracking == AccessTracking::kRecency) {
    if (entry.hotter()) PrefetchToWrite(At(entry.hotter()));
    if (entry.colder()) PrefetchToWrite(At(entry.colder()));
  }
  if (!writes || !entry.expires()) return;
  if (entry.wheel_next()) PrefetchToWrite(At(entry.wheel_next()));
  if (entry.wheel_prev()) PrefetchToWrite(At(entry.wheel_prev()));
}

inline const RichValue* Keyspace::PrefetchRich(HeapRef guess) const noexcept {
  assert(guess);
  const Entry& entry = *At(guess);
  if (entry.encoding() != Encoding::kRich) [[likely]]
    return nullptr;
  PrefetchToRead(entry.rich());
  return entry.rich();
}

}  // namespace mayfly

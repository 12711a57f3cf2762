// The inline part of Keyspace: an access of an entry.
#pragma once

#include "cache/keyspace.h"

namespace mayfly {

[[gnu::always_inline]] inline void Keyspace::Touch(Entry& entry, Now now) noexcept {
  if (entry.Has(EntryFlag::kExtra)) [[unlikely]]
    Slide(entry, now);
  if (parts_.tracking == AccessTracking::kRecency) [[likely]] {
    entry.set_stamp(Entry::StampOf(now.mono_ms));
    return QuotaOf(entry).MoveToHottest(entry);
  }
  if (parts_.tracking == AccessTracking::kFrequency) [[unlikely]]
    return CountHit(entry, now);
  if (parts_.tracking == AccessTracking::kNone) return;
  entry.set_stamp(Entry::StampOf(now.mono_ms));
  entry.Set(EntryFlag::kVisited);
}

}  // namespace mayfly

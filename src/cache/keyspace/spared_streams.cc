#include "cache/keyspace/spared_streams.h"

#include <algorithm>
#include <cassert>
#include <new>

#include "cache/keyspace/keyspace.h"
#include "cache/types/stream/stream_groups.h"
#include "cache/types/stream/stream_value.h"

namespace mayfly {

bool SparedStreams::MustStay(const Entry& entry) const noexcept {
  if (entry.encoding() != Encoding::kRich || entry.rich()->type != ValueType::kStream) return false;
  const StreamGroups* const groups = static_cast<const StreamValue&>(*entry.rich()).groups();
  return (groups != nullptr && groups->AnyPending()) || keyspace_.tags_.HasTaskFor(entry.key());
}

// A snapshot's walk goes from list to list: it sees the entry first.
void SparedStreams::Spare(Entry& entry, Now now) noexcept {
  assert(MustStay(entry) && entry.evictable());
  ++keyspace_.parts_.sparing.met;
  keyspace_.TellBefore(entry);
  Owners& owners = keyspace_.owners_;
  if (entry.Has(EntryFlag::kExtra)) {
    owners.Remove(entry);
    entry.extra()->spared = true;
    owners.Push(entry);
  } else {
    Entry::Shape shape = entry.shape();
    shape.extra.spared = true;
    try {
      keyspace_.Relocate(keyspace_.KeyOf(entry.key()), entry, shape, entry.deadline(), Expiry::Never(), now);
    } catch (const std::bad_alloc&) {
      owners.Remove(entry);
      if (keyspace_.parts_.moves_on_access()) entry.set_stamp(Entry::StampOf(now.mono_ms));
      return owners.Push(entry);
    }
  }
  keyspace_.parts_.sparing.any = true;
}

size_t SparedStreams::LookAgain(Quota& quota, size_t most, Now now) noexcept {
  size_t released = 0;
  for (const Quota::List list : {Quota::kSpared, Quota::kSparedExpiring}) {
    for (size_t left = std::min(most, quota.CountOf(list)); left != 0; --left) {
      Entry& entry = *quota.NextInTurn(list);
      if (MustStay(entry)) continue;
      Release(quota, entry, now);
      ++released;
    }
  }
  return released;
}

void SparedStreams::Release(Quota& quota, Entry& entry, Now now) noexcept {
  keyspace_.TellBefore(entry);
  keyspace_.owners_.Remove(entry);
  entry.extra()->spared = false;
  keyspace_.owners_.Push(entry);
  if (keyspace_.parts_.moves_on_access()) quota.MoveByUse(entry, now.mono_ms);
  keyspace_.parts_.quotas.moved().Add(entry.owner());
}

}  // namespace mayfly

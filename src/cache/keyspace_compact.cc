// Moving entries out of memory that is mostly unused.
#include <cstring>

#include "cache/keyspace.h"

namespace mayfly {

uint64_t Keyspace::Compact(uint64_t cursor, Now now, CompactCount& count) noexcept {
  return table_.Scan(cursor, [&](HeapRef ref) {
    Entry& entry = *At(ref);
    ++count.looked;
    // What is due goes soon. Those whose times have neighbours of their own are few, and stay where they are.
    const bool stays = entry.has_times() || entry.Has(EntryFlag::kTimedMembers) || Absent(entry, now);
    if (!stays && parts_.heap.IsSparse(&entry, entry.allocated_bytes()) && Rehouse(entry, now)) ++count.moved;
  });
}

bool Keyspace::Rehouse(Entry& entry, Now now) noexcept {
  const size_t size = entry.allocated_bytes();
  void* const memory = parts_.heap.AllocateDense(size);
  if (memory == nullptr) return false;
  const uint64_t hash = HashOf(entry.key());
  parts_.stale_guesses.Note(RefOf(entry));
  const bool filed = Deadlines::Filed(entry);
  if (filed) deadlines_.Unfile(entry);
  std::memcpy(memory, &entry, size);
  Entry& moved = *static_cast<Entry*>(memory);
  [[maybe_unused]] const bool replaced = table_.Replace(RefOf(entry), RefOf(moved), hash);
  assert(replaced);
  QuotaOf(entry).Replace(entry, moved);
  if (moved.tags() != 0) tags_.FollowMove(moved);
  if (filed) deadlines_.File(moved, now);
  parts_.heap.FreeDense(&entry, size);
  return true;
}

}  // namespace mayfly

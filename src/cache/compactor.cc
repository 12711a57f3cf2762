#include "cache/compactor.h"

#include <cassert>
#include <cstring>

namespace mayfly {

uint64_t Compactor::Pass(uint64_t cursor, Now now, Count& count) noexcept {
  return keyspace_.table_.Scan(cursor, [&](HeapRef ref) {
    Entry& entry = *keyspace_.At(ref);
    ++count.looked;
    const bool sparse = keyspace_.parts_.heap.IsSparse(&entry, entry.allocated_bytes());
    if (sparse && MayMove(entry, now) && Move(entry, now)) ++count.moved;
  });
}

bool Compactor::MayMove(const Entry& entry, Now now) const noexcept {
  return !entry.has_times() && !entry.Has(EntryFlag::kTimedMembers) && !keyspace_.Absent(entry, now);
}

bool Compactor::Move(Entry& entry, Now now) noexcept {
  Heap& heap = keyspace_.parts_.heap;
  const size_t size = entry.allocated_bytes();
  void* const memory = heap.AllocateDense(size);
  if (memory == nullptr) return false;
  const uint64_t hash = keyspace_.HashOf(entry.key());
  keyspace_.parts_.void_guesses.Note(keyspace_.RefOf(entry));
  const bool filed = Deadlines::Filed(entry);
  if (filed) keyspace_.lifetimes_.deadlines().Unfile(entry);
  std::memcpy(memory, &entry, size);
  Entry& moved = *static_cast<Entry*>(memory);
  [[maybe_unused]] const bool replaced =
      keyspace_.table_.Replace(keyspace_.RefOf(entry), keyspace_.RefOf(moved), hash);
  assert(replaced);
  keyspace_.owners_.Of(entry).Replace(entry, moved);
  if (moved.tags() != 0) keyspace_.tags_.FollowMove(moved);
  if (filed) keyspace_.lifetimes_.deadlines().File(moved, now);
  heap.FreeDense(&entry, size);
  return true;
}

}  // namespace mayfly

#include "cache/gone/stale_values.h"

#include <cassert>

namespace mayfly {

StaleValues::StaleValues(Heap& heap, const Hasher& hasher, uint32_t table_order, Rearm& rearm, uint8_t id,
                         Now now) noexcept
    : base_(heap.base()),
      table_(EntryTablePolicy(heap, hasher), table_order),
      order_(EntryLruHooks(base_, &cold_end_moved_, id)),
      deadlines_(base_, rearm, id, now) {}

Entry* StaleValues::Find(std::string_view key, uint64_t hash) const noexcept {
  const HeapRef ref = table_.Find(key, hash);
  return ref ? At(ref) : nullptr;
}

bool StaleValues::Add(Entry& entry, uint64_t hash, uint64_t bytes, Expiry end, Now now) noexcept {
  assert(entry.has_times() && entry.expires() && !Deadlines::Filed(entry));
  const HeapRef ref = base_.RefOf(&entry);
  if (!table_.Insert(ref, hash)) return false;
  bytes_ += bytes;
  entry.set_stamp(Entry::StampOf(now.mono_ms));
  order_.PushHottest(ref);
  deadlines_.SetTimes(entry, end, Expiry::Never(), now);
  return true;
}

void StaleValues::Remove(Entry& entry, uint64_t hash, uint64_t bytes) noexcept {
  const HeapRef ref = base_.RefOf(&entry);
  [[maybe_unused]] const bool erased = table_.EraseRef(ref, hash);
  assert(erased && bytes_ >= bytes);
  bytes_ -= bytes;
  order_.Remove(ref);
  deadlines_.Unfile(entry);
}

void StaleValues::Touch(Entry& entry, Now now) noexcept {
  entry.set_stamp(Entry::StampOf(now.mono_ms));
  order_.MoveToHottest(base_.RefOf(&entry));
}

Entry* StaleValues::Coldest() const noexcept {
  const HeapRef ref = order_.coldest();
  return ref ? At(ref) : nullptr;
}

bool StaleValues::Validate() const noexcept {
  bool sound = table_.Validate() && order_.Validate() && deadlines_.Validate();
  ForEach([&](const Entry& entry) {
    sound = sound && entry.expires() && Deadlines::Filed(entry) &&
            deadlines_.ValidateEntry(entry, Expiry::Never());
  });
  return sound && table_.size() == size() && deadlines_.size() == size();
}

}  // namespace mayfly

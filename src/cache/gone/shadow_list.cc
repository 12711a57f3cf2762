#include "cache/gone/shadow_list.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <new>

#include "cache/table/hash_table_resize.h"

namespace mayfly {

template class HashTable<ShadowList::TablePolicy>;

ShadowList::ShadowList(Heap& heap) noexcept
    : heap_(heap), list_(ListHooks(heap.base())), table_(TablePolicy(heap)) {
  for (uint64_t& salt : salts_) salt = NextSalt();
}

ShadowList::~ShadowList() {
  Clear();
  FreeSome(std::numeric_limits<size_t>::max());
}

void ShadowList::Follow(bool on, const QuotaLimits& limits) noexcept {
  limits_ = limits;
  if (on == on_) return;
  on_ = on;
  if (!on) Clear();
}

void ShadowList::Add(uint8_t keyspace, uint64_t hash, uint64_t bytes, Expiry deadline, Now now) noexcept {
  assert(on_);
  const uint64_t mark = MarkOf(keyspace, hash);
  Erase(mark);
  if (doomed_ == 0) DropExpired(now);
  void* const memory = heap_.Allocate(sizeof(Node));
  if (memory == nullptr) return;
  const HeapRef ref = heap_.base().RefOf(new (memory) Node{.colder = {},
                                                           .hotter = {},
                                                           .mark = mark,
                                                           .deadline_ms = deadline.deadline_ms,
                                                           .bytes = bytes,
                                                           .clock = static_cast<uint64_t>(deadline.kind)});
  if (!table_.Insert(ref, mark)) {
    heap_.Free(memory, sizeof(Node));
    return;
  }
  list_.PushHottest(ref);
  bytes_ += bytes;
  FreeSome(kDropsPerAdd);
  for (size_t i = 0; i < kDropsPerAdd && doomed_ == 0 && TooMany(); ++i) Drop(list_.coldest());
}

bool ShadowList::Hit(uint8_t keyspace, uint64_t hash, bool touches, Now now) noexcept {
  if (!on_) return false;
  const uint64_t mark = MarkOf(keyspace, hash);
  const HeapRef ref = table_.Find(mark, mark);
  if (!ref) return false;
  if (Expired(*At(ref), now)) {
    Drop(ref);
    return false;
  }
  if (touches) {
    list_.Remove(ref);
    list_.PushHottest(ref);
  }
  return true;
}

void ShadowList::Clear() noexcept {
  doomed_ = list_.size();
  bytes_ = 0;
  list_.set_hand({});
  for (uint64_t& salt : salts_) salt = NextSalt();
}

size_t ShadowList::FreeSome(size_t budget) noexcept {
  const size_t frees = std::min(budget, doomed_);
  for (size_t i = 0; i < frees; ++i) Drop(list_.coldest());
  return budget - frees;
}

void ShadowList::Erase(uint64_t mark) noexcept {
  if (const HeapRef ref = table_.Find(mark, mark)) Drop(ref);
}

void ShadowList::Drop(HeapRef ref) noexcept {
  Node* const node = At(ref);
  if (doomed_ != 0 && ref == list_.coldest()) {
    --doomed_;
  } else {
    bytes_ -= node->bytes;
  }
  [[maybe_unused]] const bool erased = table_.EraseRef(ref, node->mark);
  assert(erased);
  list_.Remove(ref);
  heap_.Free(node, sizeof(Node));
}

void ShadowList::DropExpired(Now now) noexcept {
  for (size_t i = 0; i < kLooksPerAdd && !list_.empty(); ++i) {
    const HeapRef ref = list_.hand() ? list_.hand() : list_.coldest();
    list_.set_hand(list_.Hotter(ref));
    if (Expired(*At(ref), now)) Drop(ref);
  }
}

bool ShadowList::Validate() const noexcept {
  if (!list_.Validate() || !table_.Validate() || list_.size() != table_.size()) return false;
  uint64_t bytes = 0;
  size_t seen = 0;
  for (HeapRef ref = list_.coldest(); ref; ref = list_.Hotter(ref), ++seen) {
    if (seen >= doomed_) bytes += At(ref)->bytes;
    if (table_.Find(At(ref)->mark, At(ref)->mark) != ref) return false;
  }
  return bytes == bytes_ && doomed_ <= list_.size();
}

}  // namespace mayfly

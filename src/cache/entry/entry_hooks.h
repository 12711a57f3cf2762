// Adapters through which the containers of a keyspace reach into an Entry. LRU list, timing wheel and hash table have one
// small policy class each. A policy owns nothing.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bits/hash.h"
#include "base/memory/heap.h"
#include "base/prefetch.h"
#include "base/text/short_bytes.h"
#include "cache/entry/entry.h"
#include "cache/entry/id_set.h"

namespace mayfly {

class EntryLruHooks {
 public:
  using Ref = HeapRef;
  static constexpr Ref kNull{};

  // Adds `owner` to `*moved` when the cold end of the list moves. Borrows `moved`.
  EntryLruHooks(HeapBase base, IdSet* moved, uint8_t owner) noexcept
      : base_(base), owner_(owner), moved_(moved) {}
  Ref Colder(Ref ref) const noexcept { return At(ref)->colder(); }
  Ref Hotter(Ref ref) const noexcept { return At(ref)->hotter(); }
  void SetColder(Ref ref, Ref colder) const noexcept { At(ref)->set_colder(colder); }
  void SetHotter(Ref ref, Ref hotter) const noexcept { At(ref)->set_hotter(hotter); }
  void ColdEndMoved() const noexcept { moved_->Add(owner_); }

 private:
  Entry* At(Ref ref) const noexcept { return base_.Resolve<Entry>(ref); }
  HeapBase base_;
  uint8_t owner_;
  IdSet* moved_;
};

class EntryWheelHooks {
 public:
  using Ref = HeapRef;
  static constexpr Ref kNull{};

  explicit EntryWheelHooks(HeapBase base = HeapBase()) noexcept : base_(base) {}
  Ref Next(Ref ref) const noexcept { return At(ref)->wheel_next(); }
  Ref Prev(Ref ref) const noexcept { return At(ref)->wheel_prev(); }
  void SetNext(Ref ref, Ref next) const noexcept { At(ref)->set_wheel_next(next); }
  void SetPrev(Ref ref, Ref prev) const noexcept { At(ref)->set_wheel_prev(prev); }
  uint64_t Deadline(Ref ref) const noexcept { return At(ref)->wake_ms(); }
  uint16_t Slot(Ref ref) const noexcept { return At(ref)->filed(); }
  void SetSlot(Ref ref, uint16_t slot) const noexcept { At(ref)->set_filed(slot); }
  void Prefetch(Ref ref) const noexcept { PrefetchToWrite(At(ref)); }

 private:
  Entry* At(Ref ref) const noexcept { return base_.Resolve<Entry>(ref); }
  HeapBase base_;
};

class EntryTablePolicy {
 public:
  using Ref = HeapRef;
  static constexpr Ref kNull{};
  using Key = std::string_view;

  EntryTablePolicy(Heap& heap, const Hasher& hasher) noexcept
      : base_(heap.base()), heap_(&heap), hasher_(&hasher) {}
  uint64_t HashOf(Ref ref) const noexcept { return (*hasher_)(At(ref)->key()); }
  bool Equals(Ref ref, Key key) const noexcept { return SameBytes(At(ref)->key(), key); }
  // Fetches two cache lines: most entries fit into two, and a request reads the value too.
  void Prefetch(Ref ref) const noexcept {
    constexpr size_t kLine = 64;
    const auto* bytes = reinterpret_cast<const char*>(At(ref));
    PrefetchToWrite(bytes);
    PrefetchToRead(bytes + kLine);
  }
  void* Allocate(size_t bytes) const noexcept { return heap_->AllocateLines(bytes); }
  void Free(void* memory, size_t bytes) const noexcept { heap_->FreeLines(memory, bytes); }

 private:
  Entry* At(Ref ref) const noexcept { return base_.Resolve<Entry>(ref); }
  HeapBase base_;
  Heap* heap_;
  const Hasher* hasher_;
};

}  // namespace mayfly

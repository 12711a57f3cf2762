// The deadlines of the members of a large value, in order: the nearest, and the number of due members.
//
// All of them are on one clock, in ms; the owner knows which. A member without a deadline is not in here. Owns no
// member. If memory runs out, a method throws std::bad_alloc and has changed nothing. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/memory/heap.h"
#include "cache/types/counted_tree.h"

namespace mayfly {

class DeadlineTreePolicy {
 public:
  using Key = uint64_t;
  using Ref = HeapRef;

  explicit DeadlineTreePolicy(Heap& heap) noexcept : heap_(&heap) {}
  static bool KeyLess(Key a, Key b) noexcept { return a < b; }
  // Any order will do, as long as it stays the same.
  static bool TieLess(Ref a, Ref b) noexcept { return a.bits < b.bits; }
  void* Allocate(size_t bytes) const noexcept { return heap_->Allocate(bytes); }
  void Free(void* block, size_t bytes) const noexcept { heap_->Free(block, bytes); }

 private:
  Heap* heap_;
};

class MemberDeadlines {
 public:
  static constexpr uint64_t kNone = UINT64_MAX;

  explicit MemberDeadlines(Heap& heap) noexcept : tree_(DeadlineTreePolicy(heap)) {}

  bool empty() const noexcept { return tree_.size() == 0; }
  size_t size() const noexcept { return tree_.size(); }
  uint64_t bytes() const noexcept { return tree_.bytes(); }
  // kNone if there is none.
  uint64_t Nearest() const noexcept { return empty() ? kNone : tree_.First().key(); }
  // The nearest one after `ms`; 0 if there is none.
  uint64_t After(uint64_t ms) const noexcept {
    const auto at = tree_.At(CountUntil(ms));
    return at ? at.key() : 0;
  }
  // The number of those that are not after `ms`.
  size_t CountUntil(uint64_t ms) const noexcept {
    if (Nearest() > ms) return 0;
    return tree_.CountBefore([&](uint64_t deadline_ms, HeapRef) { return deadline_ms <= ms; });
  }

  // REQUIRES: this member is not in here.
  void Insert(uint64_t deadline_ms, HeapRef member) { tree_.Insert(deadline_ms, member); }
  // REQUIRES: it is in here, with this deadline.
  void Erase(uint64_t deadline_ms, HeapRef member) noexcept { tree_.Erase(deadline_ms, member); }
  // Gives a member another deadline, or another ref. REQUIRES: as for Erase of the old one, and Insert of the new.
  void Change(uint64_t old_ms, HeapRef old, uint64_t deadline_ms, HeapRef member) {
    tree_.Change(old_ms, old, deadline_ms, member);
  }
  // Erases the nearest `count` and calls fn(member) for each before. REQUIRES: fn does not use this object.
  template <typename Fn>
  void EraseNearest(size_t count, Fn&& fn) noexcept {
    tree_.EraseFrom(0, count, [&](uint64_t, HeapRef member) { fn(member); });
  }
  // Erases about `budget`. Returns true if none is left.
  bool FreeSome(size_t budget) noexcept { return tree_.FreeSome(budget); }

  // Calls fn(deadline_ms, member) for all, the nearest first.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    for (auto at = tree_.First(); at; at.Next()) fn(at.key(), at.ref());
  }
  // Calls fn(member) for each member due at or before `ms`, except the nearest `known` members. REQUIRES: fn does not change this
  // object.
  template <typename Fn>
  void ForEachUntil(uint64_t ms, size_t known, Fn&& fn) const {
    for (auto at = tree_.At(known); at && at.key() <= ms; at.Next()) fn(at.ref());
  }
  // Reads every one; for tests.
  bool Validate() const noexcept { return tree_.Validate(); }

 private:
  CountedTree<DeadlineTreePolicy> tree_;
};

}  // namespace mayfly

// The members of a large hash, set or sorted set: found by name, unordered.
//
// A walk in slices sees each member as it was when the walk began, once or twice:
//
//   StartWalk    gives every member a number of passes to go, at no cost for each
//   WalkSome     passes the next members
//   a change     of a member that was not passed: the listener sees the member before, and the member counts as passed
//
// Each member has a mark of two bits; the number of its passes to go is the distance from its mark to mark_. StartWalk moves
// mark_. New members have no pass to go.
//
// Ownership: owns the members. Borrows heap, hasher and listener. A Member* is valid until the member is changed or removed. If
// memory runs out, a method throws std::bad_alloc and has changed nothing. Loop thread only.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string_view>

#include "base/bits/hash.h"
#include "base/memory/heap.h"
#include "base/prefetch.h"
#include "base/text/short_bytes.h"
#include "cache/table/hash_table.h"
#include "cache/types/member.h"
#include "cache/types/member_home.h"

namespace mayfly {

class MemberListener;
class ValueListener;

class MemberTablePolicy {
 public:
  using Ref = HeapRef;
  static constexpr Ref kNull{};
  using Key = std::string_view;

  explicit MemberTablePolicy(MemberHome home) noexcept : heap_(&home.heap), hasher_(&home.hasher) {}
  uint64_t HashOf(Ref ref) const noexcept { return (*hasher_)(At(ref)->name()); }
  bool Equals(Ref ref, Key key) const noexcept { return SameBytes(At(ref)->name(), key); }
  void Prefetch(Ref ref) const noexcept { PrefetchToRead(At(ref)); }
  void* Allocate(size_t bytes) const noexcept { return heap_->AllocateLines(bytes); }
  void Free(void* memory, size_t bytes) const noexcept { heap_->FreeLines(memory, bytes); }

  Member* At(Ref ref) const noexcept { return heap_->base().Resolve<Member>(ref); }
  Ref RefOf(const Member& member) const noexcept { return heap_->base().RefOf(&member); }
  Heap& heap() const noexcept { return *heap_; }
  const Hasher& hasher() const noexcept { return *hasher_; }

 private:
  Heap* heap_;
  const Hasher* hasher_;
};

class Members {
 public:
  explicit Members(MemberHome home) noexcept : table_(MemberTablePolicy(home), home.order) {}
  ~Members() {
    while (!FreeSome(SIZE_MAX)) {
    }
    if (listener_ != nullptr) TellGone();
  }
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  size_t size() const noexcept { return table_.size(); }
  // Bytes of the members and the table, as rounded by the allocator.
  uint64_t bytes() const noexcept { return bytes_ + table_.memory(); }
  // A home for the members of another value that may be filled in this value's scan order.
  MemberHome other_home() const noexcept { return {policy().heap(), policy().hasher(), table_.NextOrder()}; }
  Member* At(HeapRef ref) const noexcept { return policy().At(ref); }
  HeapRef RefOf(const Member& member) const noexcept { return policy().RefOf(member); }
  uint64_t HashOf(std::string_view name) const noexcept { return policy().hasher()(name); }

  // The member of this name, or null. `hash` is HashOf(name).
  Member* Find(std::string_view name, uint64_t hash) const noexcept {
    const HeapRef ref = table_.Find(name, hash);
    return ref ? At(ref) : nullptr;
  }
  Member* Find(std::string_view name) const noexcept { return Find(name, HashOf(name)); }
  // REQUIRES: there is no member of this name; `hash` is the hash of the name.
  Member* Add(const MemberParts& parts, uint64_t hash) {
    Member* const member = Make(parts);
    if (!table_.Insert(RefOf(*member), hash)) {
      Free(*member);
      throw std::bad_alloc();
    }
    return member;
  }
  Member* Add(const MemberParts& parts) { return Add(parts, HashOf(parts.name)); }
  // Gives the member other parts. Returns the member, perhaps as another object.
  // REQUIRES: the name in `parts` is the member's. Parts may lie in the member, as in the MemberParts of member.parts(), but
  // a new value does not.
  Member* Change(Member& member, const MemberParts& parts) {
    return Change(member, parts, [](const Member&) {});
  }
  // Calls before(fresh) with the replacement of `member`, before the exchange. If the call throws, nothing has changed.
  template <typename Before>
  Member* Change(Member& member, const MemberParts& parts, Before&& before) {
    Member* const fresh = Make(parts);
    try {
      before(*fresh);
    } catch (...) {
      Free(*fresh);
      throw;
    }
    const bool replaced = table_.Replace(RefOf(member), RefOf(*fresh), HashOf(parts.name));
    assert(replaced);
    static_cast<void>(replaced);
    BeforeChange(member);
    Free(member);
    return fresh;
  }
  void Remove(Member& member) noexcept { Remove(member, HashOf(member.name())); }
  // REQUIRES: `hash` is the hash of the member's name.
  void Remove(Member& member, uint64_t hash) noexcept {
    BeforeChange(member);
    const bool erased = table_.EraseRef(RefOf(member), hash);
    assert(erased);
    static_cast<void>(erased);
    Free(member);
  }

  // Must precede every other change of a member: of its value, score or deadline in place.
  [[gnu::always_inline]] void BeforeChange(Member& member) noexcept {
    if (listener_ != nullptr) [[unlikely]]
      TellBefore(member);
  }

  // Removes these members, at most kAtOnce. Prefetches the memory of some members during work on others.
  static constexpr size_t kAtOnce = 64;
  void RemoveAll(std::span<const HeapRef> refs) noexcept {
    assert(refs.size() <= kAtOnce);
    for (const HeapRef ref : refs) policy().Prefetch(ref);
    std::array<uint64_t, kAtOnce> hashes;
    for (size_t i = 0; i < refs.size(); ++i) {
      hashes[i] = HashOf(At(refs[i])->name());
      table_.PrefetchGroup(hashes[i]);
    }
    for (size_t i = 0; i < refs.size(); ++i) Remove(*At(refs[i]), hashes[i]);
  }

  // Prefetches for a Find of this name a little later.
  void Prefetch(std::string_view name) const noexcept { table_.PrefetchGroup(HashOf(name)); }

  // Calls fn(Member&) for all members. REQUIRES: fn does not add, change or remove a member.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    table_.ForEach([&](HeapRef ref) { fn(*At(ref)); });
  }
  // As Keyspace::Scan. REQUIRES: as ForEach.
  template <typename Fn>
  uint64_t Scan(uint64_t cursor, Fn&& fn) const {
    return table_.Scan(cursor, [&](HeapRef ref) { fn(*At(ref)); });
  }
  // A random member, all with about the same probability. REQUIRES: size() != 0.
  template <typename Rng>
  Member* Random(Rng& rng) const {
    return At(table_.Random(rng));
  }

  // ---- a walk
  //
  // Begins a walk with 1 or 2 passes. REQUIRES: !listener(); no member has a pass to go.
  void StartWalk(MemberListener& listener, unsigned passes) noexcept {
    assert(listener_ == nullptr && (passes == 1 || passes == 2));
    listener_ = &listener;
    mark_ = (mark_ + passes) % kMarks;
  }
  // Passes the members of a page with `passes` passes to go, and calls fn(const Member&) for each. Returns the cursor of the
  // next page, as Scan. If fn throws, repeat with the same cursor: members already passed are skipped.
  template <typename Fn>
  uint64_t WalkSome(uint64_t cursor, unsigned passes, Fn&& fn) {
    return table_.Scan(cursor, [&](HeapRef ref) {
      Member& member = *At(ref);
      if (PassesOf(member) != passes) return;
      fn(static_cast<const Member&>(member));
      member.set_mark((member.mark() + 1) % kMarks);
    });
  }
  // Passes the members of a page for good, and adds their number and 1 to `work`. Returns as WalkSome.
  uint64_t SkipSome(uint64_t cursor, size_t& work) noexcept {
    ++work;
    return table_.Scan(cursor, [&](HeapRef ref) {
      ++work;
      At(ref)->set_mark(mark_);
    });
  }
  // REQUIRES: no member has a pass to go, or nobody uses this object any more but to free it.
  void EndWalk() noexcept { listener_ = nullptr; }
  // Null without a walk.
  ValueListener* listener() const noexcept;
  // The number of passes to go.
  unsigned PassesOf(const Member& member) const noexcept { return (mark_ - member.mark()) % kMarks; }

  // Frees about `budget` members. Returns true if none is left.
  // REQUIRES: from now on, FreeSome is the only call before destruction.
  bool FreeSome(size_t budget) noexcept {
    return table_.DrainSome(budget, [&](HeapRef ref) {
      BeforeChange(*At(ref));
      Free(*At(ref));
    });
  }
  // Reads every member; for tests.
  bool Validate() const noexcept {
    uint64_t bytes = 0;
    bool marked = true;
    ForEach([&](const Member& member) {
      bytes += Heap::SizeClass(member.allocated_bytes());
      marked = marked && PassesOf(member) <= (listener_ != nullptr ? 2 : 0);
    });
    return marked && bytes == bytes_ && table_.Validate();
  }

 private:
  const MemberTablePolicy& policy() const noexcept { return table_.policy(); }
  Member* Make(const MemberParts& parts) {
    if (!Member::CanHold(parts)) throw std::bad_alloc();
    const size_t size = Member::SizeOf(parts);
    void* const memory = policy().heap().Allocate(size);
    if (memory == nullptr) throw std::bad_alloc();
    auto* const member = static_cast<Member*>(memory);
    member->Fill(parts);
    member->set_mark(mark_);
    bytes_ += Heap::SizeClass(size);
    return member;
  }
  void Free(Member& member) noexcept {
    const size_t size = member.allocated_bytes();
    bytes_ -= Heap::SizeClass(size);
    policy().heap().Free(&member, size);
  }

  // Calls of the listener.
  void TellBefore(Member& member) noexcept;
  void TellGone() noexcept;

  static constexpr unsigned kMarks = 4;

  HashTable<MemberTablePolicy> table_;
  uint64_t bytes_ = 0;  // of the members
  MemberListener* listener_ = nullptr;
  unsigned mark_ = 0;  // of members without a pass to go
};

}  // namespace mayfly

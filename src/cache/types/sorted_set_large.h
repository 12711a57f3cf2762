// The large form of a sorted set: members, found by name, each with its score; and a counted tree of them, found by
// score and rank. Members with equal scores are in the order of their names, byte by byte.
//
// Owns both. If memory runs out, a method throws std::bad_alloc and has changed nothing. Loop thread only.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "cache/rich_value.h"
#include "cache/types/counted_tree.h"
#include "cache/types/members.h"

namespace mayfly {

class ScoreOrderPolicy {
 public:
  using Key = double;
  using Ref = HeapRef;

  explicit ScoreOrderPolicy(Heap& heap) noexcept : heap_(&heap) {}
  bool KeyLess(double a, double b) const noexcept { return a < b; }
  bool TieLess(HeapRef a, HeapRef b) const noexcept { return NameOf(a) < NameOf(b); }
  void* Allocate(size_t bytes) const noexcept { return heap_->Allocate(bytes); }
  void Free(void* block, size_t bytes) const noexcept { heap_->Free(block, bytes); }

 private:
  std::string_view NameOf(HeapRef ref) const noexcept { return heap_->base().Resolve<Member>(ref)->name(); }

  Heap* heap_;
};

class LargeSortedSet {
 public:
  using Order = CountedTree<ScoreOrderPolicy>;

  explicit LargeSortedSet(MemberHome home) noexcept : members_(home), order_(ScoreOrderPolicy(home.heap)) {}

  const Members& members() const noexcept { return members_; }
  const Order& order() const noexcept { return order_; }
  uint64_t bytes() const noexcept { return members_.bytes() + order_.bytes(); }
  size_t RankOf(const Member& member) const noexcept {
    return order_.RankOf(member.score(), members_.RefOf(member));
  }

  // REQUIRES: there is none of that name, whose hash is `hash`.
  void Add(std::string_view name, uint64_t hash, double score) {
    Member* const member = members_.Add({.name = name, .score = score}, hash);
    try {
      order_.Insert(score, members_.RefOf(*member));
    } catch (...) {
      members_.Remove(*member);
      throw;
    }
  }
  void SetScore(Member& member, double score) {
    const HeapRef ref = members_.RefOf(member);
    order_.Change(member.score(), ref, score, ref);
    member.set_score(score);
  }
  void Remove(Member& member) noexcept {
    order_.Erase(member.score(), members_.RefOf(member));
    members_.Remove(member);
  }
  void RemoveRanks(size_t first, size_t count) noexcept {
    order_.EraseFrom(first, count, [&](double, HeapRef ref) { members_.Remove(*members_.At(ref)); });
  }
  // Frees about `budget` members. Returns true if none is left.
  // REQUIRES: nobody uses this object for anything else from now on.
  bool FreeSome(size_t budget) noexcept {
    constexpr size_t kItemsPerMember = 16;  // the tree frees a leaf at once
    const size_t items = budget > SIZE_MAX / kItemsPerMember ? SIZE_MAX : budget * kItemsPerMember;
    return order_.FreeSome(items) && members_.FreeSome(budget);
  }
  // A pointer for BuriedValues.
  RichValue*& buried_before() noexcept { return buried_before_; }

  // Reads every member; for tests.
  bool Validate() const noexcept {
    if (!members_.Validate() || !order_.Validate() || members_.size() != order_.size()) return false;
    for (auto at = order_.First(); at; at.Next()) {
      const Member& member = *members_.At(at.ref());
      if (member.score() != at.key() || members_.Find(member.name()) != &member) return false;
    }
    return true;
  }

 private:
  Members members_;
  Order order_;
  RichValue* buried_before_ = nullptr;
};

}  // namespace mayfly

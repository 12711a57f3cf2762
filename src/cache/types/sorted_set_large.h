// The large form of a sorted set: members by name, and a counted tree for scores and ranks. Members with equal scores
// are in the order of their names, byte by byte. Members with a deadline are also indexed by deadline; a member with the
// deadline 0 has none. All deadlines are on one clock; the owner knows which.
//
// A due member leaves in one of two ways. DropUntil takes some members out of the order and frees them: the wheel calls it in
// slices. HideUntil takes all due members out of the order at once, and DropUntil frees them later. A hidden member has NaN
// for a score and counts as absent; only FindAny, size() and the deadlines still have it. DueInOrder returns the number of
// members that HideUntil would take out.
//
// Owns all of it. If memory runs out, a method throws std::bad_alloc and has changed nothing. Loop thread only.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "cache/entry/rich_value.h"
#include "cache/types/counted_tree.h"
#include "cache/types/member_deadlines.h"
#include "cache/types/members.h"

namespace mayfly {

struct MemberTable;

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

  explicit LargeSortedSet(MemberHome home) noexcept
      : members_(home), order_(ScoreOrderPolicy(home.heap)), deadlines_(home.heap) {}

  const Members& members() const noexcept { return members_; }
  // All members, also the hidden ones.
  size_t size() const noexcept { return members_.size(); }
  size_t live() const noexcept { return members_.size() - hidden_; }
  static bool IsHidden(const Member& member) noexcept { return std::isnan(member.score()); }
  // The member, which may be hidden; or null.
  Member* FindAny(std::string_view name, uint64_t hash) const noexcept { return members_.Find(name, hash); }
  const Order& order() const noexcept { return order_; }
  uint64_t bytes() const noexcept { return members_.bytes() + order_.bytes() + deadlines_.bytes(); }
  size_t RankOf(const Member& member) const noexcept {
    return order_.RankOf(member.score(), members_.RefOf(member));
  }

  // `deadline_ms` may be 0. REQUIRES: there is none of that name, whose hash is `hash`.
  void Add(std::string_view name, uint64_t hash, double score, uint64_t deadline_ms = 0);
  // The same without a deadline, for a set that is made of many members: it is in no order then, until Arrange has put
  // all members into it. Throws std::bad_alloc; if Arrange does, it must be called again before anything else.
  void Collect(std::string_view name, uint64_t hash, double score) {
    members_.Add({.name = name, .score = score}, hash);
  }
  void Arrange();
  void SetScore(Member& member, double score) {
    const HeapRef ref = members_.RefOf(member);
    order_.Change(member.score(), ref, score, ref);
    members_.BeforeChange(member);
    member.set_score(score);
  }
  // Frees a hidden member at once.
  void RemoveHidden(Member& member) noexcept {
    assert(IsHidden(member));
    Forget(member);
    members_.Remove(member);
    --hidden_;
  }
  // REQUIRES: it is not hidden.
  void Remove(Member& member) noexcept {
    order_.Erase(member.score(), members_.RefOf(member));
    Forget(member);
    members_.Remove(member);
  }
  void RemoveRanks(size_t first, size_t count) noexcept {
    order_.EraseFrom(first, count, [&](double, HeapRef ref) {
      Member& member = *members_.At(ref);
      Forget(member);
      members_.Remove(member);
    });
  }

  static uint64_t DeadlineOf(const Member& member) noexcept {
    return member.timed() ? member.deadline_ms() : 0;
  }
  // The member is invalid afterwards. REQUIRES: deadline_ms is not 0.
  void SetDeadline(Member& member, uint64_t deadline_ms);
  // MemberDeadlines::kNone if no member has a deadline.
  uint64_t nearest_ms() const noexcept { return deadlines_.Nearest(); }
  bool AllDue(uint64_t now_ms) const noexcept {
    return size() == deadlines_.size() && deadlines_.CountUntil(now_ms) == size();
  }
  // Removes members with a deadline up to `ms`, hidden or not, but at most `budget`. Returns how many.
  size_t DropUntil(uint64_t ms, size_t budget, NameListener* listener) noexcept;
  // The number of members with a deadline up to `ms` that are not hidden. It may be too high after the clock was set back.
  // O(log(N)).
  size_t DueInOrder(uint64_t ms) const noexcept {
    const size_t due = deadlines_.CountUntil(ms);
    return due - std::min(due, HiddenUntil(ms));
  }
  // Hides members with a deadline up to `ms`. They stay hidden if the clock is set back. The time grows with DueInOrder(ms).
  void HideUntil(uint64_t ms) noexcept;

  // The members for a walk, but for hidden ones: those that are not due at `now_ms`. O(log n), but O(n) if the clock was set
  // back since members were hidden.
  MemberTable TableAt(uint64_t now_ms) noexcept;
  ValueListener* listener() const noexcept { return members_.listener(); }

  // Frees about `budget` members. Returns true if none is left.
  // REQUIRES: nobody uses this object for anything else from now on.
  bool FreeSome(size_t budget) noexcept {
    constexpr size_t kItemsPerMember = 16;  // the trees free a leaf at once
    const size_t items = budget > SIZE_MAX / kItemsPerMember ? SIZE_MAX : budget * kItemsPerMember;
    return order_.FreeSome(items) && deadlines_.FreeSome(items) && members_.FreeSome(budget);
  }
  // A pointer for BuriedValues.
  RichValue*& buried_before() noexcept { return buried_before_; }

  // Reads every member; for tests.
  bool Validate() const noexcept;

 private:
  // How many of the hidden members have a deadline up to `ms` for certain: all of them, unless the clock was set back.
  size_t HiddenUntil(uint64_t ms) const noexcept { return ms >= hidden_until_ms_ ? hidden_ : 0; }
  // Its deadline is no longer in order.
  void Forget(const Member& member) noexcept {
    if (DeadlineOf(member) != 0) deadlines_.Erase(DeadlineOf(member), members_.RefOf(member));
  }

  Members members_;
  Order order_;
  MemberDeadlines deadlines_;  // exactly of the members with a deadline
  size_t hidden_ = 0;
  uint64_t hidden_until_ms_ = 0;  // no member that is hidden has a later deadline
  RichValue* buried_before_ = nullptr;
};

}  // namespace mayfly

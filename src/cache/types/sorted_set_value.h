// The value of a sorted set: members in the order of scores, then of names. It has one of two forms, as OBJECT ENCODING
// names them:
//
//   listpack    few short members, in a LinkedPack: name, score, name, score ... in order
//   skiplist    a LargeSortedSet
//
// A sorted set becomes large by Redis's rules (SortedSetLimits) or with the first deadline of a member, and never small
// again. All deadlines are on one clock: that on which the first of them was set.
//
// Members that are due count and have a rank until DropDue has dropped or hidden them. So that ranks are exact, a
// command calls DropDue with kAtOnce before it reads members: that frees some and hides the others, and they are freed by
// later calls. Until then Size counts them, and no other method sees them. kAtOnce takes time for every member that is due
// and not hidden, so a command that may wait looks at DueInOrder first (exec/values/timed_access.h).
//
// No score is NaN. If memory runs out, a method throws std::bad_alloc and has changed nothing. Loop thread only.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/memory/pointer48.h"
#include "cache/entry/rich_value.h"
#include "cache/types/limits.h"
#include "cache/types/member_range.h"
#include "cache/types/pack.h"
#include "cache/types/sorted_set_large.h"

namespace mayfly {

// A member and its score are a record, so that the order is read both ways.
using ScoredPack = LinkedPack<2>;

class SortedSetValue final : public RichValue {
 public:
  static constexpr ValueType kType = ValueType::kSortedSet;
  // A budget for DropDue: all members that are due are out of sight afterwards, and a few of them are freed.
  static constexpr size_t kAtOnce = SIZE_MAX;
  static constexpr size_t kFew = 1000;

  // What Find found, for the next change. Invalid after any change.
  class Found {
   public:
    explicit operator bool() const noexcept { return present_; }
    // REQUIRES: it was found.
    double score() const noexcept {
      assert(present_);
      return score_;
    }

   private:
    friend class SortedSetValue;
    bool present_ = false;
    double score_ = 0;
    ScoredPack::At at_ = 0;
    Member* member_ = nullptr;
    Member* hidden_ = nullptr;  // has the name, but is gone
    uint64_t hash_ = 0;
  };

  // A member by its rank. False at either end. Invalid after any change.
  class Cursor {
   public:
    explicit operator bool() const noexcept { return small_ != nullptr ? valid_ : static_cast<bool>(place_); }
    // Valid until the cursor moves. REQUIRES, for all four: not at an end.
    std::string_view name() noexcept {
      return small_ != nullptr ? small_->ReadText(at_, room_) : members_->At(place_.ref())->name();
    }
    double score() const noexcept {
      return small_ != nullptr ? small_->Read(small_->Second(at_)).Number() : place_.key();
    }
    void Next() noexcept;
    void Prev() noexcept;

   private:
    friend class SortedSetValue;
    const ScoredPack* small_ = nullptr;
    ScoredPack::At at_ = 0;
    bool valid_ = false;
    const Members* members_ = nullptr;
    LargeSortedSet::Order::Cursor place_;
    char room_[PackItem::kRoom];
  };

  SortedSetValue() noexcept : RichValue(kType), small_() {}
  ~SortedSetValue() override;

  std::string_view EncodingName() const noexcept override { return is_large() ? "skiplist" : "listpack"; }
  size_t Size() const noexcept override;
  uint64_t Bytes() const noexcept override;
  std::unique_ptr<RichValue> Clone() const override;
  bool FreeSome(size_t budget) noexcept override { return !is_large() || large_->FreeSome(budget); }
  RichValue** BurialLink() noexcept override { return is_large() ? &large_->buried_before() : nullptr; }
  ValueListener* listener() const noexcept override { return is_large() ? large_->listener() : nullptr; }
  void ForEachMember(MemberVisitor& visitor) const override;
  Expiry NextDeadline() const noexcept override;
  bool AllDue(Now now) const noexcept override;
  size_t DropDue(Now now, size_t budget, NameListener* listener) noexcept override;

  // How many members are due and not hidden yet. It may be too high after the clock was set back.
  size_t DueInOrder(Now now) const noexcept;
  // Number of members that are not hidden.
  size_t Live() const noexcept { return is_large() ? large_->live() : small_.size(); }
  bool is_large() const noexcept { return form_ == Form::kLarge; }
  Found Find(std::string_view name) const noexcept;
  std::optional<double> ScoreOf(std::string_view name) const noexcept {
    const Found found = Find(name);
    return found ? std::optional(found.score()) : std::nullopt;
  }
  // For a reader of that member who comes a little later.
  void Prefetch(std::string_view name) const noexcept {
    is_large() ? large_->members().Prefetch(name) : small_.Prefetch();
  }
  // REQUIRES: it was found.
  size_t RankOf(const Found& found) const noexcept;
  // From Live() on: the end.
  Cursor At(size_t rank) const noexcept;
  // The members within the range.
  RankRange RanksOf(const ScoreRange& range) const noexcept;
  // Without the first `skip` members from the low end on or, if `from_end`, from the high end on. Redis walks through the small form
  // from that end, and does not look at the names that it skips: both make a difference if scores are not equal.
  RankRange RanksOf(const NameRange& range, bool from_end = false, size_t skip = 0) const noexcept;

  // So many members are about to be added or set: makes it large if its small form could not hold them. Throws
  // std::bad_alloc.
  void Expect(size_t members, const SortedSetLimits& limits, MemberHome home);
  // REQUIRES: `found` is what Find(name) did not find; the text does not lie in this value. Throws std::bad_alloc.
  void Add(const Found& found, std::string_view name, double score, const SortedSetLimits& limits,
           MemberHome home);
  // The member keeps its deadline.
  // REQUIRES: `found` is what Find(name) found; the text does not lie in this value. Throws std::bad_alloc.
  void SetScore(const Found& found, std::string_view name, double score);
  // Adds the member, or sets its score. Throws std::bad_alloc. REQUIRES: as Add.
  void Put(std::string_view name, double score, const SortedSetLimits& limits, MemberHome home) {
    const Found found = Find(name);
    found ? SetScore(found, name, score) : Add(found, name, score, limits, home);
  }
  // As Put, for one of many members that make a new set: until Arrange only Collect, Find, ScoreOf, Size and Live may be used.
  void Collect(std::string_view name, double score, const SortedSetLimits& limits, MemberHome home);
  // Throws std::bad_alloc, and must then be called again.
  void Arrange() {
    if (is_large()) large_->Arrange();
  }
  // REQUIRES: it was found.
  void Remove(const Found& found) noexcept;
  // REQUIRES: there are these members.
  void RemoveRanks(const RankRange& ranks) noexcept;

  // Never if the member has none. REQUIRES: it was found.
  Expiry DeadlineOf(const Found& found) const noexcept;
  // Makes it large. Throws std::bad_alloc. REQUIRES: as SetScore; the deadline is neither Never nor reached at `now`.
  void SetDeadline(const Found& found, std::string_view name, Expiry deadline, MemberHome home, Now now);

  // Calls fn(name, score) for a page, as Members::Scan; the small form is one page.
  template <typename Fn>
  uint64_t Scan(uint64_t cursor, Fn&& fn) const {
    if (is_large()) {
      return large_->members().Scan(cursor, [&](const Member& member) {
        if (!LargeSortedSet::IsHidden(member)) fn(member.name(), member.score());
      });
    }
    for (Cursor at = At(0); at; at.Next()) fn(at.name(), at.score());
    return 0;
  }

  // Number of members that are not due at `now`, before DropDue. O(n) if a member has a deadline.
  size_t LiveAt(Now now) const noexcept {
    if (!timed()) return Live();
    size_t live = 0;
    ForEachLiveAt(now, [&](std::string_view, double, Expiry) { ++live; });
    return live;
  }
  // Calls fn(name, score, deadline) for each of the members that LiveAt counts, the highest score first. REQUIRES: fn does not
  // change this set.
  template <typename Fn>
  void ForEachLiveAt(Now now, Fn&& fn) const {
    if (!is_large()) {
      if (small_.empty()) return;
      for (Cursor at = At(small_.size() - 1); at; at.Prev()) fn(at.name(), at.score(), Expiry::Never());
      return;
    }
    const uint64_t now_ms = timed() ? Expiry::NowOn(clock(), now) : 0;
    for (auto at = large_->order().Last(); at; at.Prev()) {
      const Member& member = *large_->members().At(at.ref());
      const uint64_t ms = LargeSortedSet::DeadlineOf(member);
      if (ms == 0)
        fn(member.name(), at.key(), Expiry::Never());
      else if (ms > now_ms)
        fn(member.name(), at.key(), Expiry{clock(), ms});
    }
  }

  // The members of a large set that LiveAt counts, for a walk in slices. REQUIRES: is_large().
  MemberTable TableAt(Now now) noexcept;

  // Reads every member; for tests.
  bool Validate() const noexcept;

 private:
  enum class Form : uint8_t { kPack, kLarge };

  Expiry::Kind clock() const noexcept { return clock_; }
  // Whether a member has a deadline.
  bool timed() const noexcept { return is_large() && large_->nearest_ms() != MemberDeadlines::kNone; }
  // Where a member belongs in the small form.
  ScoredPack::At PlaceOf(std::string_view name, double score) const noexcept;
  void Grow(MemberHome home);
  void BecomeLarge(std::unique_ptr<LargeSortedSet> large) noexcept;
  template <typename Range>
  RankRange RanksInPack(const Range& range, bool from_end, size_t skip) const noexcept;
  template <typename Range>
  RankRange RanksInOrder(const Range& range) const noexcept;

  // All of it lies behind the type, in what would be padding.
  Form form_ : 1 = Form::kPack;
  Expiry::Kind clock_ : 2 = Expiry::Kind::kNever;  // of the deadlines
  // NOLINTBEGIN(readability-identifier-naming): the members of this union are private, too
  union {
    ScoredPack small_;
    Pointer48<LargeSortedSet> large_;  // owned
  };
  // NOLINTEND(readability-identifier-naming)
};

static_assert(sizeof(SortedSetValue) == 2 * sizeof(void*));

}  // namespace mayfly

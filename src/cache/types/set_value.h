// The value of a set: integers, a pack, or timed members. OBJECT ENCODING names the three forms of a set:
//
//   intset      integers alone, in an IntegerSet
//   listpack    few short members, in a Pack, in order of insertion
//   hashtable   TimedMembers
//
// A set takes the form that the next member needs, by Redis's rules (SetLimits), and never goes back to a smaller form. The
// first deadline of a member also makes the set large. All deadlines are on one clock: the clock of the first deadline.
//
// DropDue drops due members. Due members beyond its budget are absent for every method except Size() and NextDeadline();
// only a large set may have such members.
//
// If memory runs out, a method throws std::bad_alloc and has changed nothing. Loop thread only.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/memory/pointer48.h"
#include "cache/entry/rich_value.h"
#include "cache/types/integer_set.h"
#include "cache/types/limits.h"
#include "cache/types/pack.h"
#include "cache/types/timed_members.h"

namespace mayfly {

class SetValue final : public RichValue {
 public:
  static constexpr ValueType kType = ValueType::kSet;
  enum class Form : uint8_t { kIntegers, kPacked, kLarge };
  // Bytes for the digits of an integer member.
  static constexpr size_t kRoom = PackItem::kRoom;

  // An empty set. REQUIRES: the form is not kLarge.
  explicit SetValue(Form form = Form::kIntegers) noexcept : RichValue(kType), integers_() {
    assert(form != Form::kLarge);
    if (form == Form::kPacked) Become(Pack());
  }
  ~SetValue() override { Destroy(); }

  std::string_view EncodingName() const noexcept override;
  size_t Size() const noexcept override;
  uint64_t Bytes() const noexcept override;
  std::unique_ptr<RichValue> Clone() const override;
  bool FreeSome(size_t budget) noexcept override { return !is_large() || large_->FreeSome(budget); }
  RichValue** BurialLink() noexcept override { return is_large() ? large_->burial_link() : nullptr; }
  ValueListener* listener() const noexcept override { return is_large() ? large_->listener() : nullptr; }
  void ForEachMember(MemberVisitor& visitor) const override;
  Expiry NextDeadline() const noexcept override;
  bool AllDue(Now now) const noexcept override;
  size_t DropDue(Now now, size_t budget, NameListener* listener) noexcept override;

  Form form() const noexcept { return form_; }
  bool is_large() const noexcept { return form_ == Form::kLarge; }
  // Number of members that are not due.
  size_t Live() const noexcept { return is_large() ? large_->live() : Size(); }
  bool Contains(std::string_view member) const noexcept;
  // Prefetches for a read of the member a little later.
  void Prefetch(std::string_view member) const noexcept {
    if (is_large()) return large_->Prefetch(member);
    if (form_ == Form::kPacked) pack_.Prefetch();
  }
  // Returns false for an existing member; an existing member keeps its deadline. A new member has no deadline.
  // REQUIRES: the text does not lie in this set.
  bool Add(std::string_view member, const SetLimits& limits, MemberHome home);
  // Adds all members; if AddAll throws, the set has none of the new members. Returns the number of new members. A set whose
  // form could not hold all `members` becomes large before the first. REQUIRES: as Add; `members` is not empty.
  size_t AddAll(std::span<const std::string_view> members, const SetLimits& limits, MemberHome home);
  // Adds a member with a deadline. An existing member gets the deadline as well, unless `keep_deadline`. Returns true if the
  // member is new. REQUIRES: as Add; the deadline is neither Never nor reached at `now`.
  bool AddUntil(std::string_view member, Expiry deadline, bool keep_deadline, MemberHome home, Now now);
  // Returns false if there is no such member.
  bool Remove(std::string_view member) noexcept;

  // Never if the member has no deadline. REQUIRES: there is such a member.
  Expiry DeadlineOf(std::string_view member) const noexcept;
  // Takes a member's deadline away; returns false if the member has no deadline. REQUIRES: there is such a member.
  bool ClearDeadline(std::string_view member) noexcept;
  // Returns true if any member has a deadline.
  bool timed() const noexcept { return is_large() && large_->nearest_ms() != TimedMembers::kNever; }

  // Calls fn(std::string_view) for each member. REQUIRES: fn does not change this set.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    char room[kRoom];
    switch (form()) {
      case Form::kIntegers:
        for (size_t i = 0; i < integers_.size(); ++i)
          fn(std::string_view(room, FormatInteger(integers_.At(i), room)));
        return;
      case Form::kPacked:
        for (Pack::At at = pack_.begin(); at != pack_.end(); at = pack_.Next(at))
          fn(pack_.ReadText(at, room));
        return;
      case Form::kLarge:
        return large_->ForEach([&](const Member& member) { fn(member.name()); });
    }
  }
  // Number of members that are not due at `now`, before DropDue.
  size_t LiveAt(Now now) const noexcept {
    return timed() ? large_->LiveAt(Expiry::NowOn(clock(), now)) : Live();
  }
  // Calls fn(member, deadline) for each of the members that LiveAt counts. REQUIRES: fn does not change this set.
  template <typename Fn>
  void ForEachLiveAt(Now now, Fn&& fn) const {
    if (!timed()) return ForEach([&](std::string_view member) { fn(member, Expiry::Never()); });
    const uint64_t now_ms = Expiry::NowOn(clock(), now);
    large_->ForEach([&](const Member& member) {
      const uint64_t ms = TimedMembers::DeadlineOf(member);
      if (ms == 0) return fn(member.name(), Expiry::Never());
      if (ms > now_ms) fn(member.name(), Expiry{clock(), ms});
    });
  }
  // The members of a large set that LiveAt counts, for a walk in slices. REQUIRES: is_large().
  MemberTable TableAt(Now now) noexcept;
  // Calls fn(std::string_view) for a page, as Members::Scan; a small set is one page.
  template <typename Fn>
  uint64_t Scan(uint64_t cursor, Fn&& fn) const {
    if (is_large()) return large_->Scan(cursor, [&](const Member& member) { fn(member.name()); });
    ForEach(fn);
    return 0;
  }
  // A random member, as a text or as digits in `room`. `room` has kRoom bytes. O(1) if the set is large.
  // REQUIRES: Live() != 0.
  template <typename Rng>
  std::string_view Random(Rng& rng, char* room) const {
    if (is_large()) return large_->Random(rng).name();
    return At(rng() % Size(), room);
  }
  // Calls fn(std::string_view) with `count` random members, which may repeat. Throws std::bad_alloc. REQUIRES: Live() != 0.
  template <typename Rng, typename Fn>
  void Draw(Rng& rng, uint64_t count, Fn&& fn) const {
    if (is_large()) return large_->Draw(rng, count, [&](const Member& member) { fn(member.name()); });
    char room[kRoom];
    for (; count != 0; --count) fn(At(rng() % Size(), room));
  }
  // The members of a large set; null for another form.
  TimedMembers* AsMembers() noexcept { return is_large() ? large_.get() : nullptr; }
  const TimedMembers* AsMembers() const noexcept { return is_large() ? large_.get() : nullptr; }
  // Takes form, members and deadlines of `other`; `other` becomes empty.
  void Take(SetValue&& other) noexcept;
  // Calls fn(std::string_view) with a random member, then removes the member. REQUIRES: Live() != 0; fn does not use this
  // set.
  template <typename Rng, typename Fn>
  void Pop(Rng& rng, Fn&& fn) {
    char room[kRoom];
    switch (form()) {
      case Form::kIntegers: {
        const size_t index = rng() % integers_.size();
        fn(std::string_view(room, FormatInteger(integers_.At(index), room)));
        return integers_.RemoveAt(index);
      }
      case Form::kPacked: {
        const Pack::At at = pack_.Seek(rng() % pack_.size());
        fn(pack_.ReadText(at, room));
        return pack_.Erase(at, 1);
      }
      case Form::kLarge: {
        Member& member = large_->Random(rng);
        fn(member.name());
        return large_->Remove(member);
      }
    }
  }

  // Reads every member; for tests.
  bool Validate() const noexcept;

 private:
  Expiry::Kind clock() const noexcept { return clock_; }
  // The member with this index, counted from 0. REQUIRES: the form is not kLarge.
  std::string_view At(size_t index, char* room) const noexcept;
  bool AddInteger(int64_t integer, std::string_view digits, const SetLimits& limits, MemberHome home);
  bool AddPacked(std::string_view member, const SetLimits& limits, MemberHome home);
  // Prepares for the addition of `members` members, `first` before the others.
  void Expect(std::string_view first, size_t members, const SetLimits& limits, MemberHome home);
  // Makes the set large, with one more member unless `member` is null.
  void Grow(const std::string_view* member, MemberHome home);

  // Become exchanges the members for others, and frees the old members.
  void Become(IntegerSet&& integers) noexcept;
  void Become(Pack&& pack) noexcept;
  void Become(std::unique_ptr<TimedMembers> large) noexcept;
  // Afterwards the caller constructs other members.
  void Destroy() noexcept;

  // All data members lie behind `type`, in bytes that would be padding.
  Form form_ : 2 = Form::kIntegers;
  Expiry::Kind clock_ : 2 = Expiry::Kind::kNever;  // of the deadlines
  // NOLINTBEGIN(readability-identifier-naming): the members of this union are private, too
  union {
    IntegerSet integers_;
    Pack pack_;
    Pointer48<TimedMembers> large_;  // owned
  };
  // NOLINTEND(readability-identifier-naming)
};

static_assert(sizeof(SetValue) == 2 * sizeof(void*));

}  // namespace mayfly

// The members of a large hash or set: found by name, and members with a deadline also by deadline. The fields of a hash have
// values, the members of a set have none.
//
// Members with a deadline up to gone_until_ms are gone: every method but size() treats them as absent. DropUntil frees gone
// members, in slices if they are many. A member stores its own deadline; 0 means that the deadline was cleared. All
// deadlines are on one clock; the owner knows the clock.
//
// Invariants (Validate): `deadlines_` has exactly the members with a deadline. Owns its members. If memory runs out, a
// method throws std::bad_alloc and has changed nothing. Loop thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/memory/heap.h"
#include "cache/types/member_deadlines.h"
#include "cache/types/members.h"

namespace mayfly {

struct MemberTable;
class NameListener;
class RichValue;

class TimedMembers {
 public:
  static constexpr uint64_t kNever = MemberDeadlines::kNone;

  explicit TimedMembers(MemberHome home) noexcept : members_(home), deadlines_(home.heap) {}
  std::unique_ptr<TimedMembers> Clone() const;

  // All members, including members that are gone.
  size_t size() const noexcept { return members_.size(); }
  size_t live() const noexcept { return size() - gone(); }
  // The number of live members without a deadline up to `ms`.
  size_t LiveAt(uint64_t ms) const noexcept {
    return size() - deadlines_.CountUntil(std::max(ms, gone_until_ms_));
  }
  // Bytes of this object and all objects it owns.
  uint64_t bytes() const noexcept {
    return MallocSizeClass(sizeof *this) + members_.bytes() + deadlines_.bytes();
  }

  // Prefetches for a Find of this name a little later.
  void Prefetch(std::string_view name) const noexcept { members_.Prefetch(name); }
  // The member, or null.
  Member* Find(std::string_view name) const noexcept {
    Member* const member = members_.Find(name);
    return member != nullptr && !IsGone(*member) ? member : nullptr;
  }
  // Adds a member; `deadline_ms` may be 0. REQUIRES: there is no member of this name.
  void Add(std::string_view name, std::optional<std::string_view> value, uint64_t deadline_ms);
  // Sets a value. Returns true if the member is new. The member loses its deadline, unless `keep_deadline`.
  bool Set(std::string_view name, std::string_view value, bool keep_deadline);
  // Adds a member without a value. Returns false, and changes nothing, if the member exists.
  bool Include(std::string_view name);
  // As Include, with a deadline. An existing member gets the deadline as well, unless `keep_deadline`.
  // REQUIRES: deadline_ms is not 0.
  bool IncludeUntil(std::string_view name, uint64_t deadline_ms, bool keep_deadline);
  // Returns false if there is no such member.
  bool Remove(std::string_view name) noexcept;
  void Remove(Member& member) noexcept;

  static uint64_t DeadlineOf(const Member& member) noexcept {
    return member.timed() ? member.deadline_ms() : 0;
  }
  // The member is invalid afterwards. REQUIRES: deadline_ms is not 0, and is not reached yet.
  void SetDeadline(Member& member, uint64_t deadline_ms);
  // REQUIRES: the member has a deadline.
  void ClearDeadline(Member& member) noexcept;
  // The nearest deadline, also of members that are gone; kNever if no member has a deadline.
  uint64_t nearest_ms() const noexcept { return deadlines_.Nearest(); }
  bool AllDue(uint64_t now_ms) const noexcept {
    return size() == deadlines_.size() && deadlines_.CountUntil(now_ms) == size();
  }
  // Makes members with a deadline up to `ms` gone from now on. Frees at most `budget` of them. Returns the number of freed
  // members.
  size_t DropUntil(uint64_t ms, size_t budget, NameListener* listener) noexcept;

  // Calls fn(Member&) for each member. REQUIRES: fn does not add, change or remove a member.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    members_.ForEach([&](Member& member) {
      if (!IsGone(member)) fn(member);
    });
  }
  // As Keyspace::Scan. REQUIRES: as ForEach.
  template <typename Fn>
  uint64_t Scan(uint64_t cursor, Fn&& fn) const {
    return members_.Scan(cursor, [&](Member& member) {
      if (!IsGone(member)) fn(member);
    });
  }
  // REQUIRES: live() != 0.
  template <typename Rng>
  Member& Random(Rng& random) const {
    for (;;) {
      Member& member = *members_.Random(random);
      if (!IsGone(member)) return member;
    }
  }
  // Calls fn(Member&) with `count` random members, which may repeat. O(count), and O(size()) once more if most members are gone.
  // Throws std::bad_alloc. REQUIRES: as Random; fn does not add, change or remove a member.
  template <typename Rng, typename Fn>
  void Draw(Rng& random, uint64_t count, Fn&& fn) const {
    if (count <= 1 || gone() <= live()) {
      for (; count != 0; --count) fn(Random(random));
      return;
    }
    std::vector<Member*> members;
    members.reserve(live());
    ForEach([&](Member& member) { members.push_back(&member); });
    for (; count != 0; --count) fn(*members[random() % members.size()]);
  }

  // The members for a walk, as ForEach would show them at `now_ms`. O(log n).
  MemberTable TableAt(uint64_t now_ms) noexcept;
  ValueListener* listener() const noexcept { return members_.listener(); }

  // As RichValue::FreeSome.
  bool FreeSome(size_t budget) noexcept { return deadlines_.FreeSome(budget) && members_.FreeSome(budget); }
  RichValue** burial_link() noexcept { return &buried_before_; }
  // Reads every member; for tests.
  bool Validate() const noexcept;

 private:
  bool IsGone(const Member& member) const noexcept {
    const uint64_t deadline_ms = DeadlineOf(member);
    return deadline_ms != 0 && deadline_ms <= gone_until_ms_;
  }
  size_t gone() const noexcept { return deadlines_.CountUntil(gone_until_ms_); }
  void AddHashed(MemberParts parts, uint64_t deadline_ms, uint64_t hash);
  // A future deadline was set. Since the last DropUntil the clock may have been set back, or replaced by another clock.
  void ComesStill(uint64_t deadline_ms) noexcept {
    gone_until_ms_ = std::min(gone_until_ms_, deadline_ms - 1);
  }

  Members members_;
  MemberDeadlines deadlines_;
  uint64_t gone_until_ms_ = 0;
  RichValue* buried_before_ = nullptr;
};

}  // namespace mayfly

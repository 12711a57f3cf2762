// The fields of a large hash: found by name, and those that have a deadline also by it.
//
// Fields whose deadline is not after gone_until_ms are gone: every method but size() acts as if they were not there.
// DropUntil frees them, in slices if they are many. The deadline of a field is in its member; 0 means that it has
// none any more.
//
// Invariants (Validate): `deadlines_` has exactly the members with a deadline. Owns its members. If memory runs out, a
// method throws std::bad_alloc and has changed nothing. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "cache/types/member_deadlines.h"
#include "cache/types/members.h"

namespace mayfly {

class RichValue;

class LargeHash {
 public:
  static constexpr uint64_t kNever = MemberDeadlines::kNone;

  explicit LargeHash(MemberHome home) noexcept : fields_(home), deadlines_(home.heap) {}
  std::unique_ptr<LargeHash> Clone() const;

  // All fields, also those that are gone.
  size_t size() const noexcept { return fields_.size(); }
  size_t live() const noexcept { return size() - gone(); }
  // Of this object and all it owns.
  uint64_t bytes() const noexcept {
    return Heap::SizeClass(sizeof *this) + fields_.bytes() + deadlines_.bytes();
  }

  // The field, or null.
  Member* Find(std::string_view field) const noexcept {
    Member* const member = fields_.Find(field);
    return member != nullptr && !IsGone(*member) ? member : nullptr;
  }
  // Returns whether the field is new. It loses its deadline, unless `keep_deadline`.
  bool Set(std::string_view field, std::string_view value, bool keep_deadline);
  // Adds a field that is not there; `deadline_ms` may be 0.
  void Add(std::string_view field, std::string_view value, uint64_t deadline_ms);
  // False if there is no such field.
  bool Remove(std::string_view field) noexcept;

  static uint64_t DeadlineOf(const Member& member) noexcept {
    return member.timed() ? member.deadline_ms() : 0;
  }
  // The member is invalid afterwards. REQUIRES: deadline_ms is not 0.
  void SetDeadline(Member& member, uint64_t deadline_ms);
  // REQUIRES: the member has a deadline.
  void ClearDeadline(Member& member) noexcept;
  // kNever if no field has a deadline. Also of fields that are gone.
  uint64_t nearest_ms() const noexcept { return deadlines_.Nearest(); }
  bool AllDue(uint64_t now_ms) const noexcept {
    return size() == deadlines_.size() && deadlines_.CountUntil(now_ms) == size();
  }
  // From now on, fields with a deadline up to `ms` are gone. Frees at most `budget` of them. Returns how many.
  size_t DropUntil(uint64_t ms, size_t budget) noexcept;
  // Calls fn(const Member&) for each field.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    fields_.ForEach([&](const Member& member) {
      if (!IsGone(member)) fn(member);
    });
  }
  // As Keyspace::Scan.
  template <typename Fn>
  uint64_t Scan(uint64_t cursor, Fn&& fn) const {
    return fields_.Scan(cursor, [&](const Member& member) {
      if (!IsGone(member)) fn(member);
    });
  }
  // REQUIRES: live() != 0.
  template <typename Rng>
  const Member& Random(Rng& random) const {
    for (;;) {
      const Member& member = *fields_.Random(random);
      if (!IsGone(member)) return member;
    }
  }

  // As RichValue::FreeSome.
  bool FreeSome(size_t budget) noexcept { return deadlines_.FreeSome(budget) && fields_.FreeSome(budget); }
  RichValue** burial_link() noexcept { return &buried_before_; }
  // Reads every field; for tests.
  bool Validate() const noexcept;

 private:
  bool IsGone(const Member& member) const noexcept {
    const uint64_t deadline_ms = DeadlineOf(member);
    return deadline_ms != 0 && deadline_ms <= gone_until_ms_;
  }
  size_t gone() const noexcept { return deadlines_.CountUntil(gone_until_ms_); }

  Members fields_;
  MemberDeadlines deadlines_;
  uint64_t gone_until_ms_ = 0;
  RichValue* buried_before_ = nullptr;
};

}  // namespace mayfly

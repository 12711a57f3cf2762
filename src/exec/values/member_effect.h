// What a request has done to the deadlines of members, as commands for replicas.
//
//   HPEXPIREAT key ms FIELDS n field ...      SPEXPIREAT key ms MEMBERS n member ...     they have this deadline
//   HPERSIST key FIELDS n field ...           SPERSIST key MEMBERS n member ...          they have none any more
//   HDEL key field ...                        SREM key member ...                        their deadline was over
//
// A sorted set has PEXPIREMEMBERAT key member ms, for a single member, and ZREM.
//
// Keeps nothing, at no cost, if nobody wants it. Without memory there is no effect, and replicas get the whole value. Loop thread
// only.
#pragma once

#include <cassert>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "cache/changes/change.h"
#include "cache/entry/expiry.h"
#include "cache/entry/rich_value.h"

namespace mayfly {

class MemberEffect {
 public:
  // `wanted`: ChangeHub::WantsEffects.
  MemberEffect(bool wanted, ValueType type) noexcept : wanted_(wanted), type_(type) {}
  MemberEffect(const MemberEffect&) = delete;
  MemberEffect& operator=(const MemberEffect&) = delete;

  // A member that the request has changed. Borrows the name.
  void Add(std::string_view name) noexcept {
    if (!wanted_) return;
    try {
      if (words_.empty()) words_.resize(kBefore);
      words_.push_back(name);
    } catch (const std::bad_alloc&) {
      wanted_ = false;
    }
  }
  // The event, which tells of that. Valid while this object lives.
  Event TellRemoved(const Event& event) noexcept {
    if (!any()) return event;
    effect_ = {.command = RemovalOf(type_), .arguments = From(kBefore)};
    return event.With(effect_);
  }
  // REQUIRES: not of a sorted set.
  Event TellPersisted(const Event& event) noexcept {
    if (!Number()) return event;
    effect_ = {.command = is_hash() ? "HPERSIST" : "SPERSIST", .arguments = From(1), .of_deadlines = true};
    return event.With(effect_);
  }
  // `added`: members of a set that were added first; mostly none. REQUIRES: of a sorted set one member was changed.
  Event TellDeadline(const Event& event, Expiry deadline, Now now,
                     std::span<const std::string_view> added = {}) noexcept {
    if (!Number()) return event;
    try {
      deadline_ = std::to_string(deadline.On(Expiry::Kind::kWall, now));
      if (type_ == ValueType::kSortedSet) words_.push_back(deadline_);
    } catch (const std::bad_alloc&) {
      return event;
    }
    if (type_ == ValueType::kSortedSet) {
      assert(words_.size() == kBefore + 2);
      effect_ = {.command = "PEXPIREMEMBERAT", .arguments = From(kBefore), .of_deadlines = true};
      return event.With(effect_);
    }
    words_[0] = deadline_;
    effect_ = {
        .command = is_hash() ? "HPEXPIREAT" : "SPEXPIREAT", .arguments = From(0), .of_deadlines = true};
    addition_ = {.command = "SADD", .arguments = added, .next = &effect_};
    return event.With(added.empty() ? effect_ : addition_);
  }

 private:
  static constexpr size_t kBefore = 3;  // the deadline, FIELDS or MEMBERS, the number

  static constexpr std::string_view RemovalOf(ValueType type) noexcept {
    return type == ValueType::kHash ? "HDEL" : type == ValueType::kSet ? "SREM" : "ZREM";
  }
  bool is_hash() const noexcept { return type_ == ValueType::kHash; }
  bool any() const noexcept { return wanted_ && !words_.empty(); }
  std::span<const std::string_view> From(size_t word) const noexcept {
    return std::span<const std::string_view>(words_).subspan(word);
  }
  // Fills in what precedes the names, but for the deadline.
  bool Number() noexcept {
    if (!any()) return false;
    try {
      number_ = std::to_string(words_.size() - kBefore);
    } catch (const std::bad_alloc&) {
      return false;
    }
    words_[1] = is_hash() ? "FIELDS" : "MEMBERS";
    words_[2] = number_;
    return true;
  }

  bool wanted_;
  const ValueType type_;
  std::string number_;
  std::string deadline_;
  std::vector<std::string_view> words_;
  Effect effect_{};
  Effect addition_{};
};

}  // namespace mayfly

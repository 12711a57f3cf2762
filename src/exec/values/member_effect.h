// What a request has done to the deadlines of members, as commands for replicas.
//
//   HPEXPIREAT key ms FIELDS n field ...      SPEXPIREAT key ms MEMBERS n member ...     they have this deadline
//   HPERSIST key FIELDS n field ...           SPERSIST key MEMBERS n member ...          they have none any more
//   HDEL key field ...                        SREM key member ...                        their deadline was over
//
// Keeps nothing, at no cost, if nobody wants it. Without memory there is no effect, and replicas get the whole value. For hashes and
// sets. Loop thread only.
#pragma once

#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "cache/entry/expiry.h"
#include "cache/entry/rich_value.h"
#include "cache/keyspace/change.h"

namespace mayfly {

class MemberEffect {
 public:
  // `wanted`: ChangeHub::WantsEffects.
  MemberEffect(bool wanted, ValueType type) noexcept : wanted_(wanted), hash_(type == ValueType::kHash) {}
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
    effect_ = {.command = hash_ ? "HDEL" : "SREM", .arguments = From(kBefore)};
    return event.With(effect_);
  }
  Event TellPersisted(const Event& event) noexcept {
    if (!Number()) return event;
    effect_ = {.command = hash_ ? "HPERSIST" : "SPERSIST", .arguments = From(1), .of_deadlines = true};
    return event.With(effect_);
  }
  // `added`: members of a set that were added first; mostly none.
  Event TellDeadline(const Event& event, Expiry deadline, Now now,
                     std::span<const std::string_view> added = {}) noexcept {
    if (!Number()) return event;
    try {
      deadline_ = std::to_string(deadline.On(Expiry::Kind::kWall, now));
    } catch (const std::bad_alloc&) {
      return event;
    }
    words_[0] = deadline_;
    effect_ = {.command = hash_ ? "HPEXPIREAT" : "SPEXPIREAT", .arguments = From(0), .of_deadlines = true};
    addition_ = {.command = "SADD", .arguments = added, .next = &effect_};
    return event.With(added.empty() ? effect_ : addition_);
  }

 private:
  static constexpr size_t kBefore = 3;  // the deadline, FIELDS or MEMBERS, the number

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
    words_[1] = hash_ ? "FIELDS" : "MEMBERS";
    words_[2] = number_;
    return true;
  }

  bool wanted_;
  const bool hash_;
  std::string number_;
  std::string deadline_;
  std::vector<std::string_view> words_;
  Effect effect_{};
  Effect addition_{};
};

}  // namespace mayfly

// A value whose members have deadlines, for tests: members are numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "cache/entry/rich_value.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {

class TimedValue final : public RichValue {
 public:
  static constexpr uint64_t kMemberBytes = 16;

  // All members' deadlines are on this clock.
  explicit TimedValue(Expiry::Kind clock) noexcept : RichValue(ValueType::kHash), clock_(clock) {}

  std::string_view EncodingName() const noexcept override { return "timed"; }
  size_t Size() const noexcept override { return members_.size(); }
  uint64_t Bytes() const noexcept override { return kMemberBytes * members_.size(); }
  std::unique_ptr<RichValue> Clone() const override {
    auto copy = std::make_unique<TimedValue>(clock_);
    copy->members_ = members_;
    return copy;
  }
  bool FreeSome(size_t budget) noexcept override {
    for (; budget != 0 && !members_.empty(); --budget) members_.erase(members_.begin());
    return members_.empty();
  }
  void ForEachMember(MemberVisitor& visitor) const override {
    for (const auto& [member, deadline_ms] : members_) {
      const std::string text = std::to_string(member);
      const std::string_view parts[] = {text};
      visitor.Visit(parts);
    }
  }
  Expiry NextDeadline() const noexcept override {
    uint64_t nearest = kLasting;
    for (const auto& [member, deadline_ms] : members_) nearest = std::min(nearest, deadline_ms);
    return nearest == kLasting ? Expiry::Never() : Expiry{clock_, nearest};
  }
  bool AllDue(Now now) const noexcept override {
    return !members_.empty() && std::all_of(members_.begin(), members_.end(), [&](const auto& member) {
      return member.second != kLasting && Expiry{clock_, member.second}.Reached(now);
    });
  }
  size_t DropDue(Now now, size_t budget, NameListener* /*listener*/) noexcept override {
    size_t dropped = 0;
    for (; dropped < budget && NextDeadline().Reached(now); ++dropped) {
      const uint64_t nearest = NextDeadline().deadline_ms;
      members_.erase(std::find_if(members_.begin(), members_.end(),
                                  [&](const auto& member) { return member.second == nearest; }));
    }
    return dropped;
  }

  Expiry::Kind clock() const noexcept { return clock_; }
  void Set(int member, uint64_t deadline_ms = kLasting) { members_[member] = deadline_ms; }
  void Drop(int member) { members_.erase(member); }
  const std::map<int, uint64_t>& members() const noexcept { return members_; }

  static constexpr uint64_t kLasting = UINT64_MAX;

 private:
  Expiry::Kind clock_;
  std::map<int, uint64_t> members_;
};

class TimedValueFixture : public KeyspaceFixture {
 public:
  // Gives the key an empty value, and the caller members to add by Edit.
  Entry* SetTimed(std::string_view key, Expiry expiry = Expiry::Never(),
                  Expiry::Kind members_clock = Expiry::Kind::kRelative) {
    auto* value = new TimedValue(members_clock);
    char pointer[sizeof value];
    std::memcpy(pointer, &value, sizeof value);
    const Key hashed = db().KeyOf(key);
    Entry* entry = db().Put(hashed, db().Peek(hashed, now()), StringValue::Edited({pointer, sizeof pointer}),
                            expiry, now());
    entry->set_encoding(Encoding::kRich);
    return entry;
  }
  TimedValue& ValueOf(const Entry& entry) { return *static_cast<TimedValue*>(entry.rich()); }
  // Calls change(TimedValue&) as a command does that may change members' deadlines. Returns the entry.
  template <typename Change>
  Entry* Edit(std::string_view key, Change&& change) {
    const Key hashed = db().KeyOf(key);
    Entry* entry = db().RoomForOwnTime(hashed, *Peek(key), now());
    return db().EditRich<TimedValue>(hashed, *entry, now(), events::kSet, [&](TimedValue& value) {
      change(value);
      return true;
    });
  }
  size_t MembersOf(std::string_view key) {
    const Entry* entry = Peek(key);
    return entry == nullptr ? 0 : ValueOf(*entry).Size();
  }
  uint64_t InMs(uint64_t ms) { return now().mono_ms + ms; }
  uint64_t WallInMs(uint64_t ms) { return static_cast<uint64_t>(now().wall_ms) + ms; }
};

}  // namespace mayfly

// One input of ZUNION, ZINTER and ZDIFF: a sorted set, or a set with the score 1 for each member.
//
// Borrows the value; the caller drops the due members before. Invalid after any change.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "cache/entry/entry.h"
#include "cache/types/set_value.h"
#include "cache/types/sorted_set_value.h"

namespace mayfly {

class MemberSource {
 public:
  // True if this value can be an input.
  static bool Accepts(const Entry& entry) noexcept {
    if (entry.encoding() != Encoding::kRich) return false;
    const ValueType type = entry.rich()->type;
    return type == ValueType::kSortedSet || type == ValueType::kSet;
  }

  // An absent key: no members.
  MemberSource() noexcept = default;
  // REQUIRES: Accepts(entry).
  explicit MemberSource(const Entry& entry) noexcept : value_(entry.rich()) {}

  size_t Size() const noexcept {
    if (value_ == nullptr) return 0;
    return value_->type == ValueType::kSet ? static_cast<const SetValue*>(value_)->Live()
                                           : static_cast<const SortedSetValue*>(value_)->Live();
  }
  std::optional<double> ScoreOf(std::string_view name) const noexcept {
    if (value_ == nullptr) return std::nullopt;
    if (value_->type == ValueType::kSet)
      return static_cast<const SetValue*>(value_)->Contains(name) ? std::optional(1.0) : std::nullopt;
    return static_cast<const SortedSetValue*>(value_)->ScoreOf(name);
  }
  // Calls fn(name, score) for each member until fn returns false.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    if (value_ == nullptr) return;
    if (value_->type == ValueType::kSet) {
      bool goes_on = true;
      return static_cast<const SetValue*>(value_)->ForEach(
          [&](std::string_view name) { goes_on = goes_on && fn(name, 1.0); });
    }
    SortedSetValue::Cursor at = static_cast<const SortedSetValue*>(value_)->At(0);
    while (at && fn(at.name(), at.score())) at.Next();
  }

 private:
  const RichValue* value_ = nullptr;
};

}  // namespace mayfly

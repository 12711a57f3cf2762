// A rich value for tests: texts in the order in which they came.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/entry/rich_value.h"

namespace mayfly::testing {

class Bag final : public RichValue {
 public:
  static constexpr ValueType kType = ValueType::kList;
  // What each of them counts as, so that sums are exact.
  static constexpr uint64_t kOwnBytes = 100;
  static constexpr uint64_t kBytesPerText = 50;

  Bag() : RichValue(kType) {}
  // As a value of another type, a member may have several texts.
  explicit Bag(std::list<std::string> texts, ValueType as = kType, size_t texts_per_member = 1)
      : RichValue(as), texts_per_member_(texts_per_member), texts_(std::move(texts)) {}
  // A bag of this many texts.
  static std::unique_ptr<Bag> Of(size_t count) {
    auto bag = std::make_unique<Bag>();
    for (size_t i = 0; i < count; ++i) bag->Add("text " + std::to_string(i));
    return bag;
  }

  std::string_view EncodingName() const noexcept override { return "bag"; }
  size_t Size() const noexcept override { return texts_.size(); }
  uint64_t Bytes() const noexcept override { return kOwnBytes + kBytesPerText * texts_.size(); }
  std::unique_ptr<RichValue> Clone() const override {
    return std::make_unique<Bag>(texts_, type, texts_per_member_);
  }
  bool FreeSome(size_t budget) noexcept override {
    for (; budget != 0 && !texts_.empty(); --budget) texts_.pop_back();
    return texts_.empty();
  }
  // From kLarge texts on it is freed in slices.
  static constexpr size_t kLarge = 64;
  RichValue** BurialLink() noexcept override {
    large_ = large_ || texts_.size() >= kLarge;
    return large_ ? &buried_before_ : nullptr;
  }
  void ForEachMember(MemberVisitor& visitor) const override {
    std::vector<std::string_view> parts;
    for (const std::string& text : texts_) {
      parts.push_back(text);
      if (parts.size() == texts_per_member_) visitor.Visit(std::exchange(parts, {}));
    }
  }

  void Add(std::string text) { texts_.push_back(std::move(text)); }
  // False if there is none.
  bool TakeLast() {
    if (texts_.empty()) return false;
    texts_.pop_back();
    return true;
  }
  const std::list<std::string>& texts() const noexcept { return texts_; }

 private:
  size_t texts_per_member_ = 1;
  std::list<std::string> texts_;
  bool large_ = false;
  RichValue* buried_before_ = nullptr;
};

}  // namespace mayfly::testing

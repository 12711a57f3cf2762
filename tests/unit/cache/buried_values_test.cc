#include "cache/gone/buried_values.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "cache/entry/rich_value.h"
#include "support/catch.h"

namespace mayfly {
namespace {

// As a large sorted set: an index that is freed before the members.
class Indexed final : public RichValue {
 public:
  Indexed(size_t members, size_t& most_at_once)
      : RichValue(ValueType::kSortedSet), index_(members), members_(members), most_at_once_(most_at_once) {}

  std::string_view EncodingName() const noexcept override { return "indexed"; }
  size_t Size() const noexcept override { return members_; }
  uint64_t Bytes() const noexcept override { return index_ + members_; }
  std::unique_ptr<RichValue> Clone() const override { return nullptr; }
  void ForEachMember(MemberVisitor&) const override {}
  RichValue** BurialLink() noexcept override { return &buried_before_; }
  bool FreeSome(size_t budget) noexcept override {
    for (size_t* part : {&index_, &members_}) {
      const size_t freed = std::min(*part, budget);
      *part -= freed;
      budget -= freed;
      done_ += freed;
    }
    return members_ == 0;
  }
  // What was freed since the last call.
  void Note() { most_at_once_ = std::max(most_at_once_, std::exchange(done_, 0)); }

 private:
  size_t index_;
  size_t members_;
  size_t done_ = 0;
  size_t& most_at_once_;
  RichValue* buried_before_ = nullptr;
};

}  // namespace

TEST_CASE("a value whose members are freed last is freed in steps of the budget, too") {
  constexpr size_t kBudget = 10;
  BuriedValues buried;
  size_t most = 0;
  auto value = std::make_unique<Indexed>(1000, most);
  Indexed& seen = *value;
  buried.Bury(std::move(value));
  CHECK(buried.bytes() == 2000);
  for (size_t steps = 1; steps < 2 * 1000 / kBudget; ++steps) {
    CHECK(buried.FreeSome(kBudget) == 0);
    seen.Note();
    REQUIRE(buried.bytes() == 2000 - steps * kBudget);
  }
  CHECK(most == kBudget);
  buried.FreeSome(kBudget);
  CHECK(buried.empty());
  CHECK(buried.bytes() == 0);
}

}  // namespace mayfly

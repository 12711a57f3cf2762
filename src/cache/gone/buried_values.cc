#include "cache/gone/buried_values.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "cache/entry/value_listener.h"

namespace mayfly {

BuriedValues::~BuriedValues() {
  while (!empty()) FreeSome(SIZE_MAX);
}

void BuriedValues::Bury(std::unique_ptr<RichValue> value) noexcept {
  if (ValueListener* const listener = value->listener()) return listener->Keep(std::move(value));
  RichValue** const link = value->BurialLink();
  if (link == nullptr) return;
  bytes_ += value->Bytes();
  ++size_;
  *link = last_;
  last_ = value.release();
}

size_t BuriedValues::FreeSome(size_t budget) noexcept {
  while (budget != 0 && last_ != nullptr) {
    const size_t members = last_->Size();
    const uint64_t bytes = last_->Bytes();
    RichValue* const before = *last_->BurialLink();
    const bool freed = last_->FreeSome(budget);
    bytes_ -= freed ? bytes : bytes - last_->Bytes();
    if (!freed) return 0;
    budget -= std::min(budget, members + 1);
    const std::unique_ptr<RichValue> done(std::exchange(last_, before));
    --size_;
  }
  return budget;
}

}  // namespace mayfly

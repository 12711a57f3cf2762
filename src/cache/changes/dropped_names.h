// The names of members that go from a value, by SPOP or at their deadlines, as a command for replicas: HDEL, SREM or ZREM.
//
// Keeps nothing, at no cost, if nobody wants it. If memory runs out, the event has no effect, and replicas get the whole value.
// Loop thread only.
#pragma once

#include <deque>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cache/changes/change.h"
#include "cache/entry/name_listener.h"
#include "cache/entry/rich_value.h"

namespace mayfly {

class DroppedNames final : public NameListener {
 public:
  // `wanted`: ChangeHub::WantsEffects.
  explicit DroppedNames(bool wanted) noexcept : wanted_(wanted) {}

  // For the value that drops them; null: nobody wants them.
  NameListener* listener() noexcept { return wanted_ ? this : nullptr; }
  void Take(std::string_view name) noexcept override {
    if (!wanted_) return;
    try {
      if (kept_ == nullptr) kept_ = std::make_unique<Kept>();
      kept_->views.push_back(kept_->names.emplace_back(name));
    } catch (const std::bad_alloc&) {
      wanted_ = false;
    }
  }
  // The event, which tells of them. Valid while this object lives.
  Event Tell(const Event& event, ValueType type) noexcept {
    if (!wanted_ || kept_ == nullptr) return event;
    effect_ = {.command = CommandFor(type), .arguments = kept_->views};
    return event.With(effect_);
  }

 private:
  struct Kept {
    std::deque<std::string> names;
    std::vector<std::string_view> views;
  };

  static std::string_view CommandFor(ValueType type) noexcept {
    if (type == ValueType::kHash) return "HDEL";
    return type == ValueType::kSet ? "SREM" : "ZREM";
  }

  bool wanted_;
  std::unique_ptr<Kept> kept_;  // null: none yet
  Effect effect_{};
};

}  // namespace mayfly

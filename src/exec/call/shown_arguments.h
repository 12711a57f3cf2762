// A call's arguments for SLOWLOG and MONITOR: without secrets.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "exec/call/command_table.h"

namespace mayfly {

class ShownArguments {
 public:
  static constexpr std::string_view kHidden = "(redacted)";

  // Borrows the arguments. Throws std::bad_alloc.
  ShownArguments(const TableRow& row, std::span<const std::string_view> call) : shown_(call) {
    const auto is_secret = row.command->is_secret;
    if (is_secret == nullptr) return;
    masked_.assign(call.begin(), call.end());
    for (size_t i = 1; i < call.size(); ++i) {
      if (is_secret(call, i)) masked_[i] = kHidden;
    }
    shown_ = masked_;
  }
  ShownArguments(const ShownArguments&) = delete;
  ShownArguments& operator=(const ShownArguments&) = delete;

  std::span<const std::string_view> all() const noexcept { return shown_; }

 private:
  std::vector<std::string_view> masked_;
  std::span<const std::string_view> shown_;
};

}  // namespace mayfly

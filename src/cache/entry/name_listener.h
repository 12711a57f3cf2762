// Hears the names of members that a value drops.
#pragma once

#include <string_view>

namespace mayfly {

class NameListener {
 public:
  NameListener() = default;
  NameListener(const NameListener&) = delete;
  NameListener& operator=(const NameListener&) = delete;
  virtual ~NameListener() = default;
  // Valid during the call.
  virtual void Take(std::string_view name) noexcept = 0;
};

}  // namespace mayfly

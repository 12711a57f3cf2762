// Hears the names of members that a value drops.
#pragma once

#include <string_view>

namespace mayfly {

class NameEar {
 public:
  NameEar() = default;
  NameEar(const NameEar&) = delete;
  NameEar& operator=(const NameEar&) = delete;
  virtual ~NameEar() = default;
  // Valid during the call.
  virtual void Take(std::string_view name) noexcept = 0;
};

}  // namespace mayfly

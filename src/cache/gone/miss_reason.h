// The reasons why a requested key is absent.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mayfly {

enum class MissReason : uint8_t {
  kCold,         // the key never existed, or the ring has forgotten the key
  kExpired,      // at its deadline
  kEvicted,      // to free memory
  kDeleted,      // by a command, a flush included
  kInvalidated,  // by its tag
};
inline constexpr size_t kMissReasons = 5;

}  // namespace mayfly

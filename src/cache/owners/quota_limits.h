// The most that an owner may have of something.
#pragma once

#include <cstdint>

namespace mayfly {

// 0: no limit.
struct QuotaLimits {
  uint64_t bytes = 0;
  uint64_t keys = 0;
};

}  // namespace mayfly

// The names of the eviction policies. In base because config reads the option and cache applies it, and
// neither may include the other.
#pragma once

#include <cstdint>

namespace mayfly {

// In the order in which Redis lists them.
enum class EvictionPolicy : uint8_t {
  kVolatileLru,
  kVolatileLfu,
  kVolatileRandom,
  kVolatileTtl,
  kAllKeysLru,
  kAllKeysLfu,
  kAllKeysRandom,
  kAllKeysSieve,
  kNoEviction,
};

}  // namespace mayfly

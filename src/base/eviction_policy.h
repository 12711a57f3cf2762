// Which keys make room when memory is full: named here for config, where it is chosen, and cache, where it is
// done, since neither sees the other.
#pragma once

#include <cstdint>

namespace mayfly {

// In the order in which Redis tells the names.
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

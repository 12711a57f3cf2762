// The names of the eviction policies. In base because config reads the option and cache applies it, and neither may
// include the other.
#pragma once

#include <cstdint>

namespace mayfly {

// In the order in which Redis lists them; ours after those of their kind.
enum class EvictionPolicy : uint8_t {
  kVolatileLru,
  kVolatileLfu,
  kVolatileRandom,
  kVolatileTtl,
  kVolatileS3Fifo,
  kAllKeysLru,
  kAllKeysLfu,
  kAllKeysRandom,
  kAllKeysSieve,
  kAllKeysS3Fifo,
  kNoEviction,
};

}  // namespace mayfly

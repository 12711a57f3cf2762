// The names of the eviction policies. The enum lives in base because config reads the option and cache applies the policy,
// and neither floor includes the other.
#pragma once

#include <cstdint>

namespace mayfly {

// Redis's policies, in Redis's order. Mayfly's own policies follow the policies of the same kind.
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

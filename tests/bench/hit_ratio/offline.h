// Caches without a server, for a given number of keys: exact LRU, SIEVE as in its paper, and Belady's
// optimum.
#pragma once

#include <cstdint>
#include <memory>

#include "hit_ratio/replay.h"

namespace mayfly::bench {

// Every key's number is below `keys`. REQUIRES: capacity >= 1.
std::unique_ptr<Cache> MakeLru(uint32_t keys, uint32_t capacity);
std::unique_ptr<Cache> MakeSieve(uint32_t keys, uint32_t capacity);

// The fewest misses that are possible for a cache of `capacity` keys that stores every key it missed. It
// evicts the key whose next use is farthest ahead.
Count Belady(const Trace& trace, uint64_t warm_up, uint32_t capacity);

}  // namespace mayfly::bench

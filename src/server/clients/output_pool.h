// The limits on unread output, and on everything held by all clients together. Only the sizes, in bytes.
//
// Unread replies are memory outside maxmemory. Two sizes bound this memory, without an option:
//   - calm_bytes: above this size, the server throttles a client with more than its share of unread output, if the client
//     reads: the server does not read from the client until the client has caught up.
//   - most_bytes: above this size, clients are closed, the client with the most unread output first. Half of the memory
//     left by maxmemory, but at least 16 MB and at most maxmemory or 1 GiB, whichever is more.
//
// With the option maxmemory-clients, a third size bounds all memory held by clients (server/waiting/held_bytes.h):
//   - most_held_bytes: at this size, clients are closed, the client with the most memory first, but no client after
//     CLIENT NO-EVICT.
//
// A client that does not read at all is never throttled for long, because many client libraries write a whole pipeline
// before the first read: both sides would wait for ever. The output of such a client may grow to most_bytes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "config/settings.h"

namespace mayfly {

struct OutputPool {
  // The limit of a client before its login, rounded up to whole reply chunks. Enough for some hundred errors; Redis allows
  // about twice as much.
  static constexpr uint64_t kBeforeLoginBytes = 8 * 1024;

  uint64_t calm_bytes;
  uint64_t most_bytes;
  uint64_t most_held_bytes = config::ClientMemory::kNoLimit;

  // The first two sizes. `memory_bytes` is the memory that this process may use (Options::memory_bytes); 0 if unknown.
  static constexpr OutputPool Of(const config::MaxMemory& maxmemory, uint64_t memory_bytes) noexcept {
    constexpr uint64_t kMegabyte = uint64_t{1} << 20;
    constexpr uint64_t kAssumedMemory = 8192 * kMegabyte;
    const uint64_t memory = memory_bytes == 0 ? kAssumedMemory : memory_bytes;
    // Without maxmemory the size of the data is unknown: half of the memory is assumed.
    const uint64_t data = maxmemory.bytes == 0 ? memory / 2 : std::min(maxmemory.bytes, memory);
    const uint64_t most =
        std::clamp((memory - data) / 2, 16 * kMegabyte, std::max(maxmemory.bytes, 1024 * kMegabyte));
    return {.calm_bytes = std::clamp(data / 8, 8 * kMegabyte, std::min(most / 2, 1024 * kMegabyte)),
            .most_bytes = most};
  }
};

}  // namespace mayfly

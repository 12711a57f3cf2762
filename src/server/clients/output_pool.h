// The limits on unread output, and on everything held by all clients together. Only the sizes, in bytes.
//
// Replies that clients have not read are memory outside maxmemory. Two sizes bound them, which nobody has to set:
//   - calm_bytes: above it, a client that reads, and has more than its share of unread output, is throttled:
//     the server does not read from it until it has caught up.
//   - most_bytes: above it, clients are closed, the one with the most unread output first. Half of the memory
//     that maxmemory leaves, but at least 16 MB and at most maxmemory or 1 GiB, whichever is more.
//
// A third one bounds all that clients hold (server/waiting/held_bytes.h), if the option maxmemory-clients says so:
//   - most_held_bytes: where it is reached, clients are closed, the one that holds the most first, but none that has said
//     CLIENT NO-EVICT.
//
// A client that does not read at all is never throttled for long, because many client libraries write a whole
// pipeline before they read its first reply: both sides would wait for ever. Its output may grow to
// most_bytes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "config/settings.h"

namespace mayfly {

struct OutputPool {
  // The limit of a client that has not logged in, rounded up to whole reply chunks. Enough for some hundred
  // errors; Redis allows about twice as much.
  static constexpr uint64_t kBeforeLoginBytes = 8 * 1024;

  uint64_t calm_bytes;
  uint64_t most_bytes;
  uint64_t most_held_bytes = config::ClientMemory::kNoLimit;

  // The first two. `memory_bytes` is the memory that this process may use (Options::memory_bytes); 0 if unknown.
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

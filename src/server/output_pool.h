// How much unread output clients may hold: the sizes alone. Bytes.
//
// Replies that clients have not read are memory beside maxmemory. Two sizes bound them, all clients together:
//   calm_bytes  Above it, a client that has more than its own share to read, and reads, is not read from
//   until
//               it has caught up.
//   most_bytes  Above it, clients are closed, the one with the most unread output first. Half of the memory
//   that
//               maxmemory leaves, but on a large machine no more than maxmemory, or 1 GiB if that is more.
// A client that does not read at all is never held back for long: many client libraries write a whole
// pipeline before they read its first reply, so both sides would wait for ever. Its output may grow to
// most_bytes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "config/settings.h"

namespace mayfly {

struct OutputPool {
  // Of a client that has not logged in, at most (rounded up to whole reply chunks). Enough for some hundred
  // errors; Redis has about twice as much.
  static constexpr uint64_t kBeforeLoginBytes = 8 * 1024;

  uint64_t calm_bytes;
  uint64_t most_bytes;

  // `memory_bytes`: what this process may use (Options::memory_bytes); 0 if that is unknown.
  static constexpr OutputPool Of(const config::MaxMemory& maxmemory, uint64_t memory_bytes) noexcept {
    constexpr uint64_t kMegabyte = uint64_t{1} << 20;
    constexpr uint64_t kAssumedMemory = 8192 * kMegabyte;
    const uint64_t memory = memory_bytes == 0 ? kAssumedMemory : memory_bytes;
    // Without maxmemory nobody knows what the data will need: half of the memory is assumed.
    const uint64_t data = maxmemory.bytes == 0 ? memory / 2 : std::min(maxmemory.bytes, memory);
    const uint64_t most =
        std::clamp((memory - data) / 2, 16 * kMegabyte, std::max(maxmemory.bytes, 1024 * kMegabyte));
    return {.calm_bytes = std::clamp(data / 8, 8 * kMegabyte, std::min(most / 2, 1024 * kMegabyte)),
            .most_bytes = most};
  }
};

}  // namespace mayfly

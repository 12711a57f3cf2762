// Used memory, counted at the allocator, in the two pools that limits are set for. Two loads and a
// subtraction.
//
//   all    everything that the loop thread has allocated: entries, tables, libuv's, buffers
//   data   all, without client buffers (a slow reader must never evict a key), reply chunks that are kept for
//          the next client, and what a flush left waiting to be freed
#pragma once

#include <cstdint>

#include "cache/databases.h"
#include "server/stats.h"

namespace mayfly {

class MemoryMeter {
 public:
  MemoryMeter(Databases& databases, const Stats& stats) noexcept
      : databases_(databases), stats_(stats), at_start_(databases.heap().ThreadBytes()) {}

  uint64_t All() const noexcept { return databases_.heap().ThreadBytes(); }
  uint64_t Data() const noexcept {
    const uint64_t not_evictable = NotEvictable();
    const uint64_t all = All();
    return all > not_evictable ? all - not_evictable : 0;
  }
  // The part of All that is not Data.
  uint64_t NotEvictable() const noexcept {
    return stats_.client_bytes + stats_.spare_chunk_bytes + databases_.waiting_bytes();
  }
  uint64_t AtStart() const noexcept { return at_start_; }
  // Samples All() and returns the highest sample so far.
  uint64_t Peak() noexcept {
    if (All() > peak_) peak_ = All();
    return peak_;
  }
  void ResetPeak() noexcept { peak_ = All(); }

 private:
  Databases& databases_;
  const Stats& stats_;
  uint64_t at_start_;
  uint64_t peak_ = 0;
};

}  // namespace mayfly

// Keeps the resident memory of this process near used memory, and below the limit.
//
// maxmemory limits the memory of objects. Resident memory also includes pages kept by the allocator, and holes left by
// objects of other sizes than today's. When values change their size, either can reach half of maxmemory within a second,
// and the kernel kills the container. The guard therefore looks at the resident memory from time to time, by the bytes that
// went through the allocator:
//
//   0 ........ used ..... used + slack ............ low ........... high ...... limit_bytes
//                       |                         |                |
//     nothing to do     |   pages are given back  |  at once, and  |  keys with kLeastShare of maxmemory
//                       |   by another thread     |  keys have to  |  may stay
//                       |                         |  go, the more  |
//                       |                         |  the nearer    |
//
// Between low and high the usable share of maxmemory falls from the whole to kLeastShare. The equilibrium depends on the
// part of holes in memory: only the eviction of the neighbouring objects gives holes back. Without a known limit only pages
// are given back.
//
// Loop thread only. Units: bytes.
#pragma once

#include <cstdint>

#include "server/figures/process_memory.h"

namespace mayfly {

class ResidentGuard {
 public:
  static constexpr uint64_t kWhole = 1024;  // shares are parts of kWhole
  static constexpr uint64_t kLeastShare = kWhole / 16;

  // Borrows `memory`; null: never anything to do. `limit_bytes` is the most memory of this process (MemoryLimit::Smaller), 0
  // if unknown.
  ResidentGuard(ProcessMemory* memory, uint64_t limit_bytes) noexcept;
  // Sets a new limit for the process.
  void SetLimit(uint64_t limit_bytes) noexcept;

  // True if the next look is due. `churned` only rises (Heap::ChurnedBytes).
  bool Due(uint64_t churned) const noexcept { return memory_ != nullptr && churned - looked_at_ >= step_; }
  void Look(uint64_t churned, uint64_t used, uint64_t maxmemory) noexcept;
  // Called at the end of each turn: after much churn, pages that stay unused are given back. After less churn the allocator
  // itself gives pages back now and then while working. Returns true after much churn.
  bool EndTurn(uint64_t churned) noexcept {
    constexpr uint64_t kMuch = 8 << 20;
    if (churned - tended_at_ < kMuch || memory_ == nullptr) [[likely]]
      return false;
    tended_at_ = churned;
    memory_->PurgeOld();
    return true;
  }

  // The currently usable part of `maxmemory`.
  uint64_t Allowed(uint64_t maxmemory) const noexcept {
    return share_ == kWhole ? maxmemory : maxmemory / kWhole * share_;
  }
  // True if keys have to go although less than maxmemory is used.
  bool pressed() const noexcept { return share_ != kWhole; }

 private:
  uint64_t ShareAt(uint64_t resident) const noexcept;

  ProcessMemory* const memory_;
  uint64_t low_;
  uint64_t high_;
  uint64_t looked_at_ = 0;  // `churned` at the last look
  uint64_t tended_at_ = 0;  // `churned` at the last PurgeOld
  uint64_t step_;           // until the next look
  uint64_t share_ = kWhole;
};

}  // namespace mayfly

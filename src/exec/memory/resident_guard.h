// Keeps the resident memory of this process near used memory, and below the limit.
//
// maxmemory limits what objects take. Resident are also the pages that the allocator keeps for later, and the
// holes that objects leave which were smaller or larger than those of today. When values change their size,
// either can reach half of maxmemory within a second, and a container is killed for it. So we look once in a
// while, by the bytes that went through the allocator:
//
//   0 ........ used ..... used + slack ............ low ........... high ...... limit_bytes
//                       |                         |                |
//     nothing to do     |   pages are given back  |  at once, and  |  keys that take kLeastShare of maxmemory
//                       |   by another thread     |  keys have to  |  may stay
//                       |                         |  go, the more  |
//                       |                         |  the nearer    |
//
// Between low and high the share of maxmemory that may be used falls from all of it to kLeastShare. Where it
// settles depends on how much of the memory are holes: only the eviction of the objects around them gives
// those back. Without a known limit only pages are given back.
//
// Loop thread only. Units: bytes.
#pragma once

#include <cstdint>

#include "server/figures/process_memory.h"

namespace mayfly {

class ResidentGuard {
 public:
  static constexpr uint64_t kWhole = 1024;  // shares are parts of this
  static constexpr uint64_t kLeastShare = kWhole / 16;

  // Borrows `memory`; null: there is never anything to do. `limit_bytes` is what this process may have at
  // most (MemoryLimit::Smaller), 0 where that is unknown.
  ResidentGuard(ProcessMemory* memory, uint64_t limit_bytes) noexcept;
  // The process may have that much from now on.
  void SetLimit(uint64_t limit_bytes) noexcept;

  // Whether it is time to look. `churned` only rises (Heap::ChurnedBytes).
  bool Due(uint64_t churned) const noexcept { return memory_ != nullptr && churned - looked_at_ >= step_; }
  void Look(uint64_t churned, uint64_t used, uint64_t maxmemory) noexcept;
  // At the end of each turn: if much was churned since, pages that stay unused are given back. Less than that is left
  // to the allocator, which gives pages back now and then while it works. Returns whether it was much.
  bool EndTurn(uint64_t churned) noexcept {
    constexpr uint64_t kMuch = 8 << 20;
    if (churned - tended_at_ < kMuch || memory_ == nullptr) [[likely]]
      return false;
    tended_at_ = churned;
    memory_->PurgeOld();
    return true;
  }

  // The part of `maxmemory` that may be used by now.
  uint64_t Allowed(uint64_t maxmemory) const noexcept {
    return share_ == kWhole ? maxmemory : maxmemory / kWhole * share_;
  }
  // Whether keys have to go though less than maxmemory is used.
  bool pressed() const noexcept { return share_ != kWhole; }

 private:
  uint64_t ShareAt(uint64_t resident) const noexcept;

  ProcessMemory* const memory_;
  uint64_t low_;
  uint64_t high_;
  uint64_t looked_at_ = 0;  // `churned` then
  uint64_t tended_at_ = 0;  // likewise
  uint64_t step_;           // until the next look
  uint64_t share_ = kWhole;
};

}  // namespace mayfly

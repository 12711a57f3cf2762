#include "exec/memory/resident_guard.h"

#include <algorithm>

namespace mayfly {
namespace {

constexpr uint64_t kMegabyte = 1 << 20;
// The bytes through the allocator between two looks; in this time memory grows by half of these bytes at most.
constexpr uint64_t kStepMin = 2 * kMegabyte;
constexpr uint64_t kStepMax = 16 * kMegabyte;
constexpr uint64_t kStepShare = 64;
// Program, allocator and kernel take some megabytes; and pages kept for later save time.
constexpr uint64_t kSlackMin = 12 * kMegabyte;
constexpr uint64_t kSlackMax = 1024 * kMegabyte;
constexpr uint64_t kSlackShare = 8;
// Percents of the limit; the kernel's page tables and sockets need the rest.
constexpr uint64_t kLowPercent = 90;
constexpr uint64_t kHighPercent = 97;

}  // namespace

ResidentGuard::ResidentGuard(ProcessMemory* memory, uint64_t limit_bytes) noexcept
    : memory_(memory), step_(kStepMin) {
  SetLimit(limit_bytes);
}

// Makes the next write look at the resident memory, without waiting for another step.
void ResidentGuard::SetLimit(uint64_t limit_bytes) noexcept {
  low_ = limit_bytes == 0 ? UINT64_MAX : limit_bytes / 100 * kLowPercent;
  high_ = limit_bytes == 0 ? UINT64_MAX : limit_bytes / 100 * kHighPercent;
  step_ = kStepMin;
}

void ResidentGuard::Look(uint64_t churned, uint64_t used, uint64_t maxmemory) noexcept {
  looked_at_ = churned;
  step_ = std::clamp(maxmemory / kStepShare, kStepMin, kStepMax);
  uint64_t resident = memory_->ResidentBytes();
  if (resident > low_) {
    memory_->Purge();
    resident = memory_->ResidentBytes();
    step_ = kStepMin;
  } else if (resident > used + std::clamp(maxmemory / kSlackShare, kSlackMin, kSlackMax)) {
    memory_->PurgeSoon();
  }
  share_ = ShareAt(resident);
}

uint64_t ResidentGuard::ShareAt(uint64_t resident) const noexcept {
  if (resident <= low_) return kWhole;
  if (resident >= high_) return kLeastShare;
  return std::max(kLeastShare, kWhole * (high_ - resident) / (high_ - low_));
}

}  // namespace mayfly

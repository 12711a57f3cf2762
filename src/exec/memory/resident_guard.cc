#include "exec/memory/resident_guard.h"

#include <algorithm>

namespace mayfly {
namespace {

constexpr uint64_t kMegabyte = 1 << 20;
// What may pass through the allocator between two looks; by a look, memory has grown by half of it at most.
constexpr uint64_t kStepMin = 2 * kMegabyte;
constexpr uint64_t kStepMax = 16 * kMegabyte;
constexpr uint64_t kStepShare = 64;
// Program, allocator and kernel take some megabytes; and pages that are kept for later save time.
constexpr uint64_t kSlackMin = 12 * kMegabyte;
constexpr uint64_t kSlackMax = 1024 * kMegabyte;
constexpr uint64_t kSlackShare = 8;
// Of the limit; what the kernel needs for page tables and sockets stays above.
constexpr uint64_t kLowPercent = 90;
constexpr uint64_t kHighPercent = 97;

}  // namespace

ResidentGuard::ResidentGuard(ProcessMemory* memory, uint64_t limit_bytes) noexcept
    : memory_(memory), step_(kStepMin) {
  SetLimit(limit_bytes);
}

// The next write looks at the resident memory, and not only after another step.
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

// The memory of this process as the kernel counts it, and the calls that give pages back.
//
// An interface, to let a test play the kernel. Loop thread only. Units: bytes.
#pragma once

#include <cstdint>

#include "base/memory/heap.h"
#include "base/memory/purger.h"

namespace mayfly {

class ProcessMemory {
 public:
  // 0: unknown.
  virtual uint64_t ResidentBytes() noexcept = 0;
  // Purge gives unused pages back to the kernel before it returns, PurgeSoon soon after.
  virtual void Purge() noexcept = 0;
  virtual void PurgeSoon() noexcept = 0;
  // Gives back only pages that stay unused.
  virtual void PurgeOld() noexcept = 0;

 protected:
  ~ProcessMemory() = default;
};

// The memory by the real kernel.
class KernelMemory final : public ProcessMemory {
 public:
  // Borrows `heap`. Throws std::system_error.
  explicit KernelMemory(Heap& heap) : heap_(heap) {}

  uint64_t ResidentBytes() noexcept override;
  void Purge() noexcept override { heap_.Purge(); }
  void PurgeSoon() noexcept override { purger_.Ask(); }
  void PurgeOld() noexcept override { purger_.Tend(); }

 private:
  Heap& heap_;
  Purger purger_;
};

}  // namespace mayfly

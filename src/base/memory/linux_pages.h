// Huge pages and small pages by the real kernel. Any thread.
#pragma once

#include "base/memory/huge_units.h"

namespace mayfly {

class LinuxPages final : public PageKernel {
 public:
  bool MakeHuge(uintptr_t unit, size_t bytes) noexcept override;
  void Drop(uintptr_t at, size_t bytes) noexcept override;
  void Break(uintptr_t at, size_t bytes) noexcept override;
};

}  // namespace mayfly

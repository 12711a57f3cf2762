// What the kernel says of this process: memory that is resident, processor time that was used. Asked for by
// INFO only; a few system calls each.
#pragma once

#include <cstdint>

namespace mayfly {

// 0 where /proc cannot be read.
uint64_t ResidentBytes() noexcept;
// Of the whole machine; 0 where it is not told.
uint64_t MachineMemoryBytes() noexcept;

struct CpuSeconds {
  double user = 0;
  double system = 0;
};
enum class CpuOf : uint8_t { kProcess, kChildren, kThisThread };
CpuSeconds UsedCpu(CpuOf whom) noexcept;

}  // namespace mayfly

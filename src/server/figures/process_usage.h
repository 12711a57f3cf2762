// Resident memory and processor time of this process, from the kernel. Each function costs a few system calls, so only INFO
// and the like call them.
#pragma once

#include <cstdint>

namespace mayfly {

// Resident memory of this process; 0 if /proc cannot be read.
uint64_t ResidentBytes() noexcept;
// Memory of the whole machine; 0 if unknown.
uint64_t MachineMemoryBytes() noexcept;

struct CpuSeconds {
  double user = 0;
  double system = 0;
};
// Processor time used so far. kThisThread means the whole process if the system cannot tell threads apart.
enum class CpuOf : uint8_t { kProcess, kChildren, kThisThread };
CpuSeconds UsedCpu(CpuOf whom) noexcept;

}  // namespace mayfly

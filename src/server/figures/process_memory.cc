#include "server/figures/process_memory.h"

#include "server/figures/process_usage.h"

namespace mayfly {

uint64_t KernelMemory::ResidentBytes() noexcept { return mayfly::ResidentBytes(); }

}  // namespace mayfly

#include "server/process_memory.h"

#include "server/process_usage.h"

namespace mayfly {

uint64_t KernelMemory::ResidentBytes() noexcept { return mayfly::ResidentBytes(); }

}  // namespace mayfly

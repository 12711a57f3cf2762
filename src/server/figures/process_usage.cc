#include "server/figures/process_usage.h"

#include <unistd.h>

#include <cstdio>

#include <sys/resource.h>

namespace mayfly {
namespace {

double Seconds(const timeval& time) noexcept {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

int RusageWho(CpuOf whom) noexcept {
  switch (whom) {
    case CpuOf::kChildren:
      return RUSAGE_CHILDREN;
#ifdef RUSAGE_THREAD
    case CpuOf::kThisThread:
      return RUSAGE_THREAD;
#endif
    default:
      return RUSAGE_SELF;
  }
}

}  // namespace

uint64_t ResidentBytes() noexcept {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long long pages = 0;
  const bool read = std::fscanf(file, "%*u %llu", &pages) == 1;
  std::fclose(file);
  return read ? pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

uint64_t MachineMemoryBytes() noexcept {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes) : 0;
}

CpuSeconds UsedCpu(CpuOf whom) noexcept {
  rusage usage{};
  if (getrusage(RusageWho(whom), &usage) != 0) return {};
  return {Seconds(usage.ru_utime), Seconds(usage.ru_stime)};
}

}  // namespace mayfly

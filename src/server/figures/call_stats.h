// The counters of one command, shown by INFO commandstats. Durations are in TSC cycles.
#pragma once

#include <cstdint>

namespace mayfly {

struct CallStats {
  uint64_t calls = 0;
  uint64_t cycles = 0;
  uint64_t rejected = 0;  // refused before the handler ran
  uint64_t failed = 0;    // the handler replied with an error

  void Reset() noexcept { *this = CallStats(); }
};

}  // namespace mayfly

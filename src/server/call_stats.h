// What is counted for each command: INFO's commandstats. Durations are TSC cycles.
#pragma once

#include <cstdint>

namespace mayfly {

struct CallStats {
  uint64_t calls = 0;
  uint64_t cycles = 0;
  uint64_t rejected = 0;  // refused before the handler ran
  uint64_t failed = 0;    // the handler answered an error

  void Reset() noexcept { *this = CallStats(); }
};

}  // namespace mayfly

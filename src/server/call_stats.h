// What is counted for each command: INFO's commandstats and latencystats.
// Durations are TSC cycles; the histogram has power-of-two buckets split in 8, as LagHistogram.
#pragma once

#include <cstdint>

#include "cache/expiry_stats.h"

namespace mayfly {

struct CallStats {
  uint64_t calls = 0;
  uint64_t cycles = 0;
  uint64_t rejected = 0;  // refused before the handler ran
  uint64_t failed = 0;    // the handler answered an error

  void Reset() noexcept { *this = CallStats(); }
};

}  // namespace mayfly

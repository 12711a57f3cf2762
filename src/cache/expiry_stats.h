// How well time is kept: what INFO's section "# Expiry" tells.
//
// Lag is the time from a key's deadline to the moment its memory was freed and `expired` was told, in us as
// far as the clock resolves it (ms). The histogram has power-of-two buckets split in 8, so a percentile is
// within 12.5 %.
#pragma once

#include <cstdint>

#include "base/histogram.h"

namespace mayfly {

struct ExpiryStats {
  uint64_t expired_keys = 0;
  uint64_t evicted_keys = 0;
  uint64_t wheel_wakeups = 0;  // times that the timer woke the loop for the wheels
  uint64_t burst_max = 0;      // most keys that expired in one turn
  uint64_t full_slices = 0;    // times that more was due when the slice was over
  uint64_t clock_steps = 0;    // times that the wall clock stepped
  Histogram lag_us;

  void Reset() noexcept { *this = ExpiryStats(); }
};

}  // namespace mayfly

// LATENCY HISTOGRAM: the number of calls of a command by duration, in Redis's buckets.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time/histogram.h"
#include "base/time/tsc.h"

namespace mayfly {

struct LatencyBucket {
  int64_t us = 0;      // the longest time in the bucket
  uint64_t calls = 0;  // the number of calls of at most this time

  bool operator==(const LatencyBucket&) const = default;
};

// Returns only buckets with more calls than the previous bucket. `cycles` has each call's time in cycles; a time counts as
// up to an eighth longer than the true time (base/time/histogram.h). Throws std::bad_alloc.
std::vector<LatencyBucket> LatencyBucketsOf(const Histogram& cycles, CycleRate rate);

}  // namespace mayfly

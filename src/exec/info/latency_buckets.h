// LATENCY HISTOGRAM: the number of calls of a command by duration, in Redis's buckets.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time/histogram.h"
#include "base/time/tsc.h"

namespace mayfly {

struct LatencyBucket {
  int64_t us = 0;      // the longest time that belongs to it
  uint64_t calls = 0;  // that took at most so long

  bool operator==(const LatencyBucket&) const = default;
};

// Only buckets with more calls than the bucket before them. `cycles` has each call's time in cycles; a time counts
// as up to an eighth longer than it was (base/time/histogram.h). Throws std::bad_alloc.
std::vector<LatencyBucket> LatencyBucketsOf(const Histogram& cycles, CycleRate rate);

}  // namespace mayfly

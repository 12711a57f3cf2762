// Percentiles of measured times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace mayfly::bench {

// The smallest of the times that `part` of all are at most. REQUIRES: sorted and not empty; 0 <= part <= 1.
template <typename Number>
double Percentile(const std::vector<Number>& times, double part) {
  const auto index = static_cast<size_t>(part * static_cast<double>(times.size()));
  return static_cast<double>(times[std::min(times.size() - 1, index)]);
}

}  // namespace mayfly::bench

// Ranks 0, 1, ... with a probability that falls as 1 / (rank + 1)^exponent. Equal seeds give equal ranks on every machine: the
// distributions of the standard library do not.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

namespace mayfly::bench {

class Zipf {
 public:
  // An exponent of 0 makes all ranks equally likely. REQUIRES: count != 0.
  Zipf(uint32_t count, double exponent, uint64_t seed) : random_(seed) {
    sums_.reserve(count);
    double sum = 0;
    for (uint32_t rank = 0; rank < count; ++rank) sums_.push_back(sum += std::pow(rank + 1.0, -exponent));
  }
  uint32_t Next() {
    constexpr double kUnit = 1.0 / (uint64_t{1} << 53);
    const double at = static_cast<double>(random_() >> 11) * kUnit * sums_.back();
    const auto found = std::upper_bound(sums_.begin(), sums_.end(), at) - sums_.begin();
    return static_cast<uint32_t>(std::min<std::ptrdiff_t>(found, std::ssize(sums_) - 1));
  }

 private:
  std::mt19937_64 random_;
  std::vector<double> sums_;
};

}  // namespace mayfly::bench

// Numbers of keys by their popularity. Neighbours in rank are no neighbours by number.
#pragma once

#include <cstdint>

#include "zipf.h"

namespace mayfly::bench {

class PopularKeys {
 public:
  // REQUIRES: 0 < count < 2^32.
  PopularKeys(uint64_t count, double exponent, uint64_t seed)
      : count_(count), ranks_(static_cast<uint32_t>(count), exponent, seed) {}
  uint64_t Next() { return ranks_.Next() * kStride % count_; }

 private:
  static constexpr uint64_t kStride = 2'654'435'761;  // a prime, above every number of keys

  const uint64_t count_;
  Zipf ranks_;
};

// Makes a seed whose numbers are others. Those of a seed and of its complement rise and fall together.
constexpr uint64_t OtherSeed(uint64_t seed) { return seed * 0x9e3779b97f4a7c15; }

}  // namespace mayfly::bench

// How often values of each size were seen, and what their percentiles are.
//
// Power-of-two buckets split in 8, so a percentile is within 12.5 %; adding is a few instructions and 4 KB is
// all the memory. Units: the owner's. Loop thread only.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace mayfly {

class Histogram {
 public:
  // `value` was seen so many times.
  void Add(uint64_t value, uint64_t times = 1) noexcept {
    counts_[BucketOf(value)] += times;
    total_ += times;
    if (value > max_) max_ = value;
  }
  uint64_t max() const noexcept { return max_; }
  uint64_t total() const noexcept { return total_; }
  // The smallest bucket bound that at least `fraction` of all values do not exceed; 0 where there are none.
  uint64_t Percentile(double fraction) const noexcept {
    const auto wanted = static_cast<uint64_t>(fraction * static_cast<double>(total_));
    uint64_t seen = 0;
    for (unsigned bucket = 0; bucket < kBuckets; ++bucket) {
      seen += counts_[bucket];
      if (seen > 0 && seen >= wanted) return UpperBound(bucket) < max_ ? UpperBound(bucket) : max_;
    }
    return max_;
  }
  void Reset() noexcept { *this = Histogram(); }

 private:
  static constexpr unsigned kSplitBits = 3;
  static constexpr unsigned kBuckets = (64 - kSplitBits + 1) << kSplitBits;
  // Values below 8 have buckets of their own; above, the top four bits choose.
  static constexpr unsigned BucketOf(uint64_t value) noexcept {
    if (value < (1U << kSplitBits)) return static_cast<unsigned>(value);
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1 - kSplitBits;
    return ((shift + 1) << kSplitBits) + static_cast<unsigned>((value >> shift) & ((1U << kSplitBits) - 1));
  }
  static constexpr uint64_t UpperBound(unsigned bucket) noexcept {
    if (bucket < (1U << kSplitBits)) return bucket;
    const unsigned shift = (bucket >> kSplitBits) - 1;
    const uint64_t top = (1U << kSplitBits) + (bucket & ((1U << kSplitBits) - 1));
    return ((top + 1) << shift) - 1;
  }

  std::array<uint64_t, kBuckets> counts_{};
  uint64_t total_ = 0;
  uint64_t max_ = 0;
};

}  // namespace mayfly

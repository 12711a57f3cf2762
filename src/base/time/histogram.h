// A histogram with percentiles.
//
// Buckets are powers of two, each divided into 8; hence a percentile is at most 12.5 % too high. Adding takes a few
// instructions; a histogram takes 4 KB. Units: the units of the values. Loop thread only.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace mayfly {

class Histogram {
 public:
  // Counts `value` as seen `times` times.
  void Add(uint64_t value, uint64_t times = 1) noexcept {
    counts_[BucketOf(value)] += times;
    total_ += times;
    if (value > max_) max_ = value;
  }
  uint64_t max() const noexcept { return max_; }
  uint64_t total() const noexcept { return total_; }
  // The upper bound of the first bucket at which at least `fraction` of all values are counted, but at most max(); 0 without
  // values.
  uint64_t Percentile(double fraction) const noexcept {
    const auto wanted = static_cast<uint64_t>(fraction * static_cast<double>(total_));
    uint64_t seen = 0;
    for (unsigned bucket = 0; bucket < kBuckets; ++bucket) {
      seen += counts_[bucket];
      if (seen > 0 && seen >= wanted) return UpperBound(bucket) < max_ ? UpperBound(bucket) : max_;
    }
    return max_;
  }
  // Calls fn(highest value, number of values) for each bucket that is not empty, in rising order of values. The highest
  // value is at most max().
  template <typename Fn>
  void ForEachBucket(Fn&& fn) const {
    for (unsigned bucket = 0; bucket < kBuckets; ++bucket) {
      if (counts_[bucket] != 0) fn(UpperBound(bucket) < max_ ? UpperBound(bucket) : max_, counts_[bucket]);
    }
  }
  // The highest value of the bucket that counts `value`, whatever max() is.
  static constexpr uint64_t HighestLike(uint64_t value) noexcept { return UpperBound(BucketOf(value)); }
  void Reset() noexcept { *this = Histogram(); }

 private:
  static constexpr unsigned kSplitBits = 3;
  static constexpr unsigned kBuckets = (64 - kSplitBits + 1) << kSplitBits;
  // Values below 8 have a bucket each. For larger values the highest four bits choose the bucket.
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

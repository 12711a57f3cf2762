#include "exec/info/latency_buckets.h"

namespace mayfly {
namespace {

// Redis's buckets end at 1024 ns and each power of two above. The end belongs to the bucket. Redis keeps two digits of a
// time, so times up to 1/128 above the end are the same as the end, and belong to the bucket, too.
constexpr uint64_t kFirstEndNs = 1024;
// Redis's last bucket, with an early end; longer times count there as well.
constexpr uint64_t kLastEndNs = uint64_t{1} << 30;
constexpr uint64_t LongestNs(uint64_t end_ns) noexcept {
  return end_ns == kLastEndNs ? end_ns - 1 : end_ns + end_ns / 128 - 1;
}
static_assert(LongestNs(kFirstEndNs) == 1031);

}  // namespace

std::vector<LatencyBucket> LatencyBucketsOf(const Histogram& cycles, CycleRate rate) {
  constexpr double kNsPerUs = 1000;
  std::vector<LatencyBucket> buckets;
  uint64_t end_ns = kFirstEndNs;
  uint64_t seen = 0;
  cycles.ForEachBucket([&](uint64_t highest, uint64_t calls) {
    const double ns = static_cast<double>(highest) * kNsPerUs / rate.cycles_per_us();
    while (ns > static_cast<double>(LongestNs(end_ns)) && end_ns < kLastEndNs) end_ns *= 2;
    seen += calls;
    const auto us = static_cast<int64_t>(LongestNs(end_ns)) / static_cast<int64_t>(kNsPerUs);
    if (buckets.empty() || buckets.back().us != us) buckets.push_back({us, 0});
    buckets.back().calls = seen;
  });
  return buckets;
}

}  // namespace mayfly

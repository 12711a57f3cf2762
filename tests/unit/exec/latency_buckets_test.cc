#include "exec/info/latency_buckets.h"

#include "support/catch.h"

namespace mayfly {
namespace {

using Buckets = std::vector<LatencyBucket>;

constexpr CycleRate kNanoseconds{1000.0};

TEST_CASE("each bucket counts the calls that took at most so long, and ends where Redis's does") {
  Histogram times;
  for (unsigned power = 0; power < 20; ++power) times.Add(uint64_t{1000} << power);
  // The ends as redis-server 7.0 shows them.
  const std::vector<int64_t> ends = {1,    2,    4,    8,    16,    33,    66,    132,    264,    528,
                                     1056, 2113, 4227, 8454, 16908, 33816, 67633, 135266, 270532, 541065};
  const Buckets buckets = LatencyBucketsOf(times, kNanoseconds);
  REQUIRE(buckets.size() == ends.size());
  for (size_t i = 0; i < ends.size(); ++i) CHECK(buckets[i] == LatencyBucket{ends[i], i + 1});
}

TEST_CASE("buckets without calls of their own are left out") {
  Histogram times;
  CHECK(LatencyBucketsOf(times, kNanoseconds).empty());
  times.Add(0, 5);
  times.Add(3'000'000, 2);
  CHECK(LatencyBucketsOf(times, kNanoseconds) == Buckets{{1, 5}, {4227, 7}});
}

TEST_CASE("times above half a second share the last bucket") {
  Histogram times;
  times.Add(600'000'000);
  times.Add(3'600'000'000'000);
  CHECK(LatencyBucketsOf(times, kNanoseconds) == Buckets{{1'073'741, 2}});
}

TEST_CASE("cycles are no nanoseconds") {
  Histogram times;
  times.Add(3000);
  CHECK(LatencyBucketsOf(times, CycleRate(3000.0)) == Buckets{{1, 1}});
  CHECK(LatencyBucketsOf(times, CycleRate(10.0)) == Buckets{{528, 1}});
}

}  // namespace
}  // namespace mayfly

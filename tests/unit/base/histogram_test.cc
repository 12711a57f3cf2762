#include "base/time/histogram.h"

#include <utility>
#include <vector>

#include "support/catch.h"

namespace mayfly {
namespace {

TEST_CASE("a percentile is at most an eighth above the exact value") {
  for (uint64_t value = 1; value < (uint64_t{1} << 40); value = value * 5 / 3 + 1) {
    Histogram histogram;
    histogram.Add(value, 99);
    histogram.Add(value * 100);
    INFO(value);
    const uint64_t median = histogram.Percentile(0.5);
    CHECK(median >= value);
    CHECK(median <= value + value / 8);
    CHECK(histogram.Percentile(0.99) == median);
    CHECK(histogram.Percentile(1) == value * 100);
  }
}

TEST_CASE("a value may be counted many times by one call") {
  Histogram once, twice;
  once.Add(7, 2);
  twice.Add(7);
  twice.Add(7);
  CHECK(once.total() == twice.total());
  CHECK(once.Percentile(0.5) == 7);
  CHECK(once.max() == 7);
  CHECK(Histogram().Percentile(0.5) == 0);
}

TEST_CASE("the buckets that hold values are visited in order, the last one up to the largest value") {
  Histogram histogram;
  histogram.Add(1000, 2);
  histogram.Add(3);
  histogram.Add(100);
  std::vector<std::pair<uint64_t, uint64_t>> seen;
  histogram.ForEachBucket([&](uint64_t highest, uint64_t count) { seen.emplace_back(highest, count); });
  CHECK(seen == std::vector<std::pair<uint64_t, uint64_t>>{{3, 1}, {103, 1}, {1000, 2}});
}

}  // namespace
}  // namespace mayfly

#include "cache/ttl_histogram.h"

#include "support/catch.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {

TEST_CASE("each range of the TTL histogram begins where the one before it ends") {
  CHECK(TtlHistogram::RangeOf(0) == 0);
  for (size_t range = 0; range + 1 < TtlHistogram::kExpiring; ++range) {
    const uint64_t end_ms = TtlHistogram::kRanges[range].below_ms;
    CHECK(TtlHistogram::RangeOf(end_ms - 1) == range);
    CHECK(TtlHistogram::RangeOf(end_ms) == range + 1);
  }
  CHECK(TtlHistogram::RangeOf(UINT64_MAX) + 1 == TtlHistogram::kExpiring);
}

TEST_CASE_METHOD(KeyspaceFixture,
                 "the TTL histogram counts keys and bytes by the time that is left, on both clocks") {
  TtlHistogram histogram;
  const auto count = [&](const Entry* entry) { histogram.Count(*entry, now()); };
  const Entry* const second = Set("second", "v", In(999));
  const uint64_t bytes = EntryMemory::Of(*second);
  count(second);
  count(Set("wall", std::string(300, 'x'), Expiry::At(now().wall_ms + 1000)));
  count(Set("week", "v", In(7 * TtlHistogram::kDayMs)));
  count(Set("lasting", std::string(100'000, 'x')));
  CHECK(histogram.In(0).keys == 1);
  CHECK(histogram.In(0).bytes == bytes);
  CHECK(histogram.In(1).keys == 1);
  CHECK(histogram.In(1).bytes > 300);
  CHECK(histogram.In(2).keys == 0);
  CHECK(histogram.In(TtlHistogram::kExpiring - 1).keys == 1);
  CHECK(histogram.lasting().keys == 1);
  CHECK(histogram.lasting().bytes > 100'000);
  clock.AdvanceTime(1);
  TtlHistogram later;
  later.Count(*Peek("wall"), now());
  CHECK(later.In(0).keys == 1);
}

}  // namespace mayfly

#include "cache/table/hash_table_resize.h"
#include "support/catch.h"
#include "unit/cache/hash_table_policy.h"

namespace mayfly {

static_assert(sizeof(TableGroup<uint32_t>) == 64);
static_assert(GroupOf((1U << 30) - 1, 127) == 126);
static_assert(FirstOffsetOf(127, 127) == 1U << 30);
static_assert(TagOf(0) == 1 && TagOf(1U << 16) == 1 && TagOf(2U << 16) == 2 && TagOf(0xFFU << 16) == 0xFF);
static_assert(TopBits(~uint64_t{0}, 0) == 0 && TopBits(~uint64_t{0}, 22) == (1U << 22) - 1);

TEST_CASE("every group begins at its first offset, for every number of groups") {
  for (uint32_t groups = 1; groups <= 255; ++groups) {
    for (uint32_t group = 0; group <= groups; ++group) {
      const uint32_t first = FirstOffsetOf(group, groups);
      if (group < groups) REQUIRE(GroupOf(first, groups) == group);
      if (group > 0) REQUIRE(GroupOf(first - 1, groups) == group - 1);
    }
  }
}

TEST_CASE("group and tag give a correct range of offsets, and nearly always one in large segments") {
  TestRandom random(23);
  for (const uint32_t groups : {1U, 3U, 31U, 47U, 63U, 64U, 79U, 95U, 111U, 127U, 255U}) {
    int known = 0;
    for (int i = 0; i < 4'000; ++i) {
      uint32_t offset = static_cast<uint32_t>(random() >> 34);
      const uint32_t edge = FirstOffsetOf(static_cast<uint32_t>(random.Below(groups)), groups);
      if (i % 4 == 0) offset = edge;
      if (i % 4 == 1 && edge > 0) offset = edge - 1;
      const uint32_t group = GroupOf(offset, groups);
      const OffsetRange range =
          OffsetsOf(FirstOffsetOf(group, groups), FirstOffsetOf(group + 1, groups), TagOf(offset));
      if (!range.known) continue;
      ++known;
      REQUIRE(range.low <= offset);
      REQUIRE(offset <= range.high);
      REQUIRE(GroupOf(range.low, groups) == group);
      REQUIRE(GroupOf(range.high, groups) == group);
      REQUIRE(TagOf(range.low) == TagOf(range.high));
    }
    if (groups >= 79) CHECK(known > 3'800);
    if (groups < 32) CHECK(known == 0);
  }
}

TEST_CASE("sizes rise, and a segment that has just grown is far from shrinking") {
  for (uint32_t size = 0; size <= kLargestSize; ++size) {
    const uint32_t limit = LimitOfSize(size);
    CHECK(limit <= GroupsOfSize(size) * 12);
    if (size > 0) CHECK(limit > LimitOfSize(size - 1));
    if (size > 0) CHECK(ShrinkBelow(size) < LimitOfSize(size - 1));
    CHECK(SizeFor(ShrinkBelow(size)) <= size);
  }
}

#if !defined(MAYFLY_SANITIZE) && defined(__OPTIMIZE__)
TEST_CASE("from 1 to 2 million keys the table takes at most 6.6 bytes a key on average, 7.2 at any size") {
  TestTable<NarrowPolicy> t;
  double sum = 0;
  double most = 0;
  int samples = 0;
  for (uint64_t id = 1; id <= 2'000'000; ++id) {
    REQUIRE(t.Add(id));
    if (id < 1'000'000 || id % 10'000 != 0) continue;
    const double bytes_per_key = static_cast<double>(t.table.memory()) / static_cast<double>(id);
    most = std::max(most, bytes_per_key);
    sum += bytes_per_key;
    ++samples;
  }
  INFO("mean " << sum / samples << ", most " << most);
  CHECK(sum / samples <= 6.6);
  CHECK(most <= 7.2);
  const TableStats stats = t.table.Stats();
  CHECK(stats.stashed < 2'000);
  CHECK(stats.probes_per_hit < 1.5);
}
#endif

}  // namespace mayfly

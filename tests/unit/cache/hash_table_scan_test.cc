#include <algorithm>

#include "cache/table/hash_table_resize.h"
#include "support/catch.h"
#include "unit/cache/hash_table_policy.h"

namespace mayfly {

TEST_CASE("a scan of an unchanged table reports every entry once, in hash order") {
  for (const uint64_t count : {1, 12, 13, 500, 20'000}) {
    TestTable<NarrowPolicy> t;
    for (uint64_t id = 1; id <= count; ++id) REQUIRE(t.Add(id));
    std::vector<uint64_t> page;
    size_t told = 0;
    uint64_t cursor = 0;
    do {
      page.clear();
      const uint64_t start = cursor;
      cursor = t.table.Scan(cursor, [&](uint32_t ref) { page.push_back(Mix(ref) >> 12); });
      REQUIRE((cursor == 0 || cursor > start));
      for (const uint64_t position : page) {
        REQUIRE(position >= start);
        REQUIRE((cursor == 0 || position < cursor));
      }
      told += page.size();
    } while (cursor != 0);
    CHECK(told == count);
  }
}

TEST_CASE("any number is a safe cursor") {
  TestTable<NarrowPolicy> t;
  for (uint64_t id = 1; id <= 5'000; ++id) REQUIRE(t.Add(id));
  TestRandom random(17);
  for (int i = 0; i < 10'000; ++i) {
    const uint64_t cursor = random() >> random.Below(64);
    const uint64_t next = t.table.Scan(cursor, [&](uint32_t ref) { REQUIRE(Mix(ref) >> 12 >= cursor); });
    REQUIRE((next == 0 || (next > cursor && next < uint64_t{1} << 52)));
  }
}

TEMPLATE_TEST_CASE("a scan reports each lasting key once while the table grows, shrinks, splits and merges",
                   "", NarrowPolicy, WidePolicy) {
  const uint64_t seed = 4711;
  INFO("seed " << seed);
  TestRandom random(seed);
  // Keys up to kSteady are present throughout; the others are inserted and erased in waves.
  constexpr uint64_t kSteady = 2'000;
  constexpr uint64_t kOthers = 12'000;
  TestTable<TestType> t;
  for (uint64_t id = 1; id <= kSteady; ++id) REQUIRE(t.Add(id));
  uint64_t present = kSteady;
  bool up = true;
  size_t turns = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<int> told(kSteady + kOthers + 1);
    uint64_t cursor = 0;
    do {
      cursor = t.table.Scan(cursor, [&](auto ref) { ++told[TestType::IdOf(ref)]; });
      REQUIRE(cursor < uint64_t{1} << 53);
      for (int change = 0; change < 150; ++change) {
        if (up && present < kSteady + kOthers) REQUIRE(t.Add(++present));
        if (!up && present > kSteady) REQUIRE(t.Remove(present--));
      }
      if (present == kSteady || present == kSteady + kOthers) {
        up = !up;
        ++turns;
      }
    } while (cursor != 0);
    for (uint64_t id = 1; id <= kSteady; ++id) REQUIRE(told[id] == 1);
    REQUIRE(t.Sound());
  }
  CHECK(turns > 3);
}

TEST_CASE("keys removed ahead of the cursor are not reported, and keys it has passed are not repeated") {
  TestTable<NarrowPolicy> t;
  for (uint64_t id = 1; id <= 8'000; ++id) REQUIRE(t.Add(id));
  std::vector<int> told(8'001);
  uint64_t cursor = 0;
  do {
    cursor = t.table.Scan(cursor, [&](uint32_t ref) { ++told[ref]; });
    for (uint64_t id = 1; id <= 8'000; id += 2) {
      if (cursor > (uint64_t{1} << 51) && told[id] == 0 && t.Has(id)) {
        REQUIRE(t.Remove(id));
        told[id] = -1;
      }
    }
  } while (cursor != 0);
  CHECK(std::count(told.begin() + 1, told.end(), 2) == 0);
  CHECK(std::count(told.begin() + 1, told.end(), 0) == 0);
  CHECK(std::count(told.begin() + 1, told.end(), -1) > 1'000);
}

}  // namespace mayfly

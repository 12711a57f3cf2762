// Hashes that no good hash function gives: the table must stay right, and other keys must not pay.
#include <catch2/catch.hpp>

#include "cache/hash_table.h"
#include "unit/cache/hash_table_policy.h"

namespace mayfly {

constexpr uint64_t kColliding = 10'000;
constexpr uint64_t kFewer =
    2'500;  // Each erase reads all colliding entries, so the time grows with their square.

static void AddEraseAll(uint64_t count, uint64_t (*hash)(uint64_t)) {
  TestTable<NarrowPolicy> t;
  t.world.hash = hash;
  for (uint64_t id = 1; id <= count; ++id) REQUIRE(t.Add(id));
  REQUIRE(t.Sound());
  // Positions that differ only in the lowest bits need not be in one page, but none may come twice.
  std::vector<int> told(count + 1);
  uint64_t cursor = 0;
  do {
    cursor = t.table.Scan(cursor, [&](uint32_t ref) { ++told[ref]; });
    REQUIRE(cursor < uint64_t{1} << 53);
  } while (cursor != 0);
  for (uint64_t id = 1; id <= count; ++id) REQUIRE(told[id] == 1);
  for (uint64_t id = 1; id <= count; id += 7) REQUIRE(t.Has(id));
  REQUIRE_FALSE(t.Has(count + 1));
  CHECK(t.table.memory() < count * 16);

  TestRandom random(5);
  for (uint64_t left = count; left > 0; --left) {
    // In an order that removes entries from the groups and from the stash.
    const uint64_t id = 1 + (left * 7'919) % count;
    REQUIRE(t.Remove(id));
    REQUIRE(t.table.size() == left - 1);
    if (left > 1) REQUIRE(t.table.Random(random) != NarrowPolicy::kNull);
    if (left % 500 == 0) REQUIRE(t.Sound());
  }
  CHECK(t.world.bytes == 0);
}

TEST_CASE("ten thousand keys of one hash are kept, scanned in one page and erased") {
  AddEraseAll(kColliding, [](uint64_t) { return uint64_t{0x123456789ABCDEF0}; });
}

TEST_CASE("keys that share the top 64, 40, 20 or 10 bits of their hash are kept, scanned and erased") {
  AddEraseAll(kFewer, [](uint64_t) { return uint64_t{0}; });
  AddEraseAll(kFewer, [](uint64_t) { return ~uint64_t{0}; });
  AddEraseAll(kFewer, [](uint64_t id) { return (uint64_t{0xABCDEF1234} << 24) | (Mix(id) >> 40); });
  AddEraseAll(kFewer, [](uint64_t id) { return (uint64_t{0xABCDE} << 44) | (Mix(id) >> 20); });
  AddEraseAll(kFewer, [](uint64_t id) { return (uint64_t{0x3FF} << 54) | (Mix(id) >> 10); });
}

TEST_CASE("other keys of the table do not pay for colliding ones") {
  TestTable<NarrowPolicy> t;
  t.world.hash = [](uint64_t id) { return id <= kColliding ? Mix(0) : Mix(id); };
  const uint64_t last = kColliding + 40'000;
  for (uint64_t id = kColliding + 1; id <= last; ++id) {
    REQUIRE(t.Add(id));
    if (id % 4 == 0) REQUIRE(t.Add((id - kColliding) / 4));
  }
  const TableStats stats = t.table.Stats();
  CHECK(stats.stashed > kColliding - 500);
  CHECK(stats.probes_per_hit < 1.5);
  CHECK(stats.directory_words <= 128);
  REQUIRE(t.Sound());

  size_t pages_with_stash = 0;
  uint64_t cursor = 0;
  size_t told = 0;
  do {
    size_t page = 0;
    cursor = t.table.Scan(cursor, [&](uint32_t) { ++page; });
    told += page;
    if (page > 100) ++pages_with_stash;
  } while (cursor != 0);
  CHECK(told == t.table.size());
  CHECK(pages_with_stash == 1);

  for (uint64_t id = kColliding + 1; id <= last; ++id) REQUIRE(t.Remove(id));
  CHECK(t.table.size() == kColliding);
  CHECK(t.Sound());
}

}  // namespace mayfly

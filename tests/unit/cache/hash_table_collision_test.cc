// Hashes as no good hash function gives them: the table must work, and other keys must not become slow.
#include <vector>

#include "cache/table/hash_table_resize.h"
#include "support/catch.h"
#include "unit/cache/hash_table_policy.h"

namespace mayfly {

constexpr uint64_t kColliding = 10'000;
constexpr uint64_t kFewer = 2'500;  // Each erase reads all colliding keys: quadratic time.

static void AddEraseAll(uint64_t count, uint64_t (*hash)(uint64_t)) {
  TestTable<NarrowPolicy> t;
  t.world.hash = hash;
  for (uint64_t id = 1; id <= count; ++id) REQUIRE(t.Add(id));
  REQUIRE(t.Sound());
  // Keys whose positions differ only in the lowest bits may come in different pages, but never twice.
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
    // In an order that removes from groups and from the stash.
    const uint64_t id = 1 + (left * 7'919) % count;
    REQUIRE(t.Remove(id));
    REQUIRE(t.table.size() == left - 1);
    if (left > 1) REQUIRE(t.table.Random(random) != NarrowPolicy::kNull);
    if (left % 500 == 0) REQUIRE(t.Sound());
  }
  CHECK(t.world.bytes == 0);
}

TEST_CASE("ten thousand keys of equal hash can be found, scanned in one page and erased") {
  AddEraseAll(kColliding, [](uint64_t) { return uint64_t{0x123456789ABCDEF0}; });
}

TEST_CASE("keys that share the top 64, 40, 20 or 10 bits of their hash can be found, scanned and erased") {
  AddEraseAll(kFewer, [](uint64_t) { return uint64_t{0}; });
  AddEraseAll(kFewer, [](uint64_t) { return ~uint64_t{0}; });
  AddEraseAll(kFewer, [](uint64_t id) { return (uint64_t{0xABCDEF1234} << 24) | (Mix(id) >> 40); });
  AddEraseAll(kFewer, [](uint64_t id) { return (uint64_t{0xABCDE} << 44) | (Mix(id) >> 20); });
  AddEraseAll(kFewer, [](uint64_t id) { return (uint64_t{0x3FF} << 54) | (Mix(id) >> 10); });
}

TEST_CASE("colliding keys do not slow down the other keys of the table") {
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

// A table has a stash now and then also with random keys.
constexpr size_t kFew = 10;

// The keys of a table in the sequence in which a scan reports them.
static std::vector<uint64_t> Scanned(const TestTable<NarrowPolicy>& t) {
  std::vector<uint64_t> ids;
  uint64_t cursor = 0;
  do {
    cursor = t.table.Scan(cursor, [&](uint32_t ref) { ids.push_back(ref); });
  } while (cursor != 0);
  return ids;
}

TEST_CASE("a table that is filled in the sequence of another one's scan is as good as one filled at random") {
  TestTable<NarrowPolicy> from;
  for (uint64_t id = 1; id <= 100'000; ++id) REQUIRE(from.Add(id));
  TestTable<NarrowPolicy> to(from.table.NextOrder());
  for (const uint64_t id : Scanned(from)) REQUIRE(to.Add(id));
  CHECK(to.Sound());
  CHECK(to.table.Stats().stashed < kFew);
  CHECK(to.table.Stats().probes_per_miss < 1.1 * from.table.Stats().probes_per_miss);
  CHECK(to.table.memory() < 1.1 * static_cast<double>(from.table.memory()));

  TestTable<NarrowPolicy> same;
  for (const uint64_t id : Scanned(from)) REQUIRE(same.Add(id));
  CHECK(same.table.Stats().stashed > 1000 * kFew);
}

TEST_CASE("a table that was emptied takes back what its scan reported, in that sequence") {
  TestTable<NarrowPolicy> t;
  for (uint64_t id = 1; id <= 100'000; ++id) REQUIRE(t.Add(id));
  const std::vector<uint64_t> ids = Scanned(t);
  for (const uint64_t id : ids) REQUIRE(t.Remove(id));
  for (const uint64_t id : ids) REQUIRE(t.Add(id));
  CHECK(t.Sound());
  CHECK(t.table.Stats().stashed < kFew);
}

}  // namespace mayfly

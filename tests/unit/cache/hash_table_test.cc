#include "cache/table/hash_table.h"

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "unit/cache/hash_table_policy.h"

namespace mayfly {

#ifdef MAYFLY_SANITIZE
constexpr uint64_t kManyKeys = 30'000;
#else
constexpr uint64_t kManyKeys = 200'000;
#endif

TEST_CASE("an empty table holds no memory and finds nothing") {
  TestTable<NarrowPolicy> t;
  CHECK(t.table.empty());
  CHECK(t.table.memory() == 0);
  CHECK_FALSE(t.Has(1));
  CHECK(t.table.Erase(1, Mix(1)) == NarrowPolicy::kNull);
  CHECK_FALSE(t.table.EraseRef(1, Mix(1)));
  CHECK(t.table.Scan(0, [](uint32_t) { FAIL("no entry"); }) == 0);
  TestRandom random(1);
  CHECK(t.table.Random(random) == NarrowPolicy::kNull);
  CHECK(t.table.PrefetchCandidates(t.table.PrefetchGroup(Mix(1))) == NarrowPolicy::kNull);
  CHECK(t.Sound());
}

TEST_CASE("a small set costs two cache lines") {
  TestTable<NarrowPolicy> t;
  for (uint64_t id = 1; id <= 12; ++id) REQUIRE(t.Add(id));
  CHECK(t.table.memory() == 128);
  CHECK(sizeof(HashTable<NarrowPolicy>) <= 64);
  CHECK(t.Sound());
}

TEMPLATE_TEST_CASE("the table equals a model after random changes, while it grows and shrinks", "",
                   NarrowPolicy, WidePolicy) {
  const uint64_t seed = 7;
  INFO("seed " << seed);
  TestRandom random(seed);
  TestTable<TestType> t;
  std::unordered_map<uint64_t, size_t> model;  // The index in `present` of each key in the table.
  std::vector<uint64_t> present;
  uint64_t steps = 0;
  // Grows to one size, shrinks to another; three of four changes go in that direction.
  for (const uint64_t goal : {uint64_t{50}, uint64_t{0}, uint64_t{3'000}, uint64_t{200}, kManyKeys,
                              kManyKeys / 9, kManyKeys / 2, uint64_t{0}}) {
    const bool up = present.size() < goal;
    while (up ? present.size() < goal : present.size() > goal) {
      const uint64_t stranger = 1 + random.Below(kManyKeys * 4);
      REQUIRE(t.Has(stranger) == (model.count(stranger) != 0));
      const bool add = present.empty() || ((random() & 3) != 0 ? up : !up);
      if (add && model.count(stranger) == 0) {
        REQUIRE(t.Add(stranger));
        model[stranger] = present.size();
        present.push_back(stranger);
      } else if (!add) {
        const size_t at = random.Below(present.size());
        const uint64_t id = present[at];
        REQUIRE(t.Has(id));
        REQUIRE((random() % 2 == 0 ? t.Remove(id) : t.table.EraseRef(TestType::RefOf(id), Mix(id))));
        model[present.back()] = at;
        present[at] = present.back();
        present.pop_back();
        model.erase(id);
      }
      REQUIRE(t.table.size() == present.size());
      if (++steps % (1 + present.size() * 2) == 0) REQUIRE(t.Sound());
    }
    REQUIRE(t.Sound());
  }
  CHECK(t.table.memory() == 0);
}

TEST_CASE("a table that expects its entries moves none of them, and is not larger than others") {
  for (const uint64_t keys : {uint64_t{100}, uint64_t{700}, kManyKeys}) {
    CAPTURE(keys);
    TestTable<NarrowPolicy> grown;
    for (uint64_t id = 1; id <= keys; ++id) REQUIRE(grown.Add(id));
    TestTable<NarrowPolicy> t;
    t.table.Expect(keys);
    CHECK(t.table.memory() <= keys / 64 + 64);  // the directory
    const size_t segments = t.table.Stats().segments;
    for (uint64_t id = 1; id <= keys; ++id) REQUIRE(t.Add(id));
    CHECK(t.table.Stats().segments == segments);
    CHECK(t.table.memory() <= grown.table.memory() + grown.table.memory() / 3 + 64);
    CHECK(t.Sound());
    t.table.Expect(10 * keys);  // too late
    CHECK(t.table.Stats().segments == segments);
    for (uint64_t id = 1; id <= keys; ++id) REQUIRE(t.table.Erase(id, Mix(id)) == id);
    CHECK(t.table.memory() == 0);
  }
}

TEST_CASE("a table may get more or fewer entries than it expects, and lose some") {
  TestRandom random(5);
  for (const uint64_t keys : {uint64_t{100}, uint64_t{20'000}}) {
    for (const uint64_t come : {keys / 50, keys * 3}) {
      TestTable<NarrowPolicy> t;
      t.table.Expect(keys);
      std::vector<uint64_t> there;
      for (uint64_t id = 1; id <= come; ++id) {
        REQUIRE(t.Add(id));
        there.push_back(id);
        if (random.Below(4) != 0) continue;
        std::swap(there[random.Below(there.size())], there.back());
        REQUIRE(t.table.Erase(there.back(), Mix(there.back())) == there.back());
        there.pop_back();
      }
      CHECK(t.table.size() == there.size());
      TestTable<NarrowPolicy> grown;
      for (const uint64_t id : there) REQUIRE(grown.Add(id));
      CHECK(t.table.memory() <= 4 * grown.table.memory() + keys / 64);
      for (const uint64_t id : there) REQUIRE(t.Has(id));
      CHECK(t.Sound());
    }
  }
}

TEST_CASE("without memory for what it expects a table works all the same") {
  for (const int64_t allocations : {0, 1, 2}) {
    TestTable<NarrowPolicy> t;
    t.world.allocations_left = allocations;
    t.table.Expect(50'000);
    CHECK(t.Sound());
    t.world.allocations_left = -1;
    for (uint64_t id = 1; id <= 1000; ++id) REQUIRE(t.Add(id));
    CHECK(t.Sound());
  }
}

TEST_CASE("Replace replaces an entry's handle in place") {
  TestTable<NarrowPolicy> t;
  // Handles from 2^20 on are second copies of the same key.
  t.world.hash = [](uint64_t id) { return Mix(id & 0xFFFFF); };
  for (uint64_t id = 1; id <= 5'000; ++id) REQUIRE(t.Add(id));
  for (uint32_t id = 1; id <= 5'000; ++id) {
    const uint32_t copy = id | 1U << 20;
    REQUIRE(t.table.Replace(id, copy, t.world.hash(id)));
    REQUIRE_FALSE(t.table.Replace(id, copy, t.world.hash(id)));
    REQUIRE_FALSE(t.Has(id));
    REQUIRE(t.Has(copy));
  }
  CHECK(t.table.size() == 5'000);
  CHECK(t.Sound());
}

TEST_CASE("ForEach visits and DrainSome removes every entry exactly once") {
  TestTable<NarrowPolicy> t;
  const uint64_t count = 30'000;
  for (uint64_t id = 1; id <= count; ++id) REQUIRE(t.Add(id));
  std::vector<int> told(count + 100);
  t.table.ForEach([&](uint32_t ref) { ++told[ref]; });
  for (uint64_t id = 1; id <= count; ++id) REQUIRE(told[id] == 1);

  uint64_t extra = count;
  for (size_t slices = 0;; ++slices) {
    const size_t before = t.table.size();
    const bool done = t.table.DrainSome(1'000, [&](uint32_t ref) { ++told[ref]; });
    REQUIRE(t.Sound());
    if (done) break;
    REQUIRE(before - t.table.size() >= 1'000);
    REQUIRE(before - t.table.size() <= 1'000 + 1'500);
    // The table works between two slices.
    if (slices < 20) REQUIRE(t.Add(++extra));
    REQUIRE(t.Has(extra) == (told[extra] == 0));
  }
  for (uint64_t id = 1; id <= count; ++id) REQUIRE(told[id] == 2);
  for (uint64_t id = count + 1; id <= extra; ++id) REQUIRE(told[id] == 1);
  CHECK(t.world.bytes == 0);
}

TEST_CASE("Clear removes everything, and the table can be used again") {
  TestTable<NarrowPolicy> t;
  for (int round = 0; round < 2; ++round) {
    for (uint64_t id = 1; id <= 10'000; ++id) REQUIRE(t.Add(id));
    CHECK(t.Sound());
    t.table.Clear();
    CHECK(t.world.bytes == 0);
    CHECK(t.Sound());
    CHECK_FALSE(t.Has(1));
  }
}

TEST_CASE("Random returns all entries about equally often") {
  const uint64_t seed = 99;
  INFO("seed " << seed);
  TestRandom random(seed);
  for (const uint64_t count : {uint64_t{1}, uint64_t{7}, uint64_t{100}, uint64_t{3'000}}) {
    TestTable<NarrowPolicy> t;
    for (uint64_t id = 1; id <= count; ++id) REQUIRE(t.Add(id));
    std::vector<uint32_t> drawn(count + 1);
    const uint64_t mean = 60;
    for (uint64_t i = 0; i < count * mean; ++i) {
      const uint32_t ref = t.table.Random(random);
      REQUIRE(ref != NarrowPolicy::kNull);
      ++drawn[ref];
    }
    for (uint64_t id = 1; id <= count; ++id) {
      REQUIRE(drawn[id] > mean / 4);
      REQUIRE(drawn[id] < mean * 2);
    }
  }
}

TEST_CASE("without memory an insert fails or finds room, and no entry is lost") {
  TestTable<NarrowPolicy> t;
  t.world.allocations_left = 0;
  CHECK_FALSE(t.Add(1));
  CHECK(t.table.memory() == 0);
  TestRandom random(3);
  std::vector<uint64_t> added;
  size_t refused = 0;
  for (uint64_t id = 1; id <= 40'000; ++id) {
    t.world.allocations_left = random.Below(40) == 0 ? 3 : static_cast<int64_t>(random.Below(2));
    if (t.Add(id)) {
      added.push_back(id);
    } else {
      ++refused;
    }
    REQUIRE(t.table.size() == added.size());
    if (id % 4'000 == 0) REQUIRE(t.Sound());
  }
  CHECK(refused > 0);
  CHECK(added.size() > 10'000);
  t.world.allocations_left = 0;
  for (const uint64_t id : added) REQUIRE(t.Remove(id));
  CHECK(t.world.bytes == 0);
  CHECK(t.Sound());
}

}  // namespace mayfly

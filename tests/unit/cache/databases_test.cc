#include "cache/databases.h"

#include <string>

#include <catch2/catch.hpp>

#include "unit/cache/keyspace_fixture.h"

namespace mayfly {

TEST_CASE_METHOD(KeyspaceFixture, "a flush empties the database at once and frees what it held in slices") {
  for (int i = 0; i < 10'000; ++i) Set("k" + std::to_string(i), "v", i % 2 == 0 ? In(1000) : Expiry::Never());
  const uint64_t full = heap.ThreadBytes();
  databases.Flush(0, now());
  CHECK(db().size() == 0);
  CHECK(Peek("k1") == nullptr);
  CHECK(databases.waiting_bytes() > 10'000 * 16);
  CHECK(databases.NextWakeMs(now()) == UINT64_MAX);
  int slices = 0;
  while (databases.FreeSome(2000)) ++slices;
  CHECK(slices >= 3);
  CHECK(databases.waiting_bytes() == 0);
  CHECK(heap.ThreadBytes() < full - 10'000 * 16);
}

TEST_CASE_METHOD(KeyspaceFixture, "a thousand flushes use nothing up") {
  for (int i = 0; i < 1000; ++i) {
    Set("k", "v");
    databases.FlushAll(now());
  }
  CHECK(db().size() == 0);
}

TEST_CASE_METHOD(KeyspaceFixture, "swapped databases keep their keys and their deadlines") {
  Set("zero", "v", In(100), 0);
  Set("one", "v", In(200), 1);
  databases.Swap(0, 1);
  CHECK(Peek("one") != nullptr);
  CHECK(databases.At(1).Peek(databases.At(1).KeyOf("zero"), now()) != nullptr);
  clock.AdvanceTime(100);
  Settle();
  CHECK(databases.At(1).size() == 0);
  CHECK(databases.At(0).size() == 1);
  CHECK(databases.At(0).Validate());
}

TEST_CASE_METHOD(KeyspaceFixture,
                 "expiry in slices goes through all databases and stops when its budget is spent") {
  for (unsigned index = 0; index < 4; ++index) {
    for (int i = 0; i < 1000; ++i) Set("k" + std::to_string(i), "v", In(50), index);
  }
  clock.AdvanceTime(50);
  size_t before = databases.total_keys();
  while (databases.Advance(now(), 100)) {
    REQUIRE(before - databases.total_keys() <= 100);
    before = databases.total_keys();
  }
  CHECK(databases.total_keys() == 0);
  CHECK(databases.expiry_stats().expired_keys == 4000);
}

}  // namespace mayfly

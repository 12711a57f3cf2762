#include "cache/keyspace/databases.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "support/catch.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {

TEST_CASE_METHOD(KeyspaceFixture, "a flush empties the database at once and frees its entries in slices") {
  for (int i = 0; i < 10'000; ++i) Set("k" + std::to_string(i), "v", i % 2 == 0 ? In(1000) : Expiry::Never());
  const uint64_t full = heap.ThreadBytes();
  databases.Flush(0, now());
  CHECK(db().size() == 0);
  CHECK(Peek("k1") == nullptr);
  CHECK(databases.waiting_bytes() > 10'000 * 16);
  CHECK(databases.NextWakeMs(now()) == UINT64_MAX);
  int slices = 0;
  size_t before = databases.waiting_keys();
  while (databases.FreeSome(2000)) {
    ++slices;
    REQUIRE(databases.waiting_keys() < before);
    REQUIRE(before - databases.waiting_keys() <= 2000 + 1000);  // and a segment of the table
    before = databases.waiting_keys();
  }
  CHECK(slices >= 3);
  CHECK(databases.waiting_bytes() == 0);
  CHECK(heap.ThreadBytes() < full - 10'000 * 16);
}

TEST_CASE_METHOD(KeyspaceFixture, "flushes without end run out of nothing") {
  for (size_t i = 0; i < 3 * Databases::kWaitingMax; ++i) {
    Set("k", "v");
    databases.FlushAll(now());
    REQUIRE(databases.waiting_keys() == std::min(i + 1, Databases::kWaitingMax));
  }
  CHECK(db().size() == 0);
}

TEST_CASE_METHOD(KeyspaceFixture, "the most databases that an entry can name all keep their keys apart") {
  Databases many(heap, hasher, changes, kDatabasesMax, now());
  const auto set = [&](unsigned index, std::string_view text) {
    Keyspace& keyspace = many.At(index);
    const Key key = keyspace.KeyOf(text);
    keyspace.Put(key, keyspace.Peek(key, now()), StringValue::Of("v"), In(1000), now());
  };
  const auto has = [&](unsigned index, std::string_view text) {
    return many.At(index).Peek(many.At(index).KeyOf(text), now()) != nullptr;
  };
  const auto check_all = [&] {
    std::set<uint8_t> ids;
    for (unsigned i = 0; i < kDatabasesMax; ++i) {
      CHECK(many.At(i).Validate());
      ids.insert(many.At(i).id());
    }
    CHECK(ids.size() == kDatabasesMax);
  };
  constexpr unsigned kHighest = kDatabasesMax - 1;
  for (unsigned i = 0; i < kDatabasesMax; ++i) set(i, "k" + std::to_string(i));
  check_all();

  many.Flush(kHighest, now());
  CHECK(many.At(kHighest).size() == 0);
  CHECK(many.total_keys() == kDatabasesMax - 1);
  set(kHighest, "fresh");
  check_all();

  many.Swap(0, kHighest);
  CHECK(has(0, "fresh"));
  CHECK(has(kHighest, "k0"));
  many.Flush(0, now());
  CHECK(has(kHighest, "k0"));
  check_all();

  Keyspace& from = many.At(kHighest - 1);
  const Key key = from.KeyOf("k254");
  Entry* entry = from.Peek(key, now());
  REQUIRE(entry != nullptr);
  from.Move(key, *entry, many.At(kHighest), many.At(kHighest).KeyOf("k254"), nullptr, now());
  CHECK(from.size() == 0);
  CHECK(has(kHighest, "k254"));
  check_all();

  // One FLUSHALL of full databases leaves all of it to be freed in slices.
  while (many.FreeSome(1000)) {
  }
  for (unsigned i = 0; i < kDatabasesMax; ++i) set(i, "again");
  const size_t keys = many.total_keys();
  many.FlushAll(now());
  CHECK(many.total_keys() == 0);
  CHECK(many.waiting_keys() == keys);
  check_all();
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

TEST_CASE_METHOD(KeyspaceFixture, "a backlog of relative TTLs does not keep wall-clock deadlines waiting") {
  constexpr size_t kBudget = 64;
  for (int i = 0; i < 1000; ++i) Set("relative:" + std::to_string(i), "v", In(10));
  for (int i = 0; i < 1000; ++i) Set("absolute:" + std::to_string(i), "v", Expiry::At(now().wall_ms + 10));
  clock.AdvanceTime(20);
  ChangeLog log;
  changes.Listen(log, ~uint32_t{0});
  CHECK(databases.Advance(now(), kBudget));
  CHECK(databases.Advance(now(), kBudget));
  changes.Unlisten(log);
  const auto absolute = [](const ChangeLog::Seen& change) { return change.key.starts_with("absolute:"); };
  const auto seen = static_cast<size_t>(std::count_if(log.seen.begin(), log.seen.end(), absolute));
  CHECK(seen > 0);
  CHECK(seen < log.seen.size());
  Settle();
}

TEST_CASE_METHOD(KeyspaceFixture, "expiry visits all databases and stops when its budget is spent") {
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

TEST_CASE_METHOD(KeyspaceFixture, "databases whose keys are due together are freed at the same pace") {
  for (const unsigned other : {1u, 3u, databases.count() - 1}) {
    for (int i = 0; i < 1000; ++i) {
      Set("k" + std::to_string(i), "v", In(50), 0);
      Set("k" + std::to_string(i), "v", In(50), other);
    }
    clock.AdvanceTime(50);
    for (int i = 0; i < 10; ++i) REQUIRE(databases.Advance(now(), 100));
    INFO("database " << other);
    CHECK(databases.At(0).size() >= 400);
    CHECK(databases.At(other).size() >= 400);
    while (databases.Advance(now(), 100)) {
    }
  }
}

TEST_CASE_METHOD(KeyspaceFixture,
                 "of the keys that are due every database gets its share in each slice of time") {
  for (int i = 0; i < 10'000; ++i) Set("k" + std::to_string(i), "v", In(50), 0);
  for (int i = 0; i < 1000; ++i) Set("k" + std::to_string(i), "v", In(50), 1);
  for (int i = 0; i < 1000; ++i) Set("k" + std::to_string(i), "v", In(50), 3);
  clock.AdvanceTime(50);
  for (int i = 0; i < 50; ++i) CHECK(databases.Advance(now(), 64));
  CHECK(db(1).size() == 0);
  CHECK(db(3).size() == 0);
  CHECK(db(0).size() >= 12'000 - 50 * 64);
  CHECK(db(0).size() < 9500);
}

TEST_CASE_METHOD(KeyspaceFixture,
                 "a slice of expiry without a budget frees nothing and says that there is more") {
  Set("k", "v", In(50));
  clock.AdvanceTime(50);
  CHECK(databases.Advance(now(), 0));
  CHECK(db().size() == 1);
  CHECK_FALSE(databases.Advance(now(), 1000));
  CHECK(db().size() == 0);
}

TEST_CASE_METHOD(
    KeyspaceFixture,
    "the next deadline of many databases is never missed, through changes, flushes and steps of the clock") {
  constexpr unsigned kCount = 100;
  Databases many(heap, hasher, changes, kCount, now());
  std::mt19937_64 random(20261122);
  const auto nearest = [&] {
    uint64_t wait = UINT64_MAX;
    for (unsigned i = 0; i < kCount; ++i) {
      many.At(i).ForEach(now(), [&](const Entry& entry) {
        if (entry.expires()) wait = std::min(wait, static_cast<uint64_t>(TtlMs(entry, now())));
      });
    }
    return wait;
  };
  for (int step = 0; step < 10'000; ++step) {
    const auto index = static_cast<unsigned>(random() % kCount);
    Keyspace& keyspace = many.At(index);
    const std::string name = "k" + std::to_string(random() % 2);
    const Key key = keyspace.KeyOf(name);
    const uint64_t ms = random() % 5'000;
    Entry* entry = keyspace.Peek(key, now());
    switch (random() % 8) {
      case 0:
      case 1:
        keyspace.Put(key, entry, StringValue::Of("v"), In(ms), now());
        break;
      case 2:
        keyspace.Put(key, entry, StringValue::Of("v"), Expiry::At(now().wall_ms + static_cast<int64_t>(ms)),
                     now());
        break;
      case 3:
        keyspace.Delete(key, now());
        break;
      case 4:
        if (random() % 8 == 0) many.Flush(index, now());
        if (random() % 8 == 0) many.Swap(index, static_cast<unsigned>(random() % kCount));
        if (random() % 8 == 0) clock.StepWall(static_cast<int64_t>(random() % 2000) - 1000);
        break;
      default:
        clock.AdvanceTime(random() % 20);
    }
    // The wheels may ask for earlier calls, to file entries ahead of time.
    REQUIRE(many.NextWakeMs(now()) <= nearest());
    if (random() % 2 != 0) continue;
    while (many.Advance(now(), 1 + random() % 5)) {
    }
    REQUIRE(many.NextWakeMs(now()) > 0);
    size_t live = 0;
    for (unsigned i = 0; i < kCount; ++i) many.At(i).ForEach(now(), [&](const Entry&) { ++live; });
    REQUIRE(many.total_keys() == live);  // all that were due are freed
  }
}

}  // namespace mayfly

// Values that are kept as stale after their keys' deadlines: cache/gone/stale_values.h.
#include "cache/gone/stale_values.h"

#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cache/evict/eviction.h"
#include "support/catch.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {

using Reason = ChangeReason;

namespace {

class StaleFixture : public KeyspaceFixture {
 public:
  Entry* SetStale(std::string_view key, std::string_view value, Expiry expiry, uint64_t stale_ms,
                  unsigned index = 0) {
    const Key hashed = db(index).KeyOf(key);
    return db(index).PutOnTerms(hashed, db(index).Peek(hashed, now()), StringValue::Of(value), expiry,
                                {.stale_ms = stale_ms}, now(), events::kSetWithExpiry);
  }
  // The text of the stale value; nothing if there is none.
  std::optional<std::string> StaleOf(std::string_view key, unsigned index = 0) {
    const Key hashed = db(index).KeyOf(key);
    if (db(index).Peek(hashed, now()) != nullptr) return std::nullopt;
    const Entry* const entry = db(index).stale().Find(hashed, now());
    return entry != nullptr ? std::optional(std::string(entry->text())) : std::nullopt;
  }
  bool Valid() {
    for (unsigned i = 0; i < databases.count(); ++i) {
      if (!db(i).Validate()) return false;
    }
    return true;
  }
};

}  // namespace

TEST_CASE_METHOD(StaleFixture, "a value is stale from its key's deadline until its window has passed") {
  for (const bool on_time : {true, false}) {  // or a loop that is held up: only lookups look at the time
    for (const bool wall : {false, true}) {
      INFO(on_time << wall);
      SetStale("k", "v", wall ? Expiry::At(now().wall_ms + 20) : In(20), 30);
      for (int ms = 0; ms < 60; ++ms) {
        if (on_time) Settle();
        REQUIRE((Peek("k") != nullptr) == (ms < 20));
        REQUIRE(StaleOf("k").has_value() == (ms >= 20 && ms < 50));
        REQUIRE(db().size() == (ms < 20 ? 1 : 0));
        REQUIRE(databases.stale_values() == (ms >= 20 && ms < 50 ? 1 : 0));
        REQUIRE(Valid());
        clock.AdvanceTime(1);
      }
      CHECK(db().stale().bytes() == 0);
    }
  }
}

TEST_CASE_METHOD(StaleFixture, "stale values are freed at the end of their windows, with nobody asking") {
  SetStale("k", "v", In(20), 30);
  CHECK(databases.NextWakeMs(now()) == 20);
  clock.AdvanceTime(20);
  Settle();
  CHECK(databases.NextWakeMs(now()) == 30);
  CHECK(databases.stale_bytes() > 0);
  clock.AdvanceTime(29);
  Settle();
  CHECK(databases.stale_values() == 1);
  clock.AdvanceTime(1);
  Settle();
  CHECK(databases.stale_values() == 0);
  CHECK(databases.NextWakeMs(now()) == UINT64_MAX);
  SetStale("late", "v", In(20), 30);
  clock.AdvanceTime(50);  // both at once
  Settle();
  CHECK(databases.stale_values() == 0);
  CHECK(databases.expiry_stats().expired_keys == 2);
}

TEST_CASE_METHOD(StaleFixture, "the key's expiry is reported at its deadline, and once") {
  SetStale("k", "v", In(20), 30);
  ChangeLog log;
  changes.Listen(log, ~0U);
  clock.AdvanceTime(20);
  Settle();
  CHECK(log.seen == std::vector<ChangeLog::Seen>{{Reason::kExpired, "k"}});
  clock.AdvanceTime(30);
  Settle();
  CHECK(log.seen.size() == 1);
  CHECK(databases.expiry_stats().expired_keys == 1);
  changes.Unlisten(log);
}

TEST_CASE_METHOD(StaleFixture, "every way to create the key drops the stale value") {
  const auto expire = [&] {
    SetStale("k", "old", In(20), 1000);
    clock.AdvanceTime(20);
    Settle();
    REQUIRE(StaleOf("k") == "old");
  };
  const Key key = db().KeyOf("k");
  SECTION("a SET") {
    expire();
    Set("k", "new");
  }
  SECTION("of several keys at once") {
    expire();
    std::vector<KeyPut> puts;
    puts.push_back({key, StringValue::Of("new")});
    puts.push_back({db().KeyOf("other"), StringValue::Of("new")});
    db().PutAll(puts, false, Expiry::Never(), now());
  }
  SECTION("a copy") {
    expire();
    db().PutCopy(key, nullptr, *Set("other", "new"), now());
  }
  SECTION("a move") {
    expire();
    db().Move(db().KeyOf("other"), *Set("other", "new"), db(), key, nullptr, now());
  }
  CHECK(databases.stale_values() == 0);
  CHECK(Valid());
  db().Delete(key, now());
  CHECK_FALSE(StaleOf("k"));
}

TEST_CASE_METHOD(StaleFixture, "a deletion drops the stale value, or the window with the key") {
  SetStale("k", "v", In(20), 30);
  clock.AdvanceTime(20);
  Settle();
  CHECK_FALSE(db().Delete(db().KeyOf("k"), now()));
  CHECK(databases.stale_values() == 0);
  SetStale("k", "v", In(20), 30);
  CHECK(db().Delete(db().KeyOf("k"), now()));
  clock.AdvanceTime(20);
  Settle();
  CHECK_FALSE(StaleOf("k"));
  SetStale("k", "v", In(20), 30);
  clock.AdvanceTime(20);
  Settle();
  db().stale().Drop(db().KeyOf("k"));
  CHECK(databases.stale_values() == 0);
  CHECK(Valid());
}

TEST_CASE_METHOD(StaleFixture, "what changes the value and keeps the expiry keeps the window") {
  const std::string block(100'000, 'b');
  const Key key = db().KeyOf("k");
  const std::vector<std::function<void(const std::string&)>> changes_of_it = {
      [&](const std::string&) { db().SetExpiry(key, *Peek("k"), In(40), now()); },
      [&](const std::string&) { db().SetExpiry(key, *Peek("k"), Expiry::At(now().wall_ms + 40), now()); },
      [&](const std::string&) { db().SetExpiry(key, *Peek("k"), Expiry::At(INT64_MAX - 1000), now()); },
      [&](const std::string&) { db().RoomForOwnTime(key, *Peek("k"), now()); },
      [&](const std::string& value) {
        db().PutValue(key, *Peek("k"), StringValue::Of(value), now(), events::kSet);
      },
      [&](const std::string&) {
        db().Move(key, *Peek("k"), db(), db().KeyOf("new"), nullptr, now());
        db().Move(db().KeyOf("new"), *Peek("new"), db(), key, nullptr, now());
      },
      [&](const std::string&) {
        db().PutCopy(db().KeyOf("new"), nullptr, *Peek("k"), now());
        db().Delete(key, now());
        db().PutCopy(key, nullptr, *Peek("new"), now());
      },
      [&](const std::string& value) {
        std::vector<KeyPut> puts;
        puts.push_back({key, StringValue::Of(value)});
        puts.push_back({key, StringValue::Of(value)});
        db().PutAll(puts, true, Expiry::Never(), now());
      },
  };
  for (const std::string& value : {std::string("text"), std::string("17"), block}) {
    for (size_t i = 0; i < changes_of_it.size(); ++i) {
      INFO(i << " " << value.substr(0, 5));
      SetStale("k", value, In(20), 30);
      changes_of_it[i](value);
      CHECK(Valid());
      CHECK(Peek("k")->stale_ms() == 30);
      db().SetExpiry(key, *Peek("k"), In(20), now());
      clock.AdvanceTime(20);
      Settle();
      const Entry* const stale = db().stale().Find(key, now());
      REQUIRE(stale != nullptr);
      CHECK(stale->encoding() != Encoding::kRich);
      if (value == "17") {
        CHECK(stale->integer() == 17);
      } else {
        CHECK(stale->text() == value);
      }
      CHECK(Valid());
      clock.AdvanceTime(29);
      Settle();
      CHECK(db().stale().Find(key, now()) != nullptr);
      clock.AdvanceTime(1);
      Settle();
      CHECK(db().stale().Find(key, now()) == nullptr);
      databases.Flush(0, now());
    }
  }
}

TEST_CASE_METHOD(StaleFixture, "a plain SET drops the window, and so does losing the deadline") {
  const Expiry far = Expiry::At(INT64_MAX - 1000);  // its entry has an extra anyway
  for (const Expiry first : {In(20), far}) {
    SetStale("k", "v", first, 30);
    CHECK(Peek("k")->stale_ms() == 30);
    for (const Expiry next : {In(20), far, Expiry::Never()}) {
      SetStale("k", "v", first, 30);
      CHECK(Set("k", "v", next)->stale_ms() == 0);
      SetStale("k", "v", first, 30);
      std::vector<KeyPut> puts;
      puts.push_back({db().KeyOf("k"), StringValue::Of("v")});
      db().PutAll(puts, false, next, now());
      CHECK(Peek("k")->stale_ms() == 0);
      CHECK(Valid());
    }
  }
  SetStale("k", "v", In(20), 30);
  CHECK(db().SetExpiry(db().KeyOf("k"), *Peek("k"), Expiry::Never(), now())->stale_ms() == 0);
  CHECK(SetStale("k", "v", Expiry::Never(), 30)->stale_ms() == 0);
  CHECK(SetStale("k", "v", In(20), 0)->stale_ms() == 0);
  CHECK_FALSE(Peek("k")->Has(EntryFlag::kExtra));
  CHECK(Valid());
}

TEST_CASE_METHOD(StaleFixture, "the longest window of the latest deadline does not overflow") {
  SetStale("k", "v", Expiry::At(INT64_MAX), INT64_MAX);
  SetStale("soon", "v", In(10), INT64_MAX);
  clock.AdvanceTime(10);
  Settle();
  CHECK(StaleOf("soon") == "v");
  CHECK(Peek("k") != nullptr);
  CHECK(Valid());
}

TEST_CASE_METHOD(StaleFixture, "after a step back of the wall clock what is stale stays so until its end") {
  SetStale("k", "v", Expiry::At(now().wall_ms + 20), 30);
  clock.AdvanceTime(20);
  Settle();
  CHECK(StaleOf("k") == "v");
  clock.StepWall(-1000);
  Settle();
  CHECK(StaleOf("k") == "v");
  CHECK(Valid());
  clock.AdvanceTime(1029);
  Settle();
  CHECK(StaleOf("k") == "v");
  clock.StepWall(1);
  Settle();
  CHECK_FALSE(StaleOf("k"));
  CHECK(databases.stale_values() == 0);
}

TEST_CASE_METHOD(StaleFixture,
                 "stale values go with their database: swapped, or flushed and freed in slices") {
  const std::string block(20'000, 'b');
  for (int i = 0; i < 10'000; ++i)
    SetStale("k" + std::to_string(i), i % 100 == 0 ? block : "v", In(20), 1'000'000);
  clock.AdvanceTime(20);
  Settle();
  CHECK(db().size() == 0);
  CHECK(databases.stale_values() == 10'000);
  databases.Swap(0, 3);
  CHECK_FALSE(StaleOf("k7"));
  CHECK(StaleOf("k7", 3) == "v");
  CHECK(Valid());
  const uint64_t stale_bytes = databases.stale_bytes();
  databases.FlushAll(now());
  CHECK_FALSE(StaleOf("k7", 3));
  CHECK(databases.stale_values() == 0);
  CHECK(databases.waiting_bytes() == stale_bytes);
  CHECK(databases.waiting_keys() == 10'000);
  int slices = 0;
  for (; databases.FreeSome(100); ++slices) {
  }
  CHECK(slices > 1);
  CHECK(databases.waiting_bytes() == 0);
  CHECK(Valid());
}

TEST_CASE_METHOD(StaleFixture, "windows that end together are freed in slices") {
  for (int i = 0; i < 1000; ++i) SetStale("k" + std::to_string(i), "v", In(20), 10);
  clock.AdvanceTime(20);
  Settle();
  clock.AdvanceTime(10);
  int slices = 0;
  size_t before = databases.stale_values();
  for (; databases.Advance(now(), 64); ++slices) {
    REQUIRE(before - databases.stale_values() <= 64);
    before = databases.stale_values();
    REQUIRE(Valid());
  }
  CHECK(slices >= 1000 / 64);
  CHECK(databases.stale_values() == 0);
}

TEST_CASE_METHOD(StaleFixture, "stale values are evicted first, those that were used longest ago first") {
  std::mt19937_64 random(1);
  Evictor evictor(databases, random);
  for (const EvictionPolicy policy : {EvictionPolicy::kNoEviction, EvictionPolicy::kAllKeysLru,
                                      EvictionPolicy::kVolatileTtl, EvictionPolicy::kVolatileRandom}) {
    Set("cold", "v");
    SetStale("a", "v", In(20), 100'000);
    SetStale("b", "v", In(20), 100'000);
    SetStale("c", "v", In(20), 100'000, 1);
    clock.AdvanceTime(1000);
    Settle();
    clock.AdvanceTime(1000);
    CHECK(StaleOf("a") == "v");  // an access
    const auto run = [&](uint64_t bytes, uint64_t keys) {
      size_t evictions = 1;
      return evictor.Run({.maxmemory_bytes = bytes, .maxkeys = keys, .policy = policy}, now(), 100,
                         [&] { return evictions-- != 0 ? uint64_t{2} : uint64_t{0}; });
    };
    CHECK(run(0, 1) == Evictor::Outcome::kWithin);  // they are no keys
    CHECK(databases.stale_values() == 3);
    CHECK(run(1, 0) == Evictor::Outcome::kWithin);
    CHECK(run(1, 0) == Evictor::Outcome::kWithin);
    CHECK(StaleOf("a") == "v");
    CHECK(run(1, 0) == Evictor::Outcome::kWithin);
    CHECK(databases.stale_values() == 0);
    CHECK(Peek("cold") != nullptr);
    CHECK(databases.expiry_stats().evicted_keys == 0);
    CHECK(Valid());
    databases.FlushAll(now());
  }
  CHECK(databases.expiry_stats().evicted_stale == 12);
}

TEST_CASE_METHOD(StaleFixture, "a key that comes back is not forgotten with its big stale value") {
  const std::string block(2 << 20, 'b');
  SetStale("k", block, In(20), 1000);
  clock.AdvanceTime(20);
  Settle();
  int seen = 0;
  const auto count = [&](const Keyspace&, const Entry&) { ++seen; };
  databases.ForEachBigKey(now(), count);
  CHECK(seen == 0);
  Set("k", block);
  databases.ForEachBigKey(now(), count);
  CHECK(seen == 1);
}

TEST_CASE_METHOD(StaleFixture, "without memory for the table a value is freed at its deadline") {
  Heap small{Heap::kMinRegionBytes};
  Databases tiny(small, hasher, changes, 1, now());
  Keyspace& keyspace = tiny.At(0);
  const auto put = [&](const std::string& name, std::string_view value, Expiry expiry, uint64_t stale_ms) {
    const Key key = keyspace.KeyOf(name);
    keyspace.PutOnTerms(key, keyspace.Peek(key, now()), StringValue::Of(value), expiry,
                        {.stale_ms = stale_ms}, now(), events::kSet);
  };
  for (int i = 0; i < 100; ++i) put("k" + std::to_string(i), "v", In(20), 1000);
  const auto fill = [&](const std::string& prefix, size_t bytes) {
    try {
      for (int i = 0;; ++i) put(prefix + std::to_string(i), std::string(bytes, 'x'), Expiry::Never(), 0);
    } catch (const std::bad_alloc&) {
    }
  };
  for (const size_t bytes : {10'000, 3000, 1000, 400, 150, 60, 30, 5})
    fill(std::to_string(bytes) + "f", bytes);
  const size_t keys = keyspace.size();
  clock.AdvanceTime(20);
  while (tiny.Advance(now(), 1000)) {
  }
  CHECK(keyspace.size() == keys - 100);
  CHECK(keyspace.stale().size() <= 100);
  CHECK(keyspace.Validate());
  CHECK_THROWS_AS(
      [&] {
        for (int i = 0;; ++i) put("w" + std::to_string(i), std::string(100, 'x'), In(20), 1000);
      }(),
      std::bad_alloc);
  CHECK(keyspace.Validate());
}

}  // namespace mayfly

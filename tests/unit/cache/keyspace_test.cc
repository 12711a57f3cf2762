#include "cache/keyspace/keyspace.h"

#include <map>
#include <random>
#include <set>
#include <string>

#include "cache/keyspace/look_ahead.h"
#include "cache/keyspace/reaper.h"
#include "support/catch.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {

TEST_CASE_METHOD(KeyspaceFixture,
                 "a key is absent from its deadline on, even before the wheel has freed it") {
  Set("k", "v", In(20));
  clock.AdvanceTime(19);
  CHECK(Peek("k") != nullptr);
  clock.AdvanceTime(1);
  CHECK(Peek("k") == nullptr);
  CHECK(db().size() == 0);
  CHECK(databases.expiry_stats().expired_keys == 1);
  CHECK(databases.expiry_stats().lag_us.max() == 0);
}

TEST_CASE_METHOD(KeyspaceFixture,
                 "the wheel frees a key that is never read, at its deadline and not before") {
  Set("k", "v", In(5000));
  clock.AdvanceTime(4999);
  Settle();
  CHECK(db().size() == 1);
  CHECK(databases.NextWakeMs(now()) == 1);
  clock.AdvanceTime(1);
  Settle();
  CHECK(db().size() == 0);
  CHECK(databases.NextWakeMs(now()) == UINT64_MAX);
}

TEST_CASE_METHOD(KeyspaceFixture,
                 "a deadline that is set after a lookup removed the last expired key re-arms the timer") {
  for (const bool wall : {false, true}) {
    const auto in = [&](int64_t ms) {
      return wall ? Expiry::At(now().wall_ms + ms) : In(static_cast<uint64_t>(ms));
    };
    Set("k", "v", in(20));
    CHECK(databases.TakeRearm());
    CHECK(databases.NextWakeMs(now()) == 20);
    clock.AdvanceTime(20);
    CHECK(Peek("k") == nullptr);
    Settle();
    CHECK(databases.NextWakeMs(now()) == UINT64_MAX);
    clock.AdvanceTime(3);
    Set("next", "v", in(30));
    CHECK(databases.TakeRearm());
    clock.AdvanceTime(30);
    Settle();
    CHECK(db().size() == 0);
  }
}

TEST_CASE_METHOD(KeyspaceFixture, "a guess is not followed once its entry was freed") {
  Set("k", "v", In(20));
  Set("other", "v");
  Key key = db().KeyOf("k");
  key.guess = LookAhead(db()).Candidate(LookAhead(db()).Group(key.hash));
  REQUIRE(key.guess);
  CHECK(db().Peek(key, now()) == Peek("k"));
  clock.AdvanceTime(20);
  CHECK(db().Peek(key, now()) == nullptr);  // freed here
  CHECK(db().Peek(key, now()) == nullptr);
  CHECK(db().size() == 1);
}

TEST_CASE_METHOD(KeyspaceFixture, "a key that is set with a deadline in the past does not count as late") {
  Set("k", "v", Expiry::At(1));
  Settle();
  CHECK(Peek("k") == nullptr);
  CHECK(databases.expiry_stats().expired_keys == 1);
  CHECK(databases.expiry_stats().lag_us.total() == 0);
}

TEST_CASE_METHOD(KeyspaceFixture,
                 "what the time of a turn is behind the wall clock is a part of a wall-clock key's lag") {
  Set("relative", "v", In(20));
  Set("wall", "v", Expiry::At(static_cast<uint64_t>(now().wall_ms) + 21));
  databases.expiry_stats().wall_behind_us = 700;
  clock.AdvanceTime(20);
  Settle();
  CHECK(databases.expiry_stats().lag_us.total() == 1);
  CHECK(databases.expiry_stats().lag_us.max() == 0);
  clock.AdvanceTime(2);
  Settle();
  CHECK(databases.expiry_stats().lag_us.total() == 2);
  CHECK(databases.expiry_stats().lag_us.max() == 1700);
}

TEST_CASE_METHOD(KeyspaceFixture, "keys that only move down the wheel count for the budget of a slice") {
  constexpr int kKeys = 20'000;
  for (int i = 0; i < kKeys; ++i) Set("k" + std::to_string(i), "v", In(100'000 + i % 100));
  clock.AdvanceTime(99'999);
  int slices = 0;
  for (bool more = true; more; ++slices) {
    size_t budget = 1000;
    more = db().reaper().Advance(now(), &budget);
    REQUIRE((!more || budget == 0));
  }
  CHECK(slices >= kKeys / 1000);
  CHECK(db().size() == kKeys);
}

TEST_CASE_METHOD(KeyspaceFixture, "a step of the wall clock affects absolute deadlines only") {
  Set("relative", "v", In(10'000));
  Set("absolute", "v", Expiry::At(now().wall_ms + 10'000));
  clock.StepWall(-60'000);
  Settle();
  clock.AdvanceTime(10'000);
  Settle();
  CHECK(Peek("relative") == nullptr);
  REQUIRE(Peek("absolute") != nullptr);
  CHECK(TtlMs(*Peek("absolute"), now()) == 60'000);
  clock.AdvanceTime(59'999);
  Settle();
  CHECK(Peek("absolute") != nullptr);
  clock.AdvanceTime(1);
  Settle();
  CHECK(db().size() == 0);
  Set("absolute", "v", Expiry::At(now().wall_ms + 10'000));
  clock.StepWall(10'000);
  Settle();
  CHECK(db().size() == 0);
}

TEST_CASE_METHOD(KeyspaceFixture, "a key that is set after the wall clock was set back is not late") {
  clock.StepWall(3'600'000);
  Set("first", "v", Expiry::At(now().wall_ms + 1'000));
  Settle();
  clock.StepWall(-3'600'000);
  Set("k", "v", Expiry::At(now().wall_ms + 70));
  CHECK(databases.TakeRearm());
  clock.AdvanceTime(69);
  Settle();
  CHECK(db().size() == 2);
  clock.AdvanceTime(1);
  Settle();
  CHECK(db().size() == 1);
  CHECK(Peek("first") != nullptr);
}

TEST_CASE_METHOD(KeyspaceFixture, "an entry that gains or loses a TTL is relocated and keeps its value") {
  for (const std::string& value : {std::string("short"), std::string("12345"), std::string(40'000, 'b')}) {
    Entry* entry = Set("k", value);
    const Key key = db().KeyOf("k");
    entry = db().SetExpiry(key, *entry, In(1000), now());
    CHECK(TtlMs(*entry, now()) == 1000);
    CHECK(db().expiring() == 1);
    REQUIRE(db().Validate());
    entry = db().SetExpiry(key, *entry, Expiry::At(now().wall_ms + 500), now());
    CHECK(UnixDeadlineMs(*entry, now()) == now().wall_ms + 500);
    REQUIRE(db().Validate());
    entry = db().SetExpiry(key, *entry, Expiry::Never(), now());
    CHECK(db().expiring() == 0);
    CHECK(entry->TextLength() == value.size());
    REQUIRE(db().Validate());
  }
}

TEST_CASE_METHOD(KeyspaceFixture, "the largest deadline of the protocol is kept exactly") {
  Entry* entry = Set("k", "v", Expiry::At(INT64_MAX));
  CHECK(UnixDeadlineMs(*entry, now()) == INT64_MAX);
  CHECK(db().Validate());
  Set("k", "v", In(1));
  CHECK(db().Validate());
  Set("far", "v", In(static_cast<uint64_t>(INT64_MAX) - 1'800'000'000'000));
  CHECK(db().Validate());
  clock.AdvanceTime(uint64_t{1} << 40);
  Settle();
  CHECK(db().size() == 1);
}

TEST_CASE_METHOD(KeyspaceFixture, "every change is reported once, with its reason") {
  ChangeLog log;
  changes.Listen(log, ~0U);
  const Key key = db().KeyOf("k");
  Set("k", "v", In(10));
  db().SetExpiry(key, *Peek("k"), In(20), now());
  CHECK(db().Delete(key, now()));
  CHECK_FALSE(db().Delete(key, now()));
  Set("k", "v", In(10));
  clock.AdvanceTime(10);
  Settle();
  Set("k", "v");
  db().Evict(*Peek("k"), now());
  Set("k", "v");
  databases.Flush(0, now());
  using Reason = ChangeReason;
  CHECK(log.seen == std::vector<ChangeLog::Seen>{{Reason::kCreated, "k"},
                                                 {Reason::kExpiryChanged, "k"},
                                                 {Reason::kDeleted, "k"},
                                                 {Reason::kDeleted, "k"},
                                                 {Reason::kCreated, "k"},
                                                 {Reason::kExpired, "k"},
                                                 {Reason::kCreated, "k"},
                                                 {Reason::kEvicted, "k"},
                                                 {Reason::kCreated, "k"},
                                                 {Reason::kFlushed, ""}});
  changes.Unlisten(log);
  Set("k", "v");
  CHECK(log.seen.size() == 10);
}

TEST_CASE_METHOD(KeyspaceFixture, "a big text is edited in place, and the edit is reported once") {
  const std::string old(40'000, 'o');
  Entry* const entry = Set("k", old, In(10));
  REQUIRE(entry->encoding() == Encoding::kBlock);
  const void* const block = entry->pointer();
  ChangeLog log;
  changes.Listen(log, ~0U);
  const auto edit = [&](size_t size, auto&& write) {
    db().EditBlock(*entry, size, events::kSet, [&](char* bytes) {
      write(bytes);
      return true;
    });
  };
  edit(0, [](char* bytes) { bytes[1] = 'n'; });
  CHECK(entry->pointer() == block);
  CHECK(entry->text().substr(0, 3) == "ono");
  CHECK(entry->text().size() == old.size());
  {
    const SharedBytes shared = entry->block();
    edit(90'000, [](char* bytes) { bytes[89'999] = 'e'; });
    CHECK(shared.view().substr(0, 3) == "ono");
    CHECK(shared.size() == old.size());
  }
  CHECK(Peek("k") == entry);
  CHECK(entry->text().size() == 90'000);
  CHECK(entry->text().substr(39'999, 2) == std::string_view("o\0", 2));
  CHECK(entry->text().back() == 'e');
  CHECK(TtlMs(*entry, now()) == 10);
  CHECK(log.seen ==
        std::vector<ChangeLog::Seen>{{ChangeReason::kValueChanged, "k"}, {ChangeReason::kValueChanged, "k"}});
  CHECK(db().Validate());
  changes.Unlisten(log);
}

TEST_CASE_METHOD(KeyspaceFixture, "when the heap is full, a new key is refused and nothing has changed") {
  Heap small(Heap::kMinRegionBytes);
  Databases tight(small, hasher, changes, 1, now());
  Keyspace& keyspace = tight.At(0);
  const std::string value(10'000, 'v');
  const std::string longer(15'000, 'w');
  size_t stored = 0;
  std::string key;
  auto fill = [&](const std::string& with) {
    for (;; ++stored) {
      key = "key:" + std::to_string(stored);
      keyspace.Put(keyspace.KeyOf(key), nullptr, StringValue::Of(with), Expiry::Never(), now());
    }
  };
  CHECK_THROWS_AS(fill(value), std::bad_alloc);
  CHECK(stored > 1000);
  CHECK(keyspace.size() == stored);
  CHECK(keyspace.Peek(keyspace.KeyOf(key), now()) == nullptr);
  CHECK(keyspace.Validate());
  // If jemalloc's pages are large, those for other sizes may still have room.
  CHECK_THROWS_AS(fill(longer), std::bad_alloc);
  Entry* old = keyspace.Peek(keyspace.KeyOf("key:0"), now());
  CHECK_THROWS_AS(keyspace.Put(keyspace.KeyOf("key:0"), old, StringValue::Of(longer), Expiry::Never(), now()),
                  std::bad_alloc);
  CHECK((keyspace.Peek(keyspace.KeyOf("key:0"), now())->text() == value));
  CHECK(keyspace.Validate());
  const Key from = keyspace.KeyOf("key:1");
  Entry* entry = keyspace.Peek(from, now());
  const Key to = keyspace.KeyOf("another name");
  CHECK_THROWS_AS(keyspace.Move(from, *entry, keyspace, to, nullptr, now()), std::bad_alloc);
  CHECK(keyspace.Peek(from, now())->text() == value);
  CHECK(keyspace.size() == stored);
  CHECK(keyspace.Validate());
}

TEST_CASE_METHOD(KeyspaceFixture,
                 "a moved key keeps its deadline and its clock, and is reported under both names") {
  Set("mono", "v", In(100));
  Set("wall", std::string(50'000, 'x'), Expiry::At(now().wall_ms + 100));
  Set("taken", "w", In(1));
  ChangeLog log;
  changes.Listen(log, ~0U);
  db().Move(db().KeyOf("mono"), *Peek("mono"), db(), db().KeyOf("taken"), Peek("taken"), now());
  db().Move(db().KeyOf("wall"), *Peek("wall"), db(1), db(1).KeyOf("wall"), nullptr, now());
  changes.Unlisten(log);
  using Reason = ChangeReason;
  CHECK(log.seen == std::vector<ChangeLog::Seen>{{Reason::kRenamed, "mono"},
                                                 {Reason::kValueChanged, "taken"},
                                                 {Reason::kRenamed, "wall"},
                                                 {Reason::kCreated, "wall"}});
  CHECK(Peek("taken")->deadline().kind == Expiry::Kind::kRelative);
  const Entry* wall = db(1).Peek(db(1).KeyOf("wall"), now());
  CHECK(wall->deadline().kind == Expiry::Kind::kWall);
  CHECK(TtlMs(*wall, now()) == 100);
  CHECK(TtlMs(*Peek("taken"), now()) == 100);
  CHECK(db().size() == 1);
  CHECK(db().Validate());
  CHECK(db(1).Validate());
  clock.AdvanceTime(100);
  Settle();
  CHECK(databases.total_keys() == 0);
}

namespace {

// The model: what the keyspace should hold for a key.
struct Model {
  std::string value;
  uint64_t deadline_mono_ms = 0;  // 0: no TTL
};

std::string TextOf(const Entry& entry) {
  return entry.encoding() == Encoding::kInteger ? std::to_string(entry.integer()) : std::string(entry.text());
}

}  // namespace

TEST_CASE_METHOD(KeyspaceFixture,
                 "the keyspace agrees with a map through random commands and steps of time") {
  std::map<std::string, Model> model;
  std::mt19937_64 random(20261121);
  const auto forget_expired = [&] {
    std::erase_if(model, [&](const auto& item) {
      return item.second.deadline_mono_ms != 0 && item.second.deadline_mono_ms <= now().mono_ms;
    });
  };
  for (int step = 0; step < 60'000; ++step) {
    const std::string name = "key:" + std::to_string(random() % 3000);
    const Key key = db().KeyOf(name);
    const uint64_t ttl = 1 + (random() % 3 == 0 ? random() % 100 : random() % 20'000);
    const bool wall = random() % 4 == 0;
    const Expiry expiry = wall ? Expiry::At(now().wall_ms + static_cast<int64_t>(ttl)) : In(ttl);
    Entry* entry = db().Peek(key, now());
    REQUIRE((entry != nullptr) == model.contains(name));
    switch (random() % 8) {
      case 0:
      case 1:
      case 2: {
        const size_t length = random() % 50 == 0 ? 17'000 + random() % 100 : random() % 200;
        const std::string value =
            random() % 3 == 0 ? std::to_string(static_cast<int64_t>(random())) : std::string(length, 'v');
        const bool expires = random() % 2 == 0;
        db().Put(key, entry, StringValue::Of(value), expires ? expiry : Expiry::Never(), now());
        model[name] = {value, expires ? now().mono_ms + ttl : 0};
        break;
      }
      case 3:
        if (entry == nullptr) break;
        db().SetExpiry(key, *entry, expiry, now());
        model[name].deadline_mono_ms = now().mono_ms + ttl;
        break;
      case 4:
        if (entry == nullptr) break;
        db().SetExpiry(key, *entry, Expiry::Never(), now());
        model[name].deadline_mono_ms = 0;
        break;
      case 5:
        REQUIRE(db().Delete(key, now()) == (model.erase(name) == 1));
        break;
      case 6:
        if (entry != nullptr) REQUIRE(TextOf(*db().Find(key, now())) == model[name].value);
        break;
      default:
        clock.AdvanceTime(random() % 20);
        forget_expired();
        if (random() % 2 == 0) databases.Advance(now(), random() % 100);
    }
    if (step % 500 == 0) {
      REQUIRE(db().Validate());
      Settle();
      REQUIRE(db().size() == model.size());
      std::set<std::string> scanned;
      uint64_t cursor = 0;
      do {
        cursor = db().Scan(cursor, now(), [&](const Entry& e) { scanned.insert(std::string(e.key())); });
      } while (cursor != 0);
      REQUIRE(scanned.size() == model.size());
    }
  }
  clock.AdvanceTime(30'000);
  forget_expired();
  Settle();
  REQUIRE(db().size() == model.size());
  REQUIRE(db().expiring() == 0);
}

TEST_CASE_METHOD(KeyspaceFixture, "iteration skips expired keys, however late the wheel is") {
  for (int i = 0; i < 100; ++i) Set("k" + std::to_string(i), "v", In(10));
  Set("stays", "v");
  clock.AdvanceTime(10);
  int shown = 0;
  db().ForEach(now(), [&](const Entry& entry) {
    CHECK(entry.key() == "stays");
    ++shown;
  });
  CHECK(shown == 1);
  CHECK(db().size() == 101);
  std::mt19937_64 random(3);
  CHECK(db().Random(random, now())->key() == "stays");
}

}  // namespace mayfly

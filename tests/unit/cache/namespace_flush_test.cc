// Databases::FlushNamespace: keys that are gone at once and freed in slices.
#include <limits>
#include <set>
#include <string>

#include "cache/keyspace/sampling.h"
#include "cache/snapshot_walk.h"
#include "support/catch.h"
#include "unit/cache/namespace_fixture.h"

namespace mayfly {
namespace {

class Visited final : public SnapshotVisitor {
 public:
  void Visit(unsigned, const Keyspace&, const Entry& entry) noexcept override { keys.emplace(entry.key()); }
  std::set<std::string> keys;
};

using Keys = std::set<std::string>;

}  // namespace

TEST_CASE_METHOD(NamespaceFixture,
                 "a flush removes a namespace's keys at once, of all databases, and no others") {
  Have({{"a", "a:"}, {"ab", "a:b:"}});
  for (int i = 0; i < 10'000; ++i)
    Set("a:" + std::to_string(i), "value", i % 2 == 0 ? In(1000) : Expiry::Never(),
        static_cast<unsigned>(i % 2));
  Set("a:b:1", "v");
  Set("b:1", "v");
  const uint64_t full = heap.ThreadBytes();
  CHECK(databases.FlushNamespace(Space("a")) == 10'000);
  CHECK(db(0).size() == 2);
  CHECK(db(1).size() == 0);
  CHECK(db(0).expiring() == 0);
  CHECK(databases.total_keys() == 2);
  CHECK(Space("a").keys() == 0);
  CHECK(Peek("a:2") == nullptr);
  CHECK_FALSE(db(1).Holds("a:1", now()));
  CHECK(Peek("a:b:1") != nullptr);
  CHECK(databases.waiting_keys() == 9'999);  // Peek has freed one
  CHECK(databases.waiting_bytes() > 9'999 * 16);
  size_t seen = 0;
  db(0).ForEach(now(), [&](const Entry&) { ++seen; });
  for (uint64_t cursor = db(0).Scan(0, now(), [&](const Entry&) { ++seen; }); cursor != 0;)
    cursor = db(0).Scan(cursor, now(), [&](const Entry&) { ++seen; });
  CHECK(seen == 4);
  CHECK(Sampling(db(0)).RandomOf(Keyspace::kExpiring, random) == nullptr);
  CHECK(Sampling(db(0)).NearestDeadline(now()) == nullptr);
  CHECK(Valid());

  Set("a:3", "new");
  CHECK(Space("a").keys() == 1);
  int slices = 0;
  for (size_t before = databases.waiting_keys(); databases.FreeSome(1000);
       before = databases.waiting_keys()) {
    ++slices;
    REQUIRE(before - databases.waiting_keys() <= 1000);
  }
  CHECK(slices >= 9);
  CHECK(databases.waiting_bytes() == 0);
  CHECK(heap.ThreadBytes() < full - 10'000 * 16);
  CHECK(Find("a:3")->text() == "new");
  CHECK(Valid());
  CHECK(databases.FlushNamespace(Space("a")) == 1);
  CHECK(databases.FlushNamespace(Space("a")) == 0);
}

TEST_CASE_METHOD(NamespaceFixture,
                 "a flushed key can be set again before it is freed, and expires without a report") {
  Have({{"a", "a:"}});
  ChangeLog log;
  changes.Listen(log, ChangeHub::kAllReasons & ~ChangeHub::Bit(ChangeReason::kCreated));
  Set("a:1", "old", In(10));
  Set("a:2", "old", In(10));
  Set("a:big", std::string(100'000, 'x'));
  databases.FlushNamespace(Space("a"));
  CHECK(std::exchange(log.seen, {}) == std::vector<ChangeLog::Seen>{{ChangeReason::kNamespaceFlushed, "a:"}});
  Set("a:1", "new");
  Set("a:big", std::string(50'000, 'y'));
  CHECK(Find("a:1")->text() == "new");
  clock.AdvanceTime(10);
  Settle();
  CHECK(databases.waiting_keys() == 0);
  CHECK(Find("a:1")->text() == "new");
  CHECK(Find("a:big")->text().size() == 50'000);
  CHECK(log.seen.empty());
  CHECK(databases.NoteMiss(db(), db().KeyOf("a:2"), now()).reason ==
        MissReason::kCold);  // no ring is kept here
  CHECK(Space("a").stats.expired == 0);
  CHECK(Valid());
  changes.Unlisten(log);
}

TEST_CASE_METHOD(NamespaceFixture, "a flushed key is known as deleted, whether it is freed or not") {
  databases.AdoptMissRing(MissRing(databases.heap(), 1000));
  Have({{"a", "a:"}});
  Set("a:1", "v");
  Set("a:2", "v");
  databases.FlushNamespace(Space("a"));
  CHECK(Peek("a:1") == nullptr);
  CHECK(databases.NoteMiss(db(), db().KeyOf("a:1"), now()).reason == MissReason::kDeleted);
  FreeAll();
  CHECK(databases.NoteMiss(db(), db().KeyOf("a:2"), now()).reason == MissReason::kDeleted);
}

TEST_CASE_METHOD(NamespaceFixture,
                 "eviction takes nothing of a flushed namespace, and its bytes drive none") {
  Have({{"a", "a:"}});
  for (int i = 0; i < 100; ++i) SetNext("a:" + std::to_string(i), "v", In(1000));
  for (int i = 0; i < 10; ++i) SetNext("k" + std::to_string(i), "v", In(2000));
  databases.FlushNamespace(Space("a"));
  for (const EvictionPolicy policy :
       {EvictionPolicy::kAllKeysLru, EvictionPolicy::kVolatileTtl, EvictionPolicy::kAllKeysRandom}) {
    const uint64_t most = databases.total_keys() - 2;
    const auto outcome = evictor.Run({.maxmemory_bytes = most, .policy = policy}, now(), 1000,
                                     [&] { return databases.total_keys(); });
    CHECK(outcome == Evictor::Outcome::kWithin);
    CHECK(databases.waiting_keys() == 100);
    CHECK(databases.total_keys() == most);
  }
  CHECK(Valid());
}

TEST_CASE_METHOD(NamespaceFixture, "a database may be flushed with a flushed namespace in it") {
  Have({{"a", "a:"}});
  for (int i = 0; i < 1000; ++i) Set("a:" + std::to_string(i), "v");
  databases.FlushNamespace(Space("a"));
  Set("a:1", "v");
  Set("k", "v");
  databases.Flush(0, now());
  CHECK(db().size() == 0);
  CHECK(Peek("a:2") == nullptr);
  CHECK(Space("a").shares().empty());
  CHECK(databases.waiting_keys() == 1001);  // a:1 was freed when it was set again
  Set("a:7", "v");
  CHECK(Space("a").keys() == 1);
  CHECK(databases.NoteMiss(db(), db().KeyOf("a:9"), now()).reason == MissReason::kCold);
  FreeAll();
  CHECK(databases.waiting_bytes() == 0);
  CHECK(Valid());
}

TEST_CASE_METHOD(NamespaceFixture, "stale values go with their namespace") {
  Have({{"a", "a:"}});
  const auto set_stale = [&](std::string_view key) {
    const Key hashed = db().KeyOf(key);
    db().PutOnTerms(hashed, db().Peek(hashed, now()), StringValue::Of("v"), In(10), {.stale_ms = 1'000'000},
                    now(), events::kSet);
  };
  for (int i = 0; i < 300; ++i) set_stale("a:" + std::to_string(i));
  set_stale("k");
  clock.AdvanceTime(10);
  Settle();
  CHECK(databases.stale_values() == 301);
  CHECK(Space("a").keys() == 0);
  CHECK(db().stale().Find(db().KeyOf("a:1"), now()) != nullptr);
  databases.FlushNamespace(Space("a"));
  CHECK(db().stale().Find(db().KeyOf("a:1"), now()) == nullptr);
  CHECK(db().stale().Find(db().KeyOf("k"), now()) != nullptr);
  Set("a:2", "v");
  FreeAll();
  CHECK(databases.stale_values() == 1);
  CHECK(Space("a").keys() == 1);
  CHECK(Valid());
}

TEST_CASE_METHOD(NamespaceFixture, "a walk visits what is flushed after its begin, and not what was before") {
  Have({{"a", "a:"}, {"b", "b:"}});
  for (const char* key : {"a:1", "b:1", "b:2", "k"}) Set(key, "v");
  databases.FlushNamespace(Space("a"));
  Set("a:2", "v");
  Visited visited;
  SnapshotWalk walk(databases, visited, now());
  databases.FlushNamespace(Space("b"));
  Set("b:1", "new");
  SECTION("which is freed before it is walked through") { FreeAll(); }
  SECTION("which is not") {}
  SECTION("whose database is flushed") { databases.Flush(0, now()); }
  while (!walk.Step(1)) {
  }
  CHECK(visited.keys == Keys{"a:2", "b:1", "b:2", "k"});
  FreeAll();
  CHECK(Valid());
}

TEST_CASE_METHOD(NamespaceFixture,
                 "what is flushed with its namespace is not invalidated by its tags as well") {
  Have({{"a", "a:"}});
  ChangeLog log;
  const std::string_view tag[] = {"t"};
  const auto tagged = [&](std::string_view key) {
    db().AddTags(db().KeyOf(key), *Set(key, std::string(20'000, 'v')), tag, now());
  };
  tagged("a:1");
  tagged("a:2");
  tagged("k");
  const uint64_t before = Space("a").bytes();
  CHECK(before > 2 * 20'000);
  databases.FlushNamespace(Space("a"));
  changes.Listen(log, ChangeHub::kAllReasons);
  SECTION("at once") {
    CHECK(db().Invalidate(tag, now(), 100) == 1);
    CHECK(databases.waiting_keys() == 0);
  }
  SECTION("in slices") {
    db().Invalidate(tag, now(), 0);
    CHECK(Peek("a:1") == nullptr);
    CHECK(Peek("k") == nullptr);
    Settle();
  }
  CHECK(log.seen == std::vector<ChangeLog::Seen>{{ChangeReason::kInvalidated, "k"}});
  changes.Unlisten(log);
  FreeAll();
  CHECK(databases.total_keys() == 0);
  CHECK(databases.expiry_stats().invalidated_keys == 1);
  CHECK(Valid());
}

TEST_CASE_METHOD(NamespaceFixture, "an invalidated key that eviction meets is invalidated, not evicted") {
  Have({{"a", "a:", {.keys = 1}}});
  const std::string_view tag[] = {"t"};
  db().AddTags(db().KeyOf("a:1"), *SetNext("a:1"), tag, now());
  SetNext("a:2");
  db().Invalidate(tag, now(), 0);
  CHECK(Trim(Space("a")) == Evictor::Outcome::kWithin);
  CHECK(Peek("a:2") != nullptr);
  CHECK(Space("a").stats.evicted == 0);
  CHECK(databases.expiry_stats().evicted_keys == 0);
  CHECK(databases.expiry_stats().invalidated_keys == 1);
}

}  // namespace mayfly

// The streams that no policy evicts: tasks wait for them, or groups have delivered entries that nobody has acknowledged.
#include "cache/keyspace/spared_streams.h"

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cache/compactor.h"
#include "cache/keyspace/adopter.h"
#include "cache/keyspace/tasks.h"
#include "cache/snapshot_walk.h"
#include "cache/tags/task_name.h"
#include "cache/types/stream/stream_groups.h"
#include "cache/types/stream/stream_value.h"
#include "support/catch.h"
#include "unit/cache/namespace_fixture.h"

namespace mayfly {
namespace {

constexpr EvictionPolicy kEveryPolicy[] = {EvictionPolicy::kAllKeysLru,     EvictionPolicy::kVolatileLru,
                                           EvictionPolicy::kVolatileTtl,    EvictionPolicy::kAllKeysRandom,
                                           EvictionPolicy::kVolatileRandom, EvictionPolicy::kAllKeysSieve,
                                           EvictionPolicy::kAllKeysLfu,     EvictionPolicy::kVolatileLfu,
                                           EvictionPolicy::kAllKeysS3Fifo,  EvictionPolicy::kVolatileS3Fifo};

class SparedFixture : public NamespaceFixture {
 public:
  static constexpr StreamLimits kLimits{.node_bytes = 4096, .node_entries = 100};

  void Begin(EvictionPolicy wanted) {
    databases.FlushAll(now());
    FreeAll();
    policy = wanted;
    const bool lfu = policy == EvictionPolicy::kAllKeysLfu || policy == EvictionPolicy::kVolatileLfu;
    const bool s3fifo = policy == EvictionPolicy::kAllKeysS3Fifo || policy == EvictionPolicy::kVolatileS3Fifo;
    databases.KeepGhosts(s3fifo);
    databases.SetAccessEffect(
        lfu ? AccessEffect::kFrequency
            : (policy == EvictionPolicy::kAllKeysSieve || s3fifo ? AccessEffect::kVisitedBit
                                                                 : AccessEffect::kRecency),
        {.random = &random});
  }
  // A stream of one entry and one group, which has delivered it or not.
  Entry* SetStream(std::string_view key, bool pending, Expiry expiry = Expiry::Never()) {
    clock.AdvanceTime(Entry::kStampMs);
    auto stream = std::make_unique<StreamValue>();
    const std::string_view pair[] = {"f", "v"};
    stream->Append({1, 0}, pair, kLimits);
    StreamGroup& group = stream->EditGroups().Add("g", {}, 0);
    StreamConsumer& consumer = group.AddConsumer("c", now().wall_ms);
    if (pending) group.Deliver({1, 0}, consumer, now().wall_ms, 1);
    return db().PutRich(db().KeyOf(key), Peek(key), std::move(stream), expiry, now(), events::kSet);
  }
  void Acknowledge(std::string_view key) {
    db().EditRich<StreamValue>(db().KeyOf(key), *Peek(key), now(), events::kSet, [](StreamValue& stream) {
      return stream.EditGroups().Find("g")->Acknowledge({1, 0});
    });
  }
  void SetTask(std::string_view key, std::string_view stream, uint64_t ms = 1'000'000'000) {
    const std::string tag = TaskTagOf({.stream = stream, .most = 0});
    const std::string_view name = tag;
    db().PutOnTerms(db().KeyOf(key), nullptr, StringValue::Of("v"), In(ms), {}, now(), events::kSet,
                    db().tags().Hold({&name, 1}));
  }
  Evictor::Outcome EvictAll(size_t budget = 100'000) {
    return evictor.Run({.maxmemory_bytes = 1, .policy = policy}, now(), budget, [] { return uint64_t{2}; });
  }
  Expiry Far() { return In(900'000'000); }

  EvictionPolicy policy = EvictionPolicy::kAllKeysLru;
};

class NamesSeen final : public SnapshotVisitor {
 public:
  void Visit(unsigned, const Keyspace&, const Entry& entry) noexcept override {
    keys.emplace_back(entry.key());
  }
  void VisitStale(unsigned, const Keyspace&, const Entry&, Expiry) noexcept override {}
  std::vector<std::string> keys;
};

}  // namespace

TEST_CASE_METHOD(SparedFixture,
                 "no policy evicts a stream with pending entries, and every policy evicts it later") {
  for (const EvictionPolicy each : kEveryPolicy) {
    INFO(static_cast<int>(each));
    Begin(each);
    const uint64_t evicted_before = databases.expiry_stats().evicted_keys;
    SetStream("pending", true, Far());
    const uint64_t deadline_ms = Peek("pending")->deadline().deadline_ms;
    SetStream("done", false, Far());
    for (int i = 0; i < 50; ++i) SetNext("k" + std::to_string(i), "v", Far());
    CHECK(EvictAll() == Evictor::Outcome::kNothingToEvict);
    CHECK(db().size() == 1);
    REQUIRE(Peek("pending") != nullptr);
    CHECK(db().expiring() == 1);
    CHECK(databases.expiry_stats().evicted_keys == evicted_before + 51);
    CHECK(db().Validate());
    // Accesses and further evictions leave it where it is.
    Find("pending");
    SetNext("k", "v", Far());
    CHECK(EvictAll() == Evictor::Outcome::kNothingToEvict);
    CHECK(Peek("pending")->deadline().deadline_ms == deadline_ms);
    CHECK(db().size() == 1);
    Acknowledge("pending");
    CHECK(db().Validate());
    CHECK(EvictAll() == Evictor::Outcome::kNothingToEvict);
    CHECK(db().size() == 0);
    CHECK(db().Validate());
  }
}

TEST_CASE_METHOD(SparedFixture, "no policy evicts a stream that tasks wait for") {
  for (const EvictionPolicy each : kEveryPolicy) {
    INFO(static_cast<int>(each));
    Begin(each);
    SetStream("jobs", false, Far());
    SetStream("other", false, Far());
    SetTask("a", "jobs");
    SetTask("b", "jobs");
    CHECK(EvictAll() == Evictor::Outcome::kNothingToEvict);
    CHECK(Peek("jobs") != nullptr);
    CHECK(Peek("other") == nullptr);
    db().Delete(db().KeyOf("a"), now());
    CHECK(EvictAll() == Evictor::Outcome::kNothingToEvict);
    CHECK(Peek("jobs") != nullptr);
    db().Delete(db().KeyOf("b"), now());
    CHECK(EvictAll() == Evictor::Outcome::kNothingToEvict);
    CHECK(Peek("jobs") == nullptr);
    CHECK(db().Validate());
  }
}

TEST_CASE_METHOD(SparedFixture, "ready and drained tasks keep their stream from eviction, too") {
  SetStream("jobs", false);
  databases.HoldTasks();
  SetTask("ready", "jobs", 50);
  clock.AdvanceTime(50);
  Settle();
  CHECK(db().tasks().ready_count() == 1);
  CHECK(EvictAll() == Evictor::Outcome::kNothingToEvict);
  CHECK(Peek("jobs") != nullptr);
  db().Delete(db().KeyOf("ready"), now());
  for (size_t i = 0; i < Tasks::kMostSorted + 5; ++i) SetTask("t" + std::to_string(i), "jobs");
  db().tasks().Drain("jobs", SIZE_MAX, now(), 0);
  CHECK(db().tags().draining());
  CHECK(EvictAll() == Evictor::Outcome::kNothingToEvict);
  CHECK(Peek("jobs") != nullptr);
  databases.ReleaseTasks(now());
  Settle();
  CHECK(db().size() == 1);
  CHECK(EvictAll() == Evictor::Outcome::kNothingToEvict);
  CHECK(db().size() == 0);
}

TEST_CASE_METHOD(SparedFixture, "maxkeys and a namespace's limits take no stream with pending entries") {
  SetStream("pending", true);
  for (int i = 0; i < 5; ++i) SetNext("k" + std::to_string(i));
  const auto no_use = [] { return uint64_t{0}; };
  CHECK(evictor.Run({.maxkeys = 1}, now(), 100, no_use) == Evictor::Outcome::kWithin);
  CHECK(Peek("pending") != nullptr);
  SetStream("more", true);
  CHECK(evictor.Run({.maxkeys = 1}, now(), 100, no_use) == Evictor::Outcome::kNothingToEvict);
  CHECK(db().size() == 2);

  Have({{"n", "n:", {.bytes = 0, .keys = 2}}});
  for (const EvictionPolicy each : kEveryPolicy) {
    INFO(static_cast<int>(each));
    Begin(each);
    SetStream("n:a", true);
    SetStream("n:b", true);
    SetNext("n:c");
    CHECK(Trim(Space("n"), each) == Evictor::Outcome::kWithin);
    CHECK(Peek("n:c") == nullptr);
    SetStream("n:d", true);
    CHECK(Trim(Space("n"), each) == Evictor::Outcome::kNothingToEvict);
    CHECK(db().size() == 3);
    Acknowledge("n:b");
    CHECK(Trim(Space("n"), each) == Evictor::Outcome::kWithin);
    CHECK(Peek("n:b") == nullptr);
    CHECK(Valid());
  }
}

TEST_CASE_METHOD(SparedFixture, "a stream that may go again goes in the order of its last use") {
  SetStream("spared", true);
  clock.AdvanceTime(1000);
  SetNext("old");
  EvictAll(2);  // meets the stream, and evicts the key
  CHECK(Peek("old") == nullptr);
  SetNext("before");
  clock.AdvanceTime(1000);
  Find("spared");
  SetNext("after");
  Acknowledge("spared");
  const auto evict_one = [&] { EvictAll(1); };
  evict_one();
  CHECK(Peek("before") == nullptr);
  CHECK(Peek("spared") != nullptr);
  evict_one();
  CHECK(Peek("spared") == nullptr);
  CHECK(Peek("after") != nullptr);
}

TEST_CASE_METHOD(SparedFixture,
                 "an eviction that meets many such streams stops in time, and meets none of them again") {
  constexpr int kStreams = 5000;
  for (int i = 0; i < kStreams; ++i) SetStream("s" + std::to_string(i), true);
  for (int i = 0; i < 10; ++i) SetNext("k" + std::to_string(i));
  const auto run = [&] {
    return evictor.Run({.maxmemory_bytes = 1, .policy = policy}, now(), 10, [] { return uint64_t{2}; },
                       {.above_bytes = 0});
  };
  // Whatever is owed: each slice meets a bounded number of them.
  size_t slices = 0;
  for (uint64_t met = 0; run() == Evictor::Outcome::kMore; ++slices) {
    CHECK(databases.sparing().met - met <= Evictor::kMostSpared);
    met = databases.sparing().met;
  }
  CHECK(slices == kStreams / Evictor::kMostSpared);
  CHECK(databases.sparing().met == kStreams);
  CHECK(db().size() == kStreams);
  // From now on keys beside them are evicted at once.
  for (int i = 0; i < 10; ++i) SetNext("k" + std::to_string(i));
  CHECK(run() == Evictor::Outcome::kNothingToEvict);
  CHECK(db().size() == kStreams);
  CHECK(databases.sparing().met == kStreams);
  // One that may go is found after some looks.
  Acknowledge("s4711");
  for (size_t i = 0; i <= kStreams / Evictor::kLooksInNeed && Peek("s4711") != nullptr; ++i) run();
  CHECK(Peek("s4711") == nullptr);
  CHECK(db().size() == kStreams - 1);
  CHECK(db().Validate());
}

TEST_CASE_METHOD(SparedFixture,
                 "a spared stream keeps its tags, its deadline and its name, whatever is done to it") {
  const std::string_view tags[] = {"red", "blue"};
  SetStream("tagged", true);
  db().AddTags(db().KeyOf("tagged"), *Peek("tagged"), {tags, 1}, now());
  SetStream("timed", true, In(50'000));
  SetStream("plain", true);
  EvictAll();
  REQUIRE(db().size() == 3);
  for (const char* key : {"tagged", "timed", "plain"}) CHECK_FALSE(Peek(key)->evictable());
  CHECK(db().Validate());
  db().AddTags(db().KeyOf("tagged"), *Peek("tagged"), {tags, 2}, now());
  CHECK(db().tags().NamesOf(*Peek("tagged")).size() == 2);
  db().SetExpiry(db().KeyOf("plain"), *Peek("plain"), In(70'000), now());
  db().SetExpiry(db().KeyOf("timed"), *Peek("timed"), Expiry::Never(), now());
  CHECK(db().Validate());
  EvictAll();
  CHECK(db().size() == 3);
  db().Move(db().KeyOf("plain"), *Peek("plain"), db(), db().KeyOf("moved"), nullptr, now());
  EvictAll();
  REQUIRE(Peek("moved") != nullptr);
  CHECK(db().Validate());
  // A plain value in the place of a spared stream is a plain key.
  Set("timed", "text");
  EvictAll();
  CHECK(Peek("timed") == nullptr);
  CHECK(db().Invalidate({tags, 1}, now(), 100) == 1);
  CHECK(Peek("tagged") == nullptr);
  clock.AdvanceTime(70'000);
  Settle();
  CHECK(db().size() == 0);
  CHECK(db().Validate());
}

TEST_CASE_METHOD(SparedFixture, "a walk sees each stream once, though it is spared or let go meanwhile") {
  for (int i = 0; i < 20; ++i) SetStream("s" + std::to_string(i), i % 2 == 0);
  EvictAll(5);  // some are spared before the walk
  const size_t there = db().size();
  NamesSeen seen;
  {
    SnapshotWalk walk(databases, seen, now());
    walk.Step(2);
    EvictAll(4);
    for (int i = 0; i < 20; i += 4) {
      if (Peek("s" + std::to_string(i)) != nullptr) Acknowledge("s" + std::to_string(i));
    }
    EvictAll();
    while (!walk.Step(3)) {
    }
  }
  CHECK(seen.keys.size() == there);
  CHECK(std::set<std::string>(seen.keys.begin(), seen.keys.end()).size() == there);
  CHECK(db().Validate());
}

TEST_CASE_METHOD(SparedFixture, "what no policy evicts is first on a walk") {
  SetStream("cold", true);
  for (int i = 0; i < 5; ++i) SetNext("k" + std::to_string(i));
  EvictAll(1);
  CHECK_FALSE(Peek("cold")->evictable());
  clock.AdvanceTime(1000);
  NamesSeen seen;
  {
    SnapshotWalk walk(databases, seen, now());
    while (!walk.Step(3)) {
    }
  }
  REQUIRE_FALSE(seen.keys.empty());
  CHECK(seen.keys.front() == "cold");
}

TEST_CASE_METHOD(SparedFixture, "a stream without work costs no byte, and a flush frees spared streams") {
  Entry* const entry = SetStream("s", false);
  CHECK_FALSE(entry->Has(EntryFlag::kExtra));
  SetStream("pending", true);
  CHECK_FALSE(Peek("pending")->Has(EntryFlag::kExtra));
  Have({{"n", "n:"}});
  SetStream("n:pending", true);
  EvictAll();
  CHECK(db().size() == 2);
  databases.FlushNamespace(Space("n"));
  Settle();
  CHECK(db().size() == 1);
  databases.FlushAll(now());
  FreeAll();
  SetNext("k");
  EvictAll();
  CHECK(db().size() == 0);
  CHECK(Valid());
}

}  // namespace mayfly

#include "cache/evict/eviction.h"

#include <random>
#include <string>
#include <vector>

#include "support/catch.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {
namespace {

class EvictionFixture : public KeyspaceFixture {
 public:
  // Evicts `count` entries under `policy` and returns their keys in order.
  std::vector<std::string> Evict(EvictionPolicy policy, size_t count) {
    ChangeLog log;
    changes.Listen(log, ChangeHub::Bit(ChangeReason::kEvicted));
    evictor.Run({.maxmemory_bytes = 1, .policy = policy}, now(), count, [] { return uint64_t{2}; });
    changes.Unlisten(log);
    std::vector<std::string> keys;
    for (const ChangeLog::Seen& seen : log.seen) keys.push_back(seen.key);
    return keys;
  }
  std::mt19937_64 random{5};
  Evictor evictor{databases, random};
};

using Keys = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(EvictionFixture,
                 "allkeys-lru evicts the least recently used keys of all databases, in exact order") {
  const Keys order = {"a", "b", "c", "d", "e", "f"};
  for (size_t i = 0; i < order.size(); ++i) {
    clock.AdvanceTime(Entry::kStampMs);
    Set(order[i], "v", i % 2 == 0 ? In(100'000) : Expiry::Never(), i % 3);
  }
  clock.AdvanceTime(Entry::kStampMs);
  databases.At(0).Find(databases.At(0).KeyOf("a"), now());
  CHECK(Evict(EvictionPolicy::kAllKeysLru, 4) == Keys{"b", "c", "d", "e"});
  CHECK(Evict(EvictionPolicy::kAllKeysLru, 10) == Keys{"f", "a"});
}

TEST_CASE_METHOD(EvictionFixture, "volatile-lru evicts no key without a TTL") {
  Set("lasting", "v");
  clock.AdvanceTime(1000);
  Set("first", "v", In(100'000));
  clock.AdvanceTime(1000);
  Set("second", "v", In(10'000));
  CHECK(Evict(EvictionPolicy::kVolatileLru, 10) == Keys{"first", "second"});
  CHECK(Peek("lasting") != nullptr);
}

TEST_CASE_METHOD(EvictionFixture, "volatile-ttl evicts the keys that would expire soonest") {
  Set("late", "v", In(9'000'000));
  Set("soon", "v", Expiry::At(now().wall_ms + 50));
  Set("middle", "v", In(60'000));
  Set("lasting", "v");
  CHECK(Evict(EvictionPolicy::kVolatileTtl, 10) == Keys{"soon", "middle", "late"});
}

TEST_CASE_METHOD(EvictionFixture, "the random policies evict only their candidates") {
  for (int i = 0; i < 50; ++i) {
    Set("lasting" + std::to_string(i), "v", Expiry::Never(), 1);
    Set("volatile" + std::to_string(i), "v", In(100'000), 2);
  }
  for (const std::string& key : Evict(EvictionPolicy::kVolatileRandom, 20))
    CHECK(key.substr(0, 8) == "volatile");
  CHECK(Evict(EvictionPolicy::kVolatileRandom, 100).size() == 30);
  CHECK(Evict(EvictionPolicy::kAllKeysRandom, 100).size() == 50);
  CHECK(databases.total_keys() == 0);
}

TEST_CASE_METHOD(EvictionFixture,
                 "under noeviction memory evicts nothing, and maxkeys evicts the least recently used key") {
  for (int i = 0; i < 10; ++i) {
    clock.AdvanceTime(Entry::kStampMs);
    Set("k" + std::to_string(i), "v");
  }
  const auto no_use = [] { return uint64_t{0}; };
  CHECK(Evict(EvictionPolicy::kNoEviction, 5).empty());
  CHECK(evictor.Run({.maxmemory_bytes = 1}, now(), 5, [] { return uint64_t{2}; }) ==
        Evictor::Outcome::kNothingToEvict);
  CHECK(evictor.Run({.maxkeys = 7}, now(), 100, no_use) == Evictor::Outcome::kWithin);
  CHECK(db().size() == 7);
  CHECK(Peek("k2") == nullptr);
  CHECK(Peek("k3") != nullptr);
}

TEST_CASE_METHOD(EvictionFixture, "under every policy a slice looks at no more entries than its budget") {
  constexpr EvictionPolicy kPolicies[] = {EvictionPolicy::kAllKeysLru, EvictionPolicy::kVolatileLru,
                                          EvictionPolicy::kVolatileTtl, EvictionPolicy::kAllKeysRandom,
                                          EvictionPolicy::kVolatileRandom};
  for (const EvictionPolicy policy : kPolicies) {
    for (int i = 0; i < 100; ++i) Set("k" + std::to_string(i), "v", In(100'000), i % 2);
    CHECK(Evict(policy, 7).size() == 7);
    CHECK(Evict(policy, 0).empty());
    CHECK(databases.total_keys() == 93);
  }
}

TEST_CASE_METHOD(EvictionFixture, "beyond its budget a slice goes on for what is owed, and no further") {
  for (int i = 0; i < 1000; ++i) Set("k" + std::to_string(i), std::string(100, 'v'));
  const auto used = [&] { return heap.ThreadBytes(); };
  const uint64_t full = used();
  const EvictionLimits limits{.maxmemory_bytes = full - 100'000, .policy = EvictionPolicy::kAllKeysLru};
  CHECK(evictor.Run(limits, now(), 1, used, {.above_bytes = full - 20'000}) == Evictor::Outcome::kMore);
  CHECK(used() <= full - 20'000);
  CHECK(used() > full - 20'500);
  CHECK(evictor.Run({.maxkeys = 100}, now(), 1, used, {.above_keys = 500}) == Evictor::Outcome::kMore);
  CHECK(db().size() == 500);
  CHECK(evictor.Run({.maxkeys = 100}, now(), 1, used, {.above_keys = 500}) == Evictor::Outcome::kMore);
  CHECK(db().size() == 499);
}

TEST_CASE_METHOD(EvictionFixture, "every policy takes keys of all databases that have candidates") {
  constexpr EvictionPolicy kPolicies[] = {EvictionPolicy::kAllKeysLru,     EvictionPolicy::kVolatileLru,
                                          EvictionPolicy::kVolatileTtl,    EvictionPolicy::kAllKeysRandom,
                                          EvictionPolicy::kVolatileRandom, EvictionPolicy::kAllKeysSieve,
                                          EvictionPolicy::kAllKeysLfu,     EvictionPolicy::kVolatileLfu,
                                          EvictionPolicy::kAllKeysS3Fifo,  EvictionPolicy::kVolatileS3Fifo};
  for (const EvictionPolicy policy : kPolicies) {
    INFO(static_cast<int>(policy));
    const bool lfu = policy == EvictionPolicy::kAllKeysLfu || policy == EvictionPolicy::kVolatileLfu;
    databases.FlushAll(now());
    const bool s3fifo = policy == EvictionPolicy::kAllKeysS3Fifo || policy == EvictionPolicy::kVolatileS3Fifo;
    databases.KeepGhosts(s3fifo);
    databases.SetAccessEffect(
        lfu ? AccessEffect::kFrequency
            : (policy == EvictionPolicy::kAllKeysSieve || s3fifo ? AccessEffect::kVisitedBit
                                                                 : AccessEffect::kRecency),
        {.random = &random});
    for (int i = 0; i < 300; ++i) {
      clock.AdvanceTime(Entry::kStampMs);
      // The wheel's slots are coarse so far ahead: deadlines lie apart.
      Set("k" + std::to_string(i), "v", In(10'000 + static_cast<uint64_t>(i) * 10'000),
          static_cast<unsigned>(i % 3));
    }
    while (databases.total_keys() > 150) Evict(policy, 1);
    for (unsigned index = 0; index < 3; ++index) {
      CHECK(db(index).size() > 25);
      CHECK(db(index).size() < 75);
    }
  }
}

TEST_CASE_METHOD(EvictionFixture, "a limit far below the used memory is reached in slices") {
  for (int i = 0; i < 1000; ++i) Set("k" + std::to_string(i), std::string(100, 'v'));
  const uint64_t limit = heap.ThreadBytes() - 100'000;
  const EvictionLimits limits{.maxmemory_bytes = limit, .policy = EvictionPolicy::kAllKeysLru};
  int slices = 0;
  while (evictor.Run(limits, now(), 50, [&] { return heap.ThreadBytes(); }) == Evictor::Outcome::kMore)
    ++slices;
  CHECK(slices > 5);
  CHECK(heap.ThreadBytes() <= limit);
  CHECK(db().Validate());
}

}  // namespace mayfly

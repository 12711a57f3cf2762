#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cache/evict/eviction.h"
#include "cache/evict/s3fifo_evictor.h"
#include "support/catch.h"
#include "unit/cache/keyspace_fixture.h"
#include "unit/cache/s3fifo_model.h"

namespace mayfly {
namespace {

using Keys = std::vector<std::string>;

class S3FifoFixture : public KeyspaceFixture {
 public:
  S3FifoFixture() {
    Begin();
    changes.Listen(log, ChangeHub::Bit(ChangeReason::kEvicted));
  }
  ~S3FifoFixture() { changes.Unlisten(log); }

  // From now on the policy is in force, or plain SIEVE is.
  void Begin() {
    databases.KeepGhosts(true);
    databases.SetAccessEffect(AccessEffect::kVisitedBit);
  }
  void End() {
    databases.KeepGhosts(false);
    databases.SetAccessEffect(AccessEffect::kRecency);
  }
  // The keys evicted since the last call, in order.
  Keys TakeEvicted() {
    Keys keys;
    for (const ChangeLog::Seen& seen : std::exchange(log.seen, {})) keys.push_back(seen.key);
    return keys;
  }
  Keys Evict(size_t count, bool with_lasting = true) {
    for (size_t i = 0; i < count; ++i) s3fifo.EvictOne(with_lasting, now());
    return TakeEvicted();
  }
  void SetMany(const std::string& prefix, int count, Expiry expiry = Expiry::Never(), unsigned index = 0) {
    for (int i = 0; i < count; ++i) Set(prefix + std::to_string(i), "v", expiry, index);
  }
  // GET and, after a miss, SET; there is room for so many keys. True if it was a hit.
  bool Get(const std::string& key, size_t capacity) {
    if (Find(key) != nullptr) return true;
    Set(key, "v");
    while (databases.total_keys() > capacity) s3fifo.EvictOne(true, now());
    return false;
  }

  ChangeLog log;
  SieveEvictor sieve{databases};
  S3FifoEvictor s3fifo{databases, sieve};
};

// A key that is asked for, with the smaller numbers asked for more often.
std::string Popular(std::mt19937_64& random, uint64_t keys) {
  return "k" + std::to_string(std::min({random() % keys, random() % keys, random() % keys}));
}

}  // namespace

TEST_CASE_METHOD(S3FifoFixture,
                 "new keys go in the order in which they came, but those that were read stay") {
  SetMany("k", 6);
  for (const char* key : {"k1", "k2"}) Find(key);
  CHECK(Evict(3) == Keys{"k0", "k3", "k4"});
  CHECK_FALSE(Peek("k1")->young());
  CHECK_FALSE(Peek("k2")->Has(EntryFlag::kVisited));  // that was for the probation
  CHECK(Peek("k5")->young());
  CHECK(db().owners().own().YoungIn(Quota::kLasting) == 1);
  CHECK(db().Validate());
}

TEST_CASE_METHOD(S3FifoFixture, "a key that comes back soon after its eviction is past its probation") {
  SetMany("k", 100);
  CHECK(Evict(2) == Keys{"k0", "k1"});
  Set("k1", "v");
  Set("new", "v");
  CHECK_FALSE(Peek("k1")->young());
  CHECK(Peek("new")->young());
  db().Delete(db().KeyOf("k1"), now());
  Set("k1", "v");
  CHECK(Peek("k1")->young());  // its ghost is gone
  CHECK(db().Validate());
}

TEST_CASE_METHOD(S3FifoFixture, "a scan evicts nothing but itself") {
  for (int i = 0; i < 3; ++i) {
    for (int key = 0; key < 800; ++key) Get("hot" + std::to_string(key), 1000);
  }
  for (int i = 0; i < 20'000; ++i) Get("scan" + std::to_string(i), 1000);
  for (int key = 0; key < 800; ++key) REQUIRE(Get("hot" + std::to_string(key), 1000));
}

TEST_CASE_METHOD(S3FifoFixture, "every victim is that of the plain model, through random commands") {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    INFO("seed " << seed);
    databases.FlushAll(now());
    End();
    Begin();
    const size_t capacity = 4 + 3 * seed;
    S3FifoModel model(capacity, S3FifoEvictor::kYoungPart);
    std::mt19937_64 random(seed);
    for (int step = 0; step < 5000; ++step) {
      const std::string key = Popular(random, 10 * capacity);
      if (random() % 20 == 0) {
        if (model.Has(key)) model.Remove(key);
        db().Delete(db().KeyOf(key), now());
      } else if (Find(key) != nullptr) {
        REQUIRE(model.Has(key));
        model.Hit(key);
      } else {
        Set(key, std::string(random() % 90, 'v'));
        const bool returns = !Peek(key)->young();  // which ghosts a ring still has is its own affair
        const Keys expected = model.Insert(key, returns);
        while (databases.total_keys() > capacity) s3fifo.EvictOne(true, now());
        REQUIRE(TakeEvicted() == expected);
      }
      if (step % 100 == 0) REQUIRE(db().Validate());
    }
    REQUIRE(databases.ghosts().Validate());
  }
}

TEST_CASE_METHOD(S3FifoFixture, "it misses less often than LRU and SIEVE do, most of all with scans") {
  const bool scans = GENERATE(false, true);
  const auto misses = [&](EvictionPolicy policy) {
    databases.FlushAll(now());
    End();
    policy == EvictionPolicy::kAllKeysS3Fifo
        ? Begin()
        : databases.SetAccessEffect(policy == EvictionPolicy::kAllKeysLru ? AccessEffect::kRecency
                                                                          : AccessEffect::kVisitedBit);
    std::mt19937_64 random(7);
    Evictor evictor(databases, random);
    std::mt19937_64 trace(8);
    int count = 0;
    for (int i = 0; i < 100'000; ++i) {
      clock.AdvanceTime(Entry::kStampMs);
      const bool scanned = scans && i % 3000 < 1000;
      const std::string key = scanned ? "s" + std::to_string(i) : Popular(trace, 20'000);
      if (Find(key) != nullptr) continue;
      if (!scanned) ++count;
      Set(key, "v");
      evictor.Run({.maxkeys = 1000, .policy = policy}, now(), 10, [] { return uint64_t{0}; });
    }
    return count;
  };
  const int lru = misses(EvictionPolicy::kAllKeysLru);
  const int sieve_misses = misses(EvictionPolicy::kAllKeysSieve);
  const int s3fifo_misses = misses(EvictionPolicy::kAllKeysS3Fifo);
  INFO(lru << " " << sieve_misses << " " << s3fifo_misses);
  CHECK(s3fifo_misses < sieve_misses);
  CHECK(s3fifo_misses < lru);
}

TEST_CASE_METHOD(S3FifoFixture, "keys without a TTL stay if they are not to be evicted") {
  SetMany("lasting", 50);
  SetMany("brief", 50, In(1'000'000), 1);
  for (int i = 0; i < 50; ++i) {
    const Keys evicted = Evict(1, false);
    REQUIRE((evicted.size() == 1 && evicted[0].starts_with("brief")));
  }
  CHECK(Evict(1, false).empty());
  CHECK(s3fifo.EvictOne(false, now()) == 0);
  CHECK(Evict(51).size() == 50);
  CHECK(s3fifo.EvictOne(true, now()) == 0);
}

TEST_CASE_METHOD(S3FifoFixture, "the gate stays valid if its entry is removed, relocated or given a TTL") {
  SetMany("k", 100);
  CHECK(Evict(1) == Keys{"k0"});  // the gate is at k1
  db().Delete(db().KeyOf("k1"), now());
  CHECK(db().Validate());
  Set("k2", std::string(500, 'w'));  // relocated, and visited
  CHECK(db().Validate());
  CHECK(Evict(1) == Keys{"k3"});
  db().SetExpiry(db().KeyOf("k4"), *Peek("k4"), In(1000), now());
  CHECK(Peek("k4")->young());
  CHECK(db().owners().own().YoungIn(Quota::kExpiring) == 1);
  CHECK(db().Validate());
  CHECK(Evict(1) == Keys{"k5"});
  databases.Flush(0, now());
  CHECK(Evict(1).empty());
}

TEST_CASE_METHOD(S3FifoFixture,
                 "there is a victim while there is a key, and an eviction looks at a bounded number") {
  constexpr int kCount = 1000 + static_cast<int>(S3FifoEvictor::kMostPassed);
  SetMany("k", kCount);
  SetMany("brief", 3, In(1'000'000), 2);
  for (size_t left = databases.total_keys(); left > 0; --left) {
    if (left > 40 && left % 1000 != 0) {
      s3fifo.EvictOne(true, now());
      continue;
    }
    for (int i = 0; i < kCount; ++i) Find("k" + std::to_string(i));
    const size_t looked = s3fifo.EvictOne(true, now());
    REQUIRE((looked > 0 && looked <= S3FifoEvictor::kMostPassed));
    REQUIRE(databases.total_keys() == left - 1);
  }
  CHECK(s3fifo.EvictOne(true, now()) == 0);
  CHECK(databases.ghosts().Validate());
}

TEST_CASE_METHOD(S3FifoFixture,
                 "keys of before the policy are past their probation; those of after it are not remembered") {
  End();
  SetMany("old", 50);
  Begin();
  SetMany("new", 50);
  for (const std::string& key : Evict(47)) CHECK(key.starts_with("new"));
  End();
  CHECK(databases.ghosts().bytes() == 0);
  SetMany("lru", 50);
  CHECK_FALSE(Peek("lru0")->young());
  for (int i = 0; i < 50; ++i) Find("old" + std::to_string(i));
  Begin();
  CHECK(db().Validate());
  CHECK(Evict(10).size() == 10);
  CHECK(db().Validate());
}

TEST_CASE_METHOD(S3FifoFixture,
                 "all invariants hold under S3-FIFO through random commands and changes of policy") {
  std::mt19937_64 random(13);
  Evictor evictor(databases, random);
  constexpr EvictionPolicy kPolicies[] = {EvictionPolicy::kAllKeysS3Fifo, EvictionPolicy::kVolatileS3Fifo,
                                          EvictionPolicy::kAllKeysSieve, EvictionPolicy::kAllKeysLru};
  size_t policy = 0;
  for (int step = 0; step < 60'000; ++step) {
    const auto index = static_cast<unsigned>(random() % databases.count());
    const Key key = db(index).KeyOf(random() % 2 == 0 ? "a" : "b");
    const std::string name = std::to_string(random() % 150);
    const Key named = db(index).KeyOf(name);
    switch (random() % 12) {
      case 0:
        db(index).Delete(named, now());
        break;
      case 1:
        clock.AdvanceTime(random() % 20);
        if (random() % 2 == 0) Settle();
        break;
      case 2:
        if (random() % 40 == 0) databases.Flush(index, now());
        if (random() % 40 == 0) databases.Swap(index, 0);
        while (databases.FreeSome(100)) {
        }
        break;
      case 3:
        if (random() % 40 != 0) break;
        policy = random() % std::size(kPolicies);
        databases.KeepGhosts(policy < 2);
        databases.SetAccessEffect(policy < 3 ? AccessEffect::kVisitedBit : AccessEffect::kRecency);
        break;
      case 4:
      case 5:
      case 6:
        Set(name, std::string(random() % 200, 'v'),
            random() % 2 == 0 ? In(1 + random() % 400) : Expiry::Never(), index);
        break;
      case 7:
        if (Entry* entry = db(index).Peek(named, now()))
          db(index).SetExpiry(named, *entry, random() % 2 == 0 ? In(300) : Expiry::Never(), now());
        break;
      case 8:
        if (Entry* entry = db(index).Peek(named, now()); entry != nullptr && (index != 1 || name != "7")) {
          const Key to = db(1).KeyOf("7");
          db(index).Move(named, *entry, db(1), to, db(1).Peek(to, now()), now());
        }
        break;
      default:
        db(index).Find(named, now());
        db(index).Find(key, now());
    }
    const EvictionLimits limits{.maxkeys = 50 + random() % 50, .policy = kPolicies[policy]};
    REQUIRE(evictor.Run(limits, now(), 1000, [] { return uint64_t{0}; }) == Evictor::Outcome::kWithin);
    if (step % 20 != 0) continue;
    for (unsigned i = 0; i < databases.count(); ++i) REQUIRE(db(i).Validate());
    REQUIRE(databases.ghosts().Validate());
  }
}

}  // namespace mayfly

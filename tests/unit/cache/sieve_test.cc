#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "cache/evict/eviction.h"
#include "cache/evict/sieve_evictor.h"
#include "support/catch.h"
#include "unit/cache/keyspace_fixture.h"
#include "unit/cache/sieve_model.h"

namespace mayfly {
namespace {

using KeyNames = std::vector<std::string>;

class SieveFixture : public KeyspaceFixture {
 public:
  SieveFixture() {
    databases.SetAccessEffect(AccessEffect::kVisitedBit);
    changes.Listen(log, ChangeHub::Bit(ChangeReason::kEvicted));
  }
  ~SieveFixture() { changes.Unlisten(log); }

  // The keys evicted since the last call, in order.
  KeyNames TakeEvicted() {
    KeyNames keys;
    for (const ChangeLog::Seen& seen : std::exchange(log.seen, {})) keys.push_back(seen.key);
    return keys;
  }
  KeyNames Evict(size_t count) {
    for (size_t i = 0; i < count; ++i) sieve.EvictOne(now());
    return TakeEvicted();
  }
  void SetMany(const std::string& prefix, int count, Expiry expiry = Expiry::Never(), unsigned index = 0) {
    for (int i = 0; i < count; ++i) Set(prefix + std::to_string(i), "v", expiry, index);
  }
  size_t CountLeft(unsigned index, Keyspace::List list) { return db(index).owners().CountOf(list); }

  ChangeLog log;
  SieveEvictor sieve{databases};
};

// Random commands on keys of which all or none have a TTL: a single list, as in the paper.
class OneQueue : public SieveFixture {
 public:
  OneQueue(uint64_t seed, size_t capacity, bool expiring)
      : random_(seed),
        model_(capacity),
        limits_{.maxkeys = capacity, .policy = EvictionPolicy::kAllKeysSieve},
        expiring_(expiring) {
    changes.Listen(gone_, ChangeHub::Bit(ChangeReason::kExpired) | ChangeHub::Bit(ChangeReason::kDeleted));
  }
  ~OneQueue() { changes.Unlisten(gone_); }

  void Step() {
    const std::string key = "k" + std::to_string(std::min(random_() % 60, random_() % 60));
    switch (random_() % 16) {
      case 0:
        db().Delete(db().KeyOf(key), now());
        break;
      case 1:
        clock.AdvanceTime(1 + random_() % 50);
        Settle();
        break;
      case 2:
      case 3:
      case 4:
        Store(key);
        break;
      default:
        if (Find(key) != nullptr) model_.Hit(key);
    }
    for (const ChangeLog::Seen& seen : std::exchange(gone_.seen, {})) {
      if (model_.Has(seen.key)) model_.Remove(seen.key);
    }
    REQUIRE(db().size() == model_.size());
  }

 private:
  // Values of many lengths, so that an overwrite often relocates the entry.
  void Store(const std::string& key) {
    KeyNames expected;
    const bool known = Peek(key) != nullptr;
    Set(key, std::string(random_() % 90, 'v'), expiring_ ? In(1 + random_() % 2000) : Expiry::Never());
    if (known) {
      model_.Hit(key);
    } else if (const auto victim = model_.Insert(key)) {
      expected.push_back(*victim);
    }
    evictor_.Run(limits_, now(), 1000, [] { return uint64_t{0}; });
    REQUIRE(TakeEvicted() == expected);
  }

  std::mt19937_64 random_;
  SieveModel model_;
  EvictionLimits limits_;
  bool expiring_;
  ChangeLog gone_;
  Evictor evictor_{databases, random_};
};

}  // namespace

TEST_CASE_METHOD(SieveFixture, "the hand passes visited keys, evicts the first other one, and stays there") {
  SetMany("k", 6);
  for (const char* key : {"k0", "k1", "k3"}) Find(key);
  CHECK(Evict(1) == KeyNames{"k2"});
  Find("k0");
  SetMany("n", 1);
  CHECK(Evict(2) == KeyNames{"k4", "k5"});  // k3 was passed
  CHECK(Evict(2) == KeyNames{"k1", "k3"});  // a new turn; k0 was visited again
  CHECK(Evict(2) == KeyNames{"k0", "n0"});  // the newest last
  CHECK(Evict(1).empty());
  CHECK(sieve.EvictOne(now()) == 0);
}

TEST_CASE_METHOD(SieveFixture, "a hit does not change the order but counts as use") {
  Set("a", "v");
  Set("b", "v");
  clock.AdvanceTime(10 * Entry::kStampMs);
  CHECK(Find("a")->Has(EntryFlag::kVisited));
  CHECK(Peek("a")->stamp() == Entry::StampOf(now().mono_ms));
  CHECK_FALSE(Peek("b")->Has(EntryFlag::kVisited));
  CHECK(db().owners().own().Coldest(Keyspace::kLasting)->key() == "a");
}

TEST_CASE_METHOD(SieveFixture,
                 "an overwrite is a hit and keeps its position, also if the entry is relocated") {
  SetMany("k", 4);
  const Entry* before = Peek("k0");
  Set("k0", std::string(500, 'w'));
  CHECK(Peek("k0") != before);
  CHECK(db().owners().own().Coldest(Keyspace::kLasting)->key() == "k0");
  CHECK(Evict(1) == KeyNames{"k1"});
  CHECK(Peek("k0") != nullptr);
  CHECK(db().Validate());
}

TEST_CASE_METHOD(SieveFixture, "the hand stays valid if its entry is removed, relocated or given a TTL") {
  SetMany("k", 8);
  Find("k0");
  CHECK(Evict(1) == KeyNames{"k1"});  // the hand is at k2
  db().Delete(db().KeyOf("k2"), now());
  CHECK(db().Validate());
  Set("k3", std::string(500, 'w'));  // relocated, and visited
  CHECK(db().Validate());
  CHECK(Evict(1) == KeyNames{"k4"});
  const Key five = db().KeyOf("k5");
  db().SetExpiry(five, *Peek("k5"), In(1000), now());  // leaves the list
  CHECK(db().Validate());
  CHECK(Evict(1) == KeyNames{"k6"});
  databases.Flush(0, now());
  databases.Swap(0, 1);
  CHECK(Evict(1).empty());
}

TEST_CASE("every victim is that of the paper's algorithm, through random commands") {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    INFO("seed " << seed);
    OneQueue queue(seed, 3 + seed, seed % 2 == 0);
    for (int step = 0; step < 3000; ++step) {
      queue.Step();
      if (step % 50 == 0) REQUIRE(queue.db().Validate());
    }
    REQUIRE(queue.db().Validate());
  }
}

TEST_CASE_METHOD(SieveFixture, "lists lose keys in proportion to their unvisited keys") {
  SetMany("a", 1000, Expiry::Never(), 0);
  SetMany("b", 500, In(1'000'000), 0);
  SetMany("c", 100, Expiry::Never(), 2);
  Evict(800);
  CHECK(CountLeft(0, Keyspace::kLasting) == Approx(500).margin(2));
  CHECK(CountLeft(0, Keyspace::kExpiring) == Approx(250).margin(2));
  CHECK(CountLeft(2, Keyspace::kLasting) == Approx(50).margin(2));
}

TEST_CASE_METHOD(SieveFixture,
                 "keys that are visited once each turn are never evicted, in small and big lists") {
  SetMany("cold", 1000);
  SetMany("hot", 3, In(1'000'000), 3);
  for (int i = 0; i < 900; ++i) {
    if (i % 100 == 0) {
      for (const char* key : {"hot0", "hot1", "hot2"}) db(3).Find(db(3).KeyOf(key), now());
    }
    sieve.EvictOne(now());
  }
  CHECK(CountLeft(3, Keyspace::kExpiring) == 3);
  CHECK(CountLeft(0, Keyspace::kLasting) == 100);
}

TEST_CASE_METHOD(SieveFixture, "the first keys of an empty database are not examined for a turn") {
  SetMany("old", 1000);
  Evict(1);
  SetMany("young", 10, Expiry::Never(), 1);
  int evicted = 0;
  for (; CountLeft(1, Keyspace::kLasting) == 10; ++evicted) {
    Set("new" + std::to_string(evicted), "v");
    sieve.EvictOne(now());
  }
  CHECK(evicted == Approx(1000).margin(5));
}

TEST_CASE_METHOD(SieveFixture,
                 "an eviction examines a bounded number of visited keys, and then takes the longest idle") {
  constexpr int kCount = 3 * static_cast<int>(SieveEvictor::kMostPassed);
  SetMany("k", kCount);
  for (int i = 0; i < kCount; ++i) {
    if (i != 777) Find("k" + std::to_string(i));
  }
  clock.AdvanceTime(100 * Entry::kStampMs);
  for (int i = 0; i < kCount; ++i) {
    if (i != 1234) Find("k" + std::to_string(i));
  }
  CHECK(sieve.EvictOne(now()) == SieveEvictor::kMostPassed);
  CHECK(TakeEvicted() == KeyNames{"k1234"});
  CHECK(sieve.EvictOne(now()) == SieveEvictor::kMostPassed);
  CHECK(TakeEvicted() == KeyNames{"k4096"});
  CHECK(db().Validate());
}

TEST_CASE_METHOD(SieveFixture, "there is a victim while there is a key, even if all are visited") {
  for (unsigned i = 0; i < databases.count(); ++i) {
    Set("single", "v", Expiry::Never(), i);
    Set("brief", "v", In(1000), i);
  }
  Set("more", "v", In(1000), 2);
  for (size_t left = databases.total_keys(); left > 0; --left) {
    for (unsigned i = 0; i < databases.count(); ++i) {
      for (const char* key : {"single", "brief", "more"}) db(i).Find(db(i).KeyOf(key), now());
    }
    CHECK(Evict(1).size() == 1);
    CHECK(databases.total_keys() == left - 1);
  }
  CHECK(sieve.EvictOne(now()) == 0);
  std::mt19937_64 random(1);
  Evictor evictor(databases, random);
  CHECK(evictor.Run({.maxmemory_bytes = 1, .policy = EvictionPolicy::kAllKeysSieve}, now(), 5,
                    [] { return uint64_t{2}; }) == Evictor::Outcome::kNothingToEvict);
}

TEST_CASE_METHOD(SieveFixture, "all invariants hold through random commands, flushes and changes of policy") {
  std::mt19937_64 random(11);
  Evictor evictor(databases, random);
  EvictionPolicy policy = EvictionPolicy::kAllKeysSieve;
  for (int step = 0; step < 60'000; ++step) {
    const auto index = static_cast<unsigned>(random() % databases.count());
    const std::string key = std::to_string(random() % 100);
    switch (random() % 12) {
      case 0:
        db(index).Delete(db(index).KeyOf(key), now());
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
        policy = policy == EvictionPolicy::kAllKeysSieve ? EvictionPolicy::kAllKeysLru
                                                         : EvictionPolicy::kAllKeysSieve;
        databases.SetAccessEffect(policy == EvictionPolicy::kAllKeysSieve ? AccessEffect::kVisitedBit
                                                                          : AccessEffect::kRecency);
        break;
      case 4:
      case 5:
      case 6: {
        const Expiry expiry = random() % 2 == 0 ? In(1 + random() % 400) : Expiry::Never();
        Set(key, std::string(random() % 200, 'v'), expiry, index);
        break;
      }
      case 7:
        if (Entry* entry = db(index).Peek(db(index).KeyOf(key), now()))
          db(index).SetExpiry(db(index).KeyOf(key), *entry, random() % 2 == 0 ? In(300) : Expiry::Never(),
                              now());
        break;
      default:
        db(index).Find(db(index).KeyOf(key), now());
    }
    const EvictionLimits limits{.maxkeys = 50 + random() % 50, .policy = policy};
    REQUIRE(evictor.Run(limits, now(), 1000, [] { return uint64_t{0}; }) == Evictor::Outcome::kWithin);
    if (step % 20 != 0) continue;
    for (unsigned i = 0; i < databases.count(); ++i) REQUIRE(db(i).Validate());
  }
}

TEST_CASE_METHOD(SieveFixture, "after a change to LRU and back the hand begins at the oldest key") {
  SetMany("k", 5);
  for (const char* key : {"k0", "k2"}) Find(key);
  CHECK(Evict(1) == KeyNames{"k1"});  // the hand has passed k0
  databases.SetAccessEffect(AccessEffect::kRecency);
  databases.SetAccessEffect(AccessEffect::kVisitedBit);
  std::mt19937_64 random(1);
  Evictor evictor(databases, random);
  evictor.Run({.maxmemory_bytes = 1, .policy = EvictionPolicy::kAllKeysSieve}, now(), 1,
              [] { return uint64_t{2}; });
  CHECK(TakeEvicted() == KeyNames{"k0"});
}

TEST_CASE_METHOD(SieveFixture, "after a change to LRU the order becomes the order of use again") {
  SetMany("k", 5);
  for (const char* key : {"k0", "k2"}) Find(key);
  CHECK(Evict(1) == KeyNames{"k1"});  // the hand is at k2
  databases.SetAccessEffect(AccessEffect::kRecency);
  for (const char* key : {"k2", "k4", "k0", "k3"}) {
    clock.AdvanceTime(Entry::kStampMs);
    Find(key);
  }
  CHECK(db().Validate());
  std::mt19937_64 random(1);
  Evictor evictor(databases, random);
  evictor.Run({.maxmemory_bytes = 1, .policy = EvictionPolicy::kAllKeysLru}, now(), 3,
              [] { return uint64_t{2}; });
  CHECK(TakeEvicted() == KeyNames{"k2", "k4", "k0"});
}

}  // namespace mayfly

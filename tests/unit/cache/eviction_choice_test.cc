// Which key goes: the choice of each policy among databases, lists and namespaces, and what limits of keys and bytes mean together.
#include <map>
#include <string>
#include <vector>

#include "support/catch.h"
#include "unit/cache/namespace_fixture.h"

namespace mayfly {
namespace {

using Keys = std::vector<std::string>;
using Outcome = Evictor::Outcome;

class ChoiceFixture : public NamespaceFixture {
 public:
  ChoiceFixture() { changes.Listen(log_, ChangeHub::Bit(ChangeReason::kEvicted)); }
  ~ChoiceFixture() { changes.Unlisten(log_); }

  // The keys evicted since the last call, in order.
  Keys Evicted() {
    Keys keys;
    for (const ChangeLog::Seen& seen : std::exchange(log_.seen, {})) keys.push_back(seen.key);
    return keys;
  }
  // One eviction to free memory.
  Keys EvictOne(EvictionPolicy policy) {
    evictor.Run({.maxmemory_bytes = 1, .policy = policy, .samples = 64}, now(), 1,
                [] { return uint64_t{2}; });
    return Evicted();
  }
  void CountHits() {
    databases.SetAccessEffect(AccessEffect::kFrequency,
                              {.log_factor = 0, .decay_minutes = 0, .random = &random});
  }
  void Use(std::string_view key, int times, unsigned index = 0) {
    for (int i = 0; i < times; ++i) REQUIRE(db(index).Find(db(index).KeyOf(key), now()) != nullptr);
  }
  bool Has(std::string_view key, unsigned index) {
    return db(index).Peek(db(index).KeyOf(key), now()) != nullptr;
  }
  // One eviction of the namespace g for its bytes.
  Keys TrimOne(EvictionPolicy policy) {
    Have({{"g", "g:", {.bytes = Space("g").bytes() - 1}}});
    databases.namespaces().TakeGrown([](Namespace&) {});
    evictor.Trim(Space("g"), {.policy = policy, .samples = 64}, now(), 1);
    return Evicted();
  }

 private:
  ChangeLog log_;
};

}  // namespace

TEST_CASE_METHOD(ChoiceFixture,
                 "volatile-ttl takes the nearest deadline of all databases, and what is due first") {
  Set("late", "v", In(9'000'000), 0);
  Set("soon", "v", In(60'000), 1);
  Set("middle", "v", In(2'000'000), 2);
  Set("lasting", "v", Expiry::Never(), 0);
  Set("due", "v", In(10), 2);
  databases.TreatExpired(ExpiredKeys::kHidden);
  clock.AdvanceTime(5'000);
  for (const char* key : {"due", "soon", "middle", "late"})
    CHECK(EvictOne(EvictionPolicy::kVolatileTtl) == Keys{key});
  CHECK(EvictOne(EvictionPolicy::kVolatileTtl).empty());
  CHECK(databases.total_keys() == 1);
}

TEST_CASE_METHOD(ChoiceFixture,
                 "the random policies find a victim each time, and each candidate in its turn") {
  const bool expires = GENERATE(false, true);
  const EvictionPolicy policy = expires ? EvictionPolicy::kVolatileRandom : EvictionPolicy::kAllKeysRandom;
  const Expiry expiry = expires ? In(1'000'000) : Expiry::Never();
  if (expires) Set("lasting", "v");
  for (int round = 0; round < 100; ++round) {
    Set("only", "v", expiry, 1);
    REQUIRE(EvictOne(policy) == Keys{"only"});
  }
  std::map<std::string, int> first;
  for (int round = 0; round < 300; ++round) {
    Set("one", "v", expiry, 0);
    Set("two", "v", In(1'000'000), 1);
    Set("three", "v", expiry, 2);
    ++first[EvictOne(policy).at(0)];
    while (!EvictOne(policy).empty() && databases.total_keys() != (expires ? 1U : 0U)) {
    }
    if (expires) REQUIRE(Peek("lasting") != nullptr);
  }
  for (const char* key : {"one", "two", "three"}) CHECK(first[key] > 60);
}

TEST_CASE_METHOD(ChoiceFixture,
                 "in a namespace the random policies take keys of every share, and of no other") {
  Have({{"g", "g:", {.bytes = 1}}});
  std::map<std::string, int> first;
  for (int round = 0; round < 300; ++round) {
    Set("g:expires", "v", In(1'000'000), 0);
    Set("g:lasting", "v", Expiry::Never(), 0);
    Set("g:two", "v", Expiry::Never(), 1);
    Set("own", "v", In(1'000'000), 2);
    const bool only_volatile = round % 2 != 0;
    TrimOne(only_volatile ? EvictionPolicy::kVolatileRandom : EvictionPolicy::kAllKeysRandom);
    for (const auto& [key, index] :
         std::vector<std::pair<std::string, unsigned>>{{"g:expires", 0}, {"g:lasting", 0}, {"g:two", 1}}) {
      if (Has(key, index)) continue;
      ++first[key];
      if (only_volatile) REQUIRE(key == "g:expires");
    }
    REQUIRE(Has("own", 2));
  }
  CHECK(first["g:expires"] > 160);
  CHECK(first["g:lasting"] > 20);
  CHECK(first["g:two"] > 20);
}

TEST_CASE_METHOD(ChoiceFixture,
                 "in a namespace LRU takes the longest idle of all shares and lists, in exact order") {
  Have({{"g", "g:", {.bytes = 1}}});
  SetNext("g:1", "v", In(1'000'000), 2);
  SetNext("g:2", "v", Expiry::Never(), 1);
  SetNext("g:3", "v", Expiry::Never(), 2);
  SetNext("g:4", "v", In(1'000'000), 0);
  SetNext("g:5", "v", In(1'000'000), 2);
  clock.AdvanceTime(Entry::kStampMs);
  Use("g:2", 1, 1);
  SECTION("all keys") {
    for (const char* key : {"g:1", "g:3", "g:4", "g:5", "g:2"})
      CHECK(TrimOne(EvictionPolicy::kAllKeysLru) == Keys{key});
  }
  SECTION("keys with a TTL") {
    for (const char* key : {"g:1", "g:4", "g:5"}) CHECK(TrimOne(EvictionPolicy::kVolatileLru) == Keys{key});
    CHECK(TrimOne(EvictionPolicy::kVolatileLru).empty());
    CHECK(Space("g").keys() == 2);
  }
  CHECK(Valid());
}

TEST_CASE_METHOD(ChoiceFixture,
                 "in a namespace LFU takes the least used, and of equal ones the longest idle") {
  CountHits();
  Have({{"g", "g:", {.bytes = 1}}});
  SetNext("g:often", "v", In(100'000'000), 0);
  SetNext("g:seldom", "v", Expiry::Never(), 1);
  SetNext("g:old", "v", In(100'000'000), 2);
  SetNext("g:new", "v", In(100'000'000), 0);
  SetNext("own", "v", In(100'000'000), 0);
  Use("g:often", 9, 0);
  Use("g:seldom", 1, 1);
  SECTION("all keys") {
    for (const char* key : {"g:old", "g:new", "g:seldom", "g:often"})
      CHECK(TrimOne(EvictionPolicy::kAllKeysLfu) == Keys{key});
  }
  SECTION("keys with a TTL") {
    for (const char* key : {"g:old", "g:new", "g:often"})
      CHECK(TrimOne(EvictionPolicy::kVolatileLfu) == Keys{key});
    CHECK(TrimOne(EvictionPolicy::kVolatileLfu).empty());
    CHECK(Space("g").keys() == 1);
  }
  CHECK(Peek("own") != nullptr);
  CHECK(Valid());
}

// Of many keys LFU looks at some, each time at the next ones.
TEST_CASE_METHOD(ChoiceFixture,
                 "in a large namespace LFU looks at some keys in turn, and comes to all of them") {
  CountHits();
  Have({{"g", "g:", {.bytes = 1}}});
  for (int i = 0; i < 200; ++i) {
    SetNext("g:" + std::to_string(i));
    if (i != 150) Use("g:" + std::to_string(i), 3);
  }
  int until = 0;
  while (Peek("g:150") != nullptr && until < 100) {
    ++until;
    REQUIRE(TrimOne(EvictionPolicy::kAllKeysLfu).size() == 1);
  }
  CHECK(until > 1);
  CHECK(until < 50);
}

TEST_CASE_METHOD(ChoiceFixture,
                 "a candidate that LFU remembers is left alone once it is promised to its namespace") {
  CountHits();
  Have({{"g", "g:", {.bytes = 1'000'000}}});
  for (int i = 0; i < 8; ++i) SetNext("g:" + std::to_string(i));
  for (int i = 0; i < 8; ++i) {
    SetNext("own" + std::to_string(i));
    Use("own" + std::to_string(i), 20);
  }
  REQUIRE(EvictOne(EvictionPolicy::kAllKeysLfu).at(0).starts_with("g:"));
  databases.PromiseNamespaces({.bytes = 10'000'000, .keys = 0});
  for (int i = 0; i < 8; ++i) {
    const Keys evicted = EvictOne(EvictionPolicy::kAllKeysLfu);
    REQUIRE(evicted.size() == 1);
    CHECK(evicted[0].starts_with("own"));
  }
  CHECK(EvictOne(EvictionPolicy::kAllKeysLfu).empty());
  CHECK(Space("g").keys() == 7);
  CHECK(Valid());
}

TEST_CASE_METHOD(ChoiceFixture,
                 "LFU finds an expired key that a replica keeps, beside a database of promised keys") {
  CountHits();
  Have({{"g", "g:", {.bytes = 1'000'000}}});
  SetNext("g:1", "v", In(100'000'000), 0);
  SetNext("expired", "v", In(10), 1);
  clock.AdvanceTime(10);
  databases.TreatExpired(ExpiredKeys::kHidden);
  databases.PromiseNamespaces({.bytes = 10'000'000, .keys = 0});
  const EvictionPolicy policy = GENERATE(EvictionPolicy::kAllKeysLfu, EvictionPolicy::kVolatileLfu);
  CHECK(EvictOne(policy) == Keys{"expired"});
  CHECK(EvictOne(policy).empty());
  CHECK(databases.total_keys() == 1);
}

TEST_CASE_METHOD(ChoiceFixture,
                 "keys above maxkeys go under every policy, when for memory there is no candidate") {
  constexpr EvictionPolicy kPolicies[] = {EvictionPolicy::kNoEviction,  EvictionPolicy::kVolatileLru,
                                          EvictionPolicy::kVolatileTtl, EvictionPolicy::kVolatileRandom,
                                          EvictionPolicy::kVolatileLfu, EvictionPolicy::kVolatileS3Fifo};
  for (const EvictionPolicy policy : kPolicies) {
    CAPTURE(static_cast<int>(policy));
    databases.FlushAll(now());
    databases.KeepGhosts(policy == EvictionPolicy::kVolatileS3Fifo);
    if (policy == EvictionPolicy::kVolatileLfu) {
      CountHits();
    } else {
      databases.SetAccessEffect(
          policy == EvictionPolicy::kVolatileS3Fifo ? AccessEffect::kVisitedBit : AccessEffect::kRecency,
          {.random = &random});
    }
    for (int i = 0; i < 10; ++i) SetNext("k" + std::to_string(i), "v", Expiry::Never(), i % 2);
    const auto used = [] { return uint64_t{2}; };
    CHECK(evictor.Run({.maxmemory_bytes = 1, .maxkeys = 6, .policy = policy}, now(), 100, used) ==
          Outcome::kNothingToEvict);
    CHECK(databases.total_keys() == 6);
    CHECK(evictor.Run({.maxmemory_bytes = 2, .maxkeys = 6, .policy = policy}, now(), 100, used) ==
          Outcome::kWithin);
    CHECK(evictor.Run({.maxmemory_bytes = 2, .maxkeys = 5, .policy = policy}, now(), 100, used) ==
          Outcome::kWithin);
    CHECK(databases.total_keys() == 5);
    Evicted();
  }
}

TEST_CASE_METHOD(ChoiceFixture,
                 "a namespace above both of its limits comes within the limit of keys at least") {
  Have({{"g", "g:", {.bytes = 1, .keys = 3}}});
  for (int i = 0; i < 6; ++i) SetNext("g:" + std::to_string(i), "v", Expiry::Never(), i % 2);
  const EvictionPolicy policy = GENERATE(EvictionPolicy::kNoEviction, EvictionPolicy::kVolatileLru,
                                         EvictionPolicy::kVolatileTtl, EvictionPolicy::kVolatileRandom);
  CHECK(Trim(Space("g"), policy) == Outcome::kNothingToEvict);
  CHECK(Space("g").keys() == 3);
  CHECK(Evicted() == Keys{"g:0", "g:1", "g:2"});
}

TEST_CASE_METHOD(ChoiceFixture, "SIEVE and S3-FIFO take the last key of each list, the longest idle first") {
  const bool s3fifo = GENERATE(false, true);
  databases.KeepGhosts(s3fifo);
  databases.SetAccessEffect(AccessEffect::kVisitedBit, {.random = &random});
  SetNext("a", "v", Expiry::Never(), 1);
  SetNext("b", "v", In(1'000'000), 0);
  SetNext("c", "v", Expiry::Never(), 2);
  SetNext("d", "v", In(1'000'000), 1);
  const EvictionPolicy policy = s3fifo ? EvictionPolicy::kAllKeysS3Fifo : EvictionPolicy::kAllKeysSieve;
  for (const char* key : {"a", "b", "c", "d"}) CHECK(EvictOne(policy) == Keys{key});
  CHECK(EvictOne(policy).empty());
}

TEST_CASE_METHOD(ChoiceFixture, "volatile-s3fifo takes the last key with a TTL, and none without") {
  databases.KeepGhosts(true);
  databases.SetAccessEffect(AccessEffect::kVisitedBit, {.random = &random});
  SetNext("lasting", "v", Expiry::Never(), 1);
  SetNext("b", "v", In(1'000'000), 1);
  SetNext("a", "v", In(1'000'000), 0);
  for (const char* key : {"b", "a"}) CHECK(EvictOne(EvictionPolicy::kVolatileS3Fifo) == Keys{key});
  CHECK(EvictOne(EvictionPolicy::kVolatileS3Fifo).empty());
  CHECK(databases.total_keys() == 1);
}

TEST_CASE_METHOD(ChoiceFixture,
                 "under volatile-s3fifo new keys with a TTL go before those past their probation") {
  databases.SetAccessEffect(AccessEffect::kRecency, {.random = &random});
  for (int i = 0; i < 100; ++i) SetNext("old" + std::to_string(i), "v", In(100'000'000));
  databases.KeepGhosts(true);
  databases.SetAccessEffect(AccessEffect::kVisitedBit, {.random = &random});
  for (int i = 0; i < 50; ++i) {
    SetNext("lasting" + std::to_string(i));
    SetNext("new" + std::to_string(i), "v", In(100'000'000));
  }
  for (int i = 0; i < 20; ++i)
    CHECK(EvictOne(EvictionPolicy::kVolatileS3Fifo) == Keys{"new" + std::to_string(i)});
}

}  // namespace mayfly

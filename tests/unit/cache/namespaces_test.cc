#include "cache/owners/namespaces.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "unit/cache/namespace_fixture.h"

namespace mayfly {
namespace {

using Outcome = Evictor::Outcome;

constexpr EvictionPolicy kPolicies[] = {
    EvictionPolicy::kAllKeysLru,    EvictionPolicy::kVolatileLru,    EvictionPolicy::kAllKeysSieve,
    EvictionPolicy::kAllKeysLfu,    EvictionPolicy::kVolatileLfu,    EvictionPolicy::kAllKeysS3Fifo,
    EvictionPolicy::kAllKeysRandom, EvictionPolicy::kVolatileRandom, EvictionPolicy::kVolatileS3Fifo,
    EvictionPolicy::kVolatileTtl,   EvictionPolicy::kNoEviction};

bool IsVolatile(EvictionPolicy policy) {
  return policy == EvictionPolicy::kVolatileLru || policy == EvictionPolicy::kVolatileLfu ||
         policy == EvictionPolicy::kVolatileRandom || policy == EvictionPolicy::kVolatileS3Fifo ||
         policy == EvictionPolicy::kVolatileTtl;
}

}  // namespace

TEST_CASE_METHOD(NamespaceFixture, "a key's namespace is that of its longest prefix when it is created") {
  SetNext("a:before");
  Have({{"a", "a:"}, {"ab", "a:b:"}});
  SetNext("a:1");
  SetNext("a:b:1", "v", In(1000));
  SetNext("a:2", "v", Expiry::Never(), 3);
  SetNext("b:1");
  SetNext("a:before", std::string(100, 'x'));
  CHECK(Space("a").keys() == 2);
  CHECK(Space("ab").keys() == 1);
  CHECK(Space("a").shares().size() == 2);
  CHECK(db().owners().own().size() == 2);
  CHECK(db().size() == 4);
  CHECK(databases.total_keys() == 5);
  CHECK(Valid());
}

TEST_CASE_METHOD(NamespaceFixture,
                 "an entry keeps its owner when it is overwritten, relocated or put with others") {
  Have({{"g", "g"}});
  SetNext("g1");
  Set("g1", std::string(20'000, 'x'));
  db().SetExpiry(db().KeyOf("g1"), *Peek("g1"), In(1000), now());
  CHECK(Space("g").shares()[0]->CountOf(Quota::kExpiring) == 1);
  CHECK(Space("g").bytes() > 20'000);
  KeyPut puts[] = {{db().KeyOf("g1"), StringValue::Of("short")}, {db().KeyOf("h2"), StringValue::Of("v")}};
  db().PutAll(puts, /*keep_expiry=*/false, Expiry::Never(), now());
  CHECK(Space("g").keys() == 1);
  CHECK(Space("g").bytes() < 100);
  CHECK(db().owners().own().size() == 1);
  CHECK(Valid());
}

TEST_CASE_METHOD(NamespaceFixture, "a renamed or copied key is of the namespace of its new name") {
  Have({{"a", "a:"}, {"b", "b:"}});
  SetNext("a:1");
  db().PutCopy(db().KeyOf("b:1"), nullptr, *Peek("a:1"), now());
  CHECK(Space("a").keys() == 1);
  CHECK(Space("b").keys() == 1);
  db().Move(db().KeyOf("a:1"), *Peek("a:1"), db(2), db(2).KeyOf("b:2"), nullptr, now());
  CHECK(Space("a").keys() == 0);
  CHECK(Space("b").keys() == 2);
  db().Move(db().KeyOf("b:1"), *Peek("b:1"), db(), db().KeyOf("plain"), nullptr, now());
  CHECK(Space("b").keys() == 1);
  CHECK(Valid());
}

TEST_CASE_METHOD(NamespaceFixture,
                 "a namespace above its limits loses its own oldest keys, in whatever database") {
  Have({{"g", "g", {.keys = 3}}});
  for (const char* key : {"h1", "g1", "h2"}) SetNext(key);
  SetNext("g2", "v", Expiry::Never(), 1);
  SetNext("g3");
  CHECK(Trim(Space("g")) == Outcome::kWithin);
  CHECK(Space("g").keys() == 3);
  SetNext("g4", "v", In(1'000'000), 2);
  Find("g1");
  CHECK(Trim(Space("g")) == Outcome::kWithin);
  CHECK(Space("g").keys() == 3);
  CHECK(db(1).size() == 0);  // g2
  CHECK(Peek("g1") != nullptr);
  CHECK(db().owners().own().size() == 2);
  CHECK(Space("g").stats.evicted == 1);
  CHECK(Valid());
}

TEST_CASE_METHOD(
    NamespaceFixture,
    "under volatile-ttl a namespace loses what expires soonest, and hits keep the order of use") {
  databases.SetAccessEffect(AccessEffect::kRecency);
  Have({{"g", "g:", {.bytes = 1'000, .keys = 100}}});
  SetNext("g:late", std::string(300, 'v'), In(9'000'000));
  SetNext("g:soon", std::string(300, 'v'), In(1'000'000));
  SetNext("g:middle", std::string(300, 'v'), In(5'000'000));
  Trim(Space("g"), EvictionPolicy::kVolatileTtl);
  CHECK(Peek("g:soon") == nullptr);
  Find("g:late");
  Find("g:middle");
  CHECK(db().Validate());
  for (int i = 0; i < 200; ++i) {
    SetNext("g:" + std::to_string(i), std::string(20, 'v'), In(1'000'000 + static_cast<uint64_t>(i)));
    Trim(Space("g"), EvictionPolicy::kVolatileTtl);
    for (int used = 0; used <= i; ++used) Find("g:" + std::to_string(used));
  }
  CHECK(Space("g").bytes() <= 1'000);
  CHECK(Valid());
}

TEST_CASE_METHOD(NamespaceFixture, "under every policy a flood of one namespace evicts nothing of others") {
  for (const EvictionPolicy policy : kPolicies) {
    const bool lru = policy == EvictionPolicy::kAllKeysLru || policy == EvictionPolicy::kVolatileLru ||
                     policy == EvictionPolicy::kAllKeysRandom || policy == EvictionPolicy::kVolatileRandom ||
                     policy == EvictionPolicy::kVolatileTtl || policy == EvictionPolicy::kNoEviction;
    const bool lfu = policy == EvictionPolicy::kAllKeysLfu || policy == EvictionPolicy::kVolatileLfu;
    INFO(static_cast<int>(policy));
    databases.KeepGhosts(policy == EvictionPolicy::kAllKeysS3Fifo ||
                         policy == EvictionPolicy::kVolatileS3Fifo);
    databases.SetAccessEffect(lru   ? AccessEffect::kRecency
                              : lfu ? AccessEffect::kFrequency
                                    : AccessEffect::kVisitedBit,
                              {.random = &random});
    Have({{"g", "g:", {.bytes = 10'000}}, {"n", "n:", {.bytes = 10'000}}});
    for (int i = 0; i < 30; ++i) {
      SetNext("n:" + std::to_string(i), std::string(100, 'n'), In(1'000'000));
      SetNext("own" + std::to_string(i), std::string(100, 'o'), In(1'000'000), static_cast<unsigned>(i % 4));
    }
    bool full = false;
    for (int i = 0; i < 1000; ++i) {
      const bool expires = IsVolatile(policy) ? i % 10 != 0 : i % 2 == 0;
      const std::string key = "g:" + std::to_string(i);
      SetNext(key, std::string(100, 'g'), expires ? In(1'000'000) : Expiry::Never(),
              static_cast<unsigned>(i % 3));
      const Outcome outcome = Trim(Space("g"), policy);
      full = full || outcome == Outcome::kNothingToEvict;
      REQUIRE((full || Space("g").bytes() <= 10'000));
      if (full && i > 200) break;
    }
    CHECK(full == (IsVolatile(policy) || policy == EvictionPolicy::kNoEviction));
    CHECK(Space("n").keys() == 30);
    CHECK(Space("n").stats.evicted == 0);
    CHECK(databases.total_keys() == Space("g").keys() + 60);
    CHECK(Valid());
    databases.FlushAll(now());
    FreeAll();
  }
}

TEST_CASE_METHOD(NamespaceFixture, "a limit of keys evicts under every policy, as maxkeys does") {
  Have({{"g", "g:", {.keys = 5}}});
  for (int i = 0; i < 20; ++i) {
    SetNext("g:" + std::to_string(i));
    REQUIRE(Trim(Space("g"), EvictionPolicy::kNoEviction) == Outcome::kWithin);
  }
  CHECK(Space("g").keys() == 5);
  CHECK(Peek("g:19") != nullptr);
  CHECK(Peek("g:15") != nullptr);
}

TEST_CASE_METHOD(NamespaceFixture,
                 "what is above a lowered limit goes in slices, and what a write adds at once") {
  Have({{"g", "g:"}});
  for (int i = 0; i < 100; ++i) SetNext("g:" + std::to_string(i));
  CHECK_FALSE(databases.namespaces().any_grown());  // it has no limit
  Have({{"g", "g:", {.keys = 10}}});
  CHECK(databases.namespaces().any_grown());
  CHECK(Trim(Space("g"), EvictionPolicy::kAllKeysLru, 20) == Outcome::kMore);
  CHECK(Space("g").keys() == 80);
  for (int i = 100; i < 150; ++i) SetNext("g:" + std::to_string(i));
  CHECK(Trim(Space("g"), EvictionPolicy::kAllKeysLru, 20) == Outcome::kMore);
  CHECK(Space("g").keys() == 80);
  CHECK(Trim(Space("g")) == Outcome::kWithin);
  CHECK(Space("g").keys() == 10);
}

TEST_CASE_METHOD(NamespaceFixture,
                 "while the limits fit, eviction for all takes from nobody who is within them") {
  Have({{"p", "p:", {.bytes = 100'000}}, {"q", "q:", {.keys = 50}}});
  for (int i = 0; i < 20; ++i) {
    SetNext("p:" + std::to_string(i), std::string(100, 'p'));
    SetNext("q:" + std::to_string(i), std::string(100, 'q'));
    SetNext("k" + std::to_string(i), std::string(100, 'k'));
  }
  const auto evict = [&](const EvictionLimits& limits) {
    return evictor.Run(limits, now(), 1000, [&] { return databases.total_keys() * 100; });
  };
  const auto keys = [&] {
    return std::vector<size_t>{Space("p").keys(), Space("q").keys(), db().owners().own().size()};
  };
  databases.PromiseNamespaces({.bytes = 100'000, .keys = 0});
  CHECK(databases.namespaces().promises_bytes());
  CHECK(evict({.maxmemory_bytes = 3'000, .policy = EvictionPolicy::kAllKeysLru}) == Outcome::kWithin);
  CHECK(keys() ==
        std::vector<size_t>{20, 5, 5});  // q has no limit of bytes: its keys are as old as the others
  CHECK(evict({.maxmemory_bytes = 1'000, .policy = EvictionPolicy::kAllKeysLru}) == Outcome::kNothingToEvict);
  CHECK(keys() == std::vector<size_t>{20, 0, 0});
  for (int i = 0; i < 10; ++i) SetNext("q:" + std::to_string(i));
  databases.PromiseNamespaces({.bytes = 99'999, .keys = 50});
  CHECK_FALSE(databases.namespaces().promises_bytes());
  CHECK(evict({.maxkeys = 12, .policy = EvictionPolicy::kNoEviction}) == Outcome::kWithin);
  CHECK(keys() == std::vector<size_t>{2, 10, 0});
  CHECK(evict({.maxkeys = 9, .policy = EvictionPolicy::kNoEviction}) == Outcome::kNothingToEvict);
  CHECK(evict({.maxmemory_bytes = 100, .policy = EvictionPolicy::kAllKeysLru}) == Outcome::kWithin);
  CHECK(keys() == std::vector<size_t>{0, 1, 0});
  CHECK(Valid());
}

TEST_CASE_METHOD(NamespaceFixture, "every policy leaves alone what is promised, also if that is nearly all") {
  for (const EvictionPolicy policy : kPolicies) {
    if (policy == EvictionPolicy::kNoEviction) continue;
    INFO(static_cast<int>(policy));
    const bool lfu = policy == EvictionPolicy::kAllKeysLfu || policy == EvictionPolicy::kVolatileLfu;
    const bool bit = policy == EvictionPolicy::kAllKeysSieve || policy == EvictionPolicy::kAllKeysS3Fifo ||
                     policy == EvictionPolicy::kVolatileS3Fifo;
    databases.KeepGhosts(bit && policy != EvictionPolicy::kAllKeysSieve);
    databases.SetAccessEffect(lfu   ? AccessEffect::kFrequency
                              : bit ? AccessEffect::kVisitedBit
                                    : AccessEffect::kRecency,
                              {.random = &random});
    Have({{"p", "p:", {.bytes = 1'000'000}}});
    databases.PromiseNamespaces({.bytes = 1'000'000});
    for (int i = 0; i < 500; ++i) SetNext("p:" + std::to_string(i), "v", In(1'000'000));
    for (int i = 0; i < 10; ++i)
      SetNext("k" + std::to_string(i), "v", In(2'000'000), static_cast<unsigned>(i % 2));
    const auto run = [&](uint64_t most) {
      return evictor.Run({.maxmemory_bytes = most, .policy = policy}, now(), 100'000,
                         [&] { return databases.total_keys(); });
    };
    CHECK(run(505) == Outcome::kWithin);
    CHECK(Space("p").keys() == 500);
    CHECK(run(499) == Outcome::kNothingToEvict);
    CHECK(Space("p").keys() == 500);
    CHECK(databases.total_keys() == 500);
    CHECK(Valid());
    databases.FlushAll(now());
    FreeAll();
  }
}

TEST_CASE_METHOD(NamespaceFixture,
                 "a namespace that is no longer named keeps its keys without limits, and can come back") {
  Have({{"a", "a:", {.keys = 2}}, {"b", "b:"}});
  SetNext("a:1");
  SetNext("b:1");
  Have({{"b", "b:"}});
  CHECK(databases.namespaces().Of("a:1") == nullptr);
  for (int i = 0; i < 5; ++i) SetNext("a:" + std::to_string(i));
  CHECK(Peek("a:1") != nullptr);
  CHECK(db().owners().own().size() == 4);  // a:1 is still in its share
  Have({{"b", "other:"}, {"a", "a:", {.keys = 3}}});
  CHECK(Space("a").keys() == 1);
  CHECK(Space("b").keys() == 0);
  CHECK(databases.namespaces().any_grown());
  SetNext("a:5");
  CHECK(Space("a").keys() == 2);
  Have({});
  CHECK_FALSE(databases.namespaces().any());
  CHECK_FALSE(databases.namespaces().any_grown());
  CHECK(databases.total_keys() == 7);
  databases.FlushAll(now());
  FreeAll();
  CHECK(Valid());
}

TEST_CASE_METHOD(NamespaceFixture, "hits, misses, evicted and expired keys are counted for their namespace") {
  Have({{"a", "a:", {.keys = 1}}});
  SetNext("a:1", "v", In(10));
  clock.AdvanceTime(10);
  Settle();
  SetNext("a:2");
  SetNext("a:3");
  Trim(Space("a"));
  db().owners().CountHitOf(*Peek("a:3"));
  databases.namespaces().CountMiss("a:1");
  databases.namespaces().CountMiss("b");
  const NamespaceStats& stats = Space("a").stats;
  CHECK(stats.expired == 1);
  CHECK(stats.evicted == 1);
  CHECK(stats.hits == 1);
  CHECK(stats.misses == 1);
  databases.namespaces().ResetStats();
  CHECK(stats.hits + stats.misses + stats.evicted + stats.expired == 0);
}

TEST_CASE_METHOD(NamespaceFixture, "an id of a share is taken back when the share is empty, and not before") {
  std::vector<Namespaces::Wanted> many;
  for (int i = 0; i < 100; ++i) many.push_back({"n" + std::to_string(i), std::to_string(i) + ":"});
  Have(many);
  const size_t most = IdSet::kIds - databases.count();
  const auto set = [&](size_t at) {
    return Set(std::to_string(at % 100) + ":k", "v", Expiry::Never(), static_cast<unsigned>(at / 100));
  };
  for (size_t at = 0; at < most; ++at) set(at);
  CHECK_THROWS_AS(set(most), OwnersExhausted);
  CHECK(db(static_cast<unsigned>(most / 100)).size() == most % 100);
  CHECK(databases.total_keys() == most);
  set(0);  // it has a share
  CHECK(Valid());

  db().Delete(db().KeyOf("5:k"), now());
  set(most);
  CHECK_THROWS_AS(set(most + 1), OwnersExhausted);
  CHECK(databases.FlushNamespace(Space("n7")) == 3);
  CHECK(databases.waiting_keys() == 3);
  set(most + 1);  // one that waits to be freed is freed for it
  CHECK(databases.waiting_keys() < 3);
  databases.Flush(1, now());
  for (size_t at = most + 2; at < most + 20; ++at) set(at);
  CHECK(Valid());
  FreeAll();
  CHECK(Valid());
}

TEST_CASE_METHOD(NamespaceFixture, "keys that are put together do not take the ids of one another") {
  std::vector<Namespaces::Wanted> many;
  for (int i = 0; i < 252; ++i) many.push_back({"n" + std::to_string(i), std::to_string(i) + ":"});
  Have(many);
  for (int i = 0; i < 252; ++i) Set(std::to_string(i) + ":k", "v");
  const auto put_two = [&] {
    KeyPut puts[] = {{db(1).KeyOf("1:k"), StringValue::Of("v")}, {db(1).KeyOf("2:k"), StringValue::Of("w")}};
    db(1).PutAll(puts, false, Expiry::Never(), now());
  };
  CHECK_THROWS_AS(put_two(), OwnersExhausted);
  db().Delete(db().KeyOf("5:k"), now());
  CHECK_THROWS_AS(put_two(), OwnersExhausted);  // there is an id for one of them
  CHECK(db(1).size() == 0);
  CHECK(Valid());
  db().Delete(db().KeyOf("6:k"), now());
  put_two();
  CHECK(db(1).size() == 2);
  CHECK(Space("n1").keys() == 2);
  CHECK(Space("n2").keys() == 2);
  CHECK(Valid());
}

}  // namespace mayfly

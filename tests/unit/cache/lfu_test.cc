#include "cache/owners/lfu.h"

#include <set>
#include <string>
#include <vector>

#include "cache/evict/eviction.h"
#include "support/catch.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {
namespace {

using Keys = std::vector<std::string>;

constexpr uint64_t kMinuteMs = Entry::kMinuteMs;

// The counter after `hits` hits at the same time.
uint32_t CountAfter(int hits, int64_t log_factor) {
  std::mt19937_64 random{11};
  const LfuRules rules{.log_factor = log_factor, .random = &random};
  uint32_t stamp = Entry::StampOf(0);
  for (int i = 0; i < hits; ++i) stamp = LfuHit(stamp, 0, rules);
  return LfuCount(stamp, 0, rules);
}

class LfuFixture : public KeyspaceFixture {
 public:
  LfuFixture() {
    CountHits({.log_factor = 0, .decay_minutes = 1, .random = &random});
    changes.Listen(log, ChangeHub::Bit(ChangeReason::kEvicted));
  }
  ~LfuFixture() { changes.Unlisten(log); }

  void CountHits(const LfuRules& rules) { databases.SetAccessEffect(AccessEffect::kFrequency, rules); }
  void Use(std::string_view key, int times, unsigned index = 0) {
    for (int i = 0; i < times; ++i) REQUIRE(db(index).Find(db(index).KeyOf(key), now()) != nullptr);
  }
  uint32_t CountOf(std::string_view key, unsigned index = 0) {
    const Entry* entry = db(index).Peek(db(index).KeyOf(key), now());
    return LfuCount(entry->stamp(), now().mono_ms, databases.lfu_rules());
  }
  // Evicts `count` entries under `policy` and returns their keys in order.
  Keys Evict(EvictionPolicy policy, size_t count, size_t samples = 64) {
    const EvictionLimits limits{.maxmemory_bytes = 1, .policy = policy, .samples = samples};
    // The budget counts samples, so each run evicts one entry.
    for (size_t i = 0; i < count; ++i) evictor.Run(limits, now(), 1, [] { return uint64_t{2}; });
    Keys keys;
    for (const ChangeLog::Seen& seen : std::exchange(log.seen, {})) keys.push_back(seen.key);
    return keys;
  }

  std::mt19937_64 random{5};
  Evictor evictor{databases, random};
  ChangeLog log;
};

}  // namespace

TEST_CASE("the counter grows with the logarithm of the hits, about as Redis documents it") {
  CHECK(CountAfter(0, 10) == kLfuCountStart);
  CHECK(CountAfter(1, 10) == kLfuCountStart + 1);
  const uint32_t hundred = CountAfter(100, 10);
  CHECK((hundred >= 8 && hundred <= 12));  // 10 in redis.conf's table
  const uint32_t thousand = CountAfter(1000, 10);
  CHECK((thousand >= 15 && thousand <= 21));  // 18
  const uint32_t many = CountAfter(100'000, 10);
  CHECK((many >= 122 && many <= 162));  // 142, with a standard deviation of 7
  CHECK(CountAfter(1'000'000, 10) == kLfuCountMax);
  CHECK(CountAfter(100, 0) == 105);
  CHECK(CountAfter(1000, 0) == kLfuCountMax);
  CHECK(CountAfter(1000, INT32_MAX) == kLfuCountStart + 1);
}

TEST_CASE("the counter loses one in each decay period without a hit, and none if decay is off") {
  std::mt19937_64 random{1};
  const uint32_t stamp = Entry::CountedStamp(10, 0);
  const LfuRules slow{.decay_minutes = 3, .random = &random};
  CHECK(LfuCount(stamp, 3 * kMinuteMs - 1, slow) == 10);
  CHECK(LfuCount(stamp, 3 * kMinuteMs, slow) == 9);
  CHECK(LfuCount(stamp, 30 * kMinuteMs, slow) == 0);
  CHECK(LfuCount(stamp, 3000 * kMinuteMs, slow) == 0);
  CHECK(LfuCount(stamp, 3000 * kMinuteMs, {.decay_minutes = 0}) == 10);
  // A hit stores the decayed counter, and the next period begins.
  const uint32_t later = LfuHit(stamp, 29 * kMinuteMs, slow);
  CHECK(LfuCount(later, 29 * kMinuteMs, slow) == 2);
  CHECK(LfuCount(later, 31 * kMinuteMs, slow) == 2);
}

TEST_CASE("a stamp that is a time counts as the counter of a new key") {
  const LfuRules rules{.decay_minutes = 1};
  const uint32_t stamp = Entry::StampOf(1000);
  CHECK(LfuCount(stamp, 1000, rules) == kLfuCountStart);
  CHECK(LfuCount(stamp, 1000 + 2 * kMinuteMs, rules) == kLfuCountStart - 2);
  CHECK(LfuCount(stamp, 1000 + 100 * kMinuteMs, rules) == 0);
}

TEST_CASE_METHOD(LfuFixture,
                 "the lowest counter of all databases is evicted, and of equal ones the longest idle") {
  Set("often", "v", In(100'000'000), 0);
  Set("seldom", "v", Expiry::Never(), 1);
  Set("idle", "v", Expiry::Never(), 2);
  clock.AdvanceTime(Entry::kStampMs);
  Set("new", "v", Expiry::Never(), 1);
  Use("often", 9, 0);
  Use("seldom", 1, 1);
  CHECK(Evict(EvictionPolicy::kAllKeysLfu, 4) == Keys{"idle", "new", "seldom", "often"});
  CHECK(Evict(EvictionPolicy::kAllKeysLfu, 1).empty());
}

TEST_CASE_METHOD(LfuFixture, "keys that have expired and that a replica keeps are evicted, too") {
  for (const char* key : {"a", "b", "c"}) Set(key, "v", In(10));
  clock.AdvanceTime(10);
  databases.TreatExpired(ExpiredKeys::kHidden);
  const EvictionPolicy policy = GENERATE(EvictionPolicy::kAllKeysLfu, EvictionPolicy::kVolatileLfu);
  CHECK(Evict(policy, 2).size() == 2);
  CHECK(db().size() == 1);
  CHECK(Evict(policy, 2).size() == 1);
  CHECK(db().Validate());
}

TEST_CASE_METHOD(LfuFixture, "keys that were used often long ago are evicted before keys in use") {
  Set("once", "v");
  Use("once", 6);
  clock.AdvanceTime(8 * kMinuteMs);
  Set("now", "v");
  CHECK(CountOf("once") == 3);
  CHECK(CountOf("now") == kLfuCountStart);
  CHECK(Evict(EvictionPolicy::kAllKeysLfu, 1) == Keys{"once"});
}

TEST_CASE_METHOD(LfuFixture, "with five samples nearly no key that is used often is evicted") {
  CountHits({.log_factor = 10, .decay_minutes = 1, .random = &random});
  for (int i = 0; i < 2000; ++i) {
    const std::string key = "k" + std::to_string(i);
    Set(key, "v", i % 3 == 0 ? In(100'000'000) : Expiry::Never(), static_cast<unsigned>(i % 4));
    if (i % 10 == 0) Use(key, 100, static_cast<unsigned>(i % 4));
  }
  int hot = 0;
  for (const std::string& key : Evict(EvictionPolicy::kAllKeysLfu, 1600, 5)) hot += key.back() == '0' ? 1 : 0;
  CHECK(databases.total_keys() == 400);
  CHECK(hot <= 4);
  for (unsigned i = 0; i < databases.count(); ++i) CHECK(db(i).Validate());
}

TEST_CASE_METHOD(LfuFixture, "volatile-lfu evicts only keys with a TTL, even if they are few among many") {
  for (int i = 0; i < 5000; ++i) Set("lasting" + std::to_string(i), "v");
  for (int i = 0; i < 10; ++i) Set("volatile" + std::to_string(i), "v", In(100'000'000));
  for (int i = 0; i < 10; ++i) Use("volatile" + std::to_string(i), 1 + (i * 7) % 10);
  const Keys evicted = Evict(EvictionPolicy::kVolatileLfu, 11, 10);
  REQUIRE(evicted.size() == 10);
  CHECK(evicted.front() == "volatile0");
  CHECK(evicted.back() == "volatile7");
  CHECK(db().size() == 5000);
  CHECK(db().Validate());
}

TEST_CASE_METHOD(LfuFixture,
                 "an eviction frees one key, though many have reached their deadlines and wait to be freed") {
  for (int i = 0; i < 1000; ++i) Set("k" + std::to_string(i), "v", In(10));
  clock.AdvanceTime(20);
  Evict(EvictionPolicy::kAllKeysLfu, 1, 5);
  CHECK(db().size() == 999);
  Evict(EvictionPolicy::kVolatileLfu, 9, 5);
  CHECK(db().size() == 990);
  CHECK(db().Validate());
}

TEST_CASE_METHOD(LfuFixture, "a candidate that was accessed, or got another TTL, is sampled again") {
  Set("a", "v", In(100'000'000));
  Set("b", "v", In(100'000'000));
  Set("victim", "v", In(100'000'000));
  Use("a", 1);
  Use("b", 2);
  CHECK(Evict(EvictionPolicy::kVolatileLfu, 1) == Keys{"victim"});  // a and b are candidates now
  Use("a", 5);
  CHECK(Evict(EvictionPolicy::kVolatileLfu, 1) == Keys{"b"});
  db().SetExpiry(db().KeyOf("a"), *Find("a"), Expiry::Never(), now());
  CHECK(Evict(EvictionPolicy::kVolatileLfu, 1).empty());
  CHECK(Evict(EvictionPolicy::kAllKeysLfu, 1) == Keys{"a"});
}

TEST_CASE_METHOD(LfuFixture, "volatile-lfu passes over a candidate that has lost its TTL") {
  for (const char* key : {"lasts", "often", "victim"}) Set(key, "v", In(100'000'000));
  Use("lasts", 1);
  Use("often", 20);
  CHECK(Evict(EvictionPolicy::kVolatileLfu, 1) == Keys{"victim"});  // the others are candidates now
  db().SetExpiry(db().KeyOf("lasts"), *Peek("lasts"), Expiry::Never(), now());
  CHECK(Evict(EvictionPolicy::kVolatileLfu, 2) == Keys{"often"});
  CHECK(Peek("lasts") != nullptr);
}

TEST_CASE_METHOD(LfuFixture, "maxkeys evicts LFU's victims from all keys, also under volatile-lfu") {
  for (int i = 0; i < 10; ++i) Set("k" + std::to_string(i), "v");
  for (int i = 0; i < 10; ++i) Use("k" + std::to_string(i), i == 4 ? 1 : 3);
  const EvictionPolicy policy = GENERATE(EvictionPolicy::kVolatileLfu, EvictionPolicy::kAllKeysLfu);
  const EvictionLimits limits{.maxmemory_bytes = 10, .maxkeys = 9, .policy = policy, .samples = 64};
  CHECK(evictor.Run(limits, now(), 100, [] { return uint64_t{1}; }) == Evictor::Outcome::kWithin);
  CHECK(db().size() == 9);
  CHECK(Peek("k4") == nullptr);
}

TEST_CASE_METHOD(LfuFixture, "stamps stay valid when the policy changes") {
  Set("counted", "v");
  Use("counted", 20);
  Set("fresh", "v");
  clock.AdvanceTime(2 * kMinuteMs + Entry::kStampMs);
  databases.SetAccessEffect(AccessEffect::kRecency);
  CHECK(Entry::IdleMs(Peek("counted")->stamp(), now().mono_ms) == 2 * kMinuteMs);
  CHECK(Entry::IdleMs(Peek("fresh")->stamp(), now().mono_ms) >= 2 * kMinuteMs);
  Find("counted");
  CHECK(Entry::IdleMs(Peek("counted")->stamp(), now().mono_ms) == 0);
  clock.AdvanceTime(kMinuteMs + Entry::kStampMs);
  CountHits({.log_factor = 0, .decay_minutes = 1, .random = &random});
  CHECK(CountOf("counted") == kLfuCountStart - 1);
  CHECK(CountOf("fresh") == kLfuCountStart - 3);
  Use("fresh", 1);
  CHECK(CountOf("fresh") == kLfuCountStart - 2);
}

TEST_CASE_METHOD(LfuFixture,
                 "the counter survives a new value, TTL or name, but a copy starts as a new key") {
  Set("k", "v");
  Use("k", 10);
  CHECK(CountOf("k") == 15);
  Set("k", std::string(500, 'x'));  // an overwrite is an access
  CHECK(CountOf("k") == 16);
  db().SetExpiry(db().KeyOf("k"), *Peek("k"), In(100'000), now());
  db().PutValue(db().KeyOf("k"), *Peek("k"), StringValue::Of("short"), now(), events::kSet);
  CHECK(CountOf("k") == 16);
  db().PutCopy(db().KeyOf("copy"), nullptr, *Peek("k"), now());
  CHECK(CountOf("copy") == kLfuCountStart);
  Use("copy", 7);
  db().PutCopy(db().KeyOf("copy"), Peek("copy"), *Peek("k"), now());
  CHECK(CountOf("copy") == kLfuCountStart);
  Set("taken", "v");
  db().Move(db().KeyOf("k"), *Peek("k"), db(), db().KeyOf("taken"), Peek("taken"), now());
  CHECK(CountOf("taken") == 16);
  db().Move(db().KeyOf("taken"), *Peek("taken"), db(2), db(2).KeyOf("taken"), nullptr, now());
  CHECK(CountOf("taken", 2) == 16);
  for (unsigned i = 0; i < databases.count(); ++i) CHECK(db(i).Validate());
}

TEST_CASE_METHOD(LfuFixture, "all invariants hold through random commands under changing policies") {
  constexpr EvictionPolicy kPolicies[] = {EvictionPolicy::kAllKeysLfu, EvictionPolicy::kVolatileLfu,
                                          EvictionPolicy::kAllKeysLru, EvictionPolicy::kAllKeysSieve};
  constexpr AccessEffect kHits[] = {AccessEffect::kFrequency, AccessEffect::kFrequency,
                                    AccessEffect::kRecency, AccessEffect::kVisitedBit};
  size_t policy = 0;
  for (int step = 0; step < 20'000; ++step) {
    const unsigned index = static_cast<unsigned>(random() % 3);
    const std::string name = "k" + std::to_string(random() % 300);
    const Key key = db(index).KeyOf(name);
    Entry* entry = random() % 2 == 0 ? db(index).Find(key, now()) : db(index).Peek(key, now());
    switch (random() % 12) {
      case 0:
        if (random() % 50 != 0) break;
        policy = random() % std::size(kPolicies);
        databases.SetAccessEffect(kHits[policy], {.random = &random});
        break;
      case 1:
        clock.AdvanceTime(random() % 30'000);
        Settle();
        break;
      case 2:
        if (entry != nullptr) db(index).Remove(key, *entry, ChangeReason::kDeleted);
        break;
      case 3:
        if (entry != nullptr)
          db(index).SetExpiry(key, *entry, random() % 2 == 0 ? In(100'000) : Expiry::Never(), now());
        break;
      case 4: {
        const std::string new_name = "k" + std::to_string(random() % 300);
        const Key to = db(0).KeyOf(new_name);
        if (entry != nullptr && (index != 0 || new_name != name))
          db(index).Move(key, *entry, db(0), to, db(0).Peek(to, now()), now());
        break;
      }
      default:
        Set(name, std::string(random() % 100, 'v'), random() % 2 == 0 ? In(200'000) : Expiry::Never(), index);
    }
    const EvictionLimits limits{.maxkeys = 200, .policy = kPolicies[policy]};
    REQUIRE(evictor.Run(limits, now(), 10'000, [] { return uint64_t{0}; }) == Evictor::Outcome::kWithin);
    if (step % 500 != 0) continue;
    for (unsigned i = 0; i < databases.count(); ++i) REQUIRE(db(i).Validate());
  }
}

}  // namespace mayfly

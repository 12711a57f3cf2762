#include "cache/gone/shadow_list.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "cache/evict/eviction.h"
#include "support/catch.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {
namespace {

class ShadowFixture {
 public:
  Now now() { return clock.Read(); }
  void Add(uint64_t hash, uint64_t bytes = 100, Expiry deadline = Expiry::Never()) {
    list.Add(0, hash, bytes, deadline, now());
  }
  bool Hit(uint64_t hash, uint8_t keyspace = 0) { return list.Hit(keyspace, hash, true, now()); }

  SteppedClock clock;
  Heap heap{Heap::kMinRegionBytes};
  ShadowList list{heap};
};

// Ranks from 0 on, the smallest the most often.
class Zipf {
 public:
  Zipf(size_t ranks, double exponent) {
    double sum = 0;
    for (size_t rank = 1; rank <= ranks; ++rank) {
      sum += std::pow(static_cast<double>(rank), -exponent);
      sums_.push_back(sum);
    }
  }
  size_t Draw(std::mt19937_64& random) const {
    constexpr double kUnit = 1.0 / (uint64_t{1} << 53);
    const double at = static_cast<double>(random() >> 11) * kUnit * sums_.back();
    return static_cast<size_t>(std::upper_bound(sums_.begin(), sums_.end(), at) - sums_.begin());
  }

 private:
  std::vector<double> sums_;
};

// The traces of scripts/bench, with fewer keys.
class Trace {
 public:
  Trace(double exponent, bool scans, bool shifts) : zipf_(kRanks, exponent), scans_(scans), shifts_(shifts) {}

  std::string Next() {
    const size_t at = at_++;
    if (scans_ && at % 1500 >= 1000) return "scanned:" + std::to_string(scanned_++ % kRanks);
    const size_t shifted = shifts_ ? at / 1000 * 10 : 0;
    return "key:" + std::to_string(kRanks + shifted - zipf_.Draw(random_));
  }

 private:
  static constexpr size_t kRanks = 10'000;
  Zipf zipf_;
  bool scans_;
  bool shifts_;
  size_t at_ = 0;
  size_t scanned_ = 0;
  std::mt19937_64 random_{14};
};

// A cache that is filled as it is read: GET and, after a miss, SET.
class Cache : public KeyspaceFixture {
 public:
  explicit Cache(const QuotaLimits& limits) : limits_(limits) { databases.shadow().Follow(true, limits); }

  void Get(const std::string& name, const std::string& value, uint64_t ttl_ms) {
    clock.AdvanceTime(1);
    databases.Advance(now(), 1000);
    const Key key = db().KeyOf(name);
    if (db().Find(key, now()) != nullptr) {
      ++hits;
    } else {
      shadow_hits += databases.NoteMiss(db(), key, now()).in_shadow ? 1 : 0;
      db().Put(key, nullptr, StringValue::Of(value), ttl_ms == 0 ? Expiry::Never() : In(ttl_ms), now());
    }
    ++reads;
    evictor_.Run(
        {.maxmemory_bytes = limits_.bytes, .maxkeys = limits_.keys, .policy = EvictionPolicy::kAllKeysLru},
        now(), 1000, [&] { return db().bytes(); });
  }
  double HitRatio() const { return static_cast<double>(hits) / static_cast<double>(reads); }
  double RatioAtTwice() const { return static_cast<double>(hits + shadow_hits) / static_cast<double>(reads); }

  uint64_t reads = 0;
  uint64_t hits = 0;
  uint64_t shadow_hits = 0;

 private:
  QuotaLimits limits_;
  std::mt19937_64 random_{5};
  Evictor evictor_{databases, random_};
};

}  // namespace

TEST_CASE_METHOD(ShadowFixture, "a shadow list has the newest victims whose bytes are within the limit") {
  list.Follow(true, {.bytes = 350});
  for (uint64_t hash = 1; hash <= 5; ++hash) Add(hash);
  CHECK(list.size() == 3);
  CHECK_FALSE(Hit(2));
  CHECK(Hit(3));  // the newest now
  Add(6);
  CHECK_FALSE(Hit(4));
  CHECK(Hit(3));
  Add(7, 1000);  // larger than twice the memory
  CHECK(list.size() == 0);
  CHECK(list.Validate());
}

TEST_CASE_METHOD(ShadowFixture, "a shadow list with a limit of keys counts keys") {
  list.Follow(true, {.keys = 2});
  for (uint64_t hash = 1; hash <= 3; ++hash) Add(hash, hash * 1'000'000);
  CHECK_FALSE(Hit(1));
  CHECK(Hit(2));
  CHECK(Hit(3));
  list.Forget(0, 2);
  CHECK_FALSE(Hit(2));
  CHECK(list.size() == 1);
  CHECK(list.Validate());
}

TEST_CASE_METHOD(ShadowFixture, "a key of the shadow list is not there after its deadline") {
  list.Follow(true, {.keys = 1000});
  Add(1, 100, Expiry::In(50, now()));
  Add(2, 100, Expiry::At(now().wall_ms + 50));
  Add(3);
  clock.AdvanceTime(49);
  CHECK((Hit(1) && Hit(2)));
  clock.AdvanceTime(1);
  CHECK_FALSE((Hit(1) || Hit(2)));
  CHECK(Hit(3));
  CHECK(list.size() == 1);
  for (uint64_t hash = 10; hash < 110; ++hash) Add(hash, 100, Expiry::In(50, now()));
  clock.AdvanceTime(50);
  for (uint64_t hash = 200; hash < 300; ++hash) Add(hash);
  CHECK(list.size() <= 102);  // the hand has found them without anybody asking
  CHECK(list.Validate());
}

TEST_CASE_METHOD(ShadowFixture, "a flush makes the keys of one keyspace, or of all, unknown") {
  list.Follow(true, {.keys = 1000});
  list.Add(0, 1, 100, Expiry::Never(), now());
  list.Add(1, 1, 100, Expiry::Never(), now());
  list.ForgetAll(0);
  CHECK_FALSE(Hit(1, 0));
  CHECK(Hit(1, 1));
  for (uint64_t hash = 10; hash < 200; ++hash) Add(hash);
  list.Clear();
  CHECK(list.size() == 0);
  CHECK_FALSE(Hit(1, 1));
  Add(10);  // frees some of those that are doomed
  CHECK(list.doomed() == 192 - ShadowList::kDropsPerAdd);
  CHECK(list.Validate());
  CHECK(list.FreeSome(1000) == 1000 - (192 - ShadowList::kDropsPerAdd));
  CHECK((list.doomed() == 0 && list.size() == 1));
  CHECK(Hit(10));
  list.Follow(false, {});
  CHECK_FALSE(Hit(10));
  list.FreeSome(1);
  CHECK(list.memory() == 0);
  CHECK(list.Validate());
}

TEST_CASE_METHOD(ShadowFixture, "without memory a victim is not added, and nothing else changes") {
  list.Follow(true, {.keys = 10'000'000});
  uint64_t hash = 0;
  std::mt19937_64 random(1);
  for (; list.size() == hash; ++hash) list.Add(0, random(), 100, Expiry::Never(), now());
  CHECK(hash > 10'000);
  CHECK(list.Validate());
}

TEST_CASE_METHOD(ShadowFixture, "a shadow list agrees with a plain model through random steps") {
  struct Known {
    uint64_t hash;
    uint64_t bytes;
  };
  constexpr uint64_t kLimit = 5000;
  list.Follow(true, {.bytes = kLimit});
  std::deque<Known> model;  // hottest first
  std::mt19937_64 random(9);
  const auto find = [&](uint64_t hash) {
    return std::find_if(model.begin(), model.end(), [hash](const Known& one) { return one.hash == hash; });
  };
  for (int step = 0; step < 100'000; ++step) {
    const uint64_t hash = 1 + random() % 100;
    const auto at = find(hash);
    clock.AdvanceTime(random() % 3);
    switch (random() % 8) {
      case 0:
        list.Forget(0, hash);
        if (at != model.end()) model.erase(at);
        break;
      case 1:
        if (random() % 100 != 0) break;
        list.Clear();
        model.clear();
        break;
      case 2:
        list.FreeSome(random() % 5);
        break;
      case 3:
      case 4:
        list.FreeSome(1000);
        if (at != model.end()) model.erase(at);
        model.push_front({hash, 50 + random() % 400});
        Add(hash, model.front().bytes);
        for (uint64_t sum = 0; const Known& one : std::deque<Known>(model)) {
          sum += one.bytes;
          if (sum > kLimit) model.pop_back();
        }
        break;
      default: {
        REQUIRE(Hit(hash) == (at != model.end()));
        if (at == model.end()) break;
        const Known moved = *at;
        model.erase(at);
        model.push_front(moved);
      }
    }
    REQUIRE(list.size() == model.size());
    if (step % 256 == 0) REQUIRE(list.Validate());
  }
}

TEST_CASE("the shadow list of n keys counts just the hits that 2 n keys have under LRU") {
  constexpr size_t kKeys = 1000;
  const Zipf zipf(10 * kKeys, 0.9);
  Cache one({.keys = kKeys});
  Cache two({.keys = 2 * kKeys});
  std::mt19937_64 random(11);
  for (int i = 0; i < 100'000; ++i) {
    const std::string name = "key:" + std::to_string(zipf.Draw(random));
    one.Get(name, "value", 0);
    two.Get(name, "value", 0);
    REQUIRE(one.hits + one.shadow_hits == two.hits);
  }
  CHECK(two.HitRatio() > one.HitRatio() + 0.05);
  CHECK(one.databases.shadow().size() == kKeys);
  CHECK(one.databases.shadow().Validate());
}

TEST_CASE("on every trace of scripts/bench the shadow list is within two points of twice the memory") {
  constexpr uint64_t kBytes = 100'000;
  const bool scans = GENERATE(false, true);
  const bool shifts = GENERATE(false, true);
  const double exponent = scans || shifts ? 0.9 : GENERATE(0.7, 0.9, 1.1);
  Trace trace(exponent, scans, shifts);
  Cache one({.bytes = kBytes});
  Cache two({.bytes = 2 * kBytes});
  for (int i = 0; i < 100'000; ++i) {
    const std::string name = trace.Next();
    one.Get(name, std::string(64, 'v'), 0);
    two.Get(name, std::string(64, 'v'), 0);
  }
  INFO(one.HitRatio() << " with once, " << two.HitRatio() << " with twice, " << one.RatioAtTwice()
                      << " foretold");
  CHECK(two.HitRatio() > one.HitRatio() + 0.01);
  CHECK(std::abs(one.RatioAtTwice() - two.HitRatio()) < 0.02);
}

TEST_CASE("with values of many sizes and TTLs the shadow list is within two points of twice the memory") {
  constexpr uint64_t kBytes = 300'000;
  const bool with_ttls = GENERATE(false, true);
  const Zipf zipf(10'000, 0.9);
  Cache one({.bytes = kBytes});
  Cache two({.bytes = 2 * kBytes});
  std::mt19937_64 random(12);
  for (int i = 0; i < 200'000; ++i) {
    const size_t rank = zipf.Draw(random);
    const std::string name = "key:" + std::to_string(rank);
    const std::string value(rank * 7919 % 600, 'v');
    const uint64_t ttl_ms = with_ttls && rank % 3 != 0 ? 500 + rank * 104'729 % 20'000 : 0;
    one.Get(name, value, ttl_ms);
    two.Get(name, value, ttl_ms);
  }
  INFO(one.HitRatio() << " with once, " << two.HitRatio() << " with twice, " << one.RatioAtTwice()
                      << " foretold");
  CHECK(two.HitRatio() > one.HitRatio() + 0.05);
  CHECK(std::abs(one.RatioAtTwice() - two.HitRatio()) < 0.02);
  CHECK(one.databases.shadow().Validate());
}

}  // namespace mayfly

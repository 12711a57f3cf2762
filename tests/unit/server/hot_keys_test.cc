#include "server/figures/hot_keys.h"

#include <bit>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "support/catch.h"

namespace mayfly {
namespace {

// Requests for keys, of which each has a number.
class HotKeysTest {
 public:
  // A batch that asks for these keys.
  void Request(const std::vector<uint64_t>& numbers, unsigned database = 0) {
    keys.Pass(numbers.size(), [&](size_t at) {
      keys.Count(database, HashOf(numbers[at]), now_ms, [&] {
        ++texts;
        return std::string_view(name = NameOf(numbers[at]));
      });
    });
  }
  void RequestMany(uint64_t number, size_t times) { Request(std::vector<uint64_t>(times, number)); }
  // The keys, the hottest first, each with how often a second.
  std::vector<std::pair<std::string, double>> Hottest(size_t most = 100) {
    std::vector<std::pair<std::string, double>> hottest;
    for (const HotKeys::Hot& hot : keys.Hottest(most, now_ms)) hottest.emplace_back(hot.key, hot.per_second);
    return hottest;
  }
  static std::string NameOf(uint64_t number) { return "key:" + std::to_string(number); }
  static uint64_t HashOf(uint64_t number) {
    uint64_t hash = (number + 1) * 0x9E3779B97F4A7C15;
    hash = (hash ^ (hash >> 32)) * 0xD6E8FEB86659FD93;
    return hash ^ (hash >> 32);
  }

  static constexpr uint64_t kStart = 5'000;
  uint64_t now_ms = kStart;
  HotKeys keys{kStart};
  std::string name;
  size_t texts = 0;
};

using Found = std::vector<std::pair<std::string, double>>;

}  // namespace

TEST_CASE_METHOD(HotKeysTest, "few requests are all counted, and the hottest key comes first") {
  RequestMany(1, 30);
  Request({2, 3, 2, 3, 2});
  now_ms += 1'000;
  CHECK(Hottest() == Found{{"key:1", 30}, {"key:2", 3}, {"key:3", 2}});
  CHECK(Hottest(1) == Found{{"key:1", 30}});
  CHECK(texts == 3);
}

TEST_CASE_METHOD(HotKeysTest, "a key of another database is another key") {
  Request({7, 7, 7}, 0);
  Request({7}, 255);
  const std::vector<HotKeys::Hot> hottest = keys.Hottest(10, now_ms);
  REQUIRE(hottest.size() == 2);
  CHECK(hottest[0].database == 0);
  CHECK(hottest[1].database == 255);
}

TEST_CASE_METHOD(HotKeysTest,
                 "the rate is that of the last seconds, and what is not asked for any more fades") {
  for (int second = 0; second < 100; ++second) {
    RequestMany(1, 20);
    now_ms += 1'000;
  }
  REQUIRE(Hottest().size() == 1);
  CHECK(Hottest()[0].second == Approx(20).epsilon(0.15));
  for (int second = 0; second < 20; ++second) {
    RequestMany(2, 20);
    now_ms += 1'000;
  }
  REQUIRE(Hottest().size() == 2);
  CHECK(Hottest()[0].first == "key:2");
  CHECK(Hottest()[1].second < 6);
  now_ms += 3'600'000;
  CHECK(Hottest().empty());
}

TEST_CASE_METHOD(HotKeysTest,
                 "of very many requests a part is counted, and the estimates are near the truth") {
  std::mt19937_64 random(1);
  const size_t batch = GENERATE(1, 7, 64);
  std::map<uint64_t, double> asked;
  for (int second = 0; second < 10; ++second) {
    for (size_t sent = 0; sent < 100'000; sent += batch) {
      std::vector<uint64_t> numbers(batch);
      for (uint64_t& number : numbers) {
        // Key n gets a part of 1 in 2^(n + 2), and half of the requests are for a million others.
        const int zeros = std::countr_zero(random() | 1ULL << 20);
        number = zeros == 0 ? 1000 + random() % 1'000'000 : static_cast<uint64_t>(zeros);
        asked[number] += 1;
      }
      Request(numbers);
    }
    now_ms += 1'000;
  }
  now_ms -= 1;  // the period has not ended
  const Found hottest = Hottest();
  REQUIRE(hottest.size() >= 5);
  for (uint64_t number = 1; number <= 5; ++number) {
    INFO(number);
    CHECK(hottest[number - 1].first == NameOf(number));
    CHECK(hottest[number - 1].second == Approx(asked[number] / 10).epsilon(0.25));
  }
  CHECK(hottest.size() < 12);
  CHECK(texts < 20'000);
}

TEST_CASE_METHOD(HotKeysTest, "if all keys are asked for alike, none is hot") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1'000'000; ++i) Request({random() % 1'000'000});
  CHECK(Hottest().size() < 3);
}

TEST_CASE_METHOD(HotKeysTest, "requests in a rhythm are counted alike") {
  for (int i = 0; i < 200'000; ++i) Request({1, 2, 3, 4});
  const Found hottest = Hottest();
  REQUIRE(hottest.size() == 4);
  CHECK(hottest[3].second == Approx(hottest[0].second).epsilon(0.2));
}

TEST_CASE_METHOD(HotKeysTest, "after a busy time few requests are all counted again") {
  RequestMany(1, 1'000'000);
  for (int period = 0; period < 2; ++period) {
    now_ms += HotKeys::kPeriodMs;
    RequestMany(2, 2 * HotKeys::kGapMax);
  }
  for (int period = 0; period < 40; ++period) {
    now_ms += HotKeys::kPeriodMs;
    RequestMany(3, 16);
  }
  const Found hottest = Hottest();
  REQUIRE(hottest.size() == 1);
  CHECK(hottest[0].first == "key:3");
  CHECK(hottest[0].second ==
        Approx(3.1).epsilon(0.01));  // 31 of the last period and, halved, of those before
}

TEST_CASE_METHOD(HotKeysTest, "keys may be empty, and those that are too long are left out") {
  const auto count = [&](uint64_t hash, std::string_view key) {
    keys.Pass(1, [&](size_t) { keys.Count(0, hash, now_ms, [&] { return key; }); });
  };
  const std::string longest(HotKeys::kLongestKey, 'x');
  const std::string longer(HotKeys::kLongestKey + 1, 'y');
  count(1, "");
  count(2, longest);
  count(3, longer);
  CHECK(Hottest() == Found{{"", 1}, {longest, 1}});
}

TEST_CASE_METHOD(HotKeysTest, "a reset forgets all counts") {
  RequestMany(1, 30);
  keys.Reset(now_ms);
  CHECK(Hottest().empty());
  RequestMany(2, 5);
  CHECK(Hottest() == Found{{"key:2", 5}});
}

}  // namespace mayfly

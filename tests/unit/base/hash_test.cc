#include "base/bits/hash.h"

#include <array>
#include <set>
#include <string>

#include "support/catch.h"

namespace mayfly {
namespace {

TEST_CASE("the same seed gives the same hashes, and another seed gives others") {
  const Hasher one(1);
  const Hasher again(1);
  const Hasher two(2);
  int equal = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string key = "key:" + std::to_string(i);
    REQUIRE(one(key) == again(key));
    equal += one(key) == two(key);
  }
  CHECK(equal == 0);
}

TEST_CASE("two secrets drawn from the kernel differ") {
  const Hasher one;
  const Hasher two;
  CHECK(one("some key") != two("some key"));
  CHECK(one("") != two(""));
}

TEST_CASE("keys of zero bytes and of other bytes have different hashes at every length") {
  const Hasher hasher(3);
  std::set<uint64_t> seen;
  for (size_t length = 0; length <= 600; ++length) {
    // In blocks of exactly this size, so that a sanitizer detects a read past the end.
    const std::string zeros(length, '\0');
    const std::string letters(length, 'a');
    CHECK(seen.insert(hasher(zeros)).second);
    if (length > 0) CHECK(seen.insert(hasher(letters)).second);
  }
}

TEST_CASE("hashes of similar keys fill the buckets of a table evenly") {
  const Hasher hasher(4);
  constexpr size_t kBuckets = 64;
  constexpr int kKeys = 64'000;
  std::array<int, kBuckets> high{};
  std::array<int, kBuckets> low{};
  for (int i = 0; i < kKeys; ++i) {
    const uint64_t hash = hasher("user:" + std::to_string(i) + ":session");
    ++high[hash >> 58];
    ++low[hash % kBuckets];
  }
  // 1000 are expected in each, give or take six standard deviations. The seed is fixed, so the result is too.
  for (size_t i = 0; i < kBuckets; ++i) {
    CHECK(high[i] > 800);
    CHECK(high[i] < 1200);
    CHECK(low[i] > 800);
    CHECK(low[i] < 1200);
  }
}

}  // namespace
}  // namespace mayfly

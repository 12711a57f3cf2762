#include "cache/types/integer_set.h"

#include <random>
#include <set>

#include "base/memory/heap.h"
#include "support/catch.h"

namespace mayfly {

TEST_CASE("integers are as wide as the widest needs, and in one allocation") {
  IntegerSet integers;
  CHECK(integers.memory() == 0);
  CHECK_FALSE(integers.Contains(1));
  CHECK(integers.Add(32767));
  CHECK(integers.Add(-32768));
  CHECK(integers.width() == 2);
  CHECK(integers.memory() == MallocSizeClass(8 + 2 * 2));
  CHECK(integers.Add(32768));
  CHECK(integers.width() == 4);
  CHECK(integers.Add(INT64_MIN));
  CHECK(integers.Add(INT64_MAX));
  CHECK(integers.width() == 8);
  CHECK(integers.memory() == MallocSizeClass(8 + 5 * 8));
  CHECK_FALSE(integers.Add(32768));
  CHECK(integers.At(0) == INT64_MIN);
  CHECK(integers.At(1) == -32768);
  CHECK(integers.At(4) == INT64_MAX);
  CHECK(integers.Remove(INT64_MIN));
  CHECK_FALSE(integers.Remove(INT64_MIN));
  CHECK(integers.width() == 8);
  CHECK(integers.Validate());
}

TEST_CASE("integers are what a sorted set of the library holds") {
  std::mt19937_64 random(11);
  IntegerSet integers;
  std::set<int64_t> model;
  for (int step = 0; step < 20'000; ++step) {
    const auto integer = static_cast<int64_t>(random()) >> (step < 10'000 ? 55 : random() % 64);
    if (random() % 3 != 0 && model.size() < 300) {
      REQUIRE(integers.Add(integer) == model.insert(integer).second);
    } else if (random() % 2 == 0) {
      REQUIRE(integers.Remove(integer) == (model.erase(integer) == 1));
    } else if (!model.empty()) {
      const size_t index = random() % model.size();
      const auto place = std::next(model.begin(), static_cast<std::ptrdiff_t>(index));
      REQUIRE(integers.At(index) == *place);
      integers.RemoveAt(index);
      model.erase(place);
    }
    REQUIRE(integers.size() == model.size());
    REQUIRE(integers.Contains(integer) == model.contains(integer));
  }
  CHECK(integers.Validate());
  const IntegerSet copy = integers.Clone();
  CHECK(copy.size() == model.size());
  CHECK(copy.Validate());
}

}  // namespace mayfly

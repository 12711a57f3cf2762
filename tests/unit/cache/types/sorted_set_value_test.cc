#include "cache/types/sorted_set_value.h"

#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"

namespace mayfly {
namespace {

using Bound = NameRange::Bound;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class SortedSetFixture {
 public:
  Heap heap;
  Hasher hasher{20240229};
  SortedSetLimits limits;
  SortedSetValue value;

  MemberHome home() { return {heap, hasher}; }
  void Put(std::string_view name, double score) { value.Put(name, score, limits, home()); }
  static std::string Shown(const SortedSetValue& of) {
    std::string text;
    for (auto at = of.At(0); at; at.Next())
      text += std::string(text.empty() ? "" : " ") + std::string(at.name()) + "=" + FormatDouble(at.score());
    return text;
  }
  std::string Shown() const { return Shown(value); }
};

}  // namespace

TEST_CASE_METHOD(SortedSetFixture, "members come by score, then by name, in both forms") {
  limits.packed = GENERATE(128, 3);
  for (const auto& [name, score] :
       {std::pair{"b", 1.0}, {"10", 2.0}, {"a", 1.0}, {"9", 2.0}, {"z", -kInfinity}})
    Put(name, score);
  CHECK(Shown() == "z=-inf a=1 b=1 10=2 9=2");
  Put("a", 2);
  Put("z", 0.5);
  CHECK(Shown() == "z=0.5 b=1 10=2 9=2 a=2");
  CHECK(value.is_large() == (limits.packed == 3));
  CHECK(value.EncodingName() == (value.is_large() ? "skiplist" : "listpack"));
  CHECK(value.ScoreOf("9") == 2);
  CHECK(!value.ScoreOf("c"));
  CHECK(value.RankOf(value.Find("9")) == 3);
  CHECK(!value.At(5));
  value.Remove(value.Find("10"));
  value.RemoveRanks({0, 2});
  CHECK(Shown() == "9=2 a=2");
  CHECK(value.Validate());
}

TEST_CASE_METHOD(SortedSetFixture,
                 "a sorted set becomes large with the member that does not fit, and stays so") {
  SECTION("too many") {
    limits.packed = 2;
    Put("a", 1);
    Put("b", 2);
    CHECK(!value.is_large());
    Put("b", 3);
    CHECK(!value.is_large());
    Put("c", 3);
  }
  SECTION("a long one") {
    limits.packed_bytes = 2;
    Put("ab", 1);
    CHECK(!value.is_large());
    Put("abc", 2);
  }
  SECTION("many are announced") {
    value.Expect(128, limits, home());
    CHECK(!value.is_large());
    value.Expect(129, limits, home());
    Put("a", 1);
  }
  CHECK(value.is_large());
  while (value.Size() > 1) value.Remove(value.Find(std::string(value.At(0).name())));
  CHECK(value.is_large());
  CHECK(value.Validate());
}

TEST_CASE_METHOD(SortedSetFixture, "ranges of scores and names are ranges of ranks") {
  limits.packed = GENERATE(128, 0);
  for (const char* name : {"a", "b", "c", "d"}) Put(name, 1);
  const auto names = [&](Bound min, Bound max) {
    const RankRange ranks = value.RanksOf(NameRange{min, max});
    return std::pair(ranks.first, ranks.count);
  };
  CHECK(names({}, {Bound::Kind::kHighest}) == std::pair<size_t, size_t>(0, 4));
  CHECK(names({Bound::Kind::kClosed, "b"}, {Bound::Kind::kOpen, "d"}) == std::pair<size_t, size_t>(1, 2));
  CHECK(names({Bound::Kind::kOpen, "b"}, {Bound::Kind::kHighest}) == std::pair<size_t, size_t>(2, 2));
  CHECK(names({Bound::Kind::kHighest}, {}).second == 0);
  CHECK(names({Bound::Kind::kClosed, "c"}, {Bound::Kind::kClosed, "b"}).second == 0);
  Put("d", 5);
  CHECK(value.RanksOf(ScoreRange{1, 5, false, true}).count == 3);
  CHECK(value.RanksOf(ScoreRange{1, 5, true, false}).first == 3);
  CHECK(value.RanksOf(ScoreRange{1, 1, true, false}).count == 0);
  CHECK(value.RanksOf(ScoreRange{6, kInfinity}).count == 0);
}

TEST_CASE_METHOD(SortedSetFixture, "a copy has the same members and is of its own") {
  limits.packed = GENERATE(128, 0);
  for (int i = 0; i < 100; ++i) Put("member " + std::to_string(i * 37 % 100), i % 10 / 4.0);
  const std::unique_ptr<RichValue> copy = value.Clone();
  auto& other = static_cast<SortedSetValue&>(*copy);
  CHECK(Shown(other) == Shown());
  CHECK(other.EncodingName() == value.EncodingName());
  CHECK(other.Validate());
  value.RemoveRanks({0, 100});
  CHECK(value.Size() == 0);
  CHECK(other.Size() == 100);
}

TEST_CASE_METHOD(SortedSetFixture, "a large sorted set is freed in slices") {
  for (int i = 0; i < 10'000; ++i) Put(std::to_string(i), i);
  RichValue** const link = value.BurialLink();
  REQUIRE(link != nullptr);
  uint64_t bytes = value.Bytes();
  size_t slices = 0;
  while (!value.FreeSome(100)) {
    CHECK(value.Bytes() < bytes);
    bytes = value.Bytes();
    CHECK(value.BurialLink() == link);
    ++slices;
  }
  CHECK(slices >= 10);
}

#ifndef MAYFLY_SANITIZE  // whose references are pointers
TEST_CASE_METHOD(SortedSetFixture, "a million members take at most 60 bytes each") {
  std::mt19937_64 random(3);
  constexpr size_t kMembers = 1'000'000;
  for (size_t i = 0; i < kMembers; ++i)
    Put("member:" + std::to_string(100'000'000 + i), static_cast<double>(random() % 1'000'000'000));
  WARN("bytes of a member: " << static_cast<double>(value.Bytes()) / kMembers);
  CHECK(value.Bytes() <= 60 * kMembers);
}
#endif

TEST_CASE_METHOD(SortedSetFixture, "a sorted set does what a map does") {
  limits.packed = GENERATE(1'000'000, 64, 0);
  std::mt19937_64 random(17);
  std::map<std::string, double> model;
  std::set<std::pair<double, std::string>> order;
  for (int step = 0; step < 6'000; ++step) {
    const std::string name =
        random() % 2 == 0 ? std::to_string(random() % 200) : "m" + std::to_string(random() % 200);
    const double score =
        random() % 3 == 0 ? static_cast<double>(random() % 10) : static_cast<double>(random() % 50) / 8;
    const SortedSetValue::Found found = value.Find(name);
    REQUIRE(static_cast<bool>(found) == model.contains(name));
    if (found) {
      REQUIRE(found.score() == model[name]);
      const auto place = order.find({model[name], name});
      REQUIRE(value.RankOf(found) == static_cast<size_t>(std::distance(order.begin(), place)));
      order.erase(place);
      model.erase(name);
    }
    if (found && random() % 3 != 0) {
      value.Remove(found);
    } else {
      value.Put(name, score, limits, home());
      model[name] = score;
      order.insert({score, name});
    }
    REQUIRE(value.Size() == model.size());
    if (step % 100 != 0) continue;
    REQUIRE(value.Validate());
    const ScoreRange range{static_cast<double>(random() % 10), static_cast<double>(random() % 10),
                           random() % 2 == 0, random() % 2 == 0};
    size_t count = 0;
    for (const auto& [its_score, its_name] : order)
      count += !range.IsAfter(its_score, its_name) && !range.IsBefore(its_score, its_name);
    REQUIRE(value.RanksOf(range).count == count);
    auto at = value.At(0);
    for (const auto& [its_score, its_name] : order) {
      REQUIRE((at && at.score() == its_score && at.name() == its_name));
      at.Next();
    }
    REQUIRE(!at);
  }
}

TEST_CASE_METHOD(SortedSetFixture,
                 "members that are collected and arranged are those that are put one by one") {
  limits.packed = GENERATE(1'000'000, 64, 0);
  std::mt19937_64 random(19);
  SortedSetValue collected;
  for (int step = 0; step < 3'000; ++step) {
    // Names that begin alike, also with a byte 0, and are shorter or longer than what is compared first.
    std::string name(random() % 12, "a\0"[random() % 2]);
    name += static_cast<char>(random() % 256);
    name.resize(name.size() + random() % 2);
    const auto score = static_cast<double>(random() % 4) - 1;
    Put(name, score);
    collected.Collect(name, score, limits, home());
    CHECK(collected.ScoreOf(name) == score);
  }
  collected.Arrange();
  REQUIRE(collected.Validate());
  CHECK(collected.Size() == value.Size());
  CHECK(Shown(collected) == Shown());
  collected.Put("late", 0, limits, home());
  CHECK(collected.Validate());
}

}  // namespace mayfly

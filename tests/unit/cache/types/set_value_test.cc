#include "cache/types/set_value.h"

#include <random>
#include <set>
#include <string>
#include <vector>

#include "support/catch.h"

namespace mayfly {
namespace {

class SetFixture {
 public:
  bool Add(std::string_view member) { return set.Add(member, limits, home); }
  std::set<std::string> Members() const { return MembersOf(set); }
  static std::set<std::string> MembersOf(const SetValue& value) {
    std::set<std::string> found;
    value.ForEach([&](std::string_view member) { CHECK(found.emplace(member).second); });
    return found;
  }

  Heap heap;
  Hasher hasher{20240229};
  MemberHome home{heap, hasher};
  SetLimits limits;
  SetValue set;
};

}  // namespace

TEST_CASE_METHOD(SetFixture, "a set is an intset while its members are integers") {
  for (int i = 0; i < 512; ++i) REQUIRE(Add(std::to_string(i)));
  CHECK(set.EncodingName() == "intset");
  CHECK_FALSE(Add("511"));
  CHECK(set.EncodingName() == "intset");
  CHECK(Add("512"));
  CHECK(set.EncodingName() == "hashtable");
  CHECK(set.Size() == 513);
  CHECK(set.Contains("512"));
  CHECK_FALSE(set.Contains("0512"));
}

TEST_CASE_METHOD(SetFixture, "a set is a listpack while its members are few and short") {
  Add("1");
  Add("2");
  CHECK(Add("a"));
  CHECK(set.EncodingName() == "listpack");
  CHECK(Members() == std::set<std::string>{"1", "2", "a"});
  for (int i = 3; i < 128; ++i) REQUIRE(Add(std::to_string(i)));
  CHECK(set.EncodingName() == "listpack");
  CHECK_FALSE(Add("a"));
  CHECK(Add("one more"));
  CHECK(set.EncodingName() == "hashtable");
  CHECK(set.Size() == 129);

  SetValue with_long;
  with_long.Add(std::string(64, 'x'), limits, home);
  CHECK(with_long.EncodingName() == "listpack");
  with_long.Add(std::string(65, 'x'), limits, home);
  CHECK(with_long.EncodingName() == "hashtable");
}

TEST_CASE_METHOD(SetFixture, "the integers of a set that become too many for a listpack go to a hashtable") {
  for (int i = 0; i < 200; ++i) Add(std::to_string(i));
  CHECK(set.EncodingName() == "intset");
  CHECK(Add("text"));
  CHECK(set.EncodingName() == "hashtable");
  CHECK(set.Size() == 201);
}

TEST_CASE_METHOD(SetFixture, "several members that are added at once choose the form by their number") {
  const auto form_for = [&](std::string_view first, size_t members) {
    SetValue value;
    const std::vector<std::string_view> all(members, first);
    CHECK(value.AddAll(all, limits, home) == 1);
    CHECK(value.AddAll({all.data(), 1}, limits, home) == 0);
    return std::string(value.EncodingName());
  };
  CHECK(form_for("1", 512) == "intset");
  CHECK(form_for("1", 513) == "hashtable");
  CHECK(form_for("a", 128) == "listpack");
  CHECK(form_for("a", 129) == "hashtable");
  limits.integers = 5;
  CHECK(form_for("1", 6) == "listpack");
  Add("a");
  set.AddAll(std::vector<std::string_view>(128, "b"), limits, home);
  CHECK(set.EncodingName() == "listpack");
  set.AddAll(std::vector<std::string_view>(129, "b"), limits, home);
  CHECK(set.EncodingName() == "hashtable");
  CHECK(Members() == std::set<std::string>{"a", "b"});
}

TEST_CASE_METHOD(SetFixture, "a set does what a set of the library does, in all its forms") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 60; ++round) {
    SetValue value;
    std::set<std::string> model;
    limits = {.integers = random() % 30, .packed = random() % 30, .packed_bytes = 8 + random() % 10};
    const bool with_texts = round % 3 != 0;
    for (int step = 0; step < 400; ++step) {
      std::string member = std::to_string(static_cast<int64_t>(random()) >> (50 + random() % 14));
      if (with_texts && random() % 3 == 0) member.insert(0, random() % 12, 'm');
      if (random() % 20 == 0 && !model.empty()) {
        value.Pop(random, [&](std::string_view popped) { REQUIRE(model.erase(std::string(popped)) == 1); });
      } else if (random() % 3 == 0) {
        REQUIRE(value.Remove(member) == (model.erase(member) == 1));
      } else {
        REQUIRE(value.Add(member, limits, home) == model.insert(member).second);
      }
      REQUIRE(value.Size() == model.size());
      REQUIRE(value.Contains(member) == model.contains(member));
      if (model.empty()) continue;
      char room[SetValue::kRoom];
      REQUIRE(model.contains(std::string(value.Random(random, room))));
    }
    CHECK(value.Validate());
    CHECK(MembersOf(value) == model);
    std::set<std::string> scanned;
    uint64_t cursor = 0;
    do {
      cursor = value.Scan(cursor, [&](std::string_view member) { scanned.emplace(member); });
    } while (cursor != 0);
    CHECK(scanned == model);
    const std::unique_ptr<RichValue> copy = value.Clone();
    CHECK(copy->Bytes() <= value.Bytes());
    CHECK(MembersOf(static_cast<const SetValue&>(*copy)) == model);
    CHECK(copy->EncodingName() == value.EncodingName());
  }
}

TEST_CASE_METHOD(SetFixture,
                 "the bytes of a set are those of what it owns, and a large one is freed in slices") {
  CHECK(set.Bytes() == MallocSizeClass(sizeof(SetValue)));
  CHECK(set.BurialLink() == nullptr);
  for (int i = 0; i < 10; ++i) Add(std::to_string(i));
  CHECK(set.Bytes() == MallocSizeClass(sizeof(SetValue)) + MallocSizeClass(8 + 10 * 2));
  CHECK(set.FreeSome(1));
  for (int i = 0; i < 10'000; ++i) Add("member " + std::to_string(i));
  CHECK(set.BurialLink() != nullptr);
  const uint64_t before = set.Bytes();
  CHECK_FALSE(set.FreeSome(100));
  CHECK(set.Bytes() < before);
  while (!set.FreeSome(1000)) {
  }
  CHECK(set.Size() == 0);
}

}  // namespace mayfly

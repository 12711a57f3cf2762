#include "cache/types/members.h"

#include <map>
#include <random>
#include <string>

#include "support/catch.h"

namespace mayfly {
namespace {

class MembersFixture {
 public:
  Heap heap;
  Hasher hasher{20240229};
  Members members{MemberHome{heap, hasher}};
};

}  // namespace

TEST_CASE_METHOD(MembersFixture, "a member has a name, and what else it was made of") {
  const std::string long_value(1000, 'v');
  members.Add({.name = "plain"});
  members.Add({.name = "field", .value = "value"});
  members.Add({.name = "scored", .score = 1.5});
  members.Add({.name = "timed", .value = long_value, .deadline_ms = 1'700'000'000'123});
  CHECK(members.size() == 4);
  CHECK(!members.Find("plain")->has_value());
  CHECK(members.Find("field")->value() == "value");
  CHECK(!members.Find("field")->timed());
  CHECK(members.Find("scored")->score() == 1.5);
  CHECK(members.Find("timed")->value() == long_value);
  CHECK(members.Find("timed")->deadline_ms() == 1'700'000'000'123);
  CHECK(members.Find("absent") == nullptr);
  CHECK(members.Validate());
}

TEST_CASE_METHOD(MembersFixture, "a member that is changed keeps what it is not given anew") {
  Member* member = members.Add({.name = "field", .value = "value"});
  MemberParts parts = member->parts();
  parts.deadline_ms = 5;
  member = members.Change(*member, parts);
  CHECK(member == members.Find("field"));
  CHECK(member->value() == "value");
  CHECK(member->deadline_ms() == 5);
  CHECK(members.size() == 1);
  CHECK(members.Validate());
}

TEST_CASE_METHOD(MembersFixture, "a member stays as it is if what has to happen before its change fails") {
  Member* const member = members.Add({.name = "field", .value = "value"});
  const auto fail = [](const Member&) { throw std::bad_alloc(); };
  CHECK_THROWS_AS(members.Change(*member, {.name = "field", .value = "longer than before"}, fail),
                  std::bad_alloc);
  CHECK(members.Find("field") == member);
  CHECK(member->value() == "value");
  CHECK(members.Validate());
  member->set_value("other");
  CHECK(members.Find("field")->value() == "other");
}

TEST_CASE_METHOD(MembersFixture, "members do what a map does") {
  std::mt19937_64 random(7);
  std::map<std::string, std::string> model;
  for (int step = 0; step < 20'000; ++step) {
    const std::string name(random() % 4, static_cast<char>('a' + random() % 20));
    const std::string full = name + std::to_string(random() % 500);
    const std::string value(random() % 300, 'v');
    Member* const member = members.Find(full);
    REQUIRE((member != nullptr) == model.contains(full));
    if (member == nullptr) {
      members.Add({.name = full, .value = value});
      model[full] = value;
    } else if (random() % 2 == 0) {
      REQUIRE(member->value() == model[full]);
      members.Remove(*member);
      model.erase(full);
    } else {
      members.Change(*member, {.name = full, .value = value});
      model[full] = value;
    }
  }
  CHECK(members.size() == model.size());
  CHECK(members.Validate());
  size_t seen = 0;
  uint64_t cursor = 0;
  do {
    cursor = members.Scan(cursor,
                          [&](const Member& member) { seen += model.contains(std::string(member.name())); });
  } while (cursor != 0);
  CHECK(seen == model.size());
  CHECK(model.contains(std::string(members.Random(random)->name())));
  while (!members.FreeSome(100)) {
  }
  CHECK(members.bytes() == 0);
}

}  // namespace mayfly

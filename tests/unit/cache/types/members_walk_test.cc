// A walk in slices through members that change meanwhile: Members::StartWalk.
#include <map>
#include <random>
#include <string>

#include "cache/entry/rich_value.h"
#include "cache/types/members.h"
#include "cache/types/value_listeners.h"
#include "support/catch.h"

namespace mayfly {
namespace {

using Model = std::map<std::string, std::string>;

// Walks, and collects what each pass sees.
class WalkWorld : private MemberListener {
 public:
  void Begin(unsigned passes) {
    for (Model& pass : seen) pass.clear();
    cursor_ = 0;
    left_ = passes;
    began = model;
    members.StartWalk(*this, passes);
  }
  // One page. Returns true at the end of the walk.
  bool Step() {
    size_t in_page = 0;
    cursor_ = members.WalkSome(cursor_, left_, [&](const Member& member) {
      See(left_, member);
      ++in_page;
    });
    most_in_page = std::max(most_in_page, in_page);
    if (cursor_ == 0 && --left_ == 0) members.EndWalk();
    return left_ == 0;
  }
  void GiveUp() {
    left_ = 0;
    size_t work = 0;
    for (uint64_t cursor = 0; (cursor = members.SkipSome(cursor, work)) != 0;) {
    }
    members.EndWalk();
  }
  void ChangeSomething() {
    const std::string name = "m" + std::to_string(random() % 3000);
    const std::string value(1 + random() % 20, static_cast<char>('a' + random() % 26));
    Member* const member = members.Find(name);
    if (member == nullptr) {
      members.Add({.name = name, .value = value});
      model[name] = value;
    } else if (random() % 3 == 0) {
      members.Remove(*member);
      model.erase(name);
    } else if (member->value().size() == value.size()) {
      members.BeforeChange(*member);
      member->set_value(value);
      model[name] = value;
    } else {
      members.Change(*member, {.name = name, .value = value});
      model[name] = value;
    }
  }

  Heap heap;
  Hasher hasher{20240229};
  Members members{MemberHome{heap, hasher}};
  std::mt19937_64 random{33};
  Model model;
  Model began;
  Model seen[2];  // by the last pass, by the pass before
  size_t most_in_page = 0;

 private:
  void See(unsigned pass, const Member& member) {
    REQUIRE(seen[pass - 1].emplace(member.name(), member.value()).second);
  }
  void BeforeMember(const Member& member, unsigned passes) noexcept override {
    for (; passes != 0; --passes) See(passes, member);
  }
  void OnGone() noexcept override {}
  void Keep(std::unique_ptr<RichValue>) noexcept override {}

  uint64_t cursor_ = 0;
  unsigned left_ = 0;
};

}  // namespace

TEST_CASE_METHOD(
    WalkWorld,
    "a walk sees each member of its beginning once a pass, as it was, whatever changes meanwhile") {
  for (int i = 0; i < 5000; ++i) ChangeSomething();
  for (int round = 0; round < 12; ++round) {
    const unsigned passes = 1 + round % 2;
    Begin(passes);
    CHECK(members.Validate());
    const size_t changes = random() % 20;
    while (!Step()) {
      for (size_t i = 0; i < changes; ++i) ChangeSomething();
      if (random() % 50 == 0) CHECK(members.Validate());
    }
    CHECK((seen[0] == began));
    if (passes == 2) CHECK((seen[1] == began));
    CHECK(members.Validate());
    for (int i = 0; i < 500; ++i) ChangeSomething();
  }
  CHECK(most_in_page < 64);
}

TEST_CASE_METHOD(WalkWorld, "after a walk that was given up, another one sees all members") {
  for (int i = 0; i < 5000; ++i) ChangeSomething();
  for (int round = 0; round < 10; ++round) {
    Begin(2);
    for (int i = 0; i < 40; ++i) {
      Step();
      ChangeSomething();
    }
    GiveUp();
    CHECK(members.Validate());
    Begin(1);
    while (!Step()) ChangeSomething();
    CHECK((seen[0] == began));
  }
}

TEST_CASE_METHOD(WalkWorld, "a walk ends even if all members go meanwhile") {
  for (int i = 0; i < 2000; ++i) ChangeSomething();
  Begin(1);
  Step();
  for (const auto& [name, value] : began) {
    if (Member* const member = members.Find(name)) members.Remove(*member);
  }
  model.clear();
  while (!Step()) {
  }
  CHECK((seen[0] == began));
  CHECK(members.Validate());
}

TEST_CASE_METHOD(WalkWorld, "members that still have to be passed are no valid end of a walk") {
  for (int i = 0; i < 100; ++i) ChangeSomething();
  Begin(1);
  CHECK(members.Validate());
  members.EndWalk();
  CHECK_FALSE(members.Validate());
}

}  // namespace mayfly

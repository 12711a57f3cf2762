// Sets whose members have deadlines.
#include <map>
#include <random>
#include <set>
#include <string>

#include "cache/types/set_value.h"
#include "support/catch.h"

namespace mayfly {
namespace {

using TextSet = std::set<std::string>;

class TimedSetFixture {
 public:
  bool Add(std::string_view member) { return set.Add(member, limits, home); }
  bool AddFor(uint64_t ms, std::string_view member, bool keep_deadline = false) {
    return set.AddUntil(member, In(ms), keep_deadline, home, now());
  }
  // The deadline in ms from now; -1: none.
  int64_t Left(std::string_view member) {
    const Expiry deadline = set.DeadlineOf(member);
    if (deadline.kind == Expiry::Kind::kNever) return -1;
    return static_cast<int64_t>(deadline.deadline_ms - Expiry::NowOn(deadline.kind, now()));
  }
  static TextSet All(const SetValue& value) {
    TextSet all;
    value.ForEach([&](std::string_view member) { REQUIRE(all.emplace(member).second); });
    return all;
  }
  TextSet All() const { return All(set); }
  Expiry In(uint64_t ms) { return Expiry::In(ms, now()); }
  Now now() { return clock.Read(); }

  Heap heap;
  Hasher hasher{20240229};
  MemberHome home{heap, hasher};
  SetLimits limits;
  SteppedClock clock;
  SetValue set;
};

}  // namespace

TEST_CASE_METHOD(TimedSetFixture, "a set becomes a hashtable with the first deadline of a member") {
  Add("1");
  if (GENERATE(false, true)) Add("a");
  CHECK(set.NextDeadline().kind == Expiry::Kind::kNever);
  CHECK_FALSE(AddFor(10, "1", true));
  CHECK(set.EncodingName() != "hashtable");
  CHECK(AddFor(10, "b"));
  CHECK(set.EncodingName() == "hashtable");
  CHECK(Left("b") == 10);
  CHECK(Left("1") == -1);
  CHECK(set.NextDeadline().deadline_ms == In(10).deadline_ms);
  CHECK_FALSE(AddFor(5, "1"));
  CHECK(Left("1") == 5);
  CHECK_FALSE(AddFor(7, "1", true));
  CHECK_FALSE(Add("1"));
  CHECK(Left("1") == 5);
  CHECK_FALSE(set.AllDue(now()));
  clock.AdvanceTime(5);
  CHECK(set.DropDue(now(), 10, nullptr) == 1);
  CHECK_FALSE(set.Contains("1"));
  CHECK(Add("1"));
  CHECK(Left("1") == -1);
  CHECK(set.Validate());
}

TEST_CASE_METHOD(TimedSetFixture,
                 "few random numbers draw the members that are left among many that are due") {
  for (int i = 0; i < 5000; ++i) AddFor(10, "due:" + std::to_string(i));
  Add("a");
  Add("b");
  clock.AdvanceTime(10);
  set.DropDue(now(), 1, nullptr);
  struct Counted : std::mt19937_64 {
    result_type operator()() { return ++calls, std::mt19937_64::operator()(); }
    size_t calls = 0;
  } random;
  std::map<std::string, int, std::less<>> drawn;
  set.Draw(random, 1000, [&](std::string_view member) { ++drawn[std::string(member)]; });
  CHECK(random.calls < 3000);
  CHECK(drawn.size() == 2);
  CHECK(drawn["a"] + drawn["b"] == 1000);
  CHECK((drawn["a"] > 400 && drawn["b"] > 400));
}

TEST_CASE_METHOD(TimedSetFixture, "a set whose members are all due tells so") {
  AddFor(10, "a");
  AddFor(20, "b");
  clock.AdvanceTime(10);
  CHECK_FALSE(set.AllDue(now()));
  clock.AdvanceTime(10);
  CHECK(set.AllDue(now()));
  CHECK(set.DropDue(now(), 1, nullptr) == 1);
  CHECK(set.AllDue(now()));
  CHECK(set.DropDue(now(), 5, nullptr) == 1);
  CHECK(set.Size() == 0);
  CHECK(set.DropDue(now(), 5, nullptr) == 0);
}

TEST_CASE_METHOD(TimedSetFixture, "all deadlines of a set are on the clock of its first") {
  AddFor(50, "a");
  set.AddUntil("b", Expiry::At(now().wall_ms + 20), false, home, now());
  CHECK(set.DeadlineOf("b").kind == Expiry::Kind::kRelative);
  CHECK(Left("b") == 20);
  set.Remove("a");
  set.Remove("b");
  set.AddUntil("c", Expiry::At(now().wall_ms + 20), false, home, now());
  CHECK(set.NextDeadline().kind == Expiry::Kind::kWall);
  AddFor(10, "d");
  CHECK(Left("d") == 10);
}

TEST_CASE_METHOD(TimedSetFixture, "members of a set that are due and not dropped yet are absent") {
  for (int i = 0; i < 40; ++i) Add("m" + std::to_string(i));
  for (int i = 40; i < 100; ++i) AddFor(10, "m" + std::to_string(i));
  clock.AdvanceTime(10);
  CHECK(set.DropDue(now(), 25, nullptr) == 25);
  CHECK(set.Size() == 75);
  CHECK(set.Live() == 40);
  CHECK(All().size() == 40);
  size_t due = 0;
  for (int i = 40; i < 100; ++i) {
    const std::string member = "m" + std::to_string(i);
    due += set.Contains(member) || set.Remove(member) ? 1 : 0;
  }
  CHECK(due == 0);
  std::mt19937_64 random(1);
  TextSet drawn;
  char room[SetValue::kRoom];
  for (int i = 0; i < 2000; ++i) drawn.emplace(set.Random(random, room));
  CHECK(drawn == All());
  const std::unique_ptr<RichValue> copy = set.Clone();
  CHECK(copy->Size() == 75);
  CHECK(All(static_cast<const SetValue&>(*copy)) == All());
  TextSet popped;
  for (int i = 0; i < 30; ++i) set.Pop(random, [&](std::string_view member) { popped.emplace(member); });
  CHECK(popped.size() == 30);
  CHECK(set.Live() == 10);
  // Added again, one of them is a new member.
  for (int i = 40; i < 100; ++i)
    CHECK((i % 2 == 0 ? Add("m" + std::to_string(i)) : AddFor(9, "m" + std::to_string(i), true)));
  CHECK(set.Live() == 70);
  CHECK(set.Validate());
  CHECK(set.DropDue(now(), 100, nullptr) == 0);
  clock.AdvanceTime(9);
  CHECK(set.DropDue(now(), 100, nullptr) == 30);
  CHECK(set.Size() == 40);
}

TEST_CASE_METHOD(TimedSetFixture, "a copy of a set has its deadlines, and so has who takes its place") {
  AddFor(10, "a");
  Add("b");
  const std::unique_ptr<RichValue> clone = set.Clone();
  auto& copy = static_cast<SetValue&>(*clone);
  CHECK(copy.NextDeadline().deadline_ms == In(10).deadline_ms);
  CHECK(copy.Validate());
  SetValue other;
  other.Add("x", limits, home);
  other.Take(std::move(copy));
  CHECK(All(other) == All());
  CHECK(other.NextDeadline().deadline_ms == In(10).deadline_ms);
  clock.AdvanceTime(10);
  CHECK(other.DropDue(now(), 10, nullptr) == 1);
  CHECK(set.Size() == 2);
}

// Model: members, and deadlines in ms on the monotonic clock, 0 for none.
TEST_CASE_METHOD(TimedSetFixture, "a set does what a map of deadlines does") {
  std::mt19937_64 random(11);
  std::map<std::string, uint64_t> model;
  for (int step = 0; step < 20'000; ++step) {
    const std::string member = (random() % 2 == 0 ? "" : "m:") + std::to_string(random() % 60);
    const bool there = model.contains(member);
    switch (random() % 6) {
      case 0:
        REQUIRE(set.Remove(member) == (model.erase(member) == 1));
        break;
      case 1:
        REQUIRE(Add(member) == model.emplace(member, 0).second);
        break;
      case 2: {
        clock.AdvanceTime(random() % 10);
        set.DropDue(now(), 1 + random() % 3, nullptr);
        std::erase_if(model, [&](const auto& one) { return one.second != 0 && one.second <= now().mono_ms; });
        break;
      }
      case 3:
        if (set.Live() != 0)
          set.Pop(random, [&](std::string_view popped) { REQUIRE(model.erase(std::string(popped)) == 1); });
        break;
      default: {
        const uint64_t ms = 1 + random() % 300;
        const bool keep = random() % 2 == 0;
        REQUIRE(AddFor(ms, member, keep) == !there);
        if (!there || !keep) model[member] = now().mono_ms + ms;
      }
    }
    REQUIRE(set.Live() == model.size());
    REQUIRE(set.Contains(member) == model.contains(member));
    if (model.contains(member)) {
      const uint64_t deadline_ms = model[member];
      REQUIRE(Left(member) == (deadline_ms == 0 ? -1 : static_cast<int64_t>(deadline_ms - now().mono_ms)));
    }
    if (step % 500 != 0) continue;
    REQUIRE(set.Validate());
    TextSet names;
    for (const auto& [name, deadline_ms] : model) names.insert(name);
    REQUIRE(All() == names);
  }
}

TEST_CASE_METHOD(TimedSetFixture, "a set with many deadlines is freed in slices") {
  for (int i = 0; i < 5000; ++i) AddFor(10, "m" + std::to_string(i));
  REQUIRE(set.BurialLink() != nullptr);
  int slices = 1;
  while (!set.FreeSome(1000)) ++slices;
  CHECK(slices > 3);
}

}  // namespace mayfly

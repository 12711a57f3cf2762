// Sorted sets whose members have deadlines.
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "cache/types/sorted_set_value.h"
#include "support/catch.h"

namespace mayfly {
namespace {

class TimedSortedSetFixture {
 public:
  void Put(std::string_view name, double score) { value.Put(name, score, limits, home); }
  void ExpireIn(uint64_t ms, std::string_view name) {
    value.SetDeadline(value.Find(name), name, Expiry::In(ms, now()), home, now());
  }
  // The deadline in ms from now; -1: none.
  int64_t Left(std::string_view name) {
    const Expiry deadline = value.DeadlineOf(value.Find(name));
    if (deadline.kind == Expiry::Kind::kNever) return -1;
    return static_cast<int64_t>(deadline.deadline_ms - Expiry::NowOn(deadline.kind, now()));
  }
  static std::string Shown(const SortedSetValue& of) {
    std::string text;
    for (auto at = of.At(0); at; at.Next())
      text += std::string(text.empty() ? "" : " ") + std::string(at.name()) + "=" + FormatDouble(at.score());
    return text;
  }
  std::string Shown() const { return Shown(value); }
  Now now() { return clock.Read(); }

  Heap heap;
  Hasher hasher{20240229};
  MemberHome home{heap, hasher};
  SortedSetLimits limits;
  SteppedClock clock;
  SortedSetValue value;
};

}  // namespace

TEST_CASE_METHOD(TimedSortedSetFixture, "a sorted set becomes large with the first deadline of a member") {
  for (const char* name : {"a", "b", "c", "d"}) Put(name, 1);
  CHECK(value.NextDeadline().kind == Expiry::Kind::kNever);
  CHECK(Left("b") == -1);
  ExpireIn(20, "b");
  CHECK(value.EncodingName() == "skiplist");
  ExpireIn(10, "d");
  ExpireIn(30, "b");
  CHECK(Left("b") == 30);
  CHECK(Left("a") == -1);
  CHECK(value.NextDeadline().deadline_ms == Expiry::In(10, now()).deadline_ms);
  CHECK(Shown() == "a=1 b=1 c=1 d=1");
  CHECK(value.Validate());
  Put("b", 0.5);
  Put("d", 1);
  CHECK(Left("b") == 30);
  clock.AdvanceTime(10);
  CHECK(value.DropDue(now(), 100, nullptr) == 1);
  CHECK(Shown() == "b=0.5 a=1 c=1");
  CHECK(value.RankOf(value.Find("c")) == 2);
  Put("d", 1);
  CHECK(Left("d") == -1);
  value.RemoveRanks({0, 1});
  CHECK(value.NextDeadline().kind == Expiry::Kind::kNever);
  CHECK(value.Validate());
}

TEST_CASE_METHOD(TimedSortedSetFixture,
                 "a sorted set whose members are all due tells so, and drops in slices") {
  for (int i = 0; i < 200; ++i) {
    Put("m" + std::to_string(i), i % 7);
    ExpireIn(10 + i % 2, "m" + std::to_string(i));
  }
  clock.AdvanceTime(10);
  CHECK_FALSE(value.AllDue(now()));
  CHECK(value.DropDue(now(), 70, nullptr) == 70);
  CHECK(value.Validate());
  CHECK(value.DropDue(now(), 70, nullptr) == 30);
  CHECK(value.DropDue(now(), 70, nullptr) == 0);
  CHECK(value.Size() == 100);
  clock.AdvanceTime(1);
  CHECK(value.AllDue(now()));
  CHECK(value.DropDue(now(), 1000, nullptr) == 100);
  CHECK(value.Size() == 0);
}

TEST_CASE_METHOD(TimedSortedSetFixture,
                 "a sorted set hides members that are due, all at once, and frees them in slices") {
  constexpr int kMembers = 30'000;
  const int timed_of_100 = GENERATE(1, 50, 99);  // the more, the other way of hiding them
  int stays = 0;
  for (int i = 0; i < kMembers; ++i) {
    const std::string name = "m" + std::to_string(i);
    Put(name, i % 1000);
    i % 100 < timed_of_100 ? ExpireIn(10, name) : static_cast<void>(++stays);
  }
  ExpireIn(11, "m99");  // is among those that stay
  --stays;
  CHECK(value.DueInOrder(now()) == 0);
  clock.AdvanceTime(10);
  CHECK(value.DueInOrder(now()) == static_cast<size_t>(kMembers - stays - 1));
  CHECK(value.DropDue(now(), SortedSetValue::kAtOnce, nullptr) <= SortedSetValue::kFew);
  CHECK(value.DueInOrder(now()) == 0);
  CHECK(value.Live() == static_cast<size_t>(stays) + 1);
  CHECK(value.Validate());
  CHECK_FALSE(value.Find("m0"));
  CHECK(value.Clone()->Size() == value.Live());
  size_t scanned = 0;
  uint64_t cursor = 0;
  do {
    cursor = value.Scan(cursor, [&](std::string_view, double) { ++scanned; });
  } while (cursor != 0);
  CHECK(scanned == value.Live());
  // A name that is hidden may come back, with a deadline that lies before that of others that are hidden.
  const size_t live = value.Live();
  Put("m0", 2);
  ExpireIn(1, "m0");
  CHECK(value.Find("m0").score() == 2);
  CHECK(value.Live() == live + 1);
  CHECK(value.Validate());
  while (const size_t more = value.DropDue(now(), 1000, nullptr)) {
    CHECK(more <= 1000);
    CHECK(value.Live() == live + 1);
  }
  CHECK(value.Validate());
  CHECK(value.Size() == live + 1);
  clock.AdvanceTime(1);
  value.DropDue(now(), SortedSetValue::kAtOnce, nullptr);
  CHECK(value.Live() == static_cast<size_t>(stays));
  CHECK(value.Validate());
}

TEST_CASE_METHOD(TimedSortedSetFixture, "a sorted set hides members beside those that are hidden already") {
  constexpr int kMembers = 9000;
  for (int i = 0; i < kMembers; ++i) {
    const std::string name = "m" + std::to_string(i);
    Put(name, i % 1000);
    ExpireIn(10 + static_cast<uint64_t>(i % 3), name);
  }
  for (int i = 0; i < 300'000; ++i)
    Put("lasting" + std::to_string(i), i % 500);  // so that members are searched for
  constexpr size_t kLasting = 300'000;
  for (size_t due = 1; due <= 3; ++due) {
    clock.AdvanceTime(due == 1 ? 10 : 1);
    value.DropDue(now(), SortedSetValue::kAtOnce, nullptr);
    CHECK(value.Live() == kLasting + (3 - due) * kMembers / 3);
    CHECK(value.DueInOrder(now()) == 0);
  }
  CHECK(value.Validate());
  CHECK(value.Size() > value.Live());
}

TEST_CASE_METHOD(TimedSortedSetFixture,
                 "a copy of a sorted set has its deadlines, all on the clock of the first") {
  Put("a", 1);
  Put("b", 2);
  ExpireIn(50, "a");
  value.SetDeadline(value.Find("b"), "b", Expiry::At(now().wall_ms + 20), home, now());
  const std::unique_ptr<RichValue> clone = value.Clone();
  auto& copy = static_cast<SortedSetValue&>(*clone);
  CHECK(copy.Validate());
  CHECK(copy.DeadlineOf(copy.Find("b")).kind == Expiry::Kind::kRelative);
  clock.AdvanceTime(20);
  CHECK(copy.DropDue(now(), 10, nullptr) == 1);
  CHECK(Shown(copy) == "a=1");
  CHECK(Shown() == "a=1 b=2");
}

// Model: scores, and deadlines in ms on the monotonic clock.
TEST_CASE_METHOD(TimedSortedSetFixture, "a sorted set with deadlines does what maps do") {
  std::mt19937_64 random(23);
  std::map<std::string, double> model;
  std::map<std::string, uint64_t> deadlines;
  const auto erase = [&](const std::string& name) {
    model.erase(name);
    deadlines.erase(name);
  };
  for (int step = 0; step < 20'000; ++step) {
    const std::string name = (random() % 2 == 0 ? "" : "m:") + std::to_string(random() % 80);
    const SortedSetValue::Found found = value.Find(name);
    REQUIRE(static_cast<bool>(found) == model.contains(name));
    switch (random() % 7) {
      case 0:
        if (found) value.Remove(found);
        erase(name);
        break;
      case 1:
      case 2:
        if (found) {
          deadlines[name] = now().mono_ms + 1 + random() % 300;
          value.SetDeadline(found, name, {Expiry::Kind::kRelative, deadlines[name]}, home, now());
        }
        break;
      case 3:
        clock.AdvanceTime(random() % 10);
        value.DropDue(now(), SortedSetValue::kAtOnce, nullptr);
        for (auto at = deadlines.begin(); at != deadlines.end();) {
          if (at->second > now().mono_ms) {
            ++at;
            continue;
          }
          model.erase(at->first);
          at = deadlines.erase(at);
        }
        break;
      case 4:
        if (value.Size() > 70) {
          const size_t first = random() % 70;
          std::set<std::string> names;
          for (size_t i = first; i < first + 3 && value.At(i); ++i) names.emplace(value.At(i).name());
          value.RemoveRanks({first, names.size()});
          for (const std::string& gone : names) erase(gone);
        }
        break;
      default:
        model[name] = static_cast<double>(random() % 40) / 4;
        Put(name, model[name]);
    }
    REQUIRE(value.Size() == model.size());
    uint64_t nearest = UINT64_MAX;
    for (const auto& [timed, deadline_ms] : deadlines) nearest = std::min(nearest, deadline_ms);
    REQUIRE(value.NextDeadline().deadline_ms == (deadlines.empty() ? 0 : nearest));
    if (step % 500 != 0) continue;
    REQUIRE(value.Validate());
    std::set<std::pair<double, std::string>> order;
    for (const auto& [its_name, score] : model) order.emplace(score, its_name);
    auto at = value.At(0);
    for (const auto& [score, its_name] : order) {
      REQUIRE((at && at.score() == score && at.name() == its_name));
      at.Next();
    }
    REQUIRE(!at);
  }
}

TEST_CASE_METHOD(TimedSortedSetFixture, "a sorted set with many deadlines is freed in slices") {
  for (int i = 0; i < 5000; ++i) {
    Put("m" + std::to_string(i), i);
    ExpireIn(10, "m" + std::to_string(i));
  }
  uint64_t bytes = value.Bytes();
  int slices = 1;
  for (; !value.FreeSome(100); ++slices) {
    CHECK(value.Bytes() < bytes);
    bytes = value.Bytes();
  }
  CHECK(slices > 3);
}

}  // namespace mayfly

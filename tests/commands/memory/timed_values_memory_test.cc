// Sets and sorted sets whose members have deadlines, while the first, second, third ... allocation of a change fails.
#include <functional>
#include <string>

#include "cache/types/set_value.h"
#include "cache/types/sorted_set_value.h"
#include "commands/memory/failing_allocation.h"
#include "support/catch.h"

namespace mayfly::testing {
namespace {

class TimedValuesFixture {
 public:
  // Makes a value and changes it, again and again, until no allocation fails. A change that fails has changed nothing.
  template <typename T>
  void TryAll(const std::function<void(T&)>& make, const std::function<void(T&)>& change) {
    size_t failures = 0;
    for (size_t nth = 1;; ++nth) {
      T value;
      make(value);
      const std::string before = Shown(value);
      bool thrown = false;
      {
        const FailingAllocation failing(nth);
        try {
          change(value);
        } catch (const std::bad_alloc&) {
          thrown = true;
        }
      }
      CHECK(value.Validate());
      CHECK(thrown == AllocationFailed());
      if (!thrown) break;
      ++failures;
      CHECK(Shown(value) == before);
      REQUIRE_NOTHROW(change(value));
      CHECK(value.Validate());
    }
    CHECK(failures != 0);
  }

  // Members in the order of a walk, with their deadlines.
  std::string Shown(const SetValue& set) {
    std::string text;
    for (const std::string& name : names_) {
      if (set.Contains(name)) text += name + " " + std::to_string(set.DeadlineOf(name).deadline_ms) + ", ";
    }
    return text;
  }
  std::string Shown(const SortedSetValue& set) {
    std::string text;
    for (auto at = set.At(0); at; at.Next()) {
      const std::string name(at.name());
      text += name + " " + std::to_string(set.DeadlineOf(set.Find(name)).deadline_ms) + ", ";
    }
    return text;
  }
  void Add(SetValue& set, const std::string& name) { set.Add(name, {}, home); }
  void AddFor(SetValue& set, uint64_t ms, const std::string& name) {
    set.AddUntil(name, Expiry::In(ms, now), false, home, now);
  }
  void Put(SortedSetValue& set, const std::string& name, double score) { set.Put(name, score, {}, home); }
  void ExpireIn(SortedSetValue& set, uint64_t ms, const std::string& name) {
    set.SetDeadline(set.Find(name), name, Expiry::In(ms, now), home, now);
  }

  Heap heap;
  Hasher hasher{20240229};
  MemberHome home{heap, hasher};
  const Now now = SteppedClock().Read();

 private:
  const std::vector<std::string> names_ = {"1", "2", "a", "b", "new"};
};

}  // namespace

TEST_CASE_METHOD(TimedValuesFixture, "a set that finds no memory for a deadline stays as it is") {
  const auto of_integers = [&](SetValue& set) { Add(set, "1"), Add(set, "2"); };
  const auto of_texts = [&](SetValue& set) { Add(set, "a"), Add(set, "b"); };
  const auto timed = [&](SetValue& set) { AddFor(set, 10, "a"), Add(set, "b"); };
  TryAll<SetValue>(of_integers, [&](SetValue& set) { AddFor(set, 20, "1"); });
  TryAll<SetValue>(of_integers, [&](SetValue& set) { AddFor(set, 20, "new"); });
  TryAll<SetValue>(of_texts, [&](SetValue& set) { AddFor(set, 20, "a"); });
  TryAll<SetValue>(timed, [&](SetValue& set) { AddFor(set, 20, "b"); });
  TryAll<SetValue>(timed, [&](SetValue& set) { AddFor(set, 20, "new"); });
  TryAll<SetValue>(timed, [&](SetValue& set) { static_cast<void>(set.Clone()); });
}

TEST_CASE_METHOD(TimedValuesFixture, "a sorted set that finds no memory for a deadline stays as it is") {
  const auto small = [&](SortedSetValue& set) { Put(set, "a", 1), Put(set, "b", 1); };
  const auto timed = [&](SortedSetValue& set) { small(set), ExpireIn(set, 10, "a"); };
  TryAll<SortedSetValue>(small, [&](SortedSetValue& set) { ExpireIn(set, 20, "b"); });
  TryAll<SortedSetValue>(timed, [&](SortedSetValue& set) { ExpireIn(set, 20, "b"); });
  TryAll<SortedSetValue>(timed, [&](SortedSetValue& set) { Put(set, "new", 1); });
  TryAll<SortedSetValue>(timed, [&](SortedSetValue& set) { static_cast<void>(set.Clone()); });
  // A leaf of the deadlines is full, so that the next one splits it.
  const auto full = [&](SortedSetValue& set) {
    for (int i = 0; i < 62; ++i) {
      Put(set, std::to_string(i), i);
      ExpireIn(set, 10 + static_cast<uint64_t>(i) % 2, std::to_string(i));
    }
    Put(set, "a", 5);
  };
  TryAll<SortedSetValue>(full, [&](SortedSetValue& set) { ExpireIn(set, 10, "a"); });
}

}  // namespace mayfly::testing

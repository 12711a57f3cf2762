// Tasks of a keyspace: each goes into its stream once, whatever happens to keys and streams meanwhile.
#include "cache/keyspace/tasks.h"

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cache/compactor.h"
#include "cache/snapshot_walk.h"
#include "cache/tags/task_name.h"
#include "cache/types/stream/stream_value.h"
#include "support/catch.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {
namespace {

class TasksFixture : public KeyspaceFixture {
 public:
  void SetTask(std::string_view key, std::string_view stream, uint64_t ms, uint64_t most = 0) {
    const std::string tag = TaskTagOf({.stream = stream, .most = most});
    const std::string_view name = tag;
    const Key hashed = db().KeyOf(key);
    db().PutOnTerms(hashed, db().Peek(hashed, now()), StringValue::Of(key), In(ms), {}, now(), events::kSet,
                    db().tags().Hold({&name, 1}));
  }
  const StreamValue* StreamAt(std::string_view key) {
    const Entry* const entry = db().LookAt(key, now());
    return entry != nullptr && entry->encoding() == Encoding::kRich
               ? static_cast<const StreamValue*>(entry->rich())
               : nullptr;
  }
  // The keys that went into the stream, in order.
  std::vector<std::string> KeysIn(std::string_view stream) {
    std::vector<std::string> keys;
    const StreamValue* const value = StreamAt(stream);
    if (value == nullptr) return keys;
    value->ForRange({}, StreamId::Max(), false, [&](const StreamEntry& entry) {
      entry.ForEach([&](std::string_view field, std::string_view text) {
        if (field == "key") keys.emplace_back(text);
      });
      return true;
    });
    return keys;
  }
  void Advance(uint64_t ms) {
    clock.AdvanceTime(ms);
    Settle();
  }
};

// Sees every entry of a moment.
class Visits final : public SnapshotVisitor {
 public:
  void Visit(unsigned, const Keyspace&, const Entry& entry) noexcept override { keys.emplace(entry.key()); }
  void VisitStale(unsigned, const Keyspace&, const Entry&, Expiry) noexcept override {}
  std::set<std::string, std::less<>> keys;
};

}  // namespace

TEST_CASE("a task's tag says the stream and the MAXLEN") {
  for (const uint64_t most : {uint64_t{0}, uint64_t{1}, uint64_t{1000}, UINT64_MAX}) {
    for (const std::string stream : {"", "jobs", "a long name with spaces and\nlines"}) {
      const std::string tag = TaskTagOf({.stream = stream, .most = most});
      CHECK(IsTaskTag(tag));
      CHECK(TaskTargetOf(tag).stream == stream);
      CHECK(TaskTargetOf(tag).most == most);
    }
  }
  CHECK_FALSE(IsTaskTag("into"));
  CHECK_FALSE(IsTaskTag(std::string("\0into", 5)));
  CHECK(IsReservedTag(std::string("\0into", 5)));
}

TEST_CASE_METHOD(TasksFixture, "tasks wait in lists of their own, and count as keys with a TTL") {
  SetTask("a", "jobs", 20);
  Set("plain", "v", In(20));
  CHECK(db().expiring() == 2);
  CHECK(db().tasks().count() == 1);
  CHECK(databases.quotas().Oldest(true, now())->key() == "plain");
  Advance(20);
  CHECK(db().size() == 1);
  CHECK(KeysIn("jobs") == std::vector<std::string>{"a"});
  CHECK(db().Validate());
}

TEST_CASE_METHOD(TasksFixture,
                 "while tasks are held, those that are due wait, and then come in their order") {
  databases.HoldTasks();
  for (const uint64_t ms : {30, 10, 20}) SetTask("t" + std::to_string(ms), "jobs", ms);
  Advance(40);
  CHECK(db().tasks().ready_count() == 3);
  CHECK(databases.NextWakeMs(now()) == UINT64_MAX);
  databases.ReleaseTasks(now());
  CHECK(databases.NextWakeMs(now()) == 0);
  Settle();
  CHECK(KeysIn("jobs") == std::vector<std::string>{"t10", "t20", "t30"});
}

TEST_CASE_METHOD(TasksFixture,
                 "tasks that no stream takes are tried once a second, and do not hold up others") {
  Set("blocked", "no stream");
  for (int i = 0; i < 100; ++i) {
    SetTask("b" + std::to_string(i), "blocked", 20);
    SetTask("t" + std::to_string(i), "jobs", 20);
  }
  Advance(20);
  CHECK(KeysIn("jobs").size() == 100);
  CHECK(db().tasks().ready_count() == 100);
  CHECK(databases.NextWakeMs(now()) > 0);
  CHECK(databases.NextWakeMs(now()) <= 1000);
  const uint64_t refused = databases.expiry_stats().tasks_refused;
  Advance(10'000);
  CHECK(databases.expiry_stats().tasks_refused - refused <= 200);
  CHECK(db().Validate());
}

TEST_CASE_METHOD(TasksFixture, "a herd of tasks is delivered in slices, in order, each once") {
  constexpr size_t kTasks = 20'000;
  std::vector<std::string> expected;
  for (size_t i = 0; i < kTasks; ++i) {
    SetTask("t" + std::to_string(i), "jobs", 1'000 + i / 20);
    expected.push_back("t" + std::to_string(i));
  }
  clock.AdvanceTime(5'000);
  size_t slices = 0;
  size_t before = 0;
  while (databases.Advance(now(), 100)) {
    const StreamValue* const jobs = StreamAt("jobs");
    const size_t delivered = jobs != nullptr ? jobs->length() : 0;
    CHECK(delivered - before <= 100);
    before = delivered;
    ++slices;
  }
  CHECK(slices >= kTasks / 100 - 1);
  std::vector<std::string> keys = KeysIn("jobs");
  CHECK(keys.size() == kTasks);
  int64_t last = 0;
  StreamAt("jobs")->ForRange({}, StreamId::Max(), false, [&](const StreamEntry& entry) {
    entry.ForEach([&](std::string_view field, std::string_view text) {
      if (field != "due") return;
      const int64_t due = std::stoll(std::string(text));
      CHECK(due >= last);
      last = due;
    });
    return true;
  });
  std::sort(keys.begin(), keys.end());
  std::sort(expected.begin(), expected.end());
  CHECK(keys == expected);
}

TEST_CASE_METHOD(TasksFixture, "ready tasks, and tasks that are drained, are delivered in slices, too") {
  constexpr size_t kTasks = Tasks::kMostSorted + 5'000;
  const auto deliver = [&] {
    size_t slices = 0;
    for (size_t before = 0; databases.Advance(now(), 100); ++slices) {
      const StreamValue* const jobs = StreamAt("jobs");
      const size_t delivered = jobs != nullptr ? jobs->length() : 0;
      CHECK(delivered - before <= 100);
      before = delivered;
    }
    CHECK(StreamAt("jobs")->length() == kTasks);
    CHECK(slices >= kTasks / 100 - 1);
  };
  databases.HoldTasks();
  for (size_t i = 0; i < kTasks; ++i) SetTask("t" + std::to_string(i), "jobs", 20);
  Advance(20);
  CHECK(db().tasks().ready_count() == kTasks);
  databases.ReleaseTasks(now());
  deliver();
  db().Delete(db().KeyOf("jobs"), now());
  for (size_t i = 0; i < kTasks; ++i) SetTask("t" + std::to_string(i), "jobs", 1'000'000);
  CHECK(db().tasks().Drain("jobs", SIZE_MAX, now(), 0) == kTasks);
  CHECK(StreamAt("jobs") == nullptr);
  deliver();
  CHECK(db().Validate());
}

TEST_CASE_METHOD(TasksFixture,
                 "in a round a bounded number of tasks is tried in vain, and each comes to its turn") {
  constexpr size_t kStreams = 40;
  constexpr size_t kEach = 500;
  constexpr size_t kBlockedTags = 16;
  constexpr size_t kMostFailures = 10'000;
  for (size_t stream = 0; stream < kStreams; ++stream) {
    const std::string name = "blocked" + std::to_string(stream);
    Set(name, "no stream");
    for (size_t i = 0; i < kEach; ++i) SetTask(name + ":" + std::to_string(i), name, 20);
  }
  Advance(20);
  CHECK(db().tasks().ready_count() == kStreams * kEach);
  const auto refused = [&] { return databases.expiry_stats().tasks_refused; };
  for (int round = 0; round < 3; ++round) {
    const uint64_t before = refused();
    Advance(1'000);
    CHECK(refused() - before <= kMostFailures + kBlockedTags);
    CHECK(refused() != before);
  }
  db().Delete(db().KeyOf("blocked39"), now());
  for (int round = 0; round < 5; ++round) Advance(1'000);
  CHECK(KeysIn("blocked39").size() == kEach);
}

TEST_CASE_METHOD(TasksFixture, "a walk sees a task that is due and not delivered: nothing is lost between") {
  SetTask("due", "jobs", 20);
  Set("gone", "v", In(20));
  clock.AdvanceTime(30);
  Visits visits;
  {
    SnapshotWalk walk(databases, visits, now());
    Settle();
    while (!walk.Step(10)) {
    }
  }
  CHECK(visits.keys == std::set<std::string, std::less<>>{"due"});
  CHECK(KeysIn("jobs") == std::vector<std::string>{"due"});
}

namespace {

// Random changes, which count the tasks that were set, and those that a change has ended.
class RandomTasks : public TasksFixture {
 public:
  void Step() {
    const std::string key = AnyKey();
    const std::string& stream = streams[random() % streams.size()];
    switch (random() % 14) {
      case 0:
      case 1:
      case 2:
        CountEnd(key);
        SetTask(key, stream, random() % 300, random() % 2 == 0 ? 0 : 1'000'000);
        ++set;
        break;
      case 3:
        CountEnd(key);
        Set(key, "plain");
        break;
      case 4:
        CountEnd(key);
        db().Delete(db().KeyOf(key), now());
        break;
      case 5:
        if (Entry* const entry = Find(key)) Redate(key, *entry);
        break;
      case 6:
        if (Entry* const entry = Find(key)) {
          set += entry->task() ? 0 : 1;
          db().SetExpiry(db().KeyOf(key), *entry, In(1 + random() % 500), now(), {},
                         TaskTagOf({.stream = stream}));
        }
        break;
      case 7:
        Rename(key, AnyKey());
        break;
      case 8:
        db().tasks().Drain(stream, random() % 2 == 0 ? SIZE_MAX : 1 + random() % 3, now(), random() % 5);
        break;
      case 9:
        if (random() % 8 == 0) TakeAway(stream);
        break;
      case 10:
        StepWalk();
        break;
      case 11: {
        Compactor::Count count;
        cursor_ = Compactor(db()).Pass(cursor_, now(), count);
        break;
      }
      default:
        clock.AdvanceTime(random() % 40);
        databases.Advance(now(), random() % 30);
    }
  }
  // The stream is away, or its name has another type.
  void TakeAway(const std::string& stream) {
    taken += KeysIn(stream).size();
    if (random() % 2 == 0)
      db().Delete(db().KeyOf(stream), now());
    else
      Set(stream, "no stream", In(50));
  }
  void EndWalk() { walk_.reset(); }

  const std::vector<std::string> streams = {"s0", "s1", "s2"};
  std::mt19937_64 random{20261126};
  size_t set = 0;
  size_t ended = 0;
  size_t taken = 0;  // out of streams that were taken away

 private:
  std::string AnyKey() { return "k" + std::to_string(random() % 200); }
  void CountEnd(const std::string& key) {
    const Entry* const entry = Peek(key);
    ended += entry != nullptr && entry->task() ? 1 : 0;
  }
  void Redate(const std::string& key, Entry& entry) {
    const bool lasts = random() % 3 == 0;
    ended += lasts && entry.task() ? 1 : 0;
    db().SetExpiry(db().KeyOf(key), entry, lasts ? Expiry::Never() : In(1 + random() % 500), now());
  }
  void Rename(const std::string& from, const std::string& to) {
    if (from == to || Peek(from) == nullptr) return;
    CountEnd(to);
    db().Move(db().KeyOf(from), *Peek(from), db(), db().KeyOf(to), Peek(to), now());
  }
  void StepWalk() {
    if (walk_ == nullptr)
      walk_ = std::make_unique<SnapshotWalk>(databases, visits_, now());
    else if (walk_->Step(random() % 50))
      walk_.reset();
  }

  Visits visits_;
  std::unique_ptr<SnapshotWalk> walk_;
  uint64_t cursor_ = 0;
};

}  // namespace

TEST_CASE_METHOD(RandomTasks,
                 "whatever happens to keys, streams and walks, each task that nobody ended goes once") {
  for (int step = 0; step < 30'000; ++step) {
    Step();
    if (step % 200 == 0) REQUIRE(db().Validate());
  }
  EndWalk();
  for (const std::string& stream : streams) {
    taken += KeysIn(stream).size();
    db().Delete(db().KeyOf(stream), now());
  }
  Advance(5'000);
  for (const std::string& stream : streams) taken += KeysIn(stream).size();
  CHECK(db().tasks().count() == 0);
  CHECK(taken == databases.expiry_stats().tasks_delivered);
  CHECK(taken + ended == set);
  CHECK(db().Validate());
}

}  // namespace mayfly

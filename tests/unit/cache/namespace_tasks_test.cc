// Tasks (SET ... INTO) beside namespaces: the stream's key may need a share that does not exist yet.
#include <string>
#include <string_view>
#include <vector>

#include "cache/keyspace/tasks.h"
#include "cache/tags/task_name.h"
#include "support/catch.h"
#include "unit/cache/namespace_fixture.h"

namespace mayfly {
namespace {

class NamespaceTasksFixture : public NamespaceFixture {
 public:
  // A task that is due in 50 ms.
  void SetTask(std::string_view key, std::string_view stream) {
    const std::string tag = TaskTagOf({.stream = stream, .most = 0});
    const std::string_view name = tag;
    db().PutOnTerms(db().KeyOf(key), nullptr, StringValue::Of("v"), In(50), {}, now(), events::kSet,
                    db().tags().Hold({&name, 1}));
  }
};

}  // namespace

TEST_CASE_METHOD(NamespaceTasksFixture,
                 "ready tasks of several namespaces make the shares of their streams") {
  Have({{"a", "a:"}, {"b", "b:"}, {"jobs", "jobs:"}, {"mails", "mails:"}});
  for (int i = 0; i < 10; ++i) {
    SetTask("a:" + std::to_string(i), "jobs:all");
    SetTask("b:" + std::to_string(i), "mails:all");
  }
  databases.HoldTasks();
  clock.AdvanceTime(50);
  Settle();
  CHECK(db().tasks().ready_count() == 20);
  databases.ReleaseTasks(now());
  Settle();
  CHECK(db().tasks().count() == 0);
  CHECK(db().size() == 2);
  CHECK(db().Holds("jobs:all", now()));
  CHECK(db().Holds("mails:all", now()));
  CHECK(Valid());
}

// The stream's key needs a share, no id is left for it, and the flushed keys that have one are due with the task.
TEST_CASE_METHOD(NamespaceTasksFixture,
                 "a task may take the id of a flushed namespace whose keys are due with it") {
  std::vector<Namespaces::Wanted> many = {{"flushed", "flushed:"}, {"jobs", "jobs:"}};
  for (int i = 0; i < 100; ++i) many.push_back({"n" + std::to_string(i), std::to_string(i) + ":"});
  Have(many);
  for (int i = 0; i < 20; ++i) {
    Set("flushed:" + std::to_string(i), "value", In(50));
    if (i == 10) SetTask("task", "jobs:all");
  }
  const size_t most = IdSet::kIds - databases.count();
  for (size_t at = 1; at < most; ++at)
    Set(std::to_string(at % 100) + ":k", "v", Expiry::Never(), static_cast<unsigned>(at / 100));
  CHECK_THROWS_AS(Set("jobs:other", "v", Expiry::Never(), 3), OwnersExhausted);

  CHECK(databases.FlushNamespace(Space("flushed")) == 20);
  clock.AdvanceTime(50);
  Settle();
  CHECK_FALSE(db().Holds("task", now()));
  CHECK(db().Holds("jobs:all", now()));
  CHECK(databases.waiting_keys() == 0);
  CHECK(Valid());
}

TEST_CASE_METHOD(NamespaceTasksFixture,
                 "a drain that meets tasks of a flushed namespace leaves the counts right") {
  constexpr size_t kMany = Tasks::kMostSorted + 1;
  Have({{"a", "a:"}});
  for (size_t i = 0; i < kMany; ++i) SetTask("a:" + std::to_string(i), "jobs");
  Set("lasts", "v");
  CHECK(databases.FlushNamespace(Space("a")) == kMany);
  db().tasks().Drain("jobs", SIZE_MAX, now(), 512);
  CHECK(databases.total_keys() == 1);
  CHECK(Valid());
  Settle();
  FreeAll();
  CHECK(databases.total_keys() == 1);
  CHECK(db().size() == 1);
  CHECK(Valid());
}

}  // namespace mayfly

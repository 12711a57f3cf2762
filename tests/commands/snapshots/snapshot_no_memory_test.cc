// Saves and loads whose first, second, third ... allocation fails: each ends with a file or a reason, and the service goes on.
#include <functional>
#include <new>
#include <string>
#include <system_error>

#include "commands/memory/failing_allocation.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

class NoMemoryTest : public SnapshotTest {
 public:
  NoMemoryTest() {
    SetOption("expire-log-size", "1mb");
    Run({"SET", "expired", "v", "PX", "10", "STALE", "1000"});
    AdvanceTime(10);
    for (int i = 0; i < 20; ++i) Run({"SET", "key:" + std::to_string(i), std::string(100, 'v')});
    Run({"SET", "large", std::string(300'000, 'x'), "EX", "1000", "TAGS", "2", "a", "b"});
    Run({"RPUSH", "list", "a", std::string(10'000, 'e')});
    Run({"HSET", "hash", "f", "v", "g", "w"});
    Run({"HEXPIRE", "hash", "1000", "FIELDS", "1", "f"});
    Run({"SADDEX", "set", "1000", "a", "b"});
    Run({"ZADD", "zset", "1", "a", "2", std::string(200, 'b')});
    Run({"XADD", "stream", "5-1", "f", "v"});
    digest = Run({"DEBUG", "DIGEST"});
  }
  // Calls `step` with the first allocation failing, then the second, and so on, until none fails. Then `look` is called after
  // each. Returns how often one has failed.
  size_t EachFails(const std::function<void()>& step, const std::function<void()>& look) {
    for (size_t nth = 1;; ++nth) {
      CAPTURE(nth);
      {
        const FailingAllocation failing(nth);
        try {
          step();
        } catch (const std::bad_alloc&) {
        } catch (const std::system_error&) {  // no thread
        }
      }
      const bool failed = AllocationFailed();
      while (snapshots().saving() || snapshots().loading()) Slice();
      look();
      CHECK(Run({"PING"}) == Simple("PONG"));
      if (!failed) return nth - 1;
    }
  }

  Reply digest;
};

}  // namespace

TEST_CASE_METHOD(NoMemoryTest,
                 "whichever allocation of a save fails, the file is the old one or a whole new one") {
  REQUIRE(Run({"SAVE"}) == Ok());
  const auto look = [&] {
    REQUIRE(disk.files().size() == 1);
    const std::string file = disk.files().at(kSnapshotPath);
    CHECK(file.starts_with("REDIS0012"));
    CHECK(Run({"DEBUG", "DIGEST"}) == digest);
  };
  CHECK(EachFails([&] { static_cast<void>(snapshots().SaveNow(now())); }, look) > 15);
  const auto in_slices = [&] {
    if (snapshots().SaveSoon(now()) != "") return;
    while (snapshots().saving()) Slice(3);
  };
  CHECK(EachFails(in_slices, look) > 15);
  Run({"FLUSHALL"});
  REQUIRE(snapshots().LoadNow({}, now()) == "");
  CHECK(Run({"DEBUG", "DIGEST"}) == digest);
}

TEST_CASE_METHOD(NoMemoryTest,
                 "whichever allocation of a load fails, the keys before are there, and the whole file stays, "
                 "under its name or put aside") {
  REQUIRE(Run({"SAVE"}) == Ok());
  const std::string file = disk.files().at(kSnapshotPath);
  const auto look = [&] {
    CHECK(keyspace().Validate());
    CHECK((disk.files().size() == 1 && disk.files().begin()->second == file));
    static_cast<void>(disk.Remove(kSnapshotPath + ".unread"));
    disk.Put(kSnapshotPath, file);
    CHECK(Run({"DBSIZE"}).integer <= 26);
    CHECK(Run({"SET", "another", "v"}) == Ok());
    Run({"FLUSHALL"});
  };
  CHECK(EachFails([&] { static_cast<void>(snapshots().LoadNow({}, now())); }, look) > 15);
  const auto in_slices = [&] {
    snapshots().LoadSoon(now());
    while (snapshots().loading()) Slice(3);
  };
  CHECK(EachFails(in_slices, look) > 15);
  REQUIRE(snapshots().LoadNow({}, now()) == "");
  CHECK(Run({"DEBUG", "DIGEST"}) == digest);
}

}  // namespace mayfly::testing

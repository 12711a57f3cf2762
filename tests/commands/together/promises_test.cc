// INVALIDATE, NSFLUSH and DRAIN answer at once, and their keys go in slices afterwards. Nobody counts a replica as complete before
// the stream has all of that: WAIT, FAILOVER, a stop, a change of roles.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cache/keyspace/databases.h"
#include "commands/replicas/master_world.h"
#include "replication/failover.h"
#include "replication/master_link.h"
#include "replication/stop_wait.h"
#include "support/fake_target.h"

namespace mayfly::testing {
namespace {

constexpr int kPromised = 2000;  // the first 512 go before the answer

// The last words of the SET of each key, and a request whose answer promises that the keys go.
struct Promise {
  Words last_words;
  Words request;
};
const std::vector<Promise> kPromises = {
    {{"TAGS", "1", "t"}, {"INVALIDATE", "t"}},
    {{}, {"NSFLUSH", "ns"}},
    {{"EX", "1000", "INTO", "jobs"}, {"DRAIN", "jobs"}},
};

class PromisesTest : public MasterTest {
 public:
  PromisesTest() {
    server().server.master_link = std::make_unique<MasterLink>(server().server, disk);
    SetOption("namespace", "ns prefix ns:");
  }
  ~PromisesTest() {
    server().server.failover.reset();
    server().server.stop_wait.reset();
    server().server.master_link.reset();
  }
  void MakeAll(const Words& last_words) {
    for (int i = 0; i < kPromised; ++i) {
      Words words = {"SET", "ns:" + std::to_string(i), "v"};
      words.insert(words.end(), last_words.begin(), last_words.end());
      REQUIRE(Run(words) == Ok());
    }
  }
  // A replica that has all keys, and lacks most of what is promised.
  FakeReplica& FollowAndPromise(const Promise& promise) {
    Run({"REPLICAOF", "NO", "ONE"});
    Run({"FLUSHALL"});
    AdvanceTime(0);
    FakeReplica& replica = Follow();
    MakeAll(promise.last_words);
    replica.Take();
    replica.Confirm();
    CHECK(Run(promise.request) == Integer(kPromised));
    return replica;
  }
  // The number of DEL in the stream.
  static int64_t Removed(FakeReplica& replica) {
    const Heard heard = replica.Take();
    return std::ranges::count_if(heard, [](const std::string& line) { return line.starts_with("DEL ns:"); });
  }
  int64_t Place() { return std::stoll(Field("replication", "master_repl_offset")); }

  FakeTargets targets{server()};
};

}  // namespace

TEST_CASE_METHOD(PromisesTest, "WAIT does not count a replica that lacks promised removals") {
  for (const Promise& promise : kPromises) {
    CAPTURE(promise.request);
    FakeReplica& replica = FollowAndPromise(promise);
    TestClient& waiting = Connect();
    CHECK(waiting.RunRaw("WAIT 1 0\r\n").empty());
    int64_t removed = Removed(replica);
    CHECK(removed < kPromised);
    replica.Confirm();
    CHECK(waiting.RunRaw("").empty());
    CHECK(Run({"MULTI"}) == Ok());
    Run({"WAIT", "1", "0"});
    CHECK(Run({"EXEC"}) == Array({Integer(0)}));
    AdvanceTime(0);  // the slices of the loop
    removed += Removed(replica);
    CHECK(removed == kPromised);
    CHECK(waiting.RunRaw("").empty());
    replica.Confirm();
    CHECK(waiting.RunRaw("") == ":1\r\n");
    CHECK(waiting.Run({"WAIT", "1", "0"}) == Integer(1));
    Leave(replica);
  }
}

TEST_CASE_METHOD(PromisesTest, "WAIT with a timeout answers 0 if the removals take longer") {
  FakeReplica& replica = FollowAndPromise(kPromises.front());
  Run({"DEBUG", "SET-ACTIVE-EXPIRE", "0"});
  CHECK(Connect().RunRaw("WAIT 0 0\r\n") == ":0\r\n");
  TestClient& waiting = Connect();
  CHECK(waiting.RunRaw("WAIT 1 1\r\n").empty());
  replica.Take();
  AdvanceTime(1);
  CHECK(waiting.RunRaw("") == ":0\r\n");
}

TEST_CASE_METHOD(PromisesTest, "WAIT does not wait for what is promised after it") {
  FakeReplica& replica = FollowAndPromise(kPromises.front());
  TestClient& waiting = Connect();
  CHECK(waiting.RunRaw("WAIT 1 0\r\n").empty());
  for (int round = 0; round < 3; ++round) {
    MakeAll({"TAGS", "1", "later"});
    CHECK(Run({"INVALIDATE", "later"}) == Integer(kPromised));
    server().databases.Advance(now(), kPromised / 2);  // the oldest go first
    replica.Take();
    replica.Confirm();
  }
  CHECK(waiting.RunRaw("") == ":1\r\n");
}

TEST_CASE_METHOD(PromisesTest, "FAILOVER hands over when the replica has promised removals, too") {
  for (const Promise& promise : kPromises) {
    CAPTURE(promise.request);
    FakeReplica& replica = FollowAndPromise(promise);
    CHECK(Run({"FAILOVER"}) == Ok());
    int64_t removed = Removed(replica);
    replica.Confirm();
    Run({"PING"});
    CHECK(Field("replication", "master_failover_state") == "waiting-for-sync");
    AdvanceTime(0);
    removed += Removed(replica);
    CHECK(removed == kPromised);
    replica.Confirm();
    Run({"PING"});
    CHECK(Field("replication", "master_failover_state") == "failover-in-progress");
    CHECK(Run({"FAILOVER", "ABORT"}) == Ok());
    Leave(replica);
  }
}

TEST_CASE_METHOD(PromisesTest, "a stop waits until the replica has promised removals, too") {
  for (const Promise& promise : kPromises) {
    CAPTURE(promise.request);
    FakeReplica& replica = FollowAndPromise(promise);
    int64_t removed = Removed(replica);
    replica.Confirm();
    TestClient& chief = Connect();
    CHECK(chief.RunRaw("SHUTDOWN NOSAVE\r\n").empty());
    CHECK_FALSE(server().server.shutdown_requested);
    CHECK(StopWait::Runs(server().server));
    AdvanceTime(0);
    removed += Removed(replica);
    CHECK(removed == kPromised);
    CHECK(StopWait::Runs(server().server));
    CHECK(Run({"SHUTDOWN", "ABORT"}) == Ok());
    Leave(replica);
  }
}

TEST_CASE_METHOD(PromisesTest, "a master that becomes a replica finishes what it has promised") {
  for (const Promise& promise : kPromises) {
    CAPTURE(promise.request);
    FakeReplica& replica = FollowAndPromise(promise);
    const int64_t before = Place();
    CHECK(Run({"REPLICAOF", "there", "7000"}) == Ok());
    CHECK(Place() > before + 20 * (kPromised - 600));
    Leave(replica);
  }
}

}  // namespace mayfly::testing

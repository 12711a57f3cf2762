// Whatever a server decides by itself, a replica leaves to its master: limits and evictions, TTLs by rules, jitter, the expiry
// of keys and members, invalidations, tasks. Each option that lets a server decide something is set at the master, at the
// replica, or at both, under random writes. Afterwards nothing differs.
#include <string>
#include <vector>

#include "commands/replicas/follow_world.h"
#include "exec/dispatch/executor.h"
#include "support/random_writes.h"

namespace mayfly::testing {
namespace {

struct Decision {
  const char* name;
  std::vector<Words> options;
};

const std::vector<Decision> kDecisions = {
    {"limits of namespaces on keys",
     {{"CONFIG", "SET", "namespace",
       "a prefix s maxkeys 2 b prefix h maxkeys 1 c prefix z maxkeys 2 d prefix t maxkeys 1"}}},
    {"limits of namespaces on memory",
     {{"CONFIG", "SET", "namespace",
       "a prefix s maxmemory 1kb b prefix l maxmemory 1kb c prefix x maxmemory 2kb"}}},
    {"a namespace's default-ttl",
     {{"CONFIG", "SET", "namespace", "a prefix s default-ttl 50ms b prefix z default-ttl 1s"}}},
    {"maxkeys", {{"CONFIG", "SET", "maxkeys", "6"}}},
    {"maxkeys, the nearest deadlines first",
     {{"CONFIG", "SET", "maxmemory-policy", "volatile-ttl"}, {"CONFIG", "SET", "maxkeys", "6"}}},
    {"maxmemory",
     {{"CONFIG", "SET", "maxmemory-policy", "allkeys-random"}, {"CONFIG", "SET", "maxmemory", "1"}}},
    {"default-ttl", {{"CONFIG", "SET", "default-ttl", "100ms"}}},
    {"max-ttl", {{"CONFIG", "SET", "max-ttl", "200ms"}}},
    {"ttl-jitter", {{"CONFIG", "SET", "ttl-jitter", "50"}}},
    {"ttl-required", {{"CONFIG", "SET", "ttl-required", "yes"}}},
    {"rules for TTLs",
     {{"CONFIG", "SET", "ttl-rule",
       "s* default 100ms max 1s jitter 20 h* max 50ms z* required l* into t1 x* into t2"}}},
    {"tasks by rule", {{"CONFIG", "SET", "ttl-rule", "* into t1"}}},
    {"the log of removed keys",
     {{"CONFIG", "SET", "expire-log-size", "100kb"}, {"CONFIG", "SET", "expire-log-values", "100"}}},
    {"forms of values", RandomWrites::SmallLimits()},
    {"HyperLogLogs without a sparse form", {{"CONFIG", "SET", "hll-sparse-max-bytes", "0"}}},
    {"ghosts", {{"CONFIG", "SET", "maxmemory-policy", "allkeys-s3fifo"}, {"CONFIG", "SET", "maxkeys", "8"}}},
};

enum class End : uint8_t { kMaster, kReplica, kBoth };

class MasterDecidesTest : public FollowTest {
 public:
  void Set(const Decision& decision, End end) {
    for (const Words& request : decision.options) {
      CAPTURE(request);
      if (end != End::kReplica) REQUIRE(Run(request) == Ok());
      if (end != End::kMaster) REQUIRE(follower.Run(request) == Ok());
    }
  }
  // What clients of the replica read: a look may find something due, or move a deadline.
  void Look(RandomWrites& draws) {
    const std::string number = std::to_string(draws.Draw(5));
    for (const Words& request : {Words{"GET", "s" + number}, Words{"HGETALL", "h" + number},
                                 Words{"SMEMBERS", "u" + number}, Words{"ZRANGE", "z" + number, "0", "-1"},
                                 Words{"XLEN", "x" + number}, Words{"SCAN", "0"}, Words{"RANDOMKEY"}})
      follower.Run(request);
  }
};

}  // namespace

TEST_CASE_METHOD(MasterDecidesTest,
                 "what a server decides by itself, its replica has as well, and decides nothing") {
  const size_t which = GENERATE(range(size_t{0}, kDecisions.size()));
  const End end = GENERATE(End::kMaster, End::kReplica, End::kBoth);
  const unsigned seed = GENERATE(1U, 2U);
  const Decision& decision = kDecisions[which];
  CAPTURE(decision.name, end, seed);
  const bool is_set_first = seed % 2 == 0;
  RandomWrites writes(seed + 100 * static_cast<unsigned>(which));
  if (is_set_first) Set(decision, end);
  TestClient& writer = Connect();
  for (int i = 0; i < 100; ++i) writer.RunRaw(writes.Next(WallMs()));
  Follow();
  if (!is_set_first) Set(decision, end);
  for (int i = 0; i < 200; ++i) {
    writer.RunRaw(writes.Next(WallMs()));
    if (writes.Draw(4) == 0) Look(writes);
    if (writes.Draw(4) != 0) continue;
    Carry();
    Pass(writes.Draw(writes.Draw(10) == 0 ? 1000 : 10));
    if (writes.Draw(25) == 0) Break();
  }
  Carry();
  Pass(MasterLink::kRetryMs);
  Pass(MasterLink::kRetryMs);
  REQUIRE(Link("master_link_status") == "up");
  CompareAll();
  CHECK(Link("master_failed_commands") == "0");
  CHECK(Link("master_full_syncs") == "1");
}

TEST_CASE_METHOD(MasterDecidesTest,
                 "a namespace's limits count at a replica as soon as it is a master, in slices") {
  REQUIRE(follower.Run({"CONFIG", "SET", "namespace", "n prefix n: maxkeys 5"}) == Ok());
  Follow();
  for (int i = 0; i < 1000; ++i) Run({"SET", "n:" + std::to_string(i), "v"});
  Carry();
  CHECK(follower.Run({"DBSIZE"}) == Integer(1000));
  CHECK(follower.Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  Executor& executor = *follower.server().server.executor;
  CHECK(executor.EvictSome(100));
  CHECK(follower.Run({"DBSIZE"}).integer > 800);
  CHECK(follower.Run({"SET", "n:new", "v"}) == Ok());
  CHECK(follower.Run({"DBSIZE"}).integer > 700);
  while (executor.EvictSome(100)) {
  }
  CHECK(follower.Run({"DBSIZE"}) == Integer(5));
}

TEST_CASE_METHOD(
    MasterDecidesTest,
    "a full namespace at a replica lets its clients write, if they may, as long as it is a replica") {
  REQUIRE(follower.Run({"CONFIG", "SET", "maxmemory-policy", "noeviction"}) == Ok());
  REQUIRE(follower.Run({"CONFIG", "SET", "namespace", "n prefix n: maxmemory 1kb"}) == Ok());
  REQUIRE(follower.Run({"CONFIG", "SET", "replica-read-only", "no"}) == Ok());
  Follow();
  for (int i = 0; i < 10; ++i) Run({"SET", "n:" + std::to_string(i), std::string(500, 'v')});
  Carry();
  CHECK(follower.Run({"DBSIZE"}) == Integer(10));
  CHECK(follower.Run({"SET", "n:own", "v"}) == Ok());
  CHECK(follower.Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  follower.Run({"SET", "n:other", "v"});  // then the namespace is found to be full
  CHECK(follower.Run({"SET", "n:third", "v"}).kind == Reply::Kind::kError);
}

TEST_CASE_METHOD(MasterDecidesTest,
                 "a key whose namespace gets no share at a replica is there, outside of the namespace") {
  std::string namespaces;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "n" + std::to_string(i);
    namespaces += (i != 0 ? " " : "") + name + " prefix " + name + ":";
  }
  REQUIRE(follower.Run({"CONFIG", "SET", "namespace", namespaces}) == Ok());
  const bool by_snapshot = GENERATE(false, true);
  if (!by_snapshot) Follow();
  for (int database = 0; database < 4; ++database) {
    Run({"SELECT", std::to_string(database)});
    for (int i = 0; i < 100; ++i) Run({"SET", "n" + std::to_string(i) + ":k", "v"});
  }
  if (by_snapshot) Follow();
  Pass(1);
  Compare({"DEBUG", "DIGEST"});
  CHECK(Link("master_failed_commands") == "0");
  // As a master it makes no exception.
  CHECK(follower.Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  follower.Run({"SELECT", "5"});
  CHECK(follower.Run({"SET", "n0:k", "v"}) == Error("ERR namespaces have keys in too many databases"));
}

TEST_CASE_METHOD(MasterDecidesTest, "a replica that takes writes delivers no task: its master does") {
  REQUIRE(follower.Run({"CONFIG", "SET", "replica-read-only", "no"}) == Ok());
  Follow();
  Run({"SET", "job", "v", "PX", "100", "INTO", "jobs"});
  Carry();
  follower.AdvanceTime(200);
  CHECK(follower.Run({"EXISTS", "job", "jobs"}) == Integer(1));
  AdvanceTime(300);
  Carry();
  CHECK(follower.Run({"XLEN", "jobs"}) == Integer(1));
  follower.AdvanceTime(100);
  Compare({"XRANGE", "jobs", "-", "+"});
  CHECK(Link("master_failed_commands") == "0");
}

TEST_CASE_METHOD(MasterDecidesTest,
                 "a HyperLogLog has its master's form, whatever hll-sparse-max-bytes is at the replica") {
  CommandTest& one = GENERATE(false, true) ? static_cast<CommandTest&>(*this) : follower;
  REQUIRE(one.Run({"CONFIG", "SET", "hll-sparse-max-bytes", "0"}) == Ok());
  Follow();
  for (int i = 0; i < 1500; ++i) {
    Run({"PFADD", "p", "element " + std::to_string(i)});
    if (i % 50 != 0) continue;
    Carry();
    CAPTURE(i);
    Compare({"STRLEN", "p"});
    Compare({"DEBUG", "DIGEST-VALUE", "p"});
  }
}

}  // namespace mayfly::testing

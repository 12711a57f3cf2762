// Two servers: one follows the other, under random writes of all types. Afterwards nothing differs.
#include <cstdlib>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "commands/memory/failing_allocation.h"
#include "commands/replicas/follow_world.h"
#include "replication/replicas.h"
#include "server/figures/link_figures.h"
#include "support/random_writes.h"

namespace mayfly::testing {
namespace {

// SEED=<number> in the environment begins elsewhere, and shows both logs.
constexpr unsigned kSeeds = 20;
unsigned FirstSeed() {
  const char* const text = std::getenv("SEED");
  return text != nullptr ? static_cast<unsigned>(std::stoul(text)) : 1;
}

}  // namespace

TEST_CASE_METHOD(FollowTest, "a follower has what its master has, whatever is written") {
  const unsigned seed = GENERATE(range(FirstSeed(), FirstSeed() + kSeeds));
  const bool is_late = seed % 2 == 0;  // the stream
  CAPTURE(seed);
  RandomWrites writes(seed);
  for (const Words& request : RandomWrites::SmallLimits()) {
    if (seed % 4 == 0) break;
    REQUIRE(Run(request) == Ok());
    if (seed % 4 != 1) REQUIRE(follower.Run(request) == Ok());
  }
  Run({"CONFIG", "SET", "namespace", "l prefix l1"});
  TestClient& writer = Connect();
  for (int i = 0; i < 100; ++i) writer.RunRaw(writes.Next(WallMs()));
  Follow();
  for (int i = 0; i < 400; ++i) {
    writer.RunRaw(writes.Next(WallMs()));
    if (is_late && writes.Draw(10) == 0) LetTimePass(1);
    if (writes.Draw(4) == 0) {
      const auto behind = static_cast<uint64_t>(WallMs() - follower.WallMs());
      const uint64_t ms = writes.Draw(writes.Draw(10) == 0 ? 1000 : 10);
      if (!is_late) Carry();
      AdvanceTime(ms);
      follower.AdvanceTime(ms + behind);
      if (writes.Draw(2) == 0) Carry();
    }
    if (writes.Draw(100) == 0) Break();
  }
  follower.LetTimePass(static_cast<uint64_t>(WallMs() - follower.WallMs()));
  Pass(MasterLink::kRetryMs);
  Pass(MasterLink::kRetryMs);
  REQUIRE(Link("master_link_status") == "up");
  CompareAll();
  CHECK(Link("master_full_syncs") == "1");
  // Where all fields of a hash have expired, a command that is late may miss it.
  if (!is_late) CHECK(Link("master_failed_commands") == "0");
}

TEST_CASE_METHOD(FollowTest,
                 "what a request does to one member of a large value is told without the others") {
  Words hash{"HSET", "h"};
  Words set{"SADD", "s"};
  Words sorted_set{"ZADD", "z"};
  for (int i = 0; i < 2'000; ++i) {
    const std::string name = "m" + std::to_string(i);
    hash.insert(hash.end(), {name, "1"});
    set.push_back(name);
    sorted_set.insert(sorted_set.end(), {std::to_string(i), name});
  }
  for (const Words& request : {hash, set, sorted_set}) Run(request);
  Follow();
  const std::string in_a_minute = std::to_string(WallMs() + 60'000);
  const std::vector<Words> requests = {
      {"HSETEX", "h", "EX", "100", "FIELDS", "1", "m1", "9"},
      {"HSETEX", "h", "EX", "50", "FIELDS", "1", "m1", "8"},
      {"HSETEX", "h", "KEEPTTL", "FIELDS", "2", "m1", "7", "m2", "7"},
      {"HSETEX", "h", "FXX", "PX", "5000", "FIELDS", "1", "m3", "6"},
      {"HINCRBYFLOAT", "h", "m1", "1.5"},
      {"HINCRBYFLOAT", "h", "m2", "1.5"},
      {"HINCRBY", "h", "m3", "2"},
      {"HEXPIRE", "h", "100", "FIELDS", "1", "m4"},
      {"HGETEX", "h", "PERSIST", "FIELDS", "1", "m4"},
      {"EXPIREMEMBER", "h", "m5", "100"},
      {"EXPIREMEMBER", "h", "m6", "0"},
      {"SPEXPIRE", "s", "1000", "MEMBERS", "1", "m1"},
      {"SADDEX", "s", "100", "m2", "new"},
      {"EXPIREMEMBER", "s", "m3", "1500", "MS"},
      {"PEXPIREMEMBERAT", "s", "m4", in_a_minute},
      {"EXPIREMEMBER", "s", "m5", "0"},
      {"EXPIREMEMBER", "z", "m1", "100"},
      {"EXPIREMEMBER", "z", "m2", "5", "MS"},
      {"PEXPIREMEMBERAT", "z", "m3", in_a_minute},
      {"PEXPIREMEMBERAT", "z", "m4", "1"},
  };
  constexpr int64_t kMostBytes = 300;
  for (const Words& request : requests) {
    CAPTURE(request);
    const int64_t before = std::stoll(Field("replication", "master_repl_offset"));
    REQUIRE(Run(request).kind != Reply::Kind::kError);
    Carry();
    const int64_t bytes = std::stoll(Field("replication", "master_repl_offset")) - before;
    CHECK(bytes > 0);
    CHECK(bytes < kMostBytes);
    for (const char* member : {"m1", "m2", "m3", "m4", "m5"})
      for (const char* key : {"h", "s", "z"}) Compare({"FIELDTTL", key, member});
  }
  CompareAll();
  Pass(10'000);
  CompareAll();
  CHECK(Link("master_failed_commands") == "0");
}

TEST_CASE_METHOD(FollowTest, "writes during the snapshot are in the snapshot or in the stream, and once") {
  const unsigned seed = GENERATE(range(FirstSeed(), FirstSeed() + kSeeds));
  CAPTURE(seed);
  RandomWrites writes(seed);
  TestClient& writer = Connect();
  for (int i = 0; i < 300; ++i) writer.RunRaw(writes.Next(WallMs()));
  for (int i = 0; i < 1000; ++i) Run({"RPUSH", "q" + std::to_string(i), "x", "y", "z"});
  REQUIRE(follower.Run({"REPLICAOF", "there", "7000"}) == Ok());
  int during = 0;
  for (int i = 0; i < 10'000 && Link("master_link_status") != "up"; ++i) {
    Pass(1);
    writer.RunRaw(writes.Next(WallMs()));
    Run({"RPUSH", "q" + std::to_string(writes.Draw(1000)), "w"});
    ++during;
  }
  CHECK(during > 5);
  AwaitLink();
  Pass(MasterLink::kRetryMs);
  REQUIRE(Link("master_link_status") == "up");
  CompareAll();
  CHECK(Link("master_failed_commands") == "0");
}

TEST_CASE_METHOD(FollowTest,
                 "members whose deadlines pass on their way expire where the follower is the master") {
  Run({"SADD", "s", "a"});
  Run({"SADDEX", "s", "1", "b"});
  Run({"ZADD", "z", "1", "a", "2", "b"});
  Run({"EXPIREMEMBER", "z", "b", "1"});
  Run({"HSET", "h", "a", "1", "b", "2"});
  Run({"HEXPIRE", "h", "1", "FIELDS", "1", "b"});
  follower.AdvanceTime(5000);  // its clock is ahead
  Follow();
  REQUIRE(follower.Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  follower.AdvanceTime(1);
  CHECK(follower.Run({"SMEMBERS", "s"}) == Array({Bulk("a")}));
  CHECK(follower.Run({"ZRANGE", "z", "0", "-1"}) == Array({Bulk("a")}));
  CHECK(follower.Run({"HKEYS", "h"}) == Array({Bulk("a")}));
}

TEST_CASE_METHOD(FollowTest, "whichever allocation of a write fails, the follower has what its master has") {
  const std::string long_text(6000, 'x');
  server().changes.Unlisten(server().change_log);  // it needs memory where no listener may
  Run({"SET", "long", long_text});
  Run({"RPUSH", "list", long_text, "a", "b"});
  Run({"SADD", "set", long_text, "a", "b", "c"});
  Run({"XADD", "stream", "1-1", "f", long_text});
  Run({"XGROUP", "CREATE", "stream", "g", "0"});
  Run({"SET", "tagged", "1", "TAGS", "1", "t"});
  Follow();
  const std::vector<std::vector<Words>> turns = {
      {{"SET", "a", "1"}, {"INCR", "b"}, {"MSET", "c", "1", "d", long_text}},
      {{"APPEND", "long", "y"}, {"RENAME", "long", "moved"}},
      {{"RPUSH", "list", "c"}, {"LMOVE", "list", "list2", "LEFT", "LEFT"}},
      {{"SPOP", "set"}, {"SPOP", "set", "2"}, {"EXPIRE", "set", "100"}},
      {{"XREADGROUP", "GROUP", "g", "ann", "STREAMS", "stream", ">"}},
      {{"XADD", "stream", "*", "f", "v"}, {"XTRIM", "stream", "MAXLEN", "1"}},
      {{"HSET", "hash", "f", "v"}, {"ZADD", "zset", "1", "a"}},
      {{"SELECT", "1"}, {"SET", "a", long_text}, {"SWAPDB", "0", "1"}},
      {{"INVALIDATE", "t"}, {"PUBLISH", "c", "m"}, {"FLUSHDB"}}};
  for (const std::vector<Words>& turn : turns) {
    CAPTURE(turn);
    std::string bytes;
    for (const Words& request : turn) bytes += EncodeRequest(request);
    bool failed = true;
    for (size_t nth = 1; failed; ++nth) {
      CAPTURE(nth);
      TestClient writer(server());
      {
        const FailingAllocation failing(nth);
        try {
          writer.RunRaw(bytes);
        } catch (const std::bad_alloc&) {
        }
      }
      failed = AllocationFailed();
      Pass(MasterLink::kRetryMs);
      Pass(MasterLink::kRetryMs);
      AwaitLink();
      Compare({"DEBUG", "DIGEST"});
    }
  }
}

TEST_CASE_METHOD(FollowTest, "WAIT at a new master counts what came from the old one") {
  Follow();
  const std::string history = Field("replication", "master_replid");
  const int64_t before = std::stoll(Field("replication", "master_repl_offset"));
  Run({"SET", "a", "1"});
  Carry();
  REQUIRE(follower.Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  FakeReplica late(follower.server());
  late.Greet();
  const std::string answer =
      late.client.RunRaw("PSYNC " + history + " " + std::to_string(before + 1) + "\r\n");
  CHECK(answer.starts_with("+CONTINUE"));
  TestClient& waiting = follower.Connect();
  CHECK(waiting.Run({"WAIT", "1", "0"}) == NoReply());
  late.ConfirmPlace(before);
  CHECK(waiting.RunRaw("").empty());
  late.ConfirmPlace(std::stoll(Link("master_repl_offset")));
  CHECK(waiting.RunRaw("") == ":1\r\n");
}

TEST_CASE_METHOD(FollowTest,
                 "each way to change a consumer group is the same at the follower, alone in its turn") {
  const auto id = [](int i) { return std::to_string(i) + "-1"; };
  for (int i = 1; i <= 12; ++i) Run({"XADD", "s", id(i), "f", "v"});
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Run({"XGROUP", "CREATE", "s", "h", "0"});
  Run({"XGROUP", "CREATE", "s", "empty", "$"});
  Follow();
  const std::vector<Words> requests{
      // a consumer without an entry
      {"XREADGROUP", "GROUP", "empty", "polls", "STREAMS", "s", ">"},
      {"XREADGROUP", "GROUP", "empty", "acks", "NOACK", "STREAMS", "s", ">"},
      {"XREADGROUP", "GROUP", "empty", "looks", "STREAMS", "s", "0"},
      {"XREADGROUP", "GROUP", "empty", "waits", "BLOCK", "1", "STREAMS", "s", ">"},
      {"XCLAIM", "s", "empty", "claims", "0", "1-1"},
      {"XCLAIM", "s", "empty", "moves", "0", "1-1", "LASTID", "99-1"},
      {"XAUTOCLAIM", "s", "empty", "sweeps", "0", "0"},
      // deliveries
      {"XREADGROUP", "GROUP", "g", "a", "COUNT", "10", "STREAMS", "s", ">"},
      {"XREADGROUP", "GROUP", "h", "a", "COUNT", "8", "STREAMS", "s", ">"},
      {"XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", "0"},
      {"XCLAIM", "s", "g", "b", "0", "1-1", "2-1"},
      {"XCLAIM", "s", "g", "b", "0", "1-1", "RETRYCOUNT", "7", "JUSTID"},
      {"XREADGROUP", "GROUP", "g", "b", "STREAMS", "s", "0"},  // two entries with different counts
      {"XAUTOCLAIM", "s", "g", "c", "0", "0", "COUNT", "3"},
      {"XREADGROUP", "GROUP", "g", "d", "COUNT", "1", "CLAIM", "0", "STREAMS", "s", ">"},
      // acknowledgements and deletions: the first ones change the pending entries alone
      {"XACK", "s", "g", "3-1"},
      {"XACKDEL", "s", "g", "ACKED", "IDS", "1", "4-1"},
      {"XACKDEL", "s", "g", "KEEPREF", "IDS", "1", "5-1"},
      {"XACKDEL", "s", "g", "DELREF", "IDS", "1", "6-1"},
      {"XACKDEL", "s", "h", "ACKED", "IDS", "1", "4-1"},
      {"XDELEX", "s", "ACKED", "IDS", "1", "3-1"},
      {"XDELEX", "s", "DELREF", "IDS", "1", "5-1"},
      {"XDEL", "s", "7-1", "8-1"},
      {"XAUTOCLAIM", "s", "g", "d", "0", "7-1", "COUNT", "2"},  // drops two, claims none
      {"XCLAIM", "s", "h", "d", "0", "7-1"},
      {"XREADGROUP", "GROUP", "h", "d", "COUNT", "1", "CLAIM", "0", "STREAMS", "s", ">"},
      {"XTRIM", "s", "MAXLEN", "5", "ACKED"},
      {"XDEL", "s", "1-1"},
      {"XTRIM", "s", "MINID", "2", "DELREF"},  // takes only what groups hold
      {"XTRIM", "s", "MINID", "10", "DELREF"},
      {"XADD", "s", "DELREF", "MAXLEN", "1", "20-1", "f", "v"},
      {"XGROUP", "DELCONSUMER", "s", "g", "b"},
      {"XGROUP", "SETID", "s", "g", "0"},
  };
  for (const Words& request : requests) {
    CAPTURE(request);
    const Reply reply = Connect().Run(request);
    CHECK(reply.kind != Reply::Kind::kError);
    Pass(2);
    CompareStream("s");
    Compare({"DEBUG", "DIGEST"});
  }
}

TEST_CASE_METHOD(FollowTest,
                 "values follow that are longer than proto-max-bulk-len, sent or derived by a command") {
  SetOption("proto-max-bulk-len", "1mb");
  follower.SetOption("proto-max-bulk-len", "1mb");
  Follow();
  std::mt19937 random(1);
  const auto draw = [&] {
    std::string text(20'000, ' ');
    for (char& letter : text) letter = static_cast<char>(random());
    return text;
  };
  for (int i = 0; i < 100; ++i) {
    const std::string text = draw();
    Run({"RPUSH", "l", text});
    Run({"SADD", "s", text});
    Run({"ZADD", "z", std::to_string(i), text});
    Run({"HSET", "h", std::to_string(i), text});
    Run({"SETRANGE", "t" + std::to_string(i % 40), "0", text});
    Run({"APPEND", "text", text});
    Carry();
  }
  Run({"COPY", "h", "h2"});
  Run({"SORT", "l", "BY", "nosort", "STORE", "l2"});
  Run({"SUNIONSTORE", "s2", "s"});
  Run({"ZRANGESTORE", "z2", "z", "0", "-1"});
  SetOption("proto-max-bulk-len", "10mb");
  Run({"SET", "long", std::string(3'000'000, 'x')});
  Carry();
  CHECK(Link("master_link_status") == "up");
  for (const char* const key : {"l2", "z2"}) Compare({"OBJECT", "ENCODING", key});
  Compare({"LRANGE", "l2", "0", "-1"});
  Compare({"ZRANGE", "z2", "0", "-1", "WITHSCORES"});
  Compare({"SCARD", "s2"});
  Compare({"HLEN", "h2"});
  Compare({"STRLEN", "long"});
  Compare({"GET", "text"});
  CHECK(Field("stats", "sync_full") == "1");
}

TEST_CASE_METHOD(FollowTest, "the window of a stale value follows") {
  Follow();
  Run({"SET", "k", "v", "EX", "10", "STALE", "30"});
  Carry();
  REQUIRE(follower.Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  follower.AdvanceTime(11'000);
  const Reply lease = follower.Run({"TAKE", "k", "LEASE", "1000"});
  CHECK(lease.elements.at(0) == Bulk("LEASE"));
  CHECK(lease.elements.at(1) == Bulk("v"));
}

TEST_CASE_METHOD(FollowTest,
                 "a server that was a master at a later place counts from its new stream's begin") {
  SetOption("repl-timeout", "10000");
  follower.SetOption("repl-timeout", "10000");
  FillWith(3000);
  const Replicas& replicas = Replicas::Of(follower.server().server);
  const auto be_followed = [&] {
    TestClient& reader = follower.Connect();
    CHECK(reader.Run({"REPLCONF", "capa", "eof"}) == Ok());
    reader.RunRaw("PSYNC ? -1\r\n");
    for (int i = 0; i < 20 && !follower.snapshots().saving(); ++i) follower.Slice();
    REQUIRE(follower.snapshots().saving());
  };
  be_followed();
  follower.Run({"SET", "long", std::string(1 << 20, 'x')});
  REQUIRE(replicas.last_change() > 1 << 20);
  Follow();
  // The master has forgotten what the replica lacks, and sends all keys again.
  SetOption("repl-backlog-size", "16384");
  follower.disk.piece = 100;
  Cut();
  for (int i = 0; i < 4; ++i) Run({"SET", "filler" + std::to_string(i), std::string(50'000, 'x')});
  const LinkFigures& link = follower.server().server.link;
  for (int i = 0; i < 1'000'000 && link.state != LinkFigures::State::kLoading; ++i) {
    Pass(i < 1'000 ? MasterLink::kRetryMs : 0);
    std::this_thread::yield();
  }
  REQUIRE(link.state == LinkFigures::State::kLoading);
  REQUIRE(follower.Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  follower.FinishLoad();
  be_followed();
  CHECK(replicas.last_change() < 1 << 20);
  CHECK(replicas.last_word() < 1 << 20);
}

TEST_CASE_METHOD(FollowTest, "tasks that came due at a writable replica go when it is promoted") {
  follower.SetOption("replica-read-only", "no");
  Follow();
  follower.Run({"SET", "task", "v", "PX", "10", "INTO", "jobs"});
  follower.AdvanceTime(10);
  CHECK(follower.Run({"EXISTS", "jobs"}) == Integer(0));
  Cut();
  REQUIRE(follower.Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  follower.AdvanceTime(0);
  CHECK(follower.Run({"XLEN", "jobs"}) == Integer(1));
}

TEST_CASE_METHOD(FollowTest,
                 "a server that begins to follow drops its stale values in slices, and has none afterwards") {
  constexpr int kKeys = 20'000;
  const auto info = [&](const std::string& field) {
    const std::string text = follower.Run({"INFO", "everything"}).text;
    const size_t at = text.find("\n" + field + ":") + field.size() + 2;
    return text.substr(at, text.find('\r', at) - at);
  };
  for (int i = 0; i < kKeys; ++i)
    follower.Run({"SET", "k" + std::to_string(i), "old", "PX", "10", "STALE", "3000"});
  follower.AdvanceTime(10);
  REQUIRE(info("stale_values") == std::to_string(kKeys));
  REQUIRE(follower.Run({"REPLICAOF", "there", "7000"}) == Ok());
  CHECK(info("stale_values") == std::to_string(kKeys));
  CHECK(follower.server().server.databases.DropSomeStale(100));
  CHECK(info("stale_values") == std::to_string(kKeys - 100));
  AwaitLink();
  const bool in_time = GENERATE(true, false);  // before this server is a master again
  if (in_time) {
    for (int i = 0; i < kKeys && info("stale_values") != "0"; ++i) follower.Slice();
    CHECK(info("stale_values") == "0");
  }

  // Nor does a value of the master become stale here.
  Run({"SET", "page", "v", "PX", "1000", "STALE", "30000"});
  Pass(1'000);
  CHECK((info("stale_values") == "0") == in_time);
  Cut();
  REQUIRE(follower.Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  CHECK(info("stale_values") == "0");
  CHECK(info("stale_evicted") == "0");
  for (const char* const key : {"k0", "k19999", "page"})
    CHECK(follower.Run({"TAKE", key, "LEASE", "1000"}).elements[1] == Null());

  // A master's values become stale.
  follower.Run({"SET", "page", "v", "PX", "1000", "STALE", "30000"});
  follower.AdvanceTime(1'000);
  follower.Slice();
  CHECK(follower.Run({"TAKE", "page", "LEASE", "1000"}).elements[1] == Bulk("v"));
}

TEST_CASE_METHOD(FollowTest,
                 "what meets a member that is due, among very many, does the same at the follower") {
  constexpr int kMembers = 11'000;
  constexpr int kTtlMs = 1'000'000;
  SetOption("repl-timeout", "10000");
  follower.SetOption("repl-timeout", "10000");
  const std::string stays(6000, 'x');  // a small value is sent whole after its members have gone
  TestClient& writer = Connect();
  const auto fill = [&](const std::string& name) {
    std::string requests = EncodeRequest({"HSET", "h" + name, stays, "5"}) +
                           EncodeRequest({"SADD", "s" + name, stays}) +
                           EncodeRequest({"ZADD", "z" + name, "5", stays});
    for (int i = 0; i <= kMembers; ++i) {
      const std::string member = i < kMembers ? "m" + std::to_string(i) : "last";
      requests += EncodeRequest({"HSET", "h" + name, member, "5"});
      requests += EncodeRequest({"SADD", "s" + name, member});
      requests += EncodeRequest({"ZADD", "z" + name, "5", member});
      for (const char* type : {"h", "s", "z"})
        requests += EncodeRequest(
            {"PEXPIREMEMBERAT", type + name, member, UnixMs(i < kMembers ? kTtlMs : kTtlMs + 1)});
    }
    writer.RunRaw(requests);
  };
  for (const char* name : {"1", "2", "3"}) fill(name);
  Follow();
  LetTimePass(kTtlMs + 1);
  follower.LetTimePass(kTtlMs + 1);
  const std::string change =
      "redis.call('hincrby', 'h' .. ARGV[1], 'last', 1) redis.call('sadd', 's' .. ARGV[1], 'last') "
      "redis.call('zincrby', 'z' .. ARGV[1], 1, 'last')";
  CHECK(writer.Run({"EVAL", change, "0", "1"}) == Null());  // cannot wait
  CHECK(writer.Run({"EVAL", change, "3", "h2", "s2", "z2", "2"}) == NoReply());
  REQUIRE(Run({"EXISTS", "h3", "s3", "z3"}) == Integer(3));
  TestClient& other = Connect();
  other.RunRaw(EncodeRequest({"HINCRBY", "h3", "last", "1"}));
  TestClient& third = Connect();
  third.RunRaw(EncodeRequest({"SADD", "s3", "last"}));
  TestClient& fourth = Connect();
  fourth.RunRaw(EncodeRequest({"ZINCRBY", "z3", "1", "last"}));
  for (int i = 0; i < 20; ++i) Pass(10);
  CHECK(writer.Received() == std::vector<Reply>{Null()});
  CHECK(Field("stats", "sync_full") == "1");
  for (const char* name : {"1", "2", "3"}) {
    const std::string number = name;
    for (const Words& request : std::vector<Words>{{"HLEN", "h" + number},
                                                   {"HGET", "h" + number, "last"},
                                                   {"HPTTL", "h" + number, "FIELDS", "1", "last"},
                                                   {"SCARD", "s" + number},
                                                   {"FIELDTTL", "s" + number, "last"},
                                                   {"ZCARD", "z" + number},
                                                   {"ZSCORE", "z" + number, "last"}})
      Compare(request);
    CHECK(Run({"HGET", "h" + number, "last"}) == Bulk("1"));
    CHECK(Run({"ZSCORE", "z" + number, "last"}) == Bulk("1"));
  }
}

}  // namespace mayfly::testing

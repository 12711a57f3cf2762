// Cutoffs: what a master tells of expired keys to replicas that know them, to others, and what a replica does (replication/cutoff.h).
#include <algorithm>
#include <string>
#include <vector>

#include "commands/replicas/follow_world.h"
#include "replication/backlog.h"
#include "replication/change_stream.h"
#include "replication/replicas.h"
#include "support/fake_target.h"

namespace mayfly::testing {
namespace {

constexpr uint64_t kHourMs = 3'600'000;

class CutoffTest : public FollowTest {
 public:
  FakeReplica& FollowAsMayfly() {
    FakeReplica& replica = NewReplica();
    replica.GreetAsMayfly();
    return BringUp(replica);
  }
  static std::string CutoffAt(int64_t unix_ms) { return "PUBLISH __mayfly__ t" + std::to_string(unix_ms); }
  // That many keys of the same deadline.
  void SetKeys(int keys, const std::string& ttl_ms = "100") {
    TestClient& writer = Connect();
    std::string requests;
    for (int i = 0; i < keys; ++i)
      requests += EncodeRequest({"SET", "k" + std::to_string(i), "v", "PX", ttl_ms});
    writer.RunRaw(requests);
  }
  // What the follower has not freed in its first slices.
  void FreeTheRest() {
    while (follower.server().server.link.frees_cut_off) follower.Slice();
  }
  Reply Held() { return follower.Run({"DBSIZE"}); }
  std::string FollowerStat(const std::string& field) {
    const std::string text = follower.Run({"INFO", "everything"}).text;
    const size_t begin = text.find("\n" + field + ":") + field.size() + 2;
    return text.substr(begin, text.find('\r', begin) - begin);
  }
};

bool HasDel(const Heard& lines) {
  return std::ranges::any_of(lines, [](const std::string& line) { return line.starts_with("DEL"); });
}

}  // namespace

// ---- what the master tells

TEST_CASE_METHOD(CutoffTest, "a thousand keys that expire at once are one cutoff, and no DEL") {
  FakeReplica& replica = FollowAsMayfly();
  SetKeys(1000);
  replica.Take();
  const int64_t deadline = WallMs() + 100;
  AdvanceTime(100);
  CHECK(Run({"DBSIZE"}) == Integer(0));
  CHECK(replica.Take() == Heard{CutoffAt(deadline)});
}

TEST_CASE_METHOD(CutoffTest,
                 "a key that a look-up finds expired is a cutoff, too, and one comes for each deadline") {
  FakeReplica& replica = FollowAsMayfly();
  Run({"SET", "a", "1", "PX", "10"});
  Run({"SET", "b", "1", "PX", "20"});
  Run({"SET", "c", "1", "PX", "20"});
  replica.Take();
  const int64_t began = WallMs();
  LetTimePass(30);
  CHECK(Run({"GET", "b"}) == Null());
  CHECK(replica.Take() == Heard{CutoffAt(began + 20)});
  AdvanceTime(1);  // what is left is gone by that cutoff
  CHECK(Run({"DBSIZE"}) == Integer(0));
  CHECK(replica.Take().empty());
}

TEST_CASE_METHOD(CutoffTest, "while one replica does not know cutoffs, each expired key is a DEL") {
  const bool is_mayfly = GENERATE(false, true);
  FakeReplica& replica = FollowAsMayfly();
  FakeReplica& other = NewReplica();
  is_mayfly ? other.GreetAsMayfly(/*knows_cutoffs=*/false) : other.Greet();
  BringUp(other);
  SetKeys(3);
  other.Take();
  replica.Take();
  AdvanceTime(100);
  Heard lines = other.Take();
  std::ranges::sort(lines);
  CHECK(lines == Heard{"DEL k0", "DEL k1", "DEL k2", "EXEC", "MULTI"});
  CHECK(HasDel(replica.Take()));
}

TEST_CASE_METHOD(CutoffTest, "a server that knows no cutoffs cannot go on over one, and gets all keys") {
  FakeReplica& replica = FollowAsMayfly();
  const int64_t before = replica.place;
  Run({"SET", "a", "1", "PX", "10"});
  AdvanceTime(10);
  CHECK_FALSE(HasDel(replica.Take()));
  FakeReplica& again = NewReplica();
  again.GreetAsMayfly();
  CHECK(Continue(again, replica.history, before).starts_with("+CONTINUE"));
  FakeReplica& other = NewReplica();
  other.Greet();
  const std::string answer = Continue(other, replica.history, before);
  CHECK_FALSE(answer.starts_with("+CONTINUE"));
  ReceiveAll(other, answer);
  FakeReplica& later = NewReplica();
  later.Greet();
  CHECK(Continue(later, replica.history, other.place).starts_with("+CONTINUE"));
}

TEST_CASE_METHOD(
    CutoffTest,
    "a server that knows no cutoffs may come back, until the backlog has forgotten where it left") {
  REQUIRE(Run({"CONFIG", "SET", "repl-backlog-size", "16384"}) == Ok());
  FakeReplica& replica = FollowAsMayfly();
  FakeReplica& other = MasterTest::Follow("7002");
  Leave(other);
  replica.Take();
  SetKeys(1);
  replica.Take();
  AdvanceTime(100);
  CHECK(HasDel(replica.Take()));
  for (int i = 0; i < 3; ++i) Run({"SET", "long", std::string(Backlog::kBlockBytes, 'x')});
  replica.Take();
  replica.Confirm();
  AdvanceTime(1000);
  SetKeys(1);
  replica.Take();
  const int64_t deadline = WallMs() + 100;
  AdvanceTime(100);
  CHECK(replica.Take() == Heard{CutoffAt(deadline)});
}

TEST_CASE_METHOD(CutoffTest,
                 "a server that knows no cutoffs and has left can go on where it was, though keys expire") {
  FakeReplica& replica = FollowAsMayfly();
  FakeReplica& other = MasterTest::Follow("7002");
  replica.Take();
  Leave(other);
  AdvanceTime(2 * Replicas::kTickMs);  // the kind of the stream is chosen anew each second
  replica.Take();
  const int64_t before = replica.place;
  SetKeys(3);
  AdvanceTime(100);
  CHECK(HasDel(replica.Take()));
  FakeReplica& again = NewReplica();
  again.Greet("7002");
  CHECK(Continue(again, replica.history, before).starts_with("+CONTINUE"));
}

TEST_CASE_METHOD(CutoffTest, "keys that have rules of their own are told by their names") {
  FakeReplica& replica = FollowAsMayfly();
  Run({"SET", "slides", "1", "PX", "100", "SLIDE"});
  Run({"SADD", "set", "a", "b"});
  Run({"EXPIREMEMBER", "set", "a", "1000"});
  Run({"PEXPIRE", "set", "100"});
  replica.Take();
  AdvanceTime(100);
  Heard lines = replica.Take();
  CHECK(std::ranges::count(lines, "DEL slides") == 1);
  CHECK(std::ranges::count(lines, "DEL set") == 1);
}

TEST_CASE_METHOD(CutoffTest, "a deadline that was moved in the turn of a cutoff is told before it") {
  FakeReplica& replica = FollowAsMayfly();
  Run({"SET", "a", "1", "PX", "10"});
  Run({"SET", "b", "1", "PX", "10"});
  const int64_t deadline = WallMs() + 10;
  replica.Take();
  LetTimePass(5);
  server().executor.RefreshNow();
  Connect().RunRaw("");
  server().databases.At(0).SetExpiry(
      server().databases.At(0).KeyOf("a"),
      *server().databases.At(0).Peek(server().databases.At(0).KeyOf("a"), now()), Expiry::At(deadline + 1000),
      now());
  LetTimePass(5);
  server().executor.RefreshNow();
  CHECK(Run({"GET", "b"}) == Null());
  CHECK(replica.Take() ==
        Heard{"MULTI", "PEXPIREAT a " + std::to_string(deadline + 1000), CutoffAt(deadline), "EXEC"});
}

TEST_CASE_METHOD(CutoffTest, "a key that is told with a deadline in the past is a DEL") {
  FakeReplica& replica = FollowAsMayfly();
  Run({"SET", "a", "1", "PX", "10"});
  AdvanceTime(10);
  replica.Take();
  Run({"SET", "b", "1", "PXAT", std::to_string(WallMs() - 1)});
  AdvanceTime(1);
  CHECK(replica.Take() == Heard{"DEL b"});
}

TEST_CASE_METHOD(CutoffTest,
                 "after its clock was set a master sends DELs, and its cutoff does not count any more") {
  const int64_t step_ms = GENERATE(-500, 500);
  CAPTURE(step_ms);
  FakeReplica& replica = FollowAsMayfly();
  Run({"SET", "a", "1", "PX", "10"});
  AdvanceTime(10);
  replica.Take();
  StepWallClock(step_ms);
  Run({"SET", "b", "1", "PX", "100"});
  const std::string deadline = std::to_string(WallMs() + 100);
  CHECK(replica.Take() == Heard{"PUBLISH __mayfly__ ...", "SET b 1 PXAT " + deadline});
  AdvanceTime(100);
  CHECK(replica.Take() == Heard{"DEL b"});
}

// ---- what the replica does

TEST_CASE_METHOD(CutoffTest,
                 "a replica frees what its master has cut off, in slices, and counts it as DELs") {
  FollowTest::Follow();
  SetKeys(1000);
  Carry();
  CHECK(Held() == Integer(1000));
  const std::string sent = Field("replication", "master_repl_offset");
  Pass(100);
  FreeTheRest();
  CHECK(Held() == Integer(0));
  CHECK(std::stoll(Field("replication", "master_repl_offset")) - std::stoll(sent) < 200);
  CHECK(FollowerStat("expired_keys") == "0");
  CHECK(Link("master_failed_commands") == "0");
}

TEST_CASE_METHOD(CutoffTest,
                 "a list that is made anew after its deadline has nothing of the old one at the replica") {
  const bool master_is_late = GENERATE(false, true);
  CAPTURE(master_is_late);
  FollowTest::Follow();
  // More than a replica frees at once.
  std::string requests;
  for (int i = 0; i < 500; ++i) {
    requests += EncodeRequest({"RPUSH", "l" + std::to_string(i), "old", "older"});
    requests += EncodeRequest({"PEXPIRE", "l" + std::to_string(i), "50"});
  }
  TestClient& writer = Connect();
  writer.RunRaw(requests);
  Carry();
  if (master_is_late) {
    LetTimePass(50);
    follower.LetTimePass(50);
  } else {
    AdvanceTime(50);
  }
  requests.clear();
  for (int i = 0; i < 500; i += 7) requests += EncodeRequest({"RPUSH", "l" + std::to_string(i), "new"});
  requests += EncodeRequest({"SELECT", "1"}) + EncodeRequest({"RPUSH", "l1", "moved"});
  requests += EncodeRequest({"RPUSH", "l2", std::string(ChangeStream::kLongToRename + 1, 'x')});
  requests +=
      EncodeRequest({"MOVE", "l1", "0"}) + EncodeRequest({"MOVE", "l2", "0"});  // l2 by a MOVE there, too
  requests += EncodeRequest({"SELECT", "0"});
  writer.RunRaw(requests);
  Carry();
  CHECK(follower.Run({"LRANGE", "l7", "0", "-1"}) == Array({Bulk("new")}));
  CHECK(follower.Run({"LRANGE", "l1", "0", "-1"}) == Array({Bulk("moved")}));
  CHECK(follower.Run({"LLEN", "l2"}) == Integer(1));
  Pass(MasterLink::kRetryMs);
  FreeTheRest();
  CompareAll();
  CHECK(Link("master_failed_commands") == "0");
}

TEST_CASE_METHOD(CutoffTest, "a replica whose clock is an hour ahead frees nothing early") {
  FollowTest::Follow();
  follower.StepWallClock(kHourMs);
  SetKeys(10, "1000");
  Pass(500);
  CHECK(follower.Run({"GET", "k0"}) == Null());
  CHECK(Held() == Integer(10));
  CHECK(Run({"PERSIST", "k0"}) == Integer(1));
  Pass(500);
  CHECK(follower.Run({"GET", "k0"}) == Bulk("v"));
  CHECK(Held() == Integer(1));
}

TEST_CASE_METHOD(CutoffTest, "a replica whose clock is behind frees at the cutoff") {
  FollowTest::Follow();
  follower.StepWallClock(-static_cast<int64_t>(kHourMs));
  SetKeys(10, "1000");
  Run({"HSET", "h", "f", "v"});
  Run({"HPEXPIRE", "h", "2000", "FIELDS", "1", "f"});
  Pass(999);
  CHECK(Held() == Integer(11));
  Pass(1);
  CHECK(Held() == Integer(1));
  Pass(1000);
  CHECK(Held() == Integer(0));
}

TEST_CASE_METHOD(CutoffTest, "keys that came with the snapshot go at the cutoff as well") {
  SetKeys(300, "50000");
  Run({"SET", "tagged", "1", "PX", "50000", "TAGS", "1", "t"});
  FollowTest::Follow();
  follower.StepWallClock(-static_cast<int64_t>(kHourMs));
  CHECK(Held() == Integer(301));
  Pass(50'000);
  FreeTheRest();
  CHECK(Held() == Integer(0));
}

TEST_CASE_METHOD(CutoffTest, "a task that is none any more goes at the cutoff, and a task does not") {
  FollowTest::Follow();
  Run({"SET", "was", "1", "PX", "1000", "INTO", "stream"});
  Run({"SET", "stream", "no stream"});
  Run({"SET", "task", "1", "PX", "100", "INTO", "stream"});
  Carry();
  Connect().RunRaw(EncodeRequest({"PERSIST", "was"}) + EncodeRequest({"PEXPIRE", "was", "100"}));
  Pass(100);
  CHECK(Sorted(follower.Run({"KEYS", "*"})) == Bulks({"stream", "task"}));
  CHECK(Held() == Integer(2));
  CompareAll();
}

TEST_CASE_METHOD(CutoffTest, "a replica that becomes a master first frees what was cut off") {
  FollowTest::Follow();
  follower.StepWallClock(-static_cast<int64_t>(kHourMs));
  SetKeys(1000);
  Carry();
  AdvanceTime(100);
  follower.targets.last().Answer(Connect().RunRaw(""));
  Carry();
  REQUIRE(follower.Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  CHECK(Held() == Integer(0));
  CHECK(follower.Run({"SET", "k0", "new", "PX", "100"}) == Ok());
  CHECK(follower.Run({"GET", "k0"}) == Bulk("new"));
}

TEST_CASE_METHOD(CutoffTest,
                 "after its master's clock was set back, a key with an earlier deadline is there") {
  FollowTest::Follow();
  SetKeys(500, "1000");
  Pass(1000);
  StepWallClock(-900);
  follower.StepWallClock(-900);
  Run({"SET", "a", "1", "PX", "200"});
  Run({"RPUSH", "l", "x"});
  Run({"PEXPIRE", "l", "200"});
  Run({"RPUSH", "l", "y"});
  Carry();
  CHECK(Held() == Integer(2));
  CHECK(follower.Run({"LRANGE", "l", "0", "-1"}) == Bulks({"x", "y"}));
  Pass(200);
  CHECK(Held() == Integer(0));
}

}  // namespace mayfly::testing

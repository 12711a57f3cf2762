// EXPLOG READ with BLOCK: readers that wait for events.
#include <algorithm>
#include <string>
#include <vector>

#include "commands/explog/explog_world.h"
#include "server/hubs/hubs.h"

namespace mayfly::testing {
namespace {

using Replies = std::vector<Reply>;

}  // namespace

TEST_CASE_METHOD(ExpLogTest, "a reader that blocks is answered in the turn in which a key expires") {
  TestClient& reader = Connect();
  Run({"SET", "k", "v", "PX", "20"});
  Run({"SET", "l", "w", "PX", "20"});
  CHECK(ReadBy(reader, 0, {"BLOCK", "1000", "VALUES"}) == NoReply());
  AdvanceTime(19);
  CHECK(reader.Received().empty());
  AdvanceTime(1);
  Replies got = reader.Received();
  REQUIRE(got.size() == 1);
  std::sort(got[0].elements.begin(), got[0].elements.end(),
            [](const Reply& a, const Reply& b) { return a.elements[4].text < b.elements[4].text; });
  REQUIRE(got[0].elements.size() == 2);
  CHECK(got[0].elements[0].elements[5] == Bulk("v"));
  CHECK(got[0].elements[1].elements[5] == Bulk("w"));
  AdvanceTime(5000);
  CHECK(reader.Received().empty());
}

TEST_CASE_METHOD(ExpLogTest, "a reader that blocks in vain gets an empty array at its time, not before") {
  TestClient& reader = Connect();
  CHECK(ReadBy(reader, 0, {"BLOCK", "100"}) == NoReply());
  AdvanceTime(99);
  CHECK(reader.Received().empty());
  AdvanceTime(1);
  CHECK(reader.Received() == Replies{Array({})});
  CHECK(ReadBy(reader, 0, {"BLOCK", "0"}) == NoReply());
  AdvanceTime(100'000'000);
  CHECK(reader.Received().empty());
  reader.UseResp3();
  Run({"SET", "k", "v"});
  Run({"DEL", "k"});
  CHECK(reader.Received() == Replies{Array({Event(0, WallMs(), "deleted", "k")})});
}

TEST_CASE_METHOD(ExpLogTest, "$ is what comes from now on") {
  Run({"SET", "old", "v"});
  Run({"DEL", "old"});
  CHECK(Run({"EXPLOG", "READ", "$"}) == Array({}));
  TestClient& reader = Connect();
  CHECK(reader.Run({"EXPLOG", "READ", "$", "BLOCK", "0", "COUNT", "1"}) == NoReply());
  Run({"SET", "new", "v"});
  Run({"DEL", "new"});
  CHECK(reader.Received() == Replies{Array({Event(1, WallMs(), "deleted", "new")})});
}

TEST_CASE_METHOD(ExpLogTest, "a reader that chooses sleeps through other events, and its time goes on") {
  TestClient& reader = Connect();
  const auto remove_page = [&] {
    Run({"SET", "page", "v"});
    Run({"DEL", "page"});
  };
  CHECK(ReadBy(reader, 0, {"BLOCK", "100", "MATCH", "task:*"}) == NoReply());
  remove_page();
  AdvanceTime(60);
  remove_page();
  CHECK(reader.Received().empty());
  AdvanceTime(39);
  CHECK(reader.Received().empty());
  AdvanceTime(1);
  CHECK(reader.Received() == Replies{Array({Integer(first + 2), Array({})})});

  CHECK(ReadBy(reader, 2, {"BLOCK", "0", "REASON", "expired"}) == NoReply());
  remove_page();
  Run({"SET", "task:1", "v", "PX", "20"});
  const int64_t due = WallMs() + 20;
  AdvanceTime(20);
  CHECK(reader.Received() ==
        Replies{Array({Integer(first + 4), Array({Event(3, due, "expired", "task:1")})})});
}

TEST_CASE_METHOD(ExpLogTest,
                 "many readers that block are all answered, in the order in which they came, with all events "
                 "of the turn") {
  constexpr size_t kReaders = 100;
  std::vector<TestClient*> readers;
  for (size_t i = 0; i < kReaders; ++i) {
    readers.push_back(&Connect());
    REQUIRE(ReadBy(*readers.back(), 0, {"BLOCK", "0"}) == NoReply());
  }
  Run({"MSET", "a", "1", "b", "2"});
  RunRaw("DEL a\r\nDEL b\r\n");
  const Reply both = Array({Event(0, WallMs(), "deleted", "a"), Event(1, WallMs(), "deleted", "b")});
  for (TestClient* reader : readers) REQUIRE(reader->Received() == Replies{both});
  CHECK_FALSE(server().parking.AnyEventReader());
  CHECK(server().parking.size() == 0);
}

TEST_CASE_METHOD(ExpLogTest, "readers that disconnect, time out or are unblocked wait no more") {
  TestClient& gone = Connect();
  TestClient& late = Connect();
  TestClient& unblocked = Connect();
  TestClient& refused = Connect();
  TestClient& last = Connect();
  for (TestClient* reader : {&gone, &unblocked, &refused, &last})
    REQUIRE(ReadBy(*reader, 0, {"BLOCK", "0"}) == NoReply());
  REQUIRE(ReadBy(late, 0, {"BLOCK", "50"}) == NoReply());
  server().server.hubs.client_ends.Tell(gone.session());
  AdvanceTime(50);
  CHECK(late.Received() == Replies{Array({})});
  CHECK(Run({"CLIENT", "UNBLOCK", std::to_string(unblocked.session().id)}) == Integer(1));
  CHECK(Run({"CLIENT", "UNBLOCK", std::to_string(refused.session().id), "ERROR"}) == Integer(1));
  CHECK(unblocked.Received() == Replies{Array({})});
  CHECK(refused.Received() == Replies{Error("UNBLOCKED client unblocked via CLIENT UNBLOCK")});
  Run({"SET", "k", "v"});
  Run({"DEL", "k"});
  CHECK(last.Received() == Replies{Array({Event(0, WallMs(), "deleted", "k")})});
  for (TestClient* reader : {&gone, &late, &unblocked, &refused}) CHECK(reader->Received().empty());
}

TEST_CASE_METHOD(ExpLogTest, "what a blocked reader sent meanwhile is answered after the events") {
  TestClient& reader = Connect();
  const std::string seq = std::to_string(first);
  CHECK(reader.RunRaw("EXPLOG READ " + seq + " BLOCK 0\r\nPING\r\n").empty());
  Run({"SET", "k", "v"});
  Run({"DEL", "k"});
  CHECK(reader.Received() == Replies{Array({Event(0, WallMs(), "deleted", "k")}), Simple("PONG")});
}

TEST_CASE_METHOD(ExpLogTest, "within MULTI and scripts BLOCK does not wait") {
  Run({"MULTI"});
  Run({"EXPLOG", "READ", std::to_string(first), "BLOCK", "0"});
  Run({"EXPLOG", "INFO"});
  const Reply done = Run({"EXEC"});
  REQUIRE(done.elements.size() == 2);
  CHECK(done.elements[0] == Array({}));
  const std::string script = "return redis.call('EXPLOG', 'READ', ARGV[1], 'BLOCK', '0', 'VALUES')";
  CHECK(Run({"EVAL", script, "0", std::to_string(first)}) == Array({}));
  Run({"SET", "k", "v"});
  CHECK(Run({"EVAL", "redis.call('DEL', 'k') " + script, "0", std::to_string(first)}) ==
        Array({With(Event(0, WallMs(), "deleted", "k"), Bulk("v"))}));
  CHECK(Run({"EVAL", "return redis.call('EXPLOG', 'ACK', ARGV[1])", "0", std::to_string(first)}) ==
        Integer(1));
}

TEST_CASE_METHOD(ExpLogTest, "a script or a transaction that deletes wakes readers once, when it has ended") {
  TestClient& reader = Connect();
  CHECK(ReadBy(reader, 0, {"BLOCK", "0"}) == NoReply());
  Run({"MSET", "a", "1", "b", "2"});
  Run({"EVAL", "redis.call('DEL', 'a') redis.call('DEL', 'b')", "0"});
  CHECK(reader.Received() ==
        Replies{Array({Event(0, WallMs(), "deleted", "a"), Event(1, WallMs(), "deleted", "b")})});
}

TEST_CASE_METHOD(ExpLogTest,
                 "CONFIG SET turns the log off for readers that wait, and changes its size under them") {
  TestClient& reader = Connect();
  CHECK(ReadBy(reader, 0, {"BLOCK", "0"}) == NoReply());
  CHECK(Run({"CONFIG", "SET", "expire-log-size", "32kb"}) == Ok());
  CHECK(reader.Received().empty());
  CHECK(Run({"CONFIG", "SET", "expire-log-size", "0"}) == Ok());
  CHECK(reader.Received() == Replies{Error(kExpLogIsOff)});
  CHECK(Run({"CONFIG", "SET", "expire-log-size", "1mb"}) == Ok());
  CHECK(Run({"CONFIG", "SET", "expire-log-values", "2mb"}).kind == Reply::Kind::kError);
  CHECK(Run({"CONFIG", "SET", "expire-log-size", "-1"}).kind == Reply::Kind::kError);
}

}  // namespace mayfly::testing

// What is under way when a server begins to follow a master, changes it, or gets its keys.
#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/log/log.h"
#include "commands/replicas/replica_world.h"
#include "replication/replicas.h"
#include "support/folder.h"

namespace mayfly::testing {

// CVE-2026-23631: the functions of before are still running.
TEST_CASE_METHOD(ReplicaTest,
                 "the file waits for the end of a function that runs: it brings other functions") {
  const std::string file = FileWith({{"SET", "a", "1"}});
  const std::string library =
      "#!lua name=l\nredis.register_function{function_name='f', flags={'no-writes'}, "
      "callback=function() for i = 1, 3e7 do end return 'done' end}";
  CHECK(Run({"FUNCTION", "LOAD", library}) == Bulk("l"));
  SetOption("busy-reply-threshold", "1");
  Connect();
  AnswerFull();
  TestClient& caller = CommandTest::Connect();
  CHECK(caller.Run({"FCALL_RO", "f", "0"}) == NoReply());
  master().Answer("$" + std::to_string(file.size()) + "\r\n" + file);
  for (int i = 0; i < 10; ++i) server().hubs.wakes.Tell();
  CHECK(server().server.link.state == LinkFigures::State::kTransfer);
  while (server().server.Busy()) Slice();
  server().RunWoken();
  CHECK(caller.Received() == std::vector<Reply>{Bulk("done")});
  FinishSync();
  CHECK(Run({"GET", "a"}) == Bulk("1"));
  CHECK(Run({"FCALL_RO", "f", "0"}) == Error("ERR Function not found"));
}

TEST_CASE_METHOD(ReplicaTest, "a master's file that is still loaded is given up for another master's") {
  constexpr int kKeys = 500;
  std::vector<Words> requests;
  for (int i = 0; i < kKeys; ++i) requests.push_back({"SET", "k" + std::to_string(i), "v"});
  const std::string first = FileWith(requests);
  const std::string second = FileWith({{"SET", "a", "1"}});
  Connect();
  AnswerFull();
  master().Answer("$" + std::to_string(first.size()) + "\r\n" + first);
  WorkUntil([this] { return snapshots().loading(); });
  REQUIRE(snapshots().loading());
  CHECK(Run({"REPLICAOF", "other", "7001"}) == Ok());
  CHECK_FALSE(snapshots().loading());
  Connect("");
  AnswerFull();
  master().Answer("$" + std::to_string(second.size()) + "\r\n" + second.substr(0, 10));
  for (int i = 0; i < 1000; ++i) Slice();
  master().Answer(second.substr(10));
  FinishSync();
  CHECK(Replication("master_link_status") == "up");
  CHECK(Run({"DBSIZE"}) == Integer(1));
  CHECK(Run({"GET", "a"}) == Bulk("1"));
}

TEST_CASE_METHOD(ReplicaTest, "who has cached or watches a key hears that the master's keys take its place") {
  const std::string file = FileWith({{"SET", "a", "1"}, {"SET", "new", "1"}});
  Run({"SET", "a", "0"});
  Run({"SET", "old", "0"});
  Connect();
  TestClient& reader = CommandTest::Connect();
  reader.UseResp3();
  REQUIRE(reader.Run({"CLIENT", "TRACKING", "ON"}) == Ok());
  CHECK(reader.Run({"MGET", "a", "old", "new"}) == Array({Bulk("0"), Bulk("0"), Null()}));
  std::vector<TestClient*> watchers;
  for (const char* key : {"a", "old", "new", "none"}) {
    watchers.push_back(&CommandTest::Connect());
    REQUIRE(watchers.back()->Run({"WATCH", key}) == Ok());
    REQUIRE(watchers.back()->Run({"MULTI"}) == Ok());
    REQUIRE(watchers.back()->Run({"PING"}) == Simple("QUEUED"));
  }
  AnswerFull();
  master().Answer("$" + std::to_string(file.size()) + "\r\n" + file);
  FinishSync();
  TurnWheels();
  Words told;
  for (const Reply& message : reader.Received()) {
    REQUIRE(message.elements.at(0) == Bulk("invalidate"));
    for (const Reply& key : message.elements.at(1).elements) told.push_back(key.text);
  }
  for (const char* key : {"a", "old", "new"}) CHECK(std::ranges::count(told, key) >= 1);
  CHECK(reader.Run({"MGET", "a", "old", "new"}) == Array({Bulk("1"), Null(), Bulk("1")}));
  for (size_t i = 0; i < 3; ++i) CHECK(watchers[i]->Run({"EXEC"}) == NullArray());
  CHECK(watchers[3]->Run({"EXEC"}) == Array({Simple("PONG")}));
}

TEST_CASE_METHOD(ReplicaTest, "who waits at a replica to read a stream gets it with the master's keys") {
  const std::string file = FileWith({{"XADD", "s", "1-1", "f", "v"}});
  Connect();
  TestClient& reader = CommandTest::Connect();
  REQUIRE(reader.Run({"XREAD", "BLOCK", "0", "STREAMS", "s", "0"}) == NoReply());
  AnswerFull();
  master().Answer("$" + std::to_string(file.size()) + "\r\n" + file);
  FinishSync();
  TurnWheels();
  CHECK(reader.Received().size() == 1);
}

TEST_CASE_METHOD(ReplicaTest, "min-replicas-to-write is for masters, and not for replicas that take writes") {
  const std::string file = FileWith({{"SET", "a", "1"}});
  static_cast<void>(Replicas::Of(server().server));  // as from the start
  SetOption("replica-read-only", "no");
  SetOption("min-replicas-to-write", "1");
  CHECK(Run({"SET", "b", "1"}).text.starts_with("NOREPLICAS "));
  Sync(file);
  CHECK(Run({"SET", "b", "1"}) == Ok());
  master().HangUp();
  CHECK(Run({"SET", "b", "2"}) == Ok());
  CHECK(Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  CHECK(Run({"SET", "b", "3"}).text.starts_with("NOREPLICAS "));
}

TEST_CASE_METHOD(ReplicaTest, "a place in the stream near the end of its type is refused") {
  Connect();
  AnswerFull(INT64_MAX - 10);
  CHECK(master().closed());
  CHECK(Replication("master_link_status") == "down");
}

TEST_CASE_METHOD(ReplicaTest,
                 "who waits and has no room for one more reply does not keep a server from its new role") {
  TestClient& waiting = CommandTest::Connect();
  CHECK(waiting.Run({"BLPOP", "queue", "0"}) == NoReply());
  CHECK_THROWS_AS(waiting.session().reply.out().RequireRoom(UINT64_MAX), OutputTooLong);
  CHECK(Run({"REPLICAOF", "there", "7000"}) == Ok());
  CHECK(waiting.session().Has(Mode::kDropped));
  CHECK(Replication("role") == "slave");
}

TEST_CASE_METHOD(ReplicaTest, "a link that needs TLS, where there is none, is a line in the log") {
  const Folder folder;
  const std::string path = folder.path() + "/log";
  Log log(server().clock, Log::Level::kNotice, path);
  server().server.log = &log;
  SetOption("tls-replication", "yes");
  CHECK(Run({"REPLICAOF", "there", "7000"}) == Ok());
  for (int i = 0; i < 10; ++i) AdvanceTime(MasterLink::kRetryMs);
  server().server.log = nullptr;
  std::ifstream file(path);
  size_t lines = 0;
  for (std::string line; std::getline(file, line);)
    lines +=
        line.find("no link to the master there:7000: tls-replication is on, and this server has no TLS") !=
        std::string::npos;
  CHECK(lines == 1);
}

}  // namespace mayfly::testing

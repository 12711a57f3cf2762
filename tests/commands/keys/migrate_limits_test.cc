// MIGRATE's bounds (what is on its way, the connections that wait), and keys that others change in unlucky moments.
#include <random>
#include <string>
#include <vector>

#include "support/command_test.h"
#include "support/fake_target.h"
#include "support/words.h"

namespace mayfly::testing {
namespace {

class MigrateLimitsTest : public CommandTest {
 public:
  static Words MigrateOf(const Words& keys, const std::string& host = "there") {
    Words request = {"MIGRATE", host, "7000", "", "0", "1000", "KEYS"};
    request.insert(request.end(), keys.begin(), keys.end());
    return request;
  }
  void Send(const Words& keys) {
    CHECK(Run(MigrateOf(keys)) == NoReply());
    target().Accept();
    CHECK(target().Take() == "SELECT 0");
    target().Answer("+OK\r\n");
  }
  std::vector<Reply> Received() { return client().Received(); }
  FakeTarget& target() { return targets.last(); }

  FakeTargets targets{server()};
};

}  // namespace

TEST_CASE_METHOD(MigrateLimitsTest,
                 "of the connections that wait for another MIGRATE the oldest beyond 64 is closed") {
  std::vector<FakeTarget*> made;
  for (int i = 0; i < 70; ++i) {
    Run({"SET", "k", "v"});
    CHECK(Run(MigrateOf({"k"}, "host" + std::to_string(i))) == NoReply());
    made.push_back(&target());
    target().Accept();
    target().Answer("+OK\r\n");
    target().Answer("+OK\r\n");
    CHECK(Received() == std::vector<Reply>{Ok()});
  }
  CHECK(stats().idle_outgoing == 64);
  for (int i = 0; i < 70; ++i) CHECK(made[static_cast<size_t>(i)]->closed() == (i < 6));
}

TEST_CASE_METHOD(MigrateLimitsTest,
                 "about a megabyte of values is on its way, is counted, and is not when the link breaks") {
  Words keys;
  for (int i = 0; i < 40; ++i) {
    keys.push_back("k" + std::to_string(i));
    Words push = {"RPUSH", keys.back()};
    for (int j = 0; j < 1000; ++j)
      push.push_back(std::to_string(i * 7919 + j * 104'729) + std::string(90, 'x'));
    Run(push);
  }
  size_t sent = 0;
  Send(keys);
  sent = target().TakeBytes().size();
  CHECK(sent > 10'000);
  CHECK(stats().migration_bytes <= 1'200'000);
  CHECK(stats().migration_bytes >= sent / 2);
  const uint64_t before = stats().migration_bytes;
  target().Answer("+OK\r\n");
  CHECK(stats().migration_bytes <= before);
  target().HangUp();
  CHECK(Received().size() == 1);
  CHECK(stats().migration_bytes == 0);
}

TEST_CASE_METHOD(MigrateLimitsTest, "a client that leaves during its MIGRATE leaves no bytes behind") {
  Run({"SET", "k", std::string(1000, 'v')});
  {
    TestClient leaving(server());
    CHECK(leaving.Run(MigrateOf({"k"})) == NoReply());
    target().Accept();
    target().Answer("+OK\r\n");
    CHECK(stats().migration_bytes > 0);
  }
  server().RunWoken();
  CHECK(stats().migration_bytes == 0);
  CHECK(target().closed());
}

TEST_CASE_METHOD(MigrateLimitsTest, "a connection that says more than it was asked is not kept") {
  Run({"MSET", "a", "1", "b", "2"});
  Send({"a"});
  target().Answer("+OK\r\n+OK\r\n");
  CHECK(Received() == std::vector<Reply>{Ok()});
  CHECK(target().closed());
  CHECK(Run(MigrateOf({"b"})) == NoReply());
  CHECK(targets.count() == 2);
}

TEST_CASE_METHOD(MigrateLimitsTest,
                 "a key that expires on its way and is made anew is sent anew, and not lost") {
  Run({"SET", "k", "old", "PX", "50"});
  Send({"k"});
  CHECK(target().Take() == "RESTORE k 50 ...");
  AdvanceTime(60);
  Connect().Run({"SET", "k", "new"});
  target().Answer("+OK\r\n");
  CHECK(target().Take() == "RESTORE k 0 ... REPLACE");
  CHECK(Connect().Run({"GET", "k"}) == Bulk("new"));
  target().Answer("+OK\r\n");
  CHECK(Received() == std::vector<Reply>{Ok()});
}

TEST_CASE_METHOD(MigrateLimitsTest,
                 "a changed key that goes before it can be sent again goes at the target, too") {
  Run({"SET", "k", "v"});
  // What fills the window, and cannot be compressed.
  std::mt19937 random(7);
  Words push = {"RPUSH", "large"};
  for (int j = 0; j < 15'000; ++j) {
    std::string& element = push.emplace_back();
    while (element.size() < 100) element += static_cast<char>(random());
  }
  Run(push);
  Send({"k", "large"});
  target().TakeBytes();
  REQUIRE(stats().migration_bytes > 0);
  Connect().Run({"SET", "k", "w"});
  const bool is_full = stats().migration_bytes > (size_t{1} << 20);
  target().Answer("+OK\r\n");
  if (is_full) {
    CHECK(target().Take().empty());
    Connect().Run({"DEL", "k"});
    target().Answer("+OK\r\n");
    CHECK(target().Take() == "DEL k");
    target().Answer(":1\r\n");
  }
  CHECK(is_full);
  CHECK(Received() == std::vector<Reply>{Ok()});
}

TEST_CASE_METHOD(MigrateLimitsTest,
                 "SWAPDB on the way is a change, and a flush of another database is none") {
  Run({"SET", "k", "v"});
  Send({"k"});
  target().Take();
  SECTION("SWAPDB") {
    CHECK(Connect().Run({"SWAPDB", "0", "1"}) == Ok());
    target().Answer("+OK\r\n");
    CHECK(target().Take() == "DEL k");
    target().Answer(":1\r\n");
    CHECK(Received() == std::vector<Reply>{Simple("NOKEY")});
    Run({"SELECT", "1"});
    CHECK(Run({"GET", "k"}) == Bulk("v"));
  }
  SECTION("FLUSHDB of another database") {
    TestClient& other = Connect();
    other.Run({"SELECT", "1"});
    other.Run({"SET", "k", "w"});
    CHECK(other.Run({"FLUSHDB"}) == Ok());
    target().Answer("+OK\r\n");
    CHECK(target().Take().empty());
    CHECK(Received() == std::vector<Reply>{Ok()});
    CHECK(Run({"EXISTS", "k"}) == Integer(0));
  }
}

// ---- kept connections

TEST_CASE_METHOD(MigrateLimitsTest,
                 "on a kept connection, too, each key comes into the database that was named") {
  TestServer there;
  TestClient link(there);
  const std::vector<std::pair<std::string, std::string>> moves = {
      {"a", "0"}, {"b", "1"}, {"c", "1"}, {"d", "0"}, {"e", "0"}, {"f", "15"}, {"g", "1"}};
  for (const auto& [key, database] : moves) {
    Run({"SET", key, "v"});
    CHECK(Run({"MIGRATE", "there", "7000", key, database, "100"}) == NoReply());
    if (key == "a") target().Accept();
    for (std::string sent = target().TakeBytes(); !sent.empty(); sent = target().TakeBytes())
      target().Answer(link.RunRaw(sent));
    CHECK(Received() == std::vector<Reply>{Ok()});
  }
  CHECK(targets.count() == 1);
  TestClient reader(there);
  for (const auto& [key, database] : moves) {
    CAPTURE(key);
    reader.Run({"SELECT", database});
    CHECK(reader.Run({"GET", key}) == Bulk("v"));
  }
}

TEST_CASE_METHOD(MigrateLimitsTest,
                 "no key is sent on a kept connection before the target has accepted another database") {
  Run({"MSET", "a", "1", "b", "2", "c", "3", "d", "4"});
  Send({"a"});
  target().Answer("+OK\r\n");
  CHECK(target().Take() == "RESTORE a 0 ...");
  CHECK(Received() == std::vector<Reply>{Ok()});
  CHECK(Run({"MIGRATE", "there", "7000", "b", "7", "100"}) == NoReply());
  CHECK(target().Take() == "SELECT 7");
  target().Answer("+OK\r\n");
  CHECK(target().Take() == "RESTORE b 0 ...");
  target().Answer("+OK\r\n");
  CHECK(Received() == std::vector<Reply>{Ok()});
  // A connection whose database is not known is not kept.
  CHECK(Run({"MIGRATE", "there", "7000", "c", "99", "100"}) == NoReply());
  CHECK(target().Take() == "SELECT 99");
  target().Answer("-ERR DB index is out of range\r\n");
  CHECK(Received() ==
        std::vector<Reply>{Error("ERR Target instance replied with error: ERR DB index is out of range")});
  CHECK(target().Take().empty());
  CHECK(target().closed());
  CHECK(targets.count() == 1);
  Send({"c"});
  CHECK(targets.count() == 2);
  CHECK(target().Take() == "RESTORE c 0 ...");
}

TEST_CASE_METHOD(MigrateLimitsTest, "of two connections to one target each has its own database") {
  Run({"MSET", "a", "1", "b", "2", "c", "3", "d", "4"});
  TestClient& other = Connect();
  Send({"a"});
  CHECK(other.Run({"MIGRATE", "there", "7000", "b", "1", "100"}) == NoReply());
  REQUIRE(targets.count() == 2);
  FakeTarget& second = target();
  second.Accept();
  CHECK(second.Take() == "SELECT 1");
  second.Answer("+OK\r\n");
  second.Answer("+OK\r\n");
  CHECK(other.Received() == std::vector<Reply>{Ok()});
  CHECK(stats().idle_outgoing == 1);
  CHECK(second.Take() == "RESTORE b 0 ...");
  // The first one is busy. The second one goes on from its own database, not from that of the last request.
  CHECK(other.Run(MigrateOf({"c"})) == NoReply());
  CHECK(targets.count() == 2);
  CHECK(second.Take() == "SELECT 0");
  second.Answer("+OK\r\n");
  second.Answer("+OK\r\n");
  CHECK(other.Received() == std::vector<Reply>{Ok()});
  CHECK(second.Take() == "RESTORE c 0 ...");
  CHECK(other.Run(MigrateOf({"d"})) == NoReply());
  CHECK(second.Take() == "RESTORE d 0 ...");
}

TEST_CASE_METHOD(MigrateLimitsTest,
                 "a kept connection that breaks after a reply is not tried a second time") {
  const bool after_key = GENERATE(false, true);
  Run({"MSET", "a", "1", "b", "2", "c", "3"});
  Send({"a"});
  target().Answer("+OK\r\n");
  CHECK(Received() == std::vector<Reply>{Ok()});
  CHECK(Run({"MIGRATE", "there", "7000", "", "1", "100", "KEYS", "b", "c"}) == NoReply());
  target().Answer("+OK\r\n");  // the database
  if (after_key) target().Answer("+OK\r\n");
  target().HangUp();
  CHECK(Received() == std::vector<Reply>{Error("IOERR error or timeout reading to target instance")});
  CHECK(targets.count() == 1);
  CHECK(Run({"EXISTS", "b"}) == Integer(after_key ? 0 : 1));
  CHECK(Run({"EXISTS", "c"}) == Integer(1));
}

TEST_CASE_METHOD(MigrateLimitsTest,
                 "each connection logs in once, also one that follows a kept one that broke") {
  const auto migrate = [this](const std::string& key) {
    Run({"SET", key, "v"});
    CHECK(Run({"MIGRATE", "there", "7000", key, "3", "100", "AUTH", "secret"}) == NoReply());
  };
  migrate("a");
  target().Accept();
  CHECK(target().Take() == "AUTH secret; SELECT 3");
  target().Answer("+OK\r\n+OK\r\n");
  CHECK(target().Take() == "RESTORE a 0 ...");
  target().Answer("+OK\r\n");
  CHECK(Received() == std::vector<Reply>{Ok()});
  migrate("b");
  CHECK(target().Take() == "RESTORE b 0 ...");
  target().Answer("+OK\r\n");
  CHECK(Received() == std::vector<Reply>{Ok()});
  migrate("c");
  target().HangUp();
  REQUIRE(targets.count() == 2);
  target().Accept();
  CHECK(target().Take() == "AUTH secret; SELECT 3");
  target().Answer("+OK\r\n+OK\r\n");
  CHECK(target().Take() == "RESTORE c 0 ...");
  target().Answer("+OK\r\n");
  CHECK(Received() == std::vector<Reply>{Ok()});
}

TEST_CASE_METHOD(MigrateLimitsTest, "a connection is kept for one host and one port") {
  Run({"MSET", "a", "1", "b", "2", "c", "3"});
  Send({"a"});
  target().Answer("+OK\r\n");
  CHECK(Received() == std::vector<Reply>{Ok()});
  Words to_another = MigrateOf({"b"});
  SECTION("another port") { to_another[2] = "7001"; }
  SECTION("another host") { to_another[1] = "elsewhere"; }
  CHECK(Run(to_another) == NoReply());
  CHECK(targets.count() == 2);
  CHECK(target().host == to_another[1]);
  CHECK(std::to_string(target().port) == to_another[2]);
}

// ---- the way there

TEST_CASE_METHOD(MigrateLimitsTest, "with tls-cluster keys go by TLS, on connections of their own") {
  const Reply connecting = Error("IOERR error or timeout connecting to the client");
  StartWith("tls-cluster", "yes");
  Run({"MSET", "a", "1", "b", "2", "c", "3"});
  CHECK(Run(MigrateOf({"a"})) == connecting);  // nobody makes such connections here
  CHECK(targets.count() == 0);
  FakeTargets by_tls(server());
  server().server.outgoing = &targets;
  server().server.outgoing_by_tls = &by_tls;
  CHECK(Run(MigrateOf({"a"})) == NoReply());
  CHECK(targets.count() == 0);
  by_tls.last().Accept();
  by_tls.last().Answer("+OK\r\n");
  by_tls.last().Answer("+OK\r\n");
  CHECK(Received() == std::vector<Reply>{Ok()});
  CHECK(stats().idle_outgoing == 1);
  StartWith("tls-cluster", "no");
  Send({"b"});
  target().Answer("+OK\r\n");
  CHECK(Received() == std::vector<Reply>{Ok()});
  CHECK(by_tls.count() == 1);
  CHECK(targets.count() == 1);
  StartWith("tls-cluster", "yes");
  by_tls.last().HangUp();  // the one that is kept
  CHECK(Run(MigrateOf({"c"})) == NoReply());
  by_tls.last().Refuse();
  CHECK(Received() == std::vector<Reply>{connecting});  // in Redis the handshake notices
  CHECK(Run({"EXISTS", "c"}) == Integer(1));
  server().server.outgoing_by_tls = nullptr;
}

TEST_CASE_METHOD(MigrateLimitsTest, "a connection is kept for one login, and another user gets another one") {
  const auto migrate = [this](const Words& login) {
    Run({"SET", "k", "v"});
    Words request = {"MIGRATE", "there", "7000", "k", "0", "100"};
    request.insert(request.end(), login.begin(), login.end());
    const size_t before = targets.count();
    CHECK(Run(request) == NoReply());
    const bool is_new = targets.count() != before;
    if (is_new) target().Accept();
    const std::string sent = target().Take();
    target().Answer(login.empty() ? "+OK\r\n" : "+OK\r\n+OK\r\n");
    target().Answer("+OK\r\n");
    CHECK(Received() == std::vector<Reply>{Ok()});
    return (is_new ? "new: " : "kept: ") + sent.substr(0, sent.find(';'));
  };
  CHECK(migrate({"AUTH2", "one", "secret"}) == "new: AUTH one secret");
  CHECK(migrate({"AUTH2", "two", "secret"}) == "new: AUTH two secret");
  CHECK(migrate({"AUTH", "secret"}) == "new: AUTH secret");
  CHECK(migrate({}) == "new: SELECT 0");
  CHECK(stats().idle_outgoing == 4);
}

TEST_CASE_METHOD(MigrateLimitsTest,
                 "an error of the target is reported, whatever else goes wrong afterwards") {
  const Reply busy = Error("ERR Target instance replied with error: BUSYKEY Target key name already exists.");
  Run({"MSET", "a", "1", "b", "2", "c", "3"});
  Send({"a", "b", "c"});
  target().Answer("-BUSYKEY Target key name already exists.\r\n");
  SECTION("the end of the connection") { target().HangUp(); }
  SECTION("what is no reply") { target().Answer("HTTP/1.1 400 Bad Request\r\n"); }
  SECTION("the timeout") { AdvanceTime(1000); }
  int64_t stay = 3;
  SECTION("another error") {
    target().Answer("-OOM command not allowed when used memory > 'maxmemory'.\r\n");
    CHECK(Received().empty());
    target().Answer("+OK\r\n");
    stay = 2;
  }
  CHECK(Received() == std::vector<Reply>{busy});
  CHECK(Run({"EXISTS", "a", "b", "c"}) == Integer(stay));
}

TEST_CASE_METHOD(MigrateLimitsTest,
                 "a kept connection that breaks takes nothing with it, and the next one gets all keys") {
  Run({"MSET", "a", "1", "b", std::string(1000, 'v'), "c", "3"});
  Send({"a"});
  target().Answer("+OK\r\n");
  CHECK(Received() == std::vector<Reply>{Ok()});
  target().Take();
  CHECK(Run(MigrateOf({"b", "c"})) == NoReply());
  CHECK(targets.count() == 1);
  CHECK(stats().migration_bytes > 0);
  target().HangUp();
  CHECK(targets.count() == 2);
  CHECK(stats().migration_bytes == 0);
  target().Accept();
  CHECK(target().Take() == "SELECT 0");
  target().Answer("+OK\r\n");
  CHECK(target().Take() == "RESTORE b 0 ...; RESTORE c 0 ...");
  target().Answer("+OK\r\n+OK\r\n");
  CHECK(Received() == std::vector<Reply>{Ok()});
  CHECK(Run({"DBSIZE"}) == Integer(0));
  CHECK(stats().migration_bytes == 0);
}

TEST_CASE_METHOD(
    MigrateLimitsTest,
    "the target's port and database are passed on as they are, and no impossible port is tried") {
  Run({"SET", "k", "v"});
  for (const char* port : {"65536", "-1", "x", ""}) {
    CHECK(Run({"MIGRATE", "there", port, "k", "0", "100"}) ==
          Error("IOERR error or timeout connecting to the client"));
  }
  CHECK(targets.count() == 0);
  CHECK(Run({"MIGRATE", "there", "65535", "k", "-7", "9223372036854775807"}) == NoReply());
  CHECK(target().port == 65535);
  target().Accept();
  CHECK(target().Take() == "SELECT -7");
  AdvanceTime(uint64_t{1} << 40);
  CHECK(Received().empty());
  target().Answer("-ERR DB index is out of range\r\n");
  CHECK(Received().at(0).text.ends_with("ERR DB index is out of range"));
}

}  // namespace mayfly::testing

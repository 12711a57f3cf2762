// MIGRATE against a target whose every answer the test decides (support/fake_target.h), and against another Mayfly.
#include <algorithm>
#include <new>

#include "commands/memory/failing_allocation.h"
#include "support/beside_redis.h"
#include "support/command_test.h"
#include "support/fake_target.h"
#include "support/words.h"

namespace mayfly::testing {
namespace {

using Lines = std::vector<std::string>;

const Reply kReading = Error("IOERR error or timeout reading to target instance");
const Reply kWriting = Error("IOERR error or timeout writing to target instance");
const Reply kConnecting = Error("IOERR error or timeout connecting to the client");

class MigrateTest : public CommandTest {
 public:
  // MIGRATE of one key, until it is sent.
  void Send(const std::string& key, Words options = {}) {
    Words request = {"MIGRATE", "there", "7000", key, "0", "100"};
    request.insert(request.end(), options.begin(), options.end());
    CHECK(Run(request) == NoReply());
    Open();
  }
  // Accepts the connection and the database.
  void Open() {
    target().Accept();
    CHECK(target().Take() == "SELECT 0");
    target().Answer("+OK\r\n");
  }
  // The reply that has come meanwhile.
  Reply Received() {
    const std::vector<Reply> replies = client().Received();
    REQUIRE(replies.size() == 1);
    return replies[0];
  }
  FakeTarget& target() { return targets.last(); }
  std::string Info(const std::string& field) {
    const std::string info = Run({"INFO", "everything"}).text;
    const size_t at = info.find('\n' + field + ':');
    REQUIRE(at != std::string::npos);
    const size_t begin = at + field.size() + 2;
    return info.substr(begin, info.find('\r', begin) - begin);
  }

  FakeTargets targets{server()};
};

// ---- the usual course

TEST_CASE_METHOD(MigrateTest, "MIGRATE sends a key, and deletes it here when the target has it") {
  Run({"SET", "k", "v"});
  TakeChanges();
  CHECK(Run({"MIGRATE", "there", "7000", "k", "3", "100"}) == NoReply());
  CHECK(target().host == "there");
  CHECK(target().port == 7000);
  target().Accept();
  CHECK(target().Take() == "SELECT 3");
  target().Answer("+OK\r\n");
  CHECK(target().Take() == "RESTORE k 0 ...");
  CHECK(Connect().Run({"GET", "k"}) == Bulk("v"));  // the target has not confirmed it yet
  CHECK(client().Received().empty());
  target().Answer("+OK\r\n");
  CHECK(Received() == Ok());
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  CHECK(TakeChanges() == Lines{"del k"});
}

TEST_CASE_METHOD(MigrateTest, "with COPY the key stays here, and REPLACE is passed on") {
  Run({"SET", "k", "v", "PX", "5000"});
  AdvanceTime(1000);
  Send("k", {"COPY", "REPLACE"});
  CHECK(target().Take() == "RESTORE k 4000 ... REPLACE");
  target().Answer("+OK\r\n");
  CHECK(Received() == Ok());
  CHECK(Run({"PTTL", "k"}) == Integer(4000));
}

TEST_CASE_METHOD(MigrateTest, "MIGRATE without a key here answers NOKEY and connects to nobody") {
  CHECK(Run({"MIGRATE", "there", "7000", "k", "0", "100"}) == Simple("NOKEY"));
  CHECK(Run({"MIGRATE", "there", "7000", "", "0", "100", "KEYS", "a", "b"}) == Simple("NOKEY"));
  CHECK(targets.count() == 0);
}

TEST_CASE_METHOD(MigrateTest, "KEYS are sent together, and each is deleted here as it is confirmed") {
  Run({"MSET", "a", "1", "b", "2", "c", "3"});
  CHECK(Run({"MIGRATE", "there", "7000", "", "0", "100", "KEYS", "a", "none", "b", "c", "b"}) == NoReply());
  Open();
  CHECK(target().Take() == "RESTORE a 0 ...; RESTORE b 0 ...; RESTORE c 0 ...");
  target().Answer("+OK\r\n-BUSYKEY Target key name already exists.\r\n");
  CHECK(Connect().Run({"EXISTS", "a", "b", "c"}) == Integer(2));
  target().Answer("+OK\r\n");
  CHECK(Received() ==
        Error("ERR Target instance replied with error: BUSYKEY Target key name already exists."));
  CHECK(Run({"EXISTS", "a"}) == Integer(0));
  CHECK(Run({"EXISTS", "b"}) == Integer(1));
  CHECK(Run({"EXISTS", "c"}) == Integer(0));
}

TEST_CASE_METHOD(MigrateTest, "many keys go in windows, so that neither memory nor a turn is filled") {
  Words request = {"MIGRATE", "there", "7000", "", "0", "100", "KEYS"};
  for (int i = 0; i < 2000; ++i) {
    Run({"SET", "k" + std::to_string(i), "v"});
    request.push_back("k" + std::to_string(i));
  }
  CHECK(Run(request) == NoReply());
  Open();
  size_t confirmed = 0;
  while (confirmed < 2000) {
    const std::string sent = target().Take();
    const size_t keys = static_cast<size_t>(std::count(sent.begin(), sent.end(), ';')) + 1;
    REQUIRE(keys <= 512);
    std::string answers;
    for (size_t i = 0; i < keys; ++i) answers += "+OK\r\n";
    confirmed += keys;
    target().Answer(answers);
  }
  CHECK(Received() == Ok());
  CHECK(Run({"DBSIZE"}) == Integer(0));
}

TEST_CASE_METHOD(MigrateTest, "a large value is sent whole, and the next key waits until it is confirmed") {
  Run({"SET", "large", std::string(3'000'000, 'x')});
  for (int i = 0; i < 100'000; ++i) Run({"RPUSH", "list", "element" + std::to_string(i * 7919 % 100'003)});
  Run({"SET", "small", "v"});
  CHECK(Run({"MIGRATE", "there", "7000", "", "0", "100", "KEYS", "list", "small"}) == NoReply());
  Open();
  const std::string sent = target().TakeBytes();
  CHECK(sent.size() > 1'000'000);
  CHECK(Connect().Run({"INFO", "memory"}).text.find("used_memory") != std::string::npos);
  target().Answer("+OK\r\n");
  CHECK(target().Take() == "RESTORE small 0 ...");
  target().Answer("+OK\r\n");
  CHECK(Received() == Ok());
}

TEST_CASE_METHOD(MigrateTest, "all types arrive at another Mayfly as they were, with fields' deadlines") {
  TestServer there;
  TestClient there_client(there);
  const std::vector<Words> values = {
      {"SET", "string", "v"},
      {"SET", "number", "17"},
      {"RPUSH", "list", "a", "b", "c"},
      {"SADD", "set", "1", "2", "x"},
      {"ZADD", "zset", "1.5", "a", "-inf", "b"},
      {"HSET", "hash", "f", "v", "g", "w"},
      {"HPEXPIRE", "hash", "60000", "FIELDS", "1", "g"},
      {"XADD", "stream", "5-1", "f", "v"},
      {"PFADD", "hll", "a", "b"},
  };
  for (const Words& value : values) Run(value);
  Words request = {"MIGRATE", "there", "7000", "", "0", "100", "KEYS"};
  Words digest = {"DEBUG", "DIGEST-VALUE"};
  for (const char* key : {"string", "number", "list", "set", "zset", "hash", "stream", "hll"}) {
    request.emplace_back(key);
    digest.emplace_back(key);
  }
  const Reply before = Run(digest);
  CHECK(Run(request) == NoReply());
  target().Accept();
  target().AnswerAs(there_client);
  target().AnswerAs(there_client);
  CHECK(Received() == Ok());
  CHECK(Run({"DBSIZE"}) == Integer(0));
  CHECK(there_client.Run(digest) == before);
  CHECK(there_client.Run({"HPTTL", "hash", "FIELDS", "2", "f", "g"}) == Array({Integer(-1), Integer(60000)}));
}

// ---- the connection

TEST_CASE_METHOD(MigrateTest, "a connection is kept for ten seconds, for the same target and login") {
  Run({"MSET", "a", "1", "b", "2", "c", "3", "d", "4"});
  Send("a");
  target().Answer("+OK\r\n");
  CHECK(Received() == Ok());
  CHECK(Info("migrate_cached_sockets") == "1");
  CHECK(Run({"MIGRATE", "there", "7000", "b", "0", "100"}) == NoReply());
  CHECK(targets.count() == 1);
  CHECK(target().Take() == "RESTORE a 0 ...; RESTORE b 0 ...");  // the database is selected
  target().Answer("+OK\r\n");
  CHECK(Received() == Ok());

  CHECK(Run({"MIGRATE", "there", "7000", "c", "1", "100", "AUTH", "secret"}) == NoReply());
  CHECK(targets.count() == 2);
  target().Accept();
  CHECK(target().Take() == "AUTH secret; SELECT 1");
  target().Answer("+OK\r\n+OK\r\n");
  target().Answer("+OK\r\n");
  CHECK(Received() == Ok());
  CHECK(Info("migrate_cached_sockets") == "2");

  AdvanceTime(9'999);
  CHECK(Info("migrate_cached_sockets") == "2");
  AdvanceTime(1);
  CHECK(Info("migrate_cached_sockets") == "0");
  CHECK(target().closed());
}

TEST_CASE_METHOD(MigrateTest, "an idle connection that ends, or says something unasked, is dropped") {
  Run({"MSET", "a", "1", "b", "2"});
  Send("a");
  target().Answer("+OK\r\n");
  CHECK(Received() == Ok());
  target().HangUp();
  CHECK(target().closed());
  CHECK(Info("migrate_cached_sockets") == "0");
  Send("b");
  target().Answer("+OK\r\n");
  CHECK(Received() == Ok());
  target().Answer("+more\r\n");
  CHECK(target().closed());
}

TEST_CASE_METHOD(MigrateTest, "if a kept connection breaks before its first reply, MIGRATE connects anew") {
  Run({"MSET", "a", "1", "b", "2"});
  Send("a");
  target().Answer("+OK\r\n");
  CHECK(Received() == Ok());
  CHECK(Run({"MIGRATE", "there", "7000", "b", "0", "100"}) == NoReply());
  target().HangUp();
  CHECK(client().Received().empty());
  CHECK(targets.count() == 2);
  Open();
  CHECK(target().Take() == "RESTORE b 0 ...");
  target().HangUp();
  CHECK(Received() == kReading);
  CHECK(Run({"EXISTS", "b"}) == Integer(1));
}

TEST_CASE_METHOD(MigrateTest, "login and database are accepted before a key is sent") {
  Run({"SET", "k", "v"});
  CHECK(Run({"MIGRATE", "there", "7000", "k", "99", "100", "AUTH2", "user", "secret"}) == NoReply());
  target().Accept();
  CHECK(target().Take() == "AUTH user secret; SELECT 99");
  SECTION("a wrong password") {
    target().Answer("-WRONGPASS invalid username-password pair or user is disabled.\r\n");
    CHECK(Received() ==
          Error("ERR Target instance replied with error: WRONGPASS invalid username-password pair "
                "or user is disabled."));
  }
  SECTION("no such database") {
    target().Answer("+OK\r\n-ERR DB index is out of range\r\n");
    CHECK(Received() == Error("ERR Target instance replied with error: ERR DB index is out of range"));
  }
  CHECK(target().Take().empty());
  CHECK(target().closed());
  CHECK(Run({"EXISTS", "k"}) == Integer(1));
}

// ---- failures

TEST_CASE_METHOD(MigrateTest, "a target that cannot be reached") {
  Run({"SET", "k", "v"});
  CHECK(Run({"MIGRATE", "there", "7000", "k", "0", "100"}) == NoReply());
  SECTION("has no address") {
    target().FindNoAddress();
    CHECK(Received() == kConnecting);
  }
  SECTION("refuses") {
    target().Refuse();
    CHECK(Received() == kWriting);
  }
  SECTION("does not answer at all") {
    AdvanceTime(99);
    CHECK(client().Received().empty());
    AdvanceTime(1);
    CHECK(Received() == kConnecting);
  }
  CHECK(target().closed());
  CHECK(Run({"GET", "k"}) == Bulk("v"));
}

TEST_CASE_METHOD(MigrateTest, "the timeout begins anew with each sign of life") {
  Run({"MSET", "a", "1", "b", "2"});
  CHECK(Run({"MIGRATE", "there", "7000", "", "0", "100", "KEYS", "a", "b"}) == NoReply());
  AdvanceTime(90);
  target().Accept();
  AdvanceTime(90);
  target().Answer("+OK\r\n");
  AdvanceTime(90);
  target().Answer("+OK\r\n");
  AdvanceTime(99);
  CHECK(client().Received().empty());
  AdvanceTime(1);
  CHECK(Received() == kReading);
  CHECK(Run({"EXISTS", "a"}) == Integer(0));
  CHECK(Run({"EXISTS", "b"}) == Integer(1));
}

TEST_CASE_METHOD(MigrateTest, "a target that takes no more bytes is given up, one that takes some is not") {
  Run({"SET", "k", "v"});
  CHECK(Run({"MIGRATE", "there", "7000", "k", "0", "100"}) == NoReply());
  target().Clog();
  Open();
  AdvanceTime(60);
  target().Unclog(5);
  AdvanceTime(40);  // it has taken some since
  CHECK(client().Received().empty());
  AdvanceTime(100);
  CHECK(Received() == kWriting);
}

TEST_CASE_METHOD(MigrateTest, "a timeout of 0 or less is one second") {
  Run({"SET", "k", "v"});
  CHECK(Run({"MIGRATE", "there", "7000", "k", "0", GENERATE("-5", "0")}) == NoReply());
  AdvanceTime(999);
  CHECK(client().Received().empty());
  AdvanceTime(1);
  CHECK(Received() == kConnecting);
}

TEST_CASE_METHOD(MigrateTest, "what is no reply ends the request, and only this request") {
  Run({"SET", "k", "v"});
  Send("k");
  SECTION("garbage") { target().Answer("HTTP/1.1 400 Bad Request\r\n\r\n"); }
  SECTION("a reply of another kind") { target().Answer("$2\r\nOK\r\n"); }
  SECTION("a number") { target().Answer(":1\r\n"); }
  SECTION("an array") { target().Answer("*1\r\n+OK\r\n"); }
  SECTION("a line without end") {
    target().Answer('+' + std::string(4000, 'x'));
    CHECK(client().Received().empty());
    target().Answer(std::string(100, 'x'));
  }
  SECTION("the announcement of a large text") {
    target().Answer("$1000000\r\n");
    target().Answer(std::string(5000, 'x'));
  }
  CHECK(Received() == kReading);
  CHECK(target().closed());
  CHECK(Run({"GET", "k"}) == Bulk("v"));
}

TEST_CASE_METHOD(MigrateTest, "a reply may come in pieces") {
  Run({"SET", "k", "v"});
  Send("k");
  for (const char* piece : {"+", "O", "K", "\r"}) {
    target().Answer(piece);
    CHECK(client().Received().empty());
  }
  target().Answer("\n");
  CHECK(Received() == Ok());
}

TEST_CASE_METHOD(MigrateTest, "what came before the end of the connection counts") {
  Run({"MSET", "a", "1", "b", "2"});
  CHECK(Run({"MIGRATE", "there", "7000", "", "0", "100", "KEYS", "a", "b"}) == NoReply());
  Open();
  target().Answer("+OK\r\n");
  target().HangUp();
  CHECK(Received() == kReading);
  CHECK(Run({"EXISTS", "a"}) == Integer(0));
  CHECK(Run({"EXISTS", "b"}) == Integer(1));
}

// ---- the client that waits

TEST_CASE_METHOD(MigrateTest, "the client is a blocked client, which an operator can unblock") {
  Run({"SET", "k", "v"});
  Send("k");
  TestClient& other = Connect();
  const std::string id = std::to_string(client().session().id);
  CHECK(other.Run({"INFO", "clients"}).text.find("blocked_clients:1") != std::string::npos);
  SECTION("as if the time were over") {
    CHECK(other.Run({"CLIENT", "UNBLOCK", id}) == Integer(1));
    CHECK(Received() == kReading);
  }
  SECTION("with an error") {
    CHECK(other.Run({"CLIENT", "UNBLOCK", id, "ERROR"}) == Integer(1));
    CHECK(Received() == Error("UNBLOCKED client unblocked via CLIENT UNBLOCK"));
  }
  CHECK(target().closed());
  CHECK(other.Run({"EXISTS", "k"}) == Integer(1));
}

TEST_CASE_METHOD(MigrateTest, "the end of the client ends its migration") {
  Run({"SET", "k", "v"});
  {
    TestClient leaver(server());
    CHECK(leaver.Run({"MIGRATE", "there", "7000", "k", "0", "100"}) == NoReply());
    Open();
  }
  CHECK(target().closed());
  CHECK(Run({"EXISTS", "k"}) == Integer(1));
}

TEST_CASE_METHOD(MigrateTest, "what a client sends after MIGRATE runs after it") {
  Run({"SET", "k", "v"});
  CHECK(RunRaw("MIGRATE there 7000 k 0 100\r\nEXISTS k\r\n").empty());
  Open();
  target().Answer("+OK\r\n");
  CHECK(client().Received() == std::vector<Reply>{Ok(), Integer(0)});
}

TEST_CASE_METHOD(MigrateTest, "a transaction or a script cannot wait for another server") {
  const Reply refused =
      Error("ERR MIGRATE waits for another server, and cannot do that in a transaction or a script");
  Run({"SET", "k", "v"});
  Run({"MULTI"});
  Run({"MIGRATE", "there", "7000", "k", "0", "100"});
  Run({"MIGRATE", "there", "7000", "none", "0", "100"});
  CHECK(Run({"EXEC"}) == Array({refused, Simple("NOKEY")}));
  CHECK(Run({"EVAL", "return redis.pcall('MIGRATE', 'there', 7000, KEYS[1], 0, 100)", "1", "k"}) == refused);
  CHECK(targets.count() == 0);
}

TEST_CASE_METHOD(MigrateTest, "without a loop there is no connection") {
  Run({"SET", "k", "v"});
  server().server.outgoing = nullptr;
  CHECK(Run({"MIGRATE", "there", "7000", "k", "0", "100"}) == kConnecting);
}

// ---- keys that change on their way

TEST_CASE_METHOD(MigrateTest, "a key that is written on its way is sent again, so that nothing is lost") {
  TestServer there;
  TestClient there_client(there);
  Run({"SET", "k", "old"});
  Send("k");
  Connect().Run({"SET", "k", "new"});
  target().AnswerAs(there_client);
  CHECK(there_client.Run({"GET", "k"}) == Bulk("old"));
  CHECK(Connect().Run({"GET", "k"}) == Bulk("new"));
  CHECK(client().Received().empty());
  target().AnswerAs(there_client);
  CHECK(Received() == Ok());
  CHECK(there_client.Run({"GET", "k"}) == Bulk("new"));
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
}

TEST_CASE_METHOD(MigrateTest, "so is a key whose deadline, or whose members change") {
  Run({"RPUSH", "k", "a"});
  Send("k");
  CHECK(target().Take() == "RESTORE k 0 ...");
  SECTION("a deadline") {
    Connect().Run({"PEXPIRE", "k", "5000"});
    target().Answer("+OK\r\n");
    CHECK(target().Take() == "RESTORE k 5000 ... REPLACE");
  }
  SECTION("a member") {
    Connect().Run({"RPUSH", "k", "b"});
    target().Answer("+OK\r\n");
    CHECK(target().Take() == "RESTORE k 0 ... REPLACE");
  }
  SECTION("it was deleted and made anew") {
    Connect().Run({"DEL", "k"});
    Connect().Run({"SET", "k", "v"});
    target().Answer("+OK\r\n");
    CHECK(target().Take() == "RESTORE k 0 ... REPLACE");
  }
  target().Answer("+OK\r\n");
  CHECK(Received() == Ok());
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
}

TEST_CASE_METHOD(MigrateTest, "a key that clients remove on its way is removed there, too") {
  SetOption("namespace", "all prefix k");
  Run({"SET", "k", "v", "TAGS", "1", "t"});
  Send("k");
  CHECK(target().Take() == "RESTORE k 0 ...");
  SECTION("by DEL") { Connect().Run({"DEL", "k"}); }
  SECTION("by RENAME") { Connect().Run({"RENAME", "k", "l"}); }
  SECTION("by FLUSHALL") { Connect().Run({"FLUSHALL"}); }
  SECTION("by INVALIDATE") { Connect().Run({"INVALIDATE", "t"}); }
  SECTION("by NSFLUSH") { Connect().Run({"NSFLUSH", "all"}); }
  SECTION("after it was written") {
    Connect().Run({"SET", "k", "w"});
    Connect().Run({"DEL", "k"});
  }
  target().Answer("+OK\r\n");
  CHECK(target().Take() == "DEL k");
  CHECK(client().Received().empty());
  target().Answer(":1\r\n");
  CHECK(Received() == Simple("NOKEY"));
}

TEST_CASE_METHOD(MigrateTest, "a key that expires on its way counts as moved, unless it is made anew") {
  const bool anew = GENERATE(false, true);
  Run({"SET", "k", "v", "PX", "50"});
  Send("k");
  CHECK(target().Take() == "RESTORE k 50 ...");
  SetOption("namespace", "late prefix k");  // NSFLUSH takes no older key
  CHECK(Connect().Run({"NSFLUSH", "late"}) == Integer(0));
  AdvanceTime(60);
  if (anew) Connect().Run({"SET", "k", "new"});
  target().Answer("+OK\r\n");
  CHECK(target().Take() == (anew ? "RESTORE k 0 ... REPLACE" : ""));
  if (anew) target().Answer("+OK\r\n");
  CHECK(Received() == Ok());
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
}

TEST_CASE_METHOD(MigrateTest, "a key that expires before its turn is not sent") {
  Run({"SET", "k", "v", "PX", "50"});
  CHECK(Run({"MIGRATE", "there", "7000", "k", "0", "100"}) == NoReply());
  AdvanceTime(60);
  Open();
  CHECK(target().Take().empty());
  CHECK(Received() == Simple("NOKEY"));
}

TEST_CASE_METHOD(MigrateTest, "the writers of a key that changes again and again wait for one exchange") {
  Run({"SET", "k", "0"});
  Run({"SET", "other", "0"});
  Send("k");
  TestClient& writer = Connect();
  for (int round = 0; round < 3; ++round) {
    CHECK(writer.Run({"INCR", "k"}) == Integer(round + 1));
    target().Take();
    target().Answer("+OK\r\n");
  }
  CHECK(target().Take() == "RESTORE k 0 ... REPLACE");
  CHECK(writer.Run({"INCR", "k"}) == NoReply());
  CHECK(Connect().Run({"GET", "k"}) == Bulk("3"));
  CHECK(Connect().Run({"INCR", "other"}) == Integer(1));
  SECTION("which succeeds") {
    target().Answer("+OK\r\n");
    CHECK(Received() == Ok());
    CHECK(writer.Received() == std::vector<Reply>{Integer(1)});  // of a new key
  }
  SECTION("which fails") {
    AdvanceTime(100);
    CHECK(Received() == kReading);
    CHECK(writer.Received() == std::vector<Reply>{Integer(4)});
  }
  CHECK(Run({"SET", "k", "v"}) == Ok());
}

TEST_CASE_METHOD(MigrateTest, "so do transactions, scripts and flushes, which may write to any key") {
  Run({"SET", "k", "0"});
  Send("k");
  for (int round = 0; round < 3; ++round) {
    Connect().Run({"INCR", "k"});
    target().Answer("+OK\r\n");
  }
  TestClient& transaction = Connect();
  transaction.Run({"MULTI"});
  transaction.Run({"INCR", "k"});
  CHECK(transaction.Run({"EXEC"}) == NoReply());
  TestClient& script = Connect();
  CHECK(script.Run({"EVAL", "return redis.call('GET', 'k')", "0"}) == NoReply());
  TestClient& flush = Connect();
  CHECK(flush.Run({"FLUSHALL"}) == NoReply());
  target().Answer("+OK\r\n");
  CHECK(Received() == Ok());
  CHECK(transaction.Received() == std::vector<Reply>{Array({Integer(1)})});
  CHECK(script.Received() == std::vector<Reply>{Bulk("1")});
  CHECK(flush.Received() == std::vector<Reply>{Ok()});
}

TEST_CASE_METHOD(MigrateTest, "a key that never stays the same is given up, and its copy is deleted") {
  Run({"SADD", "k", "m"});
  for (int i = 0; i < 20; ++i) Run({"SADD", "k", std::to_string(i)});
  for (int i = 0; i < 20; ++i) Run({"EXPIREMEMBER", "k", std::to_string(i), std::to_string(i + 1)});
  CHECK(Run({"MIGRATE", "there", "7000", "k", "0", "5000"}) == NoReply());
  Open();
  int rounds = 0;
  std::string sent = target().Take();
  for (; sent.starts_with("RESTORE k 0 ..."); ++rounds) {
    AdvanceTime(1000);  // a member's deadline
    target().Answer("+OK\r\n");
    sent = target().Take();
  }
  CHECK(rounds == 16);
  CHECK(sent == "DEL k");
  target().Answer(":1\r\n");
  CHECK(Received() ==
        Error("ERR the key was changed more often than it could be sent, and was not moved: k"));
  CHECK(Run({"EXISTS", "k"}) == Integer(1));
}

// ---- around it

TEST_CASE_METHOD(MigrateTest, "passwords are shown to nobody") {
  Run({"CONFIG", "SET", "slowlog-log-slower-than", "0"});
  Run({"MIGRATE", "there", "7000", "none", "0", "100", "AUTH2", "user", "secret", "COPY"});
  Run({"MIGRATE", "there", "7000", "none", "0", "100", "COPY", "AUTH", "secret"});
  Run({"MIGRATE", "there", "7000", "", "0", "100", "KEYS", "AUTH", "key"});
  const Reply log = Run({"SLOWLOG", "GET", "3"});
  const auto shown = [&](size_t i) {
    std::string line;
    for (const Reply& word : log.elements.at(i).elements.at(3).elements) line += word.text + ' ';
    return line;
  };
  CHECK(shown(2) == "MIGRATE there 7000 none 0 100 AUTH2 (redacted) (redacted) COPY ");
  CHECK(shown(1) == "MIGRATE there 7000 none 0 100 COPY AUTH (redacted) ");
  CHECK(shown(0) == "MIGRATE there 7000  0 100 KEYS AUTH key ");
}

TEST_CASE_METHOD(MigrateTest, "a user needs rights on the keys behind KEYS, and on none of an empty name") {
  Run({"ACL", "SETUSER", "mover", "on", "nopass", "+@all", "~mine:*"});
  TestClient& mover = Connect();
  mover.Run({"AUTH", "mover", "x"});
  CHECK(mover.Run({"MIGRATE", "there", "7000", "", "0", "100", "KEYS", "mine:a"}) == Simple("NOKEY"));
  CHECK(mover.Run({"MIGRATE", "there", "7000", "", "0", "100", "KEYS", "mine:a", "other"}).kind ==
        Reply::Kind::kError);
  CHECK(mover.Run({"MIGRATE", "there", "7000", "other", "0", "100"}).kind == Reply::Kind::kError);
}

TEST_CASE_METHOD(MigrateTest, "rights that are taken away meanwhile end the migration") {
  Run({"SET", "k", "v"});
  Run({"ACL", "SETUSER", "mover", "on", "nopass", "+@all", "~*"});
  TestClient& mover = Connect();
  mover.Run({"AUTH", "mover", "x"});
  CHECK(mover.Run({"MIGRATE", "there", "7000", "k", "0", "100"}) == NoReply());
  Open();
  Run({"ACL", "SETUSER", "mover", "-migrate"});
  target().Answer("+OK\r\n");
  CHECK(mover.Received().at(0).text.starts_with("NOPERM"));
  CHECK(target().closed());
  CHECK(Run({"EXISTS", "k"}) == Integer(1));
}

TEST_CASE_METHOD(BesideRedis,
                 "MIGRATE answers what needs no target as a redis-server does, and names the same keys") {
  const std::vector<Words> requests = {
      {"SET", "k", "v"},
      {"MIGRATE", "127.0.0.1", "1", "k", "0"},
      {"MIGRATE", "127.0.0.1", "1", "none", "0", "5"},
      {"MIGRATE", "127.0.0.1", "1", "k", "x", "5"},
      {"MIGRATE", "127.0.0.1", "1", "k", "0", "y"},
      {"MIGRATE", "127.0.0.1", "1", "k", "0", "9223372036854775808"},
      {"MIGRATE", "127.0.0.1", "1", "k", "x", "y", "NONSENSE"},
      {"MIGRATE", "127.0.0.1", "1", "k", "0", "5", "AUTH"},
      {"MIGRATE", "127.0.0.1", "1", "k", "0", "5", "AUTH2", "user"},
      {"MIGRATE", "127.0.0.1", "1", "none", "0", "5", "auth2", "user", "secret", "copy", "Replace", "AUTH",
       "p"},
      {"MIGRATE", "127.0.0.1", "1", "k", "0", "5", "KEYS", "k"},
      {"MIGRATE", "127.0.0.1", "1", "", "0", "5", "KEYS"},
      {"MIGRATE", "127.0.0.1", "1", "", "0", "5", "KEYS", "a", "b"},
      {"MIGRATE", "127.0.0.1", "1", "", "0", "5"},
      {"MIGRATE", "127.0.0.1", "-1", "k", "0", "5"},
      {"COMMAND", "GETKEYS", "MIGRATE", "h", "1", "k", "0", "5"},
      {"COMMAND", "GETKEYS", "MIGRATE", "h", "1", "", "0", "5"},
      {"COMMAND", "GETKEYS", "MIGRATE", "h", "1", "", "0", "5", "KEYS", "a", "b"},
      {"COMMAND", "GETKEYS", "MIGRATE", "h", "1", "", "0", "5", "KEYS"},
      {"COMMAND", "GETKEYS", "MIGRATE", "h", "1", "x", "0", "5", "KEYS", "a", "b"},
      {"COMMAND", "GETKEYS", "MIGRATE", "h", "1", "", "0", "5", "AUTH", "keys", "KEYS", "a", "b"},
      {"COMMAND", "GETKEYS", "MIGRATE", "h", "1", "", "0", "5", "AUTH2", "keys", "keys", "COPY", "keys",
       "keys"},
      {"COMMAND", "GETKEYSANDFLAGS", "MIGRATE", "h", "1", "", "0", "5", "KEYS", "a", "b"},
      {"COMMAND", "GETKEYSANDFLAGS", "MIGRATE", "h", "1", "k", "0", "5"},
  };
  Compare(requests, 2);
  Compare(requests, 3);
}

TEST_CASE("whichever allocation of a MIGRATE fails, the key is here or there, and the next MIGRATE works") {
  size_t failures = 0;
  for (size_t nth = 1;; ++nth) {
    INFO(nth);
    TestServer from;
    from.changes.Unlisten(from.change_log);
    FakeTargets targets(from);
    TestClient client(from);
    client.Run({"SET", "k", "v"});
    const std::string request =
        EncodeRequest({"MIGRATE", "there", "7000", "k", "0", "100", "AUTH", "secret"});
    bool failed = false;
    const auto run = [&](auto&& step) {
      const FailingAllocation failing(failed ? 0 : nth);
      try {
        step();
      } catch (const std::bad_alloc&) {  // the test's own
      }
    };
    const auto answer = [&](std::string_view bytes) {
      if (targets.count() != 0 && !targets.last().closed()) targets.last().Answer(bytes);
    };
    run([&] { client.RunRaw(request); });
    failed = AllocationFailed();
    if (targets.count() != 0) run([&] { targets.last().Accept(); });
    failed = failed || AllocationFailed();
    run([&] { answer("+OK\r\n+OK\r\n"); });
    failed = failed || AllocationFailed();
    run([&] { answer("+OK\r\n"); });
    failed = failed || AllocationFailed();
    if (!failed) break;
    ++failures;
    TestClient other(from);
    const bool is_here = other.Run({"EXISTS", "k"}) == Integer(1);
    const bool was_sent =
        targets.count() != 0 && targets.last().TakeBytes().find("RESTORE") != std::string::npos;
    CHECK((is_here || was_sent));
    other.Run({"SET", "l", "v"});
    CHECK(other.Run({"MIGRATE", "elsewhere", "7000", "l", "0", "100"}) == NoReply());
    targets.last().Accept();
    targets.last().Answer("+OK\r\n");
    targets.last().Answer("+OK\r\n");
    CHECK(other.Received() == std::vector<Reply>{Ok()});
  }
  CHECK(failures > 10);
}

}  // namespace
}  // namespace mayfly::testing

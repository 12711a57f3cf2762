// MULTI, EXEC, DISCARD, WATCH and UNWATCH; also beside a redis-server.
#include <algorithm>
#include <memory>

#include "server/waiting/parking.h"
#include "server/watch/watched_keys.h"
#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

const Reply kQueued = Simple("QUEUED");
const Reply kAborted = Error("EXECABORT Transaction discarded because of previous errors.");

}  // namespace

TEST_CASE_METHOD(CommandTest, "EXEC runs what was queued since MULTI, and answers with all replies") {
  CHECK(Run({"MULTI"}) == Ok());
  CHECK(Run({"SET", "k", "1"}) == kQueued);
  CHECK(Run({"INCR", "k"}) == kQueued);
  CHECK(Run({"LPUSH", "k", "x"}) == kQueued);
  CHECK(Run({"GET", "k"}) == kQueued);
  CHECK(Connect().Run({"EXISTS", "k"}) == Integer(0));
  CHECK(Run({"EXEC"}) ==
        Array({Ok(), Integer(2), Error("WRONGTYPE Operation against a key holding the wrong kind of value"),
               Bulk("2")}));
  CHECK(Run({"GET", "k"}) == Bulk("2"));
  CHECK(Run({"EXEC"}) == Error("ERR EXEC without MULTI"));
}

TEST_CASE_METHOD(CommandTest, "a whole transaction may come in one pipeline, beside plain requests") {
  const std::string replies =
      RunRaw("SET a 1\r\nMULTI\r\nINCR a\r\nSELECT 1\r\nSET a x\r\nEXEC\r\nGET a\r\nSELECT 0\r\nGET a\r\n");
  CHECK(replies ==
        "+OK\r\n+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n:2\r\n+OK\r\n+OK\r\n$1\r\nx\r\n+OK\r\n$"
        "1\r\n2\r\n");
}

TEST_CASE_METHOD(CommandTest, "an empty transaction answers with an empty array, DISCARD forgets") {
  Run({"MULTI"});
  CHECK(Run({"EXEC"}) == Array({}));
  Run({"MULTI"});
  Run({"SET", "k", "v"});
  CHECK(Run({"DISCARD"}) == Ok());
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  CHECK(Run({"DISCARD"}) == Error("ERR DISCARD without MULTI"));
}

TEST_CASE_METHOD(CommandTest, "EXEC is refused after a request that could not be queued") {
  const std::vector<std::vector<std::string>> wrong = {
      {"NO-SUCH-COMMAND"}, {"GET"}, {"CONFIG", "NO-SUCH"}, {"SHUTDOWN", "NOSAVE"}};
  for (const auto& request : wrong) {
    CAPTURE(request.front());
    Run({"MULTI"});
    Run({"SET", "k", "v"});
    CHECK(Run(request).kind == Reply::Kind::kError);
    CHECK(Run({"SET", "k", "w"}) == kQueued);
    CHECK(Run({"EXEC"}) == kAborted);
    CHECK(Run({"EXISTS", "k"}) == Integer(0));
  }
}

TEST_CASE_METHOD(CommandTest, "a blocking command in a transaction does not wait") {
  Run({"MULTI"});
  Run({"BLPOP", "list", "0"});
  Run({"RPUSH", "list", "a"});
  Run({"BLMOVE", "list", "other", "LEFT", "LEFT", "0"});
  Run({"BZPOPMIN", "scores", "0"});
  CHECK(Run({"EXEC"}) == Array({NullArray(), Integer(1), Bulk("a"), NullArray()}));
}

TEST_CASE_METHOD(CommandTest, "who waits for a key is served after the whole transaction") {
  TestClient& waiter = Connect();
  CHECK(waiter.Run({"BLPOP", "list", "0"}) == NoReply());
  RunRaw("MULTI\r\nRPUSH list a\r\nLPUSH list b\r\nLPOP list\r\nEXEC\r\n");
  CHECK(waiter.Received() == std::vector<Reply>{Array({Bulk("list"), Bulk("a")})});
}

TEST_CASE_METHOD(CommandTest, "EXEC runs nothing if a watched key has changed") {
  TestClient& other = Connect();
  const auto aborts = [&](const std::vector<std::string>& change) {
    Run({"WATCH", "k", "gone"});
    other.Run(change);
    Run({"MULTI"});
    Run({"SET", "done", "1"});
    return Run({"EXEC"}) == NullArray();
  };
  Run({"SET", "k", "1"});
  CHECK(aborts({"SET", "k", "2"}));
  CHECK(aborts({"APPEND", "k", "2"}));
  CHECK(aborts({"EXPIRE", "k", "100"}));
  CHECK(aborts({"PERSIST", "k"}));
  CHECK(aborts({"SET", "gone", "1"}));
  CHECK(aborts({"DEL", "gone"}));
  CHECK(aborts({"RENAME", "k", "gone"}));
  CHECK(aborts({"COPY", "gone", "k"}));
  CHECK(aborts({"FLUSHALL"}));
  CHECK_FALSE(aborts({"SET", "unrelated", "1"}));
  CHECK_FALSE(aborts({"DEL", "k"}));
  CHECK_FALSE(aborts({"FLUSHALL"}));
  CHECK_FALSE(aborts({"GET", "k"}));
}

TEST_CASE_METHOD(CommandTest, "watching ends with EXEC, DISCARD, UNWATCH and RESET, but not with a command") {
  TestClient& other = Connect();
  Run({"SET", "k", "1"});
  for (const std::vector<std::string>& end :
       {std::vector<std::string>{"EXEC"}, {"DISCARD"}, {"UNWATCH"}, {"RESET"}}) {
    CAPTURE(end.front());
    Run({"WATCH", "k"});
    if (end.front() != "UNWATCH") Run({"MULTI"});
    Run(end);
    CHECK(server().watched_keys.keys() == 0);
    CHECK(server().watched_keys.clients() == 0);
    other.Run({"INCR", "k"});
    Run({"MULTI"});
    CHECK(Run({"EXEC"}) == Array({}));
  }
  Run({"WATCH", "k"});
  Run({"INCR", "k"});  // also a change of one's own
  Run({"MULTI"});
  CHECK(Run({"EXEC"}) == NullArray());
}

TEST_CASE_METHOD(CommandTest, "a key is watched in the database in which WATCH was called") {
  TestClient& other = Connect();
  Run({"WATCH", "k"});
  other.Run({"SELECT", "1"});
  other.Run({"SET", "k", "1"});
  Run({"MULTI"});
  CHECK(Run({"EXEC"}) == Array({}));
  Run({"SELECT", "1"});
  Run({"WATCH", "k"});
  Run({"SELECT", "0"});
  other.Run({"SET", "k", "2"});
  Run({"MULTI"});
  CHECK(Run({"EXEC"}) == NullArray());
}

TEST_CASE_METHOD(CommandTest, "a watched key that expires has changed, whether it is freed or not") {
  for (const bool freed : {true, false}) {
    Run({"SET", "k", "1", "PX", "20"});
    Run({"WATCH", "k"});
    Run({"MULTI"});
    freed ? AdvanceTime(20) : LetTimePass(20);
    CHECK(Run({"EXEC"}) == NullArray());
  }
}

TEST_CASE_METHOD(CommandTest,
                 "one whose deadline had passed before WATCH was absent: that it is freed is no change") {
  Run({"SET", "k", "1", "PX", "20"});
  LetTimePass(20);
  Run({"WATCH", "k"});
  TurnWheels();
  CHECK(keyspace().size() == 0);
  Run({"MULTI"});
  CHECK(Run({"EXEC"}) == Array({}));
}

TEST_CASE_METHOD(CommandTest, "a watched hash has changed when one of its fields expires") {
  for (const bool freed : {true, false}) {
    Run({"HSET", "h", "a", "1", "b", "2"});
    Run({"HPEXPIRE", "h", "20", "FIELDS", "1", "a"});
    Run({"WATCH", "h"});
    Run({"MULTI"});
    freed ? AdvanceTime(20) : LetTimePass(20);
    CHECK(Run({"EXEC"}) == NullArray());
  }
}

TEST_CASE_METHOD(CommandTest, "SWAPDB changes a watched key if it is there before or after") {
  TestClient& other = Connect();
  const auto aborts = [&] {
    Run({"WATCH", "k"});
    other.Run({"SWAPDB", "0", "1"});
    Run({"MULTI"});
    return Run({"EXEC"}) == NullArray();
  };
  CHECK_FALSE(aborts());
  Run({"SET", "k", "1"});
  CHECK(aborts());
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  CHECK(aborts());
  CHECK(Run({"DEL", "k"}) == Integer(1));
  // A key that has expired and waits to be freed is not there.
  other.Run({"SELECT", "1"});
  other.Run({"SET", "k", "1", "PX", "20"});
  LetTimePass(20);
  CHECK_FALSE(aborts());
}

TEST_CASE_METHOD(CommandTest, "two clients watch one key: the first EXEC wins") {
  TestClient& other = Connect();
  for (TestClient* client : {&client(), &other}) {
    client->Run({"WATCH", "counter"});
    client->Run({"MULTI"});
    client->Run({"INCR", "counter"});
  }
  CHECK(Run({"EXEC"}) == Array({Integer(1)}));
  CHECK(other.Run({"EXEC"}) == NullArray());
  CHECK(Run({"GET", "counter"}) == Bulk("1"));
}

TEST_CASE_METHOD(CommandTest, "while no watched key has changed, other clients' changes are not looked at") {
  server().changes.Unlisten(server().change_log);
  Run({"SET", "k", "1"});
  Run({"SET", "plain", "1"});
  Run({"WATCH", "k"});
  CHECK(keyspace().Peek(keyspace().KeyOf("k"), server().clock.Read())->Has(EntryFlag::kListened));
  CHECK_FALSE(server().changes.WantsUnlistened(ChangeReason::kValueChanged));
  CHECK_FALSE(server().changes.WantsUnlistened(ChangeReason::kCreated));
  Run({"WATCH", "absent"});
  CHECK(server().changes.WantsUnlistened(ChangeReason::kCreated));
  Run({"UNWATCH"});
  CHECK_FALSE(server().changes.Wants(ChangeReason::kValueChanged));
}

TEST_CASE_METHOD(CommandTest,
                 "a transaction stays within maxmemory: each of its writes is refused or evicts") {
  const Reply full = Error("OOM command not allowed when used memory > 'maxmemory'.");
  const std::string value(100'000, 'v');
  Run({"MULTI"});
  for (int i = 0; i < 100; ++i) CHECK(Run({"SET", "k" + std::to_string(i), value}) == kQueued);
  CHECK(Run({"DEL", "k0"}) == kQueued);
  CHECK(Run({"SET", "last", "v"}) == kQueued);
  const uint64_t limit = server().memory.Data() + 1'000'000;
  Connect().Run({"CONFIG", "SET", "maxmemory", std::to_string(limit)});
  SECTION("under noeviction") {
    const Reply replies = Run({"EXEC"});
    REQUIRE(replies.elements.size() == 102);
    CHECK(replies.elements[0] == Ok());
#ifndef MAYFLY_SANITIZE  // in whose builds only the heap of entries is counted
    CHECK(replies.elements[50] == full);
    CHECK(replies.elements[99] == full);
#endif
    CHECK(replies.elements[100] == Integer(1));
    CHECK(replies.elements[101] == Ok());
  }
  SECTION("under allkeys-lru") {
    SetOption("maxmemory-policy", "allkeys-lru");
    const Reply replies = Run({"EXEC"});
    CHECK(std::count(replies.elements.begin(), replies.elements.end(), full) == 0);
    CHECK(stats().error_replies == 0);
  }
  CHECK(server().memory.Data() < limit + 150'000);
}

TEST_CASE_METHOD(CommandTest,
                 "while memory is full a transaction that needs none may be queued, and makes room") {
  SetOption("maxmemory-policy", "noeviction");
  const std::string value(100'000, 'v');
  Run({"RPUSH", "l", value, value});
  Run({"SET", "k", value});
  Connect().Run({"CONFIG", "SET", "maxmemory", std::to_string(server().memory.Data() - 50'000)});
  const Reply full = Error("OOM command not allowed when used memory > 'maxmemory'.");
  CHECK(Run({"SET", "n", "v"}) == full);
  Run({"MULTI"});
  const std::vector<std::vector<std::string>> requests = {
      {"PING"}, {"STRLEN", "k"}, {"EXPIRE", "k", "100"}, {"LPOP", "l", "0"}, {"DEL", "k"}};
  for (const auto& request : requests) CHECK(Run(request) == kQueued);
  CHECK(Run({"EXEC"}) == Array({Simple("PONG"), Integer(100'000), Integer(1), Array({}), Integer(1)}));
#ifndef MAYFLY_SANITIZE  // in whose builds only the heap of entries is counted
  CHECK(Run({"SET", "n", "v"}) == Ok());
#endif
}

TEST_CASE_METHOD(CommandTest,
                 "while nothing can be evicted no write is queued, and no EXEC that needs memory runs") {
  const std::string full =
      "OOM command not allowed when used memory > 'maxmemory'. The volatile maxmemory-policy finds no key "
      "with a TTL "
      "to evict.";
  Run({"SET", "k", "v"});
  Run({"MULTI"});
  Run({"SET", "k", "w"});
  Connect().Run({"CONFIG", "SET", "maxmemory", "1"});
  CHECK(Run({"EXEC"}) == Error("EXECABORT Transaction discarded because of: " + full));
  CHECK(Run({"EXEC"}) == Error("ERR EXEC without MULTI"));
  Run({"MULTI"});
  CHECK(Run({"GET", "k"}) == kQueued);
  CHECK(Run({"SET", "k", "w"}) == Error(full));
  CHECK(Run({"EXEC"}) == kAborted);
  CHECK(Run({"GET", "k"}) == Bulk("v"));
}

TEST_CASE_METHOD(CommandTest, "XSETID changes no watched key, and what comes after it does") {
  Run({"XADD", "s", "5-5", "f", "v"});
  TestClient& other = Connect();
  const std::vector<std::vector<std::string>> more = {
      {"XSETID", "s", "5-5"}, {"XSETID", "s", "9-9"}, {"XADD", "s", "*", "f", "w"}, {"DEL", "s"}};
  for (const auto& request : more) {
    CAPTURE(request);
    Run({"WATCH", "s"});
    CHECK(other.Run({"XSETID", "s", "9-9"}) == Ok());
    other.Run(request);
    Run({"MULTI"});
    CHECK(Run({"EXEC"}) == (request[0] == "XSETID" ? Array({}) : NullArray()));
    Run({"DEL", "s"});
    Run({"XADD", "s", "5-5", "f", "v"});
  }
}

TEST_CASE_METHOD(CommandTest,
                 "in a transaction SSUBSCRIBE and MONITOR are refused, other subscriptions are made") {
  Run({"MULTI"});
  for (const char* command : {"SSUBSCRIBE", "SUBSCRIBE"}) CHECK(Run({command, "a"}) == kQueued);
  CHECK(Run({"MONITOR"}) == kQueued);
  CHECK(RunRaw("EXEC\r\n") ==
        "*3\r\n-ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client\r\n"
        "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n"
        "-ERR MONITOR isn't allowed for DENY BLOCKING client\r\n");
}

TEST_CASE_METHOD(CommandTest, "CLIENT PAUSE WRITE holds back what would write: when it is queued, and EXEC") {
  TestClient& other = Connect();
  Run({"MULTI"});
  Run({"SET", "k", "v"});
  other.Run({"MULTI"});
  other.Run({"GET", "k"});
  Connect().Run({"CLIENT", "PAUSE", "100", "WRITE"});
  CHECK(Run({"EXEC"}) == NoReply());
  CHECK(other.Run({"EXEC"}) == Array({Null()}));
  AdvanceTime(100);
  CHECK(client().Received() == std::vector<Reply>{Array({Ok()})});
}

TEST_CASE_METHOD(CommandTest, "CLIENT LIST and INFO tell of transactions") {
  TestClient& other = Connect();
  const auto line = [&] {
    return other.Run({"CLIENT", "LIST", "ID", std::to_string(client().session().id)}).text;
  };
  const auto has = [&](const std::string& field) { return line().find(field) != std::string::npos; };
  CHECK(has(" multi=-1 watch=0 "));
  Run({"SET", "k", "v"});
  Run({"WATCH", "k", "absent", "k"});
  CHECK(has(" multi=-1 watch=2 "));
  const std::string info = other.Run({"INFO", "clients"}).text;
  CHECK(info.find("watching_clients:1\r\ntotal_watched_keys:2\r\n") != std::string::npos);
  Run({"MULTI"});
  Run({"SET", "k", std::string(1000, 'v')});
  CHECK(has(" flags=x "));
  CHECK(has(" multi=1 watch=2 "));
  CHECK_FALSE(has(" multi-mem=0 "));
  other.Run({"DEL", "k"});
  CHECK(has(" flags=xd "));
}

TEST_CASE_METHOD(CommandTest, "CLIENT INFO within EXEC tells of the transaction that runs") {
  Run({"MULTI"});
  Run({"CLIENT", "INFO"});
  Run({"CLIENT", "LIST", "TYPE", "normal"});
  const Reply replies = Run({"EXEC"});
  REQUIRE(replies.elements.size() == 2);
  for (const Reply& reply : replies.elements) {
    CHECK(reply.text.find(" flags=x ") != std::string::npos);
    CHECK(reply.text.find(" multi=2 watch=0 ") != std::string::npos);
    CHECK(reply.text.find(" multi-mem=0 ") == std::string::npos);
  }
  const std::string after = Run({"CLIENT", "INFO"}).text;
  CHECK(after.find(" flags=N ") != std::string::npos);
  CHECK(after.find(" multi=-1 ") != std::string::npos);
  // An error of EXEC ends it, too.
  Run({"MULTI"});
  Run({"NOSUCH"});
  Run({"EXEC"});
  CHECK(Run({"CLIENT", "INFO"}).text.find(" multi=-1 ") != std::string::npos);
}

TEST_CASE_METHOD(CommandTest,
                 "what follows the end of the own connection in a transaction still runs, unheard") {
  const std::vector<Words> ends{{"ACL", "DELUSER", "app"}, {"CLIENT", "KILL", "USER", "app", "SKIPME", "no"}};
  for (const Words& end : ends) {
    CAPTURE(end);
    Run({"DEL", "k"});
    Run({"ACL", "SETUSER", "app", "on", "nopass", "~*", "&*", "+@all"});
    TestClient leaves(server());
    leaves.Run({"AUTH", "app", "x"});
    leaves.Run({"MULTI"});
    leaves.Run(end);
    leaves.Run({"SET", "k", "v"});
    leaves.Run({"GET", "k"});
    CHECK(leaves.RunRaw(EncodeRequest({"EXEC"})) == "*3\r\n:1\r\n");
    CHECK(leaves.session().Has(Mode::kEnding));
    CHECK(Run({"GET", "k"}) == Bulk("v"));
  }
  // A user who is gone has the rights of the default user.
  TestClient leaves(server());
  Run({"ACL", "SETUSER", "app", "on", "nopass", "~*", "&*", "+@all"});
  leaves.Run({"AUTH", "app", "x"});
  Run({"ACL", "SETUSER", "default", "-flushall"});
  leaves.Run({"MULTI"});
  leaves.Run({"ACL", "DELUSER", "app"});
  leaves.Run({"FLUSHALL"});
  leaves.Run({"SET", "l", "w"});
  CHECK(leaves.RunRaw(EncodeRequest({"EXEC"})) == "*3\r\n:1\r\n");
  CHECK(Run({"GET", "k"}) == Bulk("v"));
  CHECK(Run({"GET", "l"}) == Bulk("w"));
}

TEST_CASE_METHOD(CommandTest, "a client that leaves in a transaction takes everything along") {
  {
    TestClient leaving(server());
    leaving.Run({"WATCH", "k"});
    leaving.Run({"MULTI"});
    leaving.Run({"SET", "k", "v"});
    CHECK(server().watched_keys.clients() == 1);
  }
  CHECK(server().watched_keys.keys() == 0);
  CHECK(Run({"SET", "k", "v"}) == Ok());
}

namespace {

// What several clients send, one after another.
struct Step {
  size_t client;
  std::vector<std::string> words;
};
using Scene = std::vector<Step>;

const std::vector<Scene> kScenes = {
    {{0, {"EXEC"}}, {0, {"DISCARD"}}, {0, {"EXEC", "x"}}, {0, {"MULTI", "x"}}, {0, {"DISCARD", "x"}}},
    {{0, {"MULTI"}}, {0, {"MULTI"}}, {0, {"WATCH", "k"}}, {0, {"SET", "k", "v"}}, {0, {"EXEC"}}},
    {{0, {"MULTI"}}, {0, {"SET", "k", "v"}}, {0, {"EXEC", "x"}}, {0, {"EXEC"}}, {0, {"GET", "k"}}},
    {{0, {"MULTI"}}, {0, {"NOPE", "x"}}, {0, {"SET", "k", "v"}}, {0, {"EXEC"}}, {0, {"EXISTS", "k"}}},
    {{0, {"MULTI"}}, {0, {"GET"}}, {0, {"DISCARD"}}, {0, {"MULTI"}}, {0, {"PING"}}, {0, {"EXEC"}}},
    {{0, {"MULTI"}}, {0, {"DISCARD", "x"}}, {0, {"EXEC"}}},
    {{0, {"MULTI"}}, {0, {"UNWATCH"}}, {0, {"ECHO", "a"}}, {0, {"EXEC"}}},
    {{0, {"WATCH"}}, {0, {"UNWATCH", "x"}}, {0, {"UNWATCH"}}},
    {{0, {"SET", "k", "1"}},
     {0, {"WATCH", "k"}},
     {0, {"MULTI"}},
     {0, {"UNWATCH"}},
     {1, {"SET", "k", "2"}},
     {0, {"EXEC"}}},
    {{0, {"SET", "k", "1"}},
     {0, {"WATCH", "k"}},
     {1, {"SET", "k", "2"}},
     {0, {"WATCH", "other"}},
     {0, {"MULTI"}},
     {0, {"NOPE"}},
     {0, {"EXEC"}},
     {0, {"EXEC"}}},
    {{0, {"HELLO", "3"}}, {0, {"MULTI"}}, {0, {"HGETALL", "h"}}, {0, {"EXEC"}}, {0, {"HELLO", "2"}}},
    {{0, {"WATCH", "k"}},
     {1, {"SET", "k", "1"}},
     {0, {"HELLO", "3"}},
     {0, {"MULTI"}},
     {0, {"EXEC"}},
     {0, {"HELLO", "2"}}},
    {{0, {"MULTI"}},
     {0, {"SELECT", "1"}},
     {0, {"SET", "k", "1"}},
     {0, {"EXEC"}},
     {0, {"EXISTS", "k"}},
     {1, {"EXISTS", "k"}}},
    {{0, {"MULTI"}}, {0, {"SUBSTR", "k"}}, {0, {"QUIT", "now"}}},
    {{0, {"MULTI"}}, {0, {"RESET"}}, {0, {"EXEC"}}},
    {{0, {"SET", "k", "1"}}, {0, {"WATCH", "k"}}, {1, {"EXPIRE", "k", "-1"}}, {0, {"MULTI"}}, {0, {"EXEC"}}},
    {{0, {"WATCH", "k"}}, {1, {"SETRANGE", "k", "0", ""}}, {1, {"DEL", "k"}}, {0, {"MULTI"}}, {0, {"EXEC"}}},
    {{0, {"SADD", "s", "1"}}, {0, {"WATCH", "s"}}, {1, {"SREM", "s", "2"}}, {0, {"MULTI"}}, {0, {"EXEC"}}},
    {{0, {"SADD", "s", "1"}}, {0, {"WATCH", "s"}}, {1, {"SADD", "s", "1"}}, {0, {"MULTI"}}, {0, {"EXEC"}}},
    {{0, {"SADD", "s", "3", "1"}}, {0, {"WATCH", "s"}}, {1, {"SORT", "s"}}, {0, {"MULTI"}}, {0, {"EXEC"}}},
    {{0, {"RPUSH", "l", "3"}},
     {0, {"WATCH", "k"}},
     {1, {"SORT", "l", "STORE", "k"}},
     {0, {"MULTI"}},
     {0, {"EXEC"}}},
    {{0, {"WATCH", "k"}}, {1, {"SORT", "none", "STORE", "k"}}, {0, {"MULTI"}}, {0, {"EXEC"}}},
    {{0, {"WATCH", "k"}}, {1, {"SWAPDB", "0", "1"}}, {0, {"MULTI"}}, {0, {"EXEC"}}},
    {{1, {"SELECT", "1"}},
     {1, {"SET", "k", "1"}},
     {0, {"WATCH", "k"}},
     {1, {"SWAPDB", "0", "1"}},
     {0, {"MULTI"}},
     {0, {"EXEC"}}},
    {{0, {"MULTI"}}, {0, {"FLUSHALL"}}, {0, {"EXEC"}}, {0, {"DBSIZE"}}},
};

}  // namespace

TEST_CASE("transactions are answered as by a redis-server") {
  Oracle redis({"--databases", "16"});
  for (size_t i = 0; i < kScenes.size(); ++i) {
    CommandTest mayfly;
    redis.Ask(EncodeRequest({"FLUSHALL"}), 1);
    std::vector<std::unique_ptr<OracleClient>> theirs;
    for (int client = 0; client < 2; ++client) theirs.push_back(std::make_unique<OracleClient>(redis));
    TestClient* ours[] = {&mayfly.client(), &mayfly.Connect()};
    for (const Step& step : kScenes[i]) {
      std::string said;
      for (const std::string& word : step.words) said += word + " ";
      INFO("scene " << i << ": client " << step.client << " sends " << said);
      const std::string request = EncodeRequest(step.words);
      if (step.words.front() == "HELLO") {
        ours[step.client]->RunRaw(request);
        theirs[step.client]->Ask(request, 1);
        continue;
      }
      const std::string reply = ours[step.client]->RunRaw(request);
      const bool silent = reply.empty();
      if (!silent) CHECK(reply == theirs[step.client]->Ask(request, 1).front());
      if (silent) FAIL("no reply");
    }
  }
}

TEST_CASE_METHOD(CommandTest, "EXEC runs nothing after a watched key was evicted, for whichever limit") {
  SetOption("maxmemory-policy", "allkeys-lru");
  const std::string limit = GENERATE("maxkeys", "maxmemory", "namespace");
  CAPTURE(limit);
  Run({"CONFIG", "SET", "namespace", "n prefix n:"});
  Run({"SET", "n:watched", "v"});
  Run({"SET", "n:also", "v"});
  CHECK(Run({"WATCH", "n:watched"}) == Ok());
  AdvanceTime(1000);
  TestClient& other = Connect();
  for (int i = 0; i < 100; ++i) other.Run({"SET", "n:" + std::to_string(i), "v"});
  if (limit == "maxkeys") other.Run({"CONFIG", "SET", "maxkeys", "50"});
  if (limit == "maxmemory") other.Run({"CONFIG", "SET", "maxmemory", "1"});
  if (limit == "namespace") other.Run({"CONFIG", "SET", "namespace", "n maxkeys 50"});
  while (server().executor.EvictSome(100)) {
  }
  other.Run({"CONFIG", "SET", "maxmemory", "0", "maxkeys", "0"});
  CHECK(other.Run({"EXISTS", "n:watched"}) == Integer(0));
  Run({"MULTI"});
  Run({"SET", "result", "v"});
  CHECK(Run({"EXEC"}) == NullArray());
  CHECK(Run({"EXISTS", "result"}) == Integer(0));
}

}  // namespace mayfly::testing

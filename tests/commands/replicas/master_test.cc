// What a master sends its replicas: the stream of commands, as a replica reads it.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "commands/replicas/master_world.h"
#include "replication/change_stream.h"

namespace mayfly::testing {
namespace {

// As many of the same request in one pipeline.
std::string Times(int count, const Words& request) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += EncodeRequest(request);
  return bytes;
}

std::string Pipeline(const std::vector<Words>& requests) {
  std::string bytes;
  for (const Words& request : requests) bytes += EncodeRequest(request);
  return bytes;
}

// Runs the requests in one turn; at its end so much time has passed.
void RunInLongTurn(TestServer& server, TestClient& client, const std::vector<Words>& requests, uint64_t ms) {
  const std::string bytes = Pipeline(requests);
  Feed feed{.session = &client.session(), .input = {bytes.data(), bytes.size()}};
  server.executor.RefreshNow();
  server.executor.Run({&feed, 1});
  server.clock.AdvanceTime(ms);
  server.executor.RefreshNow();
  server.executor.EndTurn();
}

// As a transaction of the stream.
Heard Together(Heard lines) {
  lines.insert(lines.begin(), "MULTI");
  lines.emplace_back("EXEC");
  return lines;
}

const std::string kLong(5000, 'x');

}  // namespace

// ---- texts

TEST_CASE_METHOD(MasterTest, "a counter that is raised 1,000 times in a turn is one SET") {
  FakeReplica& replica = Follow();
  RunRaw(Times(1000, {"INCR", "n"}));
  CHECK(replica.Take() == Heard{"SET n 1000"});
}

TEST_CASE_METHOD(MasterTest, "a turn without a change sends nothing") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", "1"});
  replica.Take();
  Run({"GET", "a"});
  Run({"SET", "a", "2", "NX"});
  Run({"DEL", "absent"});
  Run({"EXPIRE", "absent", "10"});
  Run({"SADD"});
  CHECK(replica.Take().empty());
}

TEST_CASE_METHOD(MasterTest, "deadlines are Unix times in ms") {
  FakeReplica& replica = Follow();
  const std::string in_10_s = UnixMs(10'000);
  Run({"SET", "a", "1", "EX", "10"});
  CHECK(replica.Take() == Heard{"SET a 1 PXAT " + in_10_s});
  Run({"PERSIST", "a"});
  CHECK(replica.Take() == Heard{"PERSIST a"});
  Run({"EXPIRE", "a", "10"});
  CHECK(replica.Take() == Heard{"PEXPIREAT a " + in_10_s});
  Run({"RPUSH", "l", "x"});
  Run({"PEXPIRE", "l", "10000"});
  CHECK(replica.Take() == Heard{"RPUSH l x", "PEXPIREAT l " + in_10_s});
}

TEST_CASE_METHOD(MasterTest, "a deadline that a turn sets twice is told once, and a PERSIST between, too") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", "1"});
  replica.Take();
  RunRaw(Pipeline({{"EXPIRE", "a", "5"}, {"PERSIST", "a"}, {"PEXPIRE", "a", "7"}}));
  CHECK(replica.Take() == Heard{"PERSIST a", "PEXPIREAT a " + UnixMs(7)});
}

TEST_CASE_METHOD(MasterTest, "what is due in its own turn, and not freed yet, is told as it is") {
  FakeReplica& replica = Follow();
  TestClient& writer = Connect();
  const std::string in_10_ms = UnixMs(10);
  RunInLongTurn(server(), writer, {{"RPUSH", "k", "v"}, {"PEXPIRE", "k", "10", "SLIDE"}}, 20);
  CHECK(replica.Take() == Together({"RPUSH k v", "PEXPIREAT k " + in_10_ms, "PUBLISH __mayfly__ ..."}));
  std::vector<Words> many(10, {"HINCRBY", "h", "f", "1"});
  many.push_back({"HPEXPIRE", "h", "10", "FIELDS", "1", "f"});
  RunInLongTurn(server(), writer, many, 20);
  Heard told(ChangeStream::kManyCommands, "HINCRBY h f 1");
  told.insert(told.end(), {"RESTORE h 0 ... REPLACE ABSTTL", "PUBLISH __mayfly__ ..."});
  CHECK(replica.Take() == Together(told));
  TurnWheels();
  CHECK(replica.Take() == Together({"DEL k", "DEL h"}));
}

TEST_CASE_METHOD(MasterTest, "drawn deadlines are told as they were drawn") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", "1", "EX", "1000", "JITTER", "50"});
  CHECK(replica.Take() == Heard{"SET a 1 PXAT " + std::to_string(Run({"PEXPIRETIME", "a"}).integer)});
}

TEST_CASE_METHOD(MasterTest, "several keys of a turn are a transaction, and one key is none") {
  FakeReplica& replica = Follow();
  Run({"MSET", "a", "1", "b", "2"});
  CHECK(replica.Take() == Together({"SET a 1", "SET b 2"}));
  Run({"MSET", "a", "3", "a", "4"});
  CHECK(replica.Take() == Heard{"SET a 4"});
}

TEST_CASE_METHOD(MasterTest,
                 "texts that change in turns are told at most twice, whatever the number of their changes") {
  FakeReplica& replica = Follow();
  std::string requests;
  for (int i = 1; i <= 100; ++i)
    requests += Pipeline({{"SET", "c", std::to_string(i)}, {"SET", "b", std::to_string(-i)}});
  RunRaw(requests);
  CHECK(replica.Take() == Together({"SET c 1", "SET b -1", "SET c 100", "SET b -100"}));
}

TEST_CASE_METHOD(MasterTest, "a key that comes and goes within a turn is gone for replicas, too") {
  FakeReplica& replica = Follow();
  RunRaw(Pipeline({{"SET", "a", "1"}, {"DEL", "a"}}));
  CHECK(replica.Take() == Together({"SET a 1", "DEL a"}));
}

TEST_CASE_METHOD(MasterTest,
                 "a text that is renamed, replaced and made anew within a turn is told as it is at the end") {
  FakeReplica& replica = Follow();
  RunRaw(Pipeline({{"SET", "a", "1"},
                   {"RENAME", "a", "b"},
                   {"SET", "a", "2"},
                   {"SET", "a", "3", "PX", "1000"},
                   {"DEL", "b"}}));
  const Heard heard = replica.Take();
  std::map<std::string, std::string> last;
  for (const std::string& line : heard) {
    const size_t at = line.find(' ');
    if (at != std::string::npos) last[line.substr(at + 1, 1)] = line;
  }
  CHECK(last == std::map<std::string, std::string>{{"a", "SET a 3 PXAT " + UnixMs(1000)}, {"b", "DEL b"}});
}

TEST_CASE_METHOD(MasterTest, "a long text that is edited is not sent again") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", kLong});
  CHECK(replica.Take() == Heard{"SET a " + kLong});
  Run({"APPEND", "a", "y"});
  CHECK(replica.Take() == Heard{"APPEND a y"});
  Run({"SETRANGE", "a", "3", "z"});
  CHECK(replica.Take() == Heard{"SETRANGE a 3 z"});
  Run({"SETBIT", "a", "7", "1"});
  CHECK(replica.Take() == Heard{"SETBIT a 7 1"});
  Run({"SET", "short", "x"});
  Run({"APPEND", "short", "y"});
  CHECK(replica.Take() == Heard{"SET short x", "SET short xy"});
}

// ---- keys that go

TEST_CASE_METHOD(MasterTest, "a key that is deleted or has expired is a DEL") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", "1"});
  Run({"SET", "b", "1", "PX", "100"});
  replica.Take();
  Run({"UNLINK", "a"});
  CHECK(replica.Take() == Heard{"DEL a"});
  AdvanceTime(99);
  CHECK(replica.Take().empty());
  AdvanceTime(1);
  CHECK(replica.Take() == Heard{"DEL b"});
}

TEST_CASE_METHOD(MasterTest, "a key that takes the place of an expired one does not go on with its value") {
  FakeReplica& replica = Follow();
  Run({"RPUSH", "l", "old"});
  Run({"PEXPIRE", "l", "10"});
  replica.Take();
  LetTimePass(10);
  Run({"RPUSH", "l", "new"});
  const Heard lines = replica.Take();
  CHECK(lines.back() == "RESTORE l 0 ... REPLACE ABSTTL");
}

TEST_CASE_METHOD(MasterTest, "keys that are evicted are DELs") {
  FakeReplica& replica = Follow();
  SetOption("maxkeys", "2");
  Run({"SET", "a", "1"});
  Run({"SET", "b", "1"});
  replica.Take();
  Run({"SET", "c", "1"});
  AdvanceTime(1);
  Heard lines = replica.Take();
  CHECK(std::ranges::count_if(lines, [](const std::string& line) { return line.starts_with("DEL "); }) == 1);
  CHECK(std::ranges::count(lines, "SET c 1") == 1);
}

TEST_CASE_METHOD(MasterTest, "keys that INVALIDATE drops are DELs") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", "1", "TAGS", "1", "t"});
  Run({"SET", "b", "1", "TAGS", "1", "t"});
  CHECK(replica.Take() == Heard{"SET a 1", "PUBLISH __mayfly__ ...", "SET b 1", "PUBLISH __mayfly__ ..."});
  Run({"INVALIDATE", "t"});
  AdvanceTime(1);
  Heard lines = replica.Take();
  std::ranges::sort(lines);
  CHECK(lines == Heard{"DEL a", "DEL b", "EXEC", "MULTI"});
}

TEST_CASE_METHOD(MasterTest, "keys of a namespace that is flushed are DELs") {
  FakeReplica& replica = Follow();
  Run({"CONFIG", "SET", "namespace", "app maxkeys 10"});
  Run({"MSET", "app:a", "1", "app:b", "2", "other", "3"});
  replica.Take();
  CHECK(Run({"NSFLUSH", "app"}) == Integer(2));
  AdvanceTime(1);
  Heard lines = replica.Take();
  std::ranges::sort(lines);
  CHECK(lines == Heard{"DEL app:a", "DEL app:b", "EXEC", "MULTI"});
}

TEST_CASE_METHOD(MasterTest, "a key of a flushed namespace that is written again is there") {
  FakeReplica& replica = Follow();
  Run({"CONFIG", "SET", "namespace", "app maxkeys 10"});
  Run({"RPUSH", "app:a", "old"});
  replica.Take();
  Run({"NSFLUSH", "app"});
  Run({"RPUSH", "app:a", "new"});
  AdvanceTime(1);
  const Heard lines = replica.Take();
  REQUIRE_FALSE(lines.empty());
  CHECK(std::ranges::count(lines, "RESTORE app:a 0 ... REPLACE ABSTTL") >= 1);
}

TEST_CASE_METHOD(MasterTest, "a slide is a PEXPIREAT") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", "1", "PX", "1000", "SLIDE"});
  CHECK(replica.Take() == Heard{"SET a 1 PXAT " + UnixMs(1000), "PUBLISH __mayfly__ ..."});
  AdvanceTime(100);
  RunRaw(Times(10, {"GET", "a"}));
  CHECK(replica.Take() == Heard{"PEXPIREAT a " + UnixMs(1000), "PUBLISH __mayfly__ ..."});
}

TEST_CASE_METHOD(MasterTest, "a key that goes into a stream is a DEL and an XADD") {
  FakeReplica& replica = Follow();
  Run({"XADD", "tasks", "*", "f", "v"});
  Run({"SET", "a", "1", "PX", "100", "INTO", "tasks"});
  replica.Take();
  AdvanceTime(100);
  const Heard lines = replica.Take();
  REQUIRE(lines.size() == 4);
  CHECK(std::ranges::count(lines, "DEL a") == 1);
  CHECK(std::ranges::count_if(lines, [](const auto& line) { return line.starts_with("XADD tasks "); }) == 1);
}

// ---- values of members

TEST_CASE_METHOD(MasterTest, "changes of members are told as commands") {
  FakeReplica& replica = Follow();
  const std::vector<Words> requests = {{"RPUSH", "l", "a", "b", "c"},
                                       {"LSET", "l", "0", "x"},
                                       {"LINSERT", "l", "BEFORE", "b", "y"},
                                       {"LREM", "l", "1", "c"},
                                       {"LTRIM", "l", "0", "1"},
                                       {"HSET", "h", "f", "v", "g", "1"},
                                       {"HINCRBY", "h", "g", "2"},
                                       {"HDEL", "h", "f"},
                                       {"SADD", "s", "a", "b", "c"},
                                       {"SREM", "s", "b"},
                                       {"ZADD", "z", "1", "a", "2", "b"},
                                       {"ZINCRBY", "z", "5", "a"},
                                       {"ZREM", "z", "b"},
                                       {"PFADD", "p", "a"}};
  for (const Words& request : requests) {
    Run(request);
    const Heard lines = replica.Take();
    REQUIRE(lines.size() == 1);
    CHECK((lines == FakeReplica::LinesOf(EncodeRequest(request)) || lines[0].starts_with("SET p ")));
  }
}

TEST_CASE_METHOD(MasterTest, "the last member takes its key with it: DEL") {
  FakeReplica& replica = Follow();
  Run({"RPUSH", "l", "a"});
  Run({"SADD", "s", "a"});
  replica.Take();
  Run({"LPOP", "l"});
  CHECK(replica.Take() == Heard{"DEL l"});
  Run({"SPOP", "s"});
  CHECK(replica.Take() == Heard{"DEL s"});
}

TEST_CASE_METHOD(MasterTest, "a small value that a turn changes often is sent as a whole") {
  FakeReplica& replica = Follow();
  RunRaw(Times(1000, {"RPUSH", "l", "x"}));
  const Heard lines = replica.Take();
  CHECK(lines.size() == ChangeStream::kManyCommands + 3);
  CHECK(lines[lines.size() - 2] == "RESTORE l 0 ... REPLACE ABSTTL");
}

TEST_CASE_METHOD(MasterTest, "SPOP is an SREM of what was drawn") {
  FakeReplica& replica = Follow();
  Run({"SADD", "s", "a", "b", "c", "d", "e", "f"});
  replica.Take();
  const std::string drawn = Run({"SPOP", "s"}).text;
  CHECK(replica.Take() == Heard{"SREM s " + drawn});
  const Reply two = Run({"SPOP", "s", "2"});
  CHECK(replica.Take() == Heard{"SREM s " + two.elements[0].text + " " + two.elements[1].text});
}

TEST_CASE_METHOD(MasterTest, "an element that moves is popped and pushed") {
  FakeReplica& replica = Follow();
  Run({"RPUSH", "l", "a", "b"});
  replica.Take();
  Run({"LMOVE", "l", "m", "LEFT", "RIGHT"});
  CHECK(replica.Take() == Together({"RPUSH m a", "LPOP l 1"}));
  Run({"SADD", "s", "a", "b"});
  replica.Take();
  Run({"SMOVE", "s", "t", "a"});
  CHECK(replica.Take() == Together({"SADD t a", "SREM s a", "SADD t a"}));
}

TEST_CASE_METHOD(MasterTest, "what a client that waits is given is told, too") {
  FakeReplica& replica = Follow();
  TestClient& waiting = Connect();
  CHECK(waiting.Run({"BLPOP", "l", "0"}) == NoReply());
  Run({"RPUSH", "l", "a", "b"});
  CHECK(waiting.Received().size() == 1);
  CHECK(replica.Take() == Together({"RPUSH l a b", "LPOP l 1"}));
}

TEST_CASE_METHOD(MasterTest, "clients cannot speak to replicas in the name of their master") {
  FakeReplica& replica = Follow();
  CHECK(Run({"PUBLISH", "__mayfly__", "c*1\r\n$8\r\nFLUSHALL\r\n"}) == Integer(0));
  CHECK(Run({"PUBLISH", "news", "x"}) == Integer(0));
  CHECK(replica.Take() == Heard{"PUBLISH news x"});
}

TEST_CASE_METHOD(MasterTest, "the deadline of a member is for Mayfly alone, and its end for all") {
  FakeReplica& replica = Follow();
  Run({"HSET", "h", "f", "1", "g", "2"});
  replica.Take();
  Run({"HPEXPIRE", "h", "100", "FIELDS", "1", "f"});
  CHECK(replica.Take() == Heard{"PUBLISH __mayfly__ ..."});
  AdvanceTime(100);
  CHECK(replica.Take() == Heard{"HDEL h f"});
}

// ---- streams

TEST_CASE_METHOD(MasterTest, "XADD has the id that was chosen, and the length after its trim") {
  FakeReplica& replica = Follow();
  const std::string first = Run({"XADD", "s", "*", "f", "v"}).text;
  CHECK(replica.Take() == Heard{"XADD s " + first + " f v"});
  const std::string second = Run({"XADD", "s", "MAXLEN", "1", "*", "f", "w"}).text;
  CHECK(replica.Take() == Heard{"XADD s MAXLEN = 1 " + second + " f w"});
}

TEST_CASE_METHOD(MasterTest, "XREADGROUP is an XCLAIM of what was delivered, and the group's place") {
  FakeReplica& replica = Follow();
  Run({"XADD", "s", "1-1", "f", "v"});
  Run({"XADD", "s", "2-1", "f", "v"});
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  replica.Take();
  Run({"XREADGROUP", "GROUP", "g", "ann", "COUNT", "1", "STREAMS", "s", ">"});
  CHECK(replica.Take() == Together({"XGROUP CREATECONSUMER s g ann",
                                    "XCLAIM s g ann 0 1-1 TIME " + UnixMs(0) + " RETRYCOUNT 1 FORCE JUSTID",
                                    "XGROUP SETID s g 1-1 ENTRIESREAD 1"}));
  Run({"XREADGROUP", "GROUP", "g", "ann", "NOACK", "STREAMS", "s", ">"});
  CHECK(replica.Take() == Heard{"XGROUP SETID s g 2-1 ENTRIESREAD 2"});
  Run({"XACK", "s", "g", "1-1"});
  CHECK(replica.Take() == Heard{"XACK s g 1-1"});
}

TEST_CASE_METHOD(MasterTest,
                 "what XREADGROUP claims is an XCLAIM, and the group's place stays if nothing is new") {
  FakeReplica& replica = Follow();
  for (const std::string id : {"1-1", "2-1", "3-1", "4-1"}) Run({"XADD", "s", id, "f", "v"});
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Run({"XGROUP", "CREATECONSUMER", "s", "g", "bob"});
  Run({"XREADGROUP", "GROUP", "g", "ann", "COUNT", "2", "STREAMS", "s", ">"});
  replica.Take();
  AdvanceTime(50);
  Run({"XREADGROUP", "GROUP", "g", "bob", "COUNT", "1", "CLAIM", "50", "STREAMS", "s", ">"});
  CHECK(replica.Take() == Heard{"XCLAIM s g bob 0 1-1 TIME " + UnixMs(0) + " RETRYCOUNT 2 FORCE JUSTID"});
  Run({"XREADGROUP", "GROUP", "g", "bob", "COUNT", "2", "CLAIM", "50", "STREAMS", "s", ">"});
  CHECK(replica.Take() == Together({"XCLAIM s g bob 0 2-1 TIME " + UnixMs(0) + " RETRYCOUNT 2 FORCE JUSTID",
                                    "XCLAIM s g bob 0 3-1 TIME " + UnixMs(0) + " RETRYCOUNT 1 FORCE JUSTID",
                                    "XGROUP SETID s g 3-1 ENTRIESREAD 3"}));
  Run({"XREADGROUP", "GROUP", "g", "bob", "STREAMS", "s", ">"});
  Run({"XACK", "s", "g", "1-1", "2-1", "3-1"});
  replica.Take();
  AdvanceTime(50);
  Run({"XREADGROUP", "GROUP", "g", "ann", "COUNT", "9", "CLAIM", "50", "STREAMS", "s", ">"});
  CHECK(replica.Take() == Heard{"XCLAIM s g ann 0 4-1 TIME " + UnixMs(0) + " RETRYCOUNT 2 FORCE JUSTID"});
}

// ---- scripts, messages and functions

TEST_CASE_METHOD(MasterTest, "replicas get what a script has done, and not the script") {
  FakeReplica& replica = Follow();
  Run({"EVAL", "for i = 1, 100 do redis.call('INCR', KEYS[1]) end redis.call('RPUSH', KEYS[2], 'x')", "2",
       "n", "l"});
  CHECK(replica.Take() == Together({"SET n 100", "RPUSH l x"}));
  Run({"EVAL", "return redis.call('GET', KEYS[1])", "1", "n"});
  CHECK(replica.Take().empty());
}

TEST_CASE_METHOD(MasterTest, "a client's transaction is one of the stream") {
  FakeReplica& replica = Follow();
  Run({"MULTI"});
  Run({"SET", "a", "1"});
  Run({"SET", "b", "2"});
  CHECK(replica.Take().empty());
  Run({"EXEC"});
  CHECK(replica.Take() == Together({"SET a 1", "SET b 2"}));
}

TEST_CASE_METHOD(MasterTest, "messages go to the clients of replicas, too") {
  FakeReplica& replica = Follow();
  Run({"PUBLISH", "c", "m"});
  Run({"SPUBLISH", "c", "m"});
  CHECK(replica.Take() == Heard{"PUBLISH c m", "SPUBLISH c m"});
}

TEST_CASE_METHOD(MasterTest, "replicas get each library of functions") {
  FakeReplica& replica = Follow();
  const std::string code = "#!lua name=l\nredis.register_function('f', function() return 7 end)";
  Run({"FUNCTION", "LOAD", code});
  Run({"FUNCTION", "LOAD", code});  // refused
  Run({"FUNCTION", "DELETE", "l"});
  Run({"FUNCTION", "FLUSH"});
  CHECK(replica.Take() == Heard{"FUNCTION LOAD " + code, "FUNCTION DELETE l", "FUNCTION FLUSH"});
}

// ---- databases

TEST_CASE_METHOD(MasterTest, "a change in another database comes after a SELECT") {
  FakeReplica& replica = Follow();
  Run({"SELECT", "3"});
  Run({"SET", "a", "1"});
  Run({"SET", "b", "1"});
  CHECK(replica.Take() == Heard{"SELECT 3", "SET a 1", "SET b 1"});
  RunRaw(Pipeline({{"SELECT", "0"}, {"SET", "c", "1"}, {"SELECT", "3"}, {"SET", "d", "1"}}));
  CHECK(replica.Take() == Together({"SELECT 0", "SET c 1", "SELECT 3", "SET d 1"}));
}

TEST_CASE_METHOD(MasterTest,
                 "FLUSHDB and FLUSHALL empty the databases that had keys, and FLUSHALL the files too") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", "1"});
  replica.Take();
  RunRaw(Pipeline({{"SET", "b", "1"}, {"FLUSHDB"}, {"SET", "c", "1"}}));
  CHECK(replica.Take() == Together({"SET b 1", "FLUSHDB ASYNC", "SET c 1"}));
  Run({"FLUSHALL"});
  Heard lines = replica.Take();
  CHECK(std::ranges::count(lines, "FLUSHDB ASYNC") >= 1);
  CHECK(std::ranges::count(lines, "FLUSHALL ASYNC") == 1);
  CHECK(std::ranges::find(lines, "FLUSHALL ASYNC") > std::ranges::find(lines, "FLUSHDB ASYNC"));
  for (const std::string& line : lines)
    CHECK((line == "FLUSHDB ASYNC" || line == "FLUSHALL ASYNC" || line.starts_with("SELECT ") ||
           line == "MULTI" || line == "EXEC"));
  RunRaw(Pipeline(
      {{"SET", "a", "1"}, {"LPUSH", "l", "1"}, {"FLUSHALL"}, {"SET", "b", "1"}, {"LPUSH", "l", "2"}}));
  lines = replica.Take();
  const auto flush = std::ranges::find(lines, "FLUSHALL ASYNC");
  CHECK(std::find(lines.begin(), flush, "SET b 1") == flush);
  CHECK(std::find(flush, lines.end(), "SET b 1") != lines.end());
}

TEST_CASE_METHOD(MasterTest, "SWAPDB is told once, before what is written afterwards") {
  FakeReplica& replica = Follow();
  RunRaw(Pipeline({{"SET", "a", "1"}, {"SWAPDB", "0", "1"}, {"SET", "b", "1"}}));
  Heard lines = replica.Take();
  CHECK(lines == Together({"SET a 1", "SELECT 1", "SWAPDB 0 1", "SELECT 0", "SET b 1"}));
}

TEST_CASE_METHOD(MasterTest, "a long value is renamed, and a short one is sent with its new name") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", "1"});
  Run({"SET", "l", kLong});
  replica.Take();
  Run({"RENAME", "a", "b"});
  CHECK(replica.Take() == Together({"SET b 1", "DEL a"}));
  Run({"RENAME", "l", "m"});
  CHECK(replica.Take() == Heard{"RENAME l m"});
  Run({"MOVE", "m", "2"});
  CHECK(replica.Take() == Heard{"MOVE m 2"});
}

TEST_CASE_METHOD(MasterTest, "a long value may move to where another one has gone in the same turn") {
  FakeReplica& replica = Follow();
  Run({"SET", "l", kLong});
  RunRaw(Pipeline({{"SELECT", "2"}, {"SET", "l", "1"}, {"SELECT", "0"}}));
  replica.Take();
  RunRaw(Pipeline({{"SELECT", "2"}, {"DEL", "l"}, {"SELECT", "0"}, {"MOVE", "l", "2"}}));
  CHECK(replica.Take() == Together({"DEL l", "SELECT 0", "MOVE l 2"}));
}

TEST_CASE_METHOD(MasterTest, "a long value that was written in the same turn is sent with its new name") {
  FakeReplica& replica = Follow();
  RunRaw(Pipeline({{"SET", "a", kLong}, {"RENAME", "a", "b"}}));
  CHECK(replica.Take() == Together({"DEL a", "SET b " + kLong}));
}

TEST_CASE_METHOD(MasterTest, "the old name of a long value may be written again in the same turn") {
  FakeReplica& replica = Follow();
  Run({"SET", "a", kLong});
  replica.Take();
  RunRaw(Pipeline({{"RENAME", "a", "b"}, {"SET", "a", "1"}}));
  CHECK(replica.Take() == Together({"RENAME a b", "SET a 1"}));
}

}  // namespace mayfly::testing

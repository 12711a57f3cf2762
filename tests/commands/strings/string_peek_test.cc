// PEEK, GETTTL and MGETTTL.
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

const Reply kWrongType = Error("WRONGTYPE Operation against a key holding the wrong kind of value");

Reply Pair(const Reply& value, int64_t pttl) { return Array({value, Integer(pttl)}); }

// Each kind of string that an entry may hold.
const std::pair<const char*, std::string> kStrings[] = {
    {"text", "hello"}, {"empty", ""}, {"number", "-1234"}, {"big", std::string(50'000, 'x')}};

}  // namespace

TEST_CASE_METHOD(CommandTest, "PEEK answers as GET does") {
  for (const auto& [key, value] : kStrings) {
    Run({"SET", key, value});
    CHECK(Run({"PEEK", key}) == Bulk(value));
  }
  Run({"APPEND", "text", ", world"});
  CHECK(Run({"PEEK", "text"}) == Bulk("hello, world"));
  Run({"SADD", "set", "a"});
  CHECK(Run({"PEEK", "set"}) == kWrongType);
  CHECK(RunRaw("PEEK absent\r\n") == "$-1\r\n");
  UseResp3();
  CHECK(RunRaw("PEEK absent\r\n") == "_\r\n");
  CHECK(Run({"PEEK"}) == Error("ERR wrong number of arguments for 'peek' command: PEEK key"));
  CHECK(Run({"PEEK", "a", "b"}) == Error("ERR wrong number of arguments for 'peek' command: PEEK key"));
}

TEST_CASE_METHOD(CommandTest, "PEEK sees no key from its deadline on, even while the wheel is late") {
  Run({"SET", "k", "v", "PX", "20"});
  LetTimePass(19);
  CHECK(Run({"PEEK", "k"}) == Bulk("v"));
  LetTimePass(1);
  CHECK(Run({"PEEK", "k"}) == Null());
}

TEST_CASE_METHOD(CommandTest, "PEEK is no access: not for LRU, and not for the idle time") {
  SetOption("maxkeys", "2");
  SetOption("maxmemory-policy", "allkeys-lru");
  Run({"SET", "old", "v"});
  AdvanceTime(10'000);
  Run({"SET", "new", "v"});
  CHECK(Run({"PEEK", "old"}) == Bulk("v"));
  CHECK(Run({"OBJECT", "IDLETIME", "old"}) == Integer(10));
  Run({"SET", "newest", "v"});
  CHECK(Run({"EXISTS", "old"}) == Integer(0));
  CHECK(Run({"EXISTS", "new", "newest"}) == Integer(2));
}

TEST_CASE_METHOD(CommandTest, "PEEK is no access: SIEVE's hand does not spare the key") {
  SetOption("maxkeys", "2");
  SetOption("maxmemory-policy", "allkeys-sieve");
  Run({"SET", "a", "v"});
  Run({"SET", "b", "v"});
  Run({"PEEK", "a"});
  Run({"SET", "c", "v"});
  CHECK(Run({"EXISTS", "a"}) == Integer(0));
  Run({"GET", "b"});
  Run({"SET", "d", "v"});
  CHECK(Run({"EXISTS", "b"}) == Integer(1));
}

TEST_CASE_METHOD(CommandTest, "PEEK is no access: the LFU counter stays") {
  SetOption("lfu-log-factor", "0");
  SetOption("maxmemory-policy", "allkeys-lfu");
  Run({"SET", "k", "v"});
  Run({"PEEK", "k"});
  CHECK(Run({"OBJECT", "FREQ", "k"}) == Integer(5));
  Run({"GETTTL", "k"});
  CHECK(Run({"OBJECT", "FREQ", "k"}) == Integer(6));
  Run({"MGETTTL", "k", "k"});
  CHECK(Run({"OBJECT", "FREQ", "k"}) == Integer(8));
}

TEST_CASE_METHOD(CommandTest, "PEEK counts neither a hit nor a miss; GETTTL and MGETTTL do") {
  Run({"SET", "k", "v"});
  SetOption("notify-keyspace-events", "Km");
  TestClient& listener = Connect();
  listener.Run({"PSUBSCRIBE", "*"});
  Run({"PEEK", "k"});
  Run({"PEEK", "absent"});
  CHECK(stats().keyspace_hits == 0);
  CHECK(stats().keyspace_misses == 0);
  CHECK(listener.Received().empty());
  Run({"GETTTL", "k"});
  Run({"GETTTL", "absent"});
  Run({"MGETTTL", "k", "absent", "k"});
  CHECK(stats().keyspace_hits == 3);
  CHECK(stats().keyspace_misses == 2);
  CHECK(listener.Received().size() == 2);
}

TEST_CASE_METHOD(CommandTest, "who tracks keys is told of a change of what it peeked at") {
  UseResp3();
  TestClient& other = Connect();
  other.Run({"SET", "k", "v"});
  Run({"CLIENT", "TRACKING", "ON"});
  Run({"PEEK", "k"});
  other.Run({"SET", "k", "w"});
  TurnWheels();
  CHECK(client().Received() == std::vector<Reply>{Push({Bulk("invalidate"), Bulks({"k"})})});
}

TEST_CASE_METHOD(CommandTest, "GETTTL answers the value and what PTTL would answer") {
  for (const auto& [key, value] : kStrings) {
    Run({"SET", key, value});
    CHECK(Run({"GETTTL", key}) == Pair(Bulk(value), -1));
    Run({"PEXPIRE", key, "1500"});
    CHECK(Run({"GETTTL", key}) == Pair(Bulk(value), 1500));
  }
  Run({"SET", "wall", "v", "PXAT", UnixMs(1700)});
  LetTimePass(1000);
  CHECK(Run({"GETTTL", "text"}) == Pair(Bulk("hello"), 500));
  CHECK(Run({"GETTTL", "wall"}) == Pair(Bulk("v"), 700));
  LetTimePass(499);
  CHECK(Run({"GETTTL", "text"}) == Pair(Bulk("hello"), 1));
  LetTimePass(1);
  CHECK(Run({"GETTTL", "text"}) == Pair(Null(), -2));
}

TEST_CASE_METHOD(CommandTest, "GETTTL of what is no string: a pair if it is absent, else an error") {
  Run({"HSET", "hash", "f", "v"});
  CHECK(Run({"GETTTL", "hash"}) == kWrongType);
  CHECK(RunRaw("GETTTL absent\r\n") == "*2\r\n$-1\r\n:-2\r\n");
  UseResp3();
  CHECK(RunRaw("GETTTL absent\r\n") == "*2\r\n_\r\n:-2\r\n");
  CHECK(Run({"GETTTL"}) == Error("ERR wrong number of arguments for 'getttl' command: GETTTL key"));
}

TEST_CASE_METHOD(CommandTest, "GETTTL is an access") {
  Run({"SET", "k", "v"});
  AdvanceTime(10'000);
  CHECK(Run({"OBJECT", "IDLETIME", "k"}) == Integer(10));
  Run({"GETTTL", "k"});
  CHECK(Run({"OBJECT", "IDLETIME", "k"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "MGETTTL answers a pair for each key, in the order of its keys") {
  Run({"SET", "a", "1"});
  Run({"SET", "b", "two", "PX", "1500"});
  Run({"RPUSH", "list", "x"});
  Run({"PEXPIRE", "list", "700"});
  CHECK(Run({"MGETTTL", "b", "absent", "a", "list", "b"}) ==
        Array({Pair(Bulk("two"), 1500), Pair(Null(), -2), Pair(Bulk("1"), -1), Pair(Null(), -2),
               Pair(Bulk("two"), 1500)}));
  CHECK(RunRaw("MGETTTL a absent\r\n") == "*2\r\n*2\r\n$1\r\n1\r\n:-1\r\n*2\r\n$-1\r\n:-2\r\n");
  UseResp3();
  CHECK(RunRaw("MGETTTL a absent\r\n") == "*2\r\n*2\r\n$1\r\n1\r\n:-1\r\n*2\r\n_\r\n:-2\r\n");
  CHECK(Run({"MGETTTL"}) ==
        Error("ERR wrong number of arguments for 'mgetttl' command: MGETTTL key [key ...]"));
}

TEST_CASE_METHOD(CommandTest, "PEEK, GETTTL and MGETTTL run in transactions and scripts") {
  Run({"SET", "k", "7", "PX", "1500"});
  Run({"MULTI"});
  for (const char* command : {"PEEK", "GETTTL", "MGETTTL"}) CHECK(Run({command, "k"}) == Simple("QUEUED"));
  CHECK(Run({"EXEC"}) == Array({Bulk("7"), Pair(Bulk("7"), 1500), Array({Pair(Bulk("7"), 1500)})}));
  const auto evaluate = [&](const std::string& call) { return Run({"EVAL_RO", "return " + call, "1", "k"}); };
  CHECK(evaluate("redis.call('PEEK', KEYS[1])") == Bulk("7"));
  CHECK(evaluate("redis.call('GETTTL', KEYS[1])") == Pair(Bulk("7"), 1500));
  CHECK(evaluate("redis.call('MGETTTL', KEYS[1], 'absent')[2]") == Pair(Null(), -2));
}

}  // namespace mayfly::testing

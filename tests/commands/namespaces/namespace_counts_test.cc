// After each kind of write a namespace counts the keys and bytes that are there, and its limits hold for each way in.
#include <string>
#include <vector>

#include "commands/namespaces/namespaces_world.h"

namespace mayfly::testing {
namespace {

class NamespaceCountsTest : public NamespacesWorld {
 public:
  NamespaceCountsTest() { Have("a prefix a: b prefix b:"); }
  int64_t Number(const std::string& name, const std::string& member) {
    return std::stoll(Figure(name, member));
  }
  // What is there, counted key by key; each key also takes 8 bytes of a hash table.
  void CheckCounts() {
    for (const std::string name : {"a", "b"}) {
      CAPTURE(name);
      int64_t keys = 0;
      int64_t bytes = 0;
      TestClient& other = other_;
      for (const char* database : {"0", "1"}) {
        other.Run({"SELECT", database});
        for (const Reply& key : other.Run({"KEYS", name + ":*"}).elements) {
          ++keys;
          bytes += other.Run({"MEMORY", "USAGE", key.text}).integer + 8;
        }
      }
      CHECK(Number(name, "keys") == keys);
      CHECK(Number(name, "memory") == bytes);
    }
  }

 private:
  TestClient& other_ = Connect();
};

const std::string kText(300, 'x');
const std::string kLong(40'000, 'y');

// In a row, each on what the ones before it have left.
const std::vector<std::vector<std::string>> kWrites = {
    {"SET", "a:1", "v"},
    {"SET", "a:1", kText},
    {"SET", "a:1", kLong},
    {"SET", "a:1", "v", "EX", "100"},
    {"SET", "a:1", "v", "KEEPTTL"},
    {"PERSIST", "a:1"},
    {"EXPIRE", "a:1", "100"},
    {"GETEX", "a:1", "PERSIST"},
    {"APPEND", "a:1", kText},
    {"SETRANGE", "a:1", "5000", "x"},
    {"SETBIT", "a:1", "100000", "1"},
    {"MSET", "a:2", kText, "b:1", "v", "own", "v"},
    {"MSETNX", "a:3", "1", "b:2", kLong},
    {"INCR", "a:3"},
    {"INCRBYFLOAT", "a:3", "1.5"},
    {"COPY", "a:1", "b:3"},
    {"COPY", "a:2", "b:3", "REPLACE"},
    {"COPY", "a:2", "a:2", "DB", "1"},
    {"COPY", "own", "a:4"},
    {"RENAME", "a:4", "b:4"},
    {"RENAME", "b:2", "a:1"},
    {"RENAME", "a:2", "own2"},
    {"RENAMENX", "own2", "a:2"},
    {"RENAMENX", "a:2", "a:1"},
    {"MOVE", "a:2", "1"},
    {"MOVE", "a:3", "1"},
    {"GETDEL", "b:1"},
    {"GETSET", "a:5", kLong},
    {"SETEX", "a:6", "100", kText},
    {"LPUSH", "a:list", "1", "2", kText, "3"},
    {"RPOPLPUSH", "a:list", "b:list"},
    {"LMOVE", "a:list", "b:list", "LEFT", "RIGHT"},
    {"LSET", "a:list", "0", kText},
    {"LTRIM", "b:list", "1", "0"},
    {"LINSERT", "a:list", "BEFORE", kText, "z"},
    {"LREM", "a:list", "0", "z"},
    {"LPOP", "a:list", "10"},
    {"HSET", "a:hash", "f", "1", "g", kText},
    {"HINCRBY", "a:hash", "f", "5"},
    {"HDEL", "a:hash", "g"},
    {"HDEL", "a:hash", "f"},
    {"SADD", "a:set", "1", "2", "3", "x"},
    {"SMOVE", "a:set", "b:set", "x"},
    {"SUNIONSTORE", "b:union", "a:set", "b:set"},
    {"SINTERSTORE", "b:union", "a:set", "b:set"},
    {"SPOP", "a:set", "2"},
    {"SREM", "a:set", "1", "2", "3"},
    {"ZADD", "a:zset", "1", "m", "2", "n"},
    {"ZINCRBY", "a:zset", "5", "o"},
    {"ZUNIONSTORE", "b:zset", "1", "a:zset"},
    {"ZRANGESTORE", "a:zset2", "b:zset", "0", "0"},
    {"ZPOPMIN", "a:zset2"},
    {"ZREMRANGEBYRANK", "b:zset", "0", "-1"},
    {"RPUSH", "b:tosort", "3", "1", "2"},
    {"SORT", "b:tosort", "STORE", "a:sorted"},
    {"XADD", "a:stream", "1-1", "f", kText},
    {"XADD", "a:stream", "1-2", "f", kText},
    {"XTRIM", "a:stream", "MAXLEN", "0"},
    {"XGROUP", "CREATE", "b:stream", "g", "$", "MKSTREAM"},
    {"BITOP", "NOT", "a:not", "a:1"},
    {"BITFIELD", "a:bits", "SET", "u8", "#100", "7"},
    {"PFADD", "a:hll", "1", "2", "3"},
    {"PFMERGE", "b:hll", "a:hll"},
    {"GEOADD", "a:geo", "13", "38", "p"},
    {"GEOSEARCHSTORE", "b:geo", "a:geo", "FROMMEMBER", "p", "BYRADIUS", "1", "km"},
    {"EVAL", "redis.call('SET', 'a:eval', ARGV[1]) redis.call('DEL', 'a:1')", "0", kText},
    {"DEL", "a:2", "b:3", "own"},
    {"UNLINK", "a:5"},
    {"EXPIRE", "a:6", "-1"},
    {"PEXPIRE", "a:eval", "10"},
    {"SWAPDB", "0", "1"},
    {"SET", "a:1", kText},
    {"SELECT", "1"},
    {"SET", "a:1", kLong},
    {"FLUSHDB"},
    {"SELECT", "0"},
    {"NSFLUSH", "a"},
    {"SET", "a:1", kText},
    {"SET", "b:1", kText},
    {"FLUSHALL"}};

}  // namespace

TEST_CASE_METHOD(NamespaceCountsTest,
                 "a namespace's keys and bytes are those that are there, after each write") {
  for (const std::vector<std::string>& write : kWrites) {
    std::string shown;
    for (const std::string& word : write) shown += word.substr(0, 50) + " ";
    CAPTURE(shown);
    CHECK(Run(write).kind != Reply::Kind::kError);
    CheckCounts();
  }
  CHECK(Number("a", "keys") == 0);
  CHECK(Number("a", "memory") == 0);
}

TEST_CASE_METHOD(NamespaceCountsTest, "a key that expires leaves its namespace, seen or not") {
  for (const char* key : {"a:1", "a:2", "a:3", "b:1"}) Run({"SET", key, kText, "PX", "10"});
  Run({"SET", "a:4", kText});
  CheckCounts();
  LetTimePass(10);
  CHECK(Run({"GET", "a:1"}) == Null());
  TurnWheels();
  CheckCounts();
  CHECK(Number("a", "keys") == 1);
  CHECK(Number("a", "expired") == 3);
  CHECK(Number("b", "expired") == 1);
}

TEST_CASE_METHOD(NamespaceCountsTest,
                 "a transaction, a script and a restored key count in their namespace, too") {
  Run({"SET", "b:1", kText});
  const Reply dump = Run({"DUMP", "b:1"});
  Run({"MULTI"});
  Run({"SET", "a:1", kText});
  Run({"RENAME", "b:1", "a:2"});
  Run({"EXEC"});
  CheckCounts();
  CHECK(Run({"RESTORE", "a:3", "0", dump.text}) == Ok());
  CHECK(Run({"RESTORE", "a:3", "1000", dump.text, "REPLACE"}) == Ok());
  CheckCounts();
  CHECK(Number("a", "keys") == 3);
}

TEST_CASE_METHOD(NamespaceCountsTest, "a limit of keys holds for each way into a namespace") {
  SetOption("maxmemory-policy", "noeviction");
  Have("a maxkeys 3 b prefix b:");
  const std::vector<std::vector<std::string>> ways = {{"SET", "a:?", "v"},
                                                      {"MSET", "own", "v", "a:?", "v"},
                                                      {"RPUSH", "a:?", "v"},
                                                      {"HSET", "a:?", "f", "v"},
                                                      {"SADD", "a:?", "m"},
                                                      {"ZADD", "a:?", "1", "m"},
                                                      {"XADD", "a:?", "*", "f", "v"},
                                                      {"PFADD", "a:?", "1"},
                                                      {"SETBIT", "a:?", "1", "1"},
                                                      {"COPY", "own", "a:?"},
                                                      {"RENAME", "own", "a:?"},
                                                      {"SINTERSTORE", "a:?", "ownset"},
                                                      {"SORT", "ownset", "STORE", "a:?"},
                                                      {"BITOP", "NOT", "a:?", "owntext"},
                                                      {"EVAL", "return redis.call('SET', 'a:?', 'v')", "0"}};
  int n = 0;
  for (const std::vector<std::string>& way : ways) {
    CAPTURE(way);
    for (int i = 0; i < 5; ++i) {
      Run({"SET", "own", "v"});
      Run({"SET", "owntext", "v"});
      Run({"SADD", "ownset", "1", "2"});
      std::vector<std::string> request = way;
      ++n;
      for (std::string& word : request) {
        if (const size_t at = word.find('?'); at != std::string::npos) word.replace(at, 1, std::to_string(n));
      }
      CHECK(Run(request).kind != Reply::Kind::kError);
    }
    CHECK(Number("a", "keys") == 3);
    CHECK(Run({"EXISTS", "a:" + std::to_string(n), "a:" + std::to_string(n - 2)}) == Integer(2));
    CheckCounts();
  }
  CHECK(Number("a", "evicted") == 5 * static_cast<int64_t>(ways.size()) - 3);
}

TEST_CASE_METHOD(NamespaceCountsTest, "a full namespace refuses what needs memory, and nothing else") {
  SetOption("maxmemory-policy", "noeviction");
  for (int i = 0; i < 20; ++i) Run({"SET", "a:" + std::to_string(i), kText});
  Run({"RPUSH", "a:list", "x", "y"});
  Run({"SADD", "a:set", "m"});
  Run({"HSET", "a:hash", "f", "v"});
  Have("a maxmemory 1kb b prefix b:");
  CHECK_FALSE(server().executor.EvictSome(64));  // the loop's next turn
  const Reply refused = Error("OOM command not allowed when used memory > 'maxmemory'.");
  CHECK(Run({"SET", "a:0", "v"}) == refused);
  for (const std::vector<std::string>& write :
       std::vector<std::vector<std::string>>{{"APPEND", "a:0", "v"},
                                             {"INCR", "a:n"},
                                             {"LPUSH", "a:list", "v"},
                                             {"HSET", "a:hash", "f", "w"},
                                             {"SADD", "a:set", "n"},
                                             {"ZADD", "a:zset", "1", "m"},
                                             {"LMOVE", "b:list", "a:list", "LEFT", "LEFT"},
                                             {"RENAME", "a:0", "a:renamed"}}) {
    CAPTURE(write);
    CHECK(Run(write) == refused);
  }
  for (const std::vector<std::string>& write : std::vector<std::vector<std::string>>{{"GET", "a:0"},
                                                                                     {"EXISTS", "a:0"},
                                                                                     {"LPOP", "a:list"},
                                                                                     {"SREM", "a:set", "m"},
                                                                                     {"HDEL", "a:hash", "f"},
                                                                                     {"PERSIST", "a:0"},
                                                                                     {"GETDEL", "a:1"},
                                                                                     {"RENAME", "a:2", "b:2"},
                                                                                     {"COPY", "a:3", "b:3"},
                                                                                     {"EXPIRE", "a:4", "100"},
                                                                                     {"SET", "b:1", "v"},
                                                                                     {"UNLINK", "a:5"},
                                                                                     {"DEL", "a:6"}}) {
    CAPTURE(write);
    CHECK(Run(write).kind != Reply::Kind::kError);
  }
  CHECK(Run({"SET", "a:0", "v"}) == refused);
  CheckCounts();
}

}  // namespace mayfly::testing

// Requests whose first, second, third ... allocation fails: each is answered with an error or its client is
// closed, the keys are as before or as after, and the next request works.
#include <algorithm>
#include <array>
#include <set>

#include "commands/memory/failing_allocation.h"
#include "commands/memory/no_memory_world.h"
#include "snapshot/format/dump_footer.h"
#include "support/output_text.h"

namespace mayfly::testing {
namespace {

const std::string kLong(100'000, 'x');
const std::string kNewName = "a name that is too long to lie in a string itself";

const std::string kPage(3000, 'p');
const std::string kNode(9000, 'n');  // more than one node of a list takes

// The keys that each request finds.
const std::vector<Words> kBefore = {
    {"CONFIG", "SET", "namespace", "held prefix timed new prefix new maxkeys 3"},
    {"MSET", "k", "value", "n", "10", "f", "1.5", "bits", "abc", "other", "text"},
    {"SET", "timed", "value", "EX", "100"},
    {"SET", "walled", "value", "PXAT", "9000000000000"},
    {"SET", "block", kLong},
    {"SET", "shared", kLong, "EX", "1000"},
    {"RPUSH", "list", "a", "10", "c", "a", "text"},
    {"RPUSH", "nodes", kPage, "a", kPage, "b", kPage, "c", "b"},
    {"HSET", "hash", "field", "value", "n", "10", "f", "1.5", "third", "v"},
    {"HSET", "wide hash", kNewName, kLong, "n", "10"},
    {"HSETEX", "timed hash", "EX", "100", "FIELDS", "2", "a", "1", "b", "2"},
    {"SADD", "ints", "1", "2", "70000"},
    {"XADD", "stream", "1-1", "f", "v"},
    {"XADD", "stream", "1-2", "f", "v"},
    {"XGROUP", "CREATE", "stream", "group", "0"},
    {"XREADGROUP", "GROUP", "group", "consumer", "COUNT", "1", "STREAMS", "stream", ">"},
    {"XGROUP", "CREATE", "stream", "read", "$"},
    {"PFADD", "hll", "a", "b"},
    {"PFADD", "dense", "a", "b"},
    {"PFDEBUG", "TODENSE", "dense"},
    {"SADD", "set", "a", "b", "1"},
    {"SADD", "large", "a", "b", "c", "d", "e", "f", "g", "1", kNewName, kLong},
    {"ZADD", "zset", "1", "a", "2", "b", "3.5", "c"},
    {"ZADD", "large zset", "1", "a", "2", "b", "3", kLong},
    {"SADDEX", "timed set", "100", "a", "b"},
    {"SADD", "timed set", "lasting"},
    {"ZADD", "timed zset", "1", "a", "1", "b", "1", kNewName},
    {"EXPIREMEMBER", "timed zset", "a", "100"},
    {"GEOADD", "geo", "13.361389", "38.115556", "p", "15.087269", "37.502669", "q"},
    {"CONFIG", "SET", "expire-log-size", "64kb"},
    {"SET", "gone", "value"},
    {"DEL", "gone"},
};

std::string Payload(std::string value) {
  constexpr uint16_t kVersion = 12;
  rdb::AppendDumpFooter(value, kVersion);
  return value;
}
std::string RestoredText() { return Payload(std::string("\0\4text", 6)); }
// With a field that has a deadline.
std::string RestoredHash() {
  return Payload(std::string("\x18\0\0\0\0\xFF\x0F\0\0\2\1\1f\1v\0\1g\xC0\7", 20));
}
std::string RestoredList() {
  constexpr size_t kElements = 60;
  std::string value{'\1', static_cast<char>(kElements)};
  for (size_t i = 0; i < kElements; ++i) value += std::string(1, '\x3F') + std::string(63, 'e');
  return Payload(value);
}

// What writes keys, by the commands' names in order; and what else may need memory.
// Made when they are needed: another test looks at what the whole process uses.
std::vector<Words> Requests() {  // long: one table
  return {
      {"APPEND", "k", "more"},
      {"APPEND", "block", kLong},
      {"APPEND", "new", kLong},
      {"BITFIELD", "bits", "SET", "u8", "100", "7", "GET", "u8", "0"},
      {"BITOP", "XOR", "new", "bits", "block"},
      {"BITOP", "NOT", "k", "k"},
      {"BLMOVE", "nodes", "list", "LEFT", "RIGHT", "0"},
      {"BLMPOP", "0", "2", "new", "list", "LEFT", "COUNT", "2"},
      {"BLPOP", "new", "nodes", "0"},
      {"BLPOP", "new", kNewName, "0"},
      {"BRPOP", "list", "0"},
      {"BRPOPLPUSH", "list", kNewName, "0"},
      {"BZMPOP", "0", "1", "zset", "MIN", "COUNT", "2"},
      {"BZPOPMAX", "new", "large zset", "0"},
      {"BZPOPMIN", "zset", "0"},
      {"BZPOPMIN", "new", kNewName, "0"},
      {"COPY", "block", "new"},
      {"COPY", "nodes", "new"},
      {"COPY", "timed", "other", "REPLACE"},
      {"COPY", "walled", "walled", "DB", "3"},
      {"DECR", "n"},
      {"DECRBY", "new", "5"},
      {"DEL", "k", "block", "timed"},
      {"DELEX", "k"},
      {"DELIFEQ", "k", "value"},
      {"EXPIRE", "k", "100"},
      {"EXPIREAT", "block", "9000000000"},
      {"EXPIREMEMBER", "hash", "n", "100"},
      {"EXPIREMEMBER", "ints", "1", "100"},
      {"EXPIREMEMBER", "large", kNewName, "100"},
      {"EXPIREMEMBER", "timed set", "lasting", "100"},
      {"EXPIREMEMBER", "zset", "b", "100", "MS"},
      {"EXPIREMEMBER", "large zset", "b", "100"},
      {"EXPIREMEMBERAT", "hash", "n", "9999999999"},
      {"PEXPIREMEMBERAT", "zset", "b", "9999999999999"},
      {"EXPIREMEMBER", "timed zset", kNewName, "100"},
      {"FLUSHALL"},
      {"FLUSHDB", "ASYNC"},
      {"GEOADD", "geo", "14", "38", "r"},
      {"GEOADD", "new", "14", "38", "r", "-14", "-38", kNewName},
      {"GEORADIUS", "geo", "15", "37", "500", "km", "STORE", "new"},
      {"GEORADIUSBYMEMBER", "geo", "p", "500", "km", "STOREDIST", "geo"},
      {"GEOSEARCHSTORE", "new", "geo", "FROMLONLAT", "15", "37", "BYRADIUS", "500", "km"},
      {"GETDEL", "block"},
      {"GETEX", "k", "EX", "100"},
      {"GETEX", "timed", "PERSIST"},
      {"GETSET", "k", kLong},
      {"HDEL", "hash", "field", "n"},
      {"HDEL", "wide hash", kNewName},
      {"HEXPIRE", "hash", "100", "FIELDS", "2", "field", "n"},
      {"HEXPIRE", "wide hash", "100", "FIELDS", "2", kNewName, "n"},
      {"HEXPIREAT", "hash", "1", "FIELDS", "2", "field", "n"},
      {"HGETDEL", "hash", "FIELDS", "2", "field", "n"},
      {"HGETEX", "hash", "EX", "100", "FIELDS", "2", "field", "n"},
      {"HINCRBY", "hash", "n", "1000000"},
      {"HINCRBY", "wide hash", "n", "1000000"},
      {"HINCRBYFLOAT", "hash", "f", "1.25"},
      {"HPERSIST", "timed hash", "FIELDS", "2", "a", "b"},
      {"HPEXPIRE", "timed hash", "100", "FIELDS", "2", "a", "b"},
      {"HPEXPIREAT", "wide hash", "9000000000000", "FIELDS", "1", kNewName},
      {"HSETEX", "hash", "EX", "100", "FIELDS", "2", "field", kNewName, "new", "v"},
      {"HSETEX", "new hash", "EX", "100", "FIELDS", "1", "field", kLong},
      {"HMSET", "hash", "field", "another length than before", "new", "v", "third", ""},
      {"HSET", "hash", "field", kLong, "new", "v"},
      {"HSET", "wide hash", "new", "v"},
      {"HSET", "new hash", "a", "1", "b", "2", "c", kLong},
      {"HSETNX", "new hash", "a", "1"},
      {"INCR", "n"},
      {"INCRBY", "new", "5"},
      {"INCRBYFLOAT", "f", "1.25"},
      {"INCREX", "n", "BYINT", "3", "EX", "100"},
      {"LINSERT", "list", "BEFORE", "c", kNode},
      {"LINSERT", "nodes", "AFTER", "a", kPage},
      {"LMOVE", "list", "nodes", "LEFT", "LEFT"},
      {"LMOVE", "nodes", "nodes", "LEFT", "RIGHT"},
      {"LMPOP", "1", "nodes", "RIGHT", "COUNT", "3"},
      {"LPOP", "nodes", "2"},
      {"LPUSH", "nodes", kPage, kPage, kPage, kPage},
      {"LPUSH", "new", kNewName},
      {"LPUSHX", "list", kPage, kPage, kPage},
      {"LREM", "nodes", "0", kPage},
      {"LREM", "list", "-1", "a"},
      {"LSET", "nodes", "1", kNode},
      {"LSET", "list", "-1", kNewName},
      {"LTRIM", "nodes", "1", "1"},
      {"MOVE", "block", "1"},
      {"MSET", "k", "another length than before", "n", "1", "new", kLong, "block", "short", "k", kLong},
      {"MSET", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6"},
      {"MSETEX", "3", "k", "longer than it was", "new", "v", "timed", kLong, "KEEPTTL"},
      {"MSETNX", "a", "1", "b", kLong, "c", kNewName},
      {"NSFLUSH", "held"},
      {"PERSIST", "timed"},
      {"PEXPIRE", "k", "400000000000000000"},
      {"PEXPIREAT", "walled", "400000000000000000"},
      {"PFADD", "hll", "c", "d"},
      {"PFADD", "dense", "c", "d"},
      {"PFADD", "new", "a"},
      {"PFCOUNT", "hll"},
      {"PFDEBUG", "TODENSE", "hll"},
      {"PFMERGE", "hll", "dense"},
      {"PFMERGE", "k2", "hll"},
      {"PSETEX", "new", "100", kLong},
      {"RENAME", "block", kNewName},
      {"RENAME", "timed", "k"},
      {"RENAMENX", "k", kNewName},
      {"MIGRATE", "there", "7000", "k", "0", "100"},
      {"RESTORE-ASKING", "new", "0", RestoredText()},
      {"RESTORE", "new", "0", RestoredText()},
      {"RESTORE", "timed", "100000", RestoredHash(), "REPLACE"},
      {"RESTORE", "new", "0", RestoredList()},
      {"RPOP", "list"},
      {"RPOPLPUSH", "nodes", kNewName},
      {"RPUSH", "list", kNode, "b"},
      {"RPUSHX", "nodes", "b"},
      {"SADD", "ints", "3000000000", "4"},
      {"SADD", "ints", "text", kNewName, "more", "and more"},
      {"SADD", "set", "c", "d", kLong, "e"},
      {"SADD", "large", "h", kNewName, "i", "a"},
      {"SADD", "new", "a", "2", kLong},
      {"SEXPIRE", "timed set", "100", "MEMBERS", "2", "a", "lasting"},
      {"SPEXPIRE", "set", "100000", "MEMBERS", "1", "a"},
      {"SEXPIREAT", "set", "9999999999", "MEMBERS", "1", "a"},
      {"SPEXPIREAT", "set", "1", "MEMBERS", "1", "a"},
      {"SPERSIST", "timed set", "MEMBERS", "2", "a", "c"},
      {"SADDEX", "ints", "100", kNewName},
      {"SADDEX", "set", "KEEPTTL", "100", "a", "c"},
      {"SADDEX", "timed set", "200", "a", "c", "lasting"},
      {"SADDEX", "new", "100", "a", "2", kLong},
      {"SDIFFSTORE", "new", "large", "set"},
      {"SET", "new", "value"},
      {"SET", "new", kLong, "EX", "100"},
      {"SET", "k", kLong, "GET", "PX", "400000000000000000"},
      {"SETBIT", "new", "1000000", "1"},
      {"SETBIT", "shared", "900000", "1"},
      {"SETEX", "k", "100", "another length"},
      {"SETNX", kNewName, kLong},
      {"SETRANGE", "k", "20000", "x"},
      {"SETRANGE", "block", "200000", "x"},
      {"SINTERSTORE", "k", "large", "set"},
      {"SMOVE", "set", "large", "1"},
      {"SMOVE", "large", "new", "a"},
      {"SMOVE", "timed set", "set", "b"},
      {"SMOVE", "timed set", "new", "a"},
      {"COPY", "timed set", "new"},
      {"COPY", "timed zset", "new"},
      {"SPOP", "large", "100"},
      {"SREM", "set", "a", "b", "1"},
      {"SUNIONSTORE", "set", "set", "large", "ints"},
      {"SORT", "list", "ALPHA", "BY", kNewName + "*", "STORE", "new"},
      {"SORT", "nodes", "BY", "nosort", "GET", "#", "STORE", "block"},
      {"SORT", "nodes", "LIMIT", "0", "0", "STORE", "block"},
      {"SWAPDB", "0", "1"},
      {"UNLINK", "k", "block"},
      {"SET", "k", "v", "TAGS", "2", kNewName, "t"},
      {"TAG", "k", kNewName, "t"},
      {"SET", "k", "v", "EX", "100", "INTO", kNewName},
      {"EXPIRE", "large", "100", "INTO", kNewName},
      {"EXPIRE", "timed set", "100", "INTO", "stream", "MAXLEN", "7"},
      {"DRAIN", "stream"},
      {"INVALIDATE", "t"},
      {"XADD", "stream", "2-1", "f", "v", kNewName, kLong},
      {"XADD", "stream", "MAXLEN", "1", "2-1", "f", "v"},
      {"XADD", "new", "2-1", "f", "v"},
      {"XDEL", "stream", "1-1", "1-2"},
      {"XACK", "stream", "group", "1-1"},
      {"XACKDEL", "stream", "group", "DELREF", "IDS", "1", "1-1"},
      {"XAUTOCLAIM", "stream", "group", kLong, "0", "0"},
      {"XCLAIM", "stream", "group", kLong, "0", "1-1", "1-2", "FORCE"},
      {"XDELEX", "stream", "DELREF", "IDS", "1", "1-1"},
      {"XGROUP", "CREATE", "stream", kLong, "0"},
      {"XGROUP", "CREATE", "new", "group", "0", "MKSTREAM"},
      {"XGROUP", "CREATECONSUMER", "stream", "group", kLong},
      {"XGROUP", "DELCONSUMER", "stream", "group", "consumer"},
      {"XGROUP", "DESTROY", "stream", "group"},
      {"XREADGROUP", "GROUP", "group", kLong, "STREAMS", "stream", ">"},
      {"XREADGROUP", "GROUP", "read", kLong, "BLOCK", "0", "STREAMS", "stream", ">"},
      {"XREADGROUP", "GROUP", "group", "consumer", "STREAMS", "stream", "0"},
      {"XSETID", "stream", "5-5"},
      {"XTRIM", "stream", "MAXLEN", "1"},
      {"ZADD", "zset", "2.5", "d"},
      {"ZADD", "zset", "5", "a"},
      {"ZADD", "zset", "1", kLong},
      {"ZADD", "large zset", "2", "d"},
      {"ZADD", "large zset", "5", "a"},
      {"ZADD", "new", "1", "a", "2", kLong, "3", kNewName},
      {"ZDIFFSTORE", "new", "2", "large zset", "zset"},
      {"ZINCRBY", "zset", "1.5", "a"},
      {"ZINCRBY", "large zset", "5", "b"},
      {"ZINTERSTORE", "zset", "2", "large zset", "zset"},
      {"ZMPOP", "2", "new", "large zset", "MIN", "COUNT", "2"},
      {"ZPOPMAX", "large zset"},
      {"ZPOPMIN", "zset", "3"},
      {"ZRANGESTORE", "new", "large zset", "0", "-1"},
      {"ZREM", "large zset", "b", kLong},
      {"ZREM", "zset", "b"},
      {"ZREMRANGEBYLEX", "zset", "-", "+"},
      {"ZREMRANGEBYRANK", "large zset", "0", "1"},
      {"ZREMRANGEBYSCORE", "zset", "1", "2"},
      {"ZUNIONSTORE", "new", "2", "large zset", "zset"},

      {"GET", "block"},
      {"HGETALL", "wide hash"},
      {"HRANDFIELD", "hash", "2", "WITHVALUES"},
      {"HSCAN", "hash", "0"},
      {"XRANGE", "stream", "-", "+"},
      {"XREAD", "STREAMS", "stream", "0"},
      {"XREAD", "BLOCK", "0", "STREAMS", "stream", "$"},
      {"SMEMBERS", "large"},
      {"SRANDMEMBER", "large", "2"},
      {"SUNION", "large", "ints"},
      {"MGET", "k", "block", "absent"},
      {"PEEK", "block"},
      {"BIGKEYS"},
      {"CONFIG", "SET", "expire-log-size", "0"},
      {"EXPLOG", "INFO"},
      {"EXPLOG", "READ", "0", "VALUES"},
      {"EXPLOG", "READ", "$", "BLOCK", "0"},
      {"EXPLOG", "ACK", "0"},
      {"HOTKEYS"},
      {"GETTTL", "timed"},
      {"MGETTTL", "k", "block", "absent", "timed"},
      {"KEYS", "*"},
      {"SCAN", "0", "MATCH", "*", "COUNT", "100"},
      {"LCS", "k", "other", "IDX"},
      {"LPOS", "nodes", "b", "COUNT", "0"},
      {"LRANGE", "nodes", "0", "-1"},
      {"SORT_RO", "list", "ALPHA", "DESC", "GET", "*", "GET", "#"},
      {"RANDOMKEY"},
      {"OBJECT", "ENCODING", "k"},
      {"CONFIG", "SET", "maxmemory-policy", "allkeys-lfu", "maxmemory", "1gb", "hz", "50"},
      {"CONFIG", "SET", "miss-ring-entries", "100000", "shadow-list", "yes"},
      {"CONFIG", "SET", "namespace",
       "held prefix timed maxmemory 1mb a-namespace-of prefix another-prefix-of-many-letters"},
      {"CONFIG", "SET", "requirepass", "a password that is too long to lie in a string"},
      {"CONFIG", "SET", "maxmemory", "nonsense"},
      {"CONFIG", "GET", "maxmemory*", "save"},
      {"CONFIG", "RESETSTAT"},
      {"CLIENT", "SETNAME", kNewName},
      {"CLIENT", "SETINFO", "LIB-NAME", kNewName},
      {"CLIENT", "REPLY", "OFF"},
      {"CLIENT", "REPLY", "SKIP"},
      {"CLIENT", "NO-TOUCH", "ON"},
      {"CLIENT", "LIST"},
      {"CLIENT", "PAUSE", "100"},
      {"CLIENT", "KILL", "TYPE", "normal"},
      {"HELLO", "3", "SETNAME", "a-name-that-is-too-long-to-lie-in-a-string"},
      {"INFO", "everything"},
      {"COMMAND", "DOCS", "GET"},
      {"COMMAND", "GETKEYS", "MSET", "a", "1", "b", "2"},
      {"ZRANGE", "large zset", "0", "-1", "WITHSCORES"},
      {"ZUNION", "2", "large zset", "set"},
      {"ZSCAN", "large zset", "0"},
      {"ZRANDMEMBER", "zset", "2"},
      {"MEMORY", "STATS"},
      {"MEMORY", "DOCTOR"},
      {"DEBUG", "DIGEST"},
      {"SELECT", "3"},
      {"RESET"},
      {"QUIT"},
      {"NOSUCHCOMMAND", kNewName, kLong},
      {"CONFIG", "NOSUCHSUBCOMMAND"},
      {"GET"},
      {"GET", "k", "k"},
  };
}

}  // namespace

TEST_CASE("the requests that find no memory in these tests are all that write keys") {
  std::set<std::string> listed;
  for (const Words& words : Requests()) listed.insert(words[0]);
  const CommandTable table;
  for (const TableRow* row : table.rows()) {
    if ((row->command->flags & kWrite) == 0) continue;
    std::string name = row->full_name;
    for (char& c : name) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    INFO(name);
    CHECK(listed.contains(name));
  }
}

TEST_CASE(
    "whichever allocation of a request fails, it is answered or its client closed, and it is done or not "
    "done") {
  size_t failures = 0;
  for (const Words& words : Requests()) {
    INFO(words[0] << " " << (words.size() > 1 ? words[1].substr(0, 50) : ""));
    World calm(kBefore);
    const std::string before = calm.Digest();
    calm.Run(calm.client, words);
    const std::string after = calm.Digest();
    for (size_t nth = 1;; ++nth) {
      World world(kBefore);
      REQUIRE(world.Digest() == before);
      world.Run(world.client, words, nth);
      if (!AllocationFailed()) break;
      ++failures;
      INFO("allocation " << nth);
      const std::string output = OutputText(world.client.output);
      const bool closed = world.client.Has(Mode::kDropped) || world.no_room;
      const std::string digest = world.Digest();
      CHECK(world.Valid());
      CHECK((digest == before || digest == after));
      if (!closed && output == kOom) CHECK(digest == before);
      if (!closed && output != kOom) CHECK(digest == after);
      if (!closed && output.empty()) CHECK((words[1] == "REPLY" || world.client.parked != nullptr));
      CHECK(world.Works());
      REQUIRE(nth < 20'000);
    }
  }
  CHECK(failures > 300);
}

TEST_CASE("a pipeline goes on after a request that found no memory") {
  const std::string requests = EncodeRequest({"SET", "a", kLong}) + EncodeRequest({"SET", "b", "v"}) +
                               EncodeRequest({"NOSUCHCOMMAND"}) + EncodeRequest({"GET", "b"});
  for (size_t nth = 1;; ++nth) {
    World world(kBefore);
    world.RunRaw(world.client, requests, nth);
    if (!AllocationFailed()) break;
    INFO("allocation " << nth);
    const std::string output = OutputText(world.client.output);
    const bool found = !output.ends_with("$-1\r\n");  // a value takes a line more
    if (!world.client.Has(Mode::kDropped) && !world.no_room)
      CHECK(std::count(output.begin(), output.end(), '\n') == (found ? 5 : 4));
    CHECK(world.Works());
  }
}

TEST_CASE("a broken request finds no memory for its error") {
  for (size_t nth = 1;; ++nth) {
    World world(kBefore);
    world.server.chunks.Trim(0);  // so that the reply needs memory, too
    world.RunRaw(world.client, "*1\r\nbroken\r\n", nth);
    if (!AllocationFailed()) break;
    CHECK_FALSE(world.server.chunks.TakeFailed());  // or the next client would be closed for it
    CHECK((world.client.Has(Mode::kDropped) || world.client.Has(Mode::kEnding) || world.no_room));
    CHECK(world.Works());
  }
}

TEST_CASE(
    "requests that a pause holds back find no memory: when they are held, when the pause ends, when they "
    "run") {
  enum class Fails { kHolding, kEnding, kRunning };
  const Fails when = GENERATE(Fails::kHolding, Fails::kEnding, Fails::kRunning);
  const Words held = {"MSET", "k", kLong, kNewName, "v", "n", "a longer value than before"};
  size_t failures = 0;
  for (size_t nth = 1;; ++nth) {
    World world(kBefore);
    const std::string before = world.Digest();
    world.Run(world.bystander, {"CLIENT", "PAUSE", "100"});
    world.Run(world.client, held, when == Fails::kHolding ? nth : 0);
    bool failed = AllocationFailed();
    CHECK(world.Digest() == before);
    world.Run(world.bystander, {"CLIENT", "UNPAUSE"}, when == Fails::kEnding ? nth : 0);
    failed = failed || AllocationFailed();
    if (world.server.parking.paused() != PauseOf::kNobody) {
      CHECK(world.bystander.output.empty() == false);
      world.server.parking.Unpause();
    }
    world.RunWoken(when == Fails::kRunning ? nth : 0);
    failed = failed || AllocationFailed();
    INFO("allocation " << nth);
    CHECK(world.client.parked == nullptr);
    const std::string output = OutputText(world.client.output);
    if (output == "+OK\r\n") {
      CHECK(world.Digest() != before);
    } else {
      CHECK((world.client.Has(Mode::kDropped) || world.no_room || output == kOom));
      if (output == kOom) CHECK(world.Digest() == before);
    }
    world.bystander.Clear(Mode::kDropped);
    CHECK(world.Works());
    if (!failed) break;
    ++failures;
  }
  CHECK(failures >= (when == Fails::kEnding ? 0 : 2));
}

TEST_CASE("eviction finds no memory to remember its candidates, and evicts all the same") {
  for (const char* policy : {"allkeys-lfu", "volatile-lfu", "allkeys-lru", "allkeys-sieve", "volatile-ttl",
                             "allkeys-s3fifo", "volatile-s3fifo"}) {
    for (size_t nth = 1;; ++nth) {
      World world(kBefore);
      world.Run(world.client, {"CONFIG", "SET", "maxmemory-policy", policy});
      for (int i = 0; i < 20; ++i)
        world.Run(world.client, {"SET", kNewName + std::to_string(i), "v", "EX", "100"});
      world.client.output.Clear();
      world.Run(world.client, {"CONFIG", "SET", "maxkeys", "10"});
      const size_t keys = world.server.databases.total_keys();
      {
        const FailingAllocation failing(nth);
        while (world.server.executor.EvictSome(5)) {
        }
      }
      CHECK(world.server.databases.total_keys() == 10);
      CHECK(keys > 20);
      CHECK(world.Valid());
      if (!AllocationFailed()) break;
    }
  }
}

TEST_CASE("a client for whose requests there is no memory disturbs no other client of its batch") {
  Words many{"MGET"};
  std::string line = "MGET";
  for (int i = 0; i < 2000; ++i) {
    many.push_back("k");
    line += " k";
  }
  for (const std::string& hungry : {EncodeRequest(many), line + "\r\n"}) {
    const std::string request = EncodeRequest({"SET", "seen", "right"});
    for (size_t nth = 1;; ++nth) {
      INFO(nth);
      World world(kBefore);
      world.server.executor.RefreshNow();
      std::array<Feed, 2> feeds{Feed{.session = &world.client, .input = hungry},
                                Feed{.session = &world.bystander, .input = request}};
      {
        const FailingAllocation failing_allocation(nth);
        world.server.executor.Run(feeds);
      }
      const std::string reply = OutputText(world.bystander.output);
      const bool closed = world.bystander.Has(Mode::kDropped) || feeds[1].state == Feed::State::kNoRoom;
      const bool failed = AllocationFailed();
      REQUIRE((closed || reply == "+OK\r\n" || reply == kOom));
      if (reply == "+OK\r\n") {
        world.bystander.output.Clear();
        world.Run(world.bystander, {"GET", "seen"});
        REQUIRE(OutputText(world.bystander.output) == "$5\r\nright\r\n");
      }
      if (!failed) break;
    }
  }
}

}  // namespace mayfly::testing

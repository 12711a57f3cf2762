// The events of the change point beside the keyspace notifications of a real redis-server: the same requests
// make the same events, in the same order for each key.
#include <algorithm>
#include <map>

#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

using Lines = std::vector<std::string>;

class EventsTest : public CommandTest {
 public:
  EventsTest()
      : oracle_({"--notify-keyspace-events", "KEAn", "--databases", "16", "--enable-debug-command", "yes"}),
        listener_(oracle_) {
    const std::string pattern = "__keyevent@*";
    listener_.AskUntil(EncodeRequest({"PSUBSCRIBE", pattern}), ":1\r\n");
  }

  std::string AskRedis(const Words& request) { return oracle_.Ask(EncodeRequest(request), 1).front(); }
  void RunBoth(const Words& request) {
    AskRedis(request);
    Run(request);
  }
  // What both have reported since the last call, by key.
  using Events = std::map<std::string, Lines>;
  Events OfRedis() {
    const std::string end = "__keyevent@* no more";
    oracle_.Ask(EncodeRequest({"PUBLISH", end, "events"}), 1);
    const std::string bytes = listener_.AskUntil("", "$6\r\nevents\r\n");
    Events events;
    for (const Reply& message : TakeReplies(bytes)) {
      const std::string& channel = message.elements[2].text;
      if (channel == end) continue;
      const size_t at = channel.find('@') + 1;
      const std::string database = channel.substr(at, channel.find('_', at) - at);
      events[message.elements[3].text + " in " + database].push_back(channel.substr(channel.find(':') + 1));
    }
    return events;
  }
  Events OfMayfly() {
    Events events;
    for (const std::string& line : TakeChanges()) {
      const size_t space = line.find(' ');
      const std::string event = line.substr(0, space);
      if (event == "absent" || space == std::string::npos) continue;
      std::string key = line.substr(space + 1);
      if (key.find(" in ") == std::string::npos) key += " in 0";
      Lines& lines = events[key];
      // Redis deletes what RENAME, COPY and RESTORE replace and adds it again.
      const bool replaces = event == "rename_to" || event == "copy_to" || event == "restore";
      if (replaces && (lines.empty() || lines.back() != "new")) lines.push_back("new");
      lines.push_back(event);
    }
    return events;
  }

 private:
  Oracle oracle_;
  OracleClient listener_;
};

const std::string kLong(20'000, 'x');
// A text, as a redis-server 7.0 has dumped it.
const std::string kPayload("\0\1v\n\0\x91\x08\xce\xb2\x19\x38\x8a\xce", 13);

// Every command of Redis 7.0 that writes, in the order of their names.
const std::vector<Words> kRequests = {
    {"APPEND", "k", "more"},
    {"APPEND", "block", "more"},
    {"APPEND", "absent", "v"},
    {"APPEND", "k", ""},
    {"BITFIELD", "k", "GET", "u8", "0"},
    {"BITFIELD", "k", "SET", "u8", "0", "118"},
    {"BITFIELD", "k", "SET", "u8", "0", "0"},
    {"BITFIELD", "k", "SET", "u8", "100", "0"},
    {"BITFIELD", "k", "OVERFLOW", "FAIL", "INCRBY", "u2", "0", "100"},
    {"BITFIELD", "absent", "SET", "u8", "0", "0"},
    {"BITFIELD", "block", "INCRBY", "u8", "0", "0"},
    {"BITOP", "OR", "k", "n"},
    {"BITOP", "OR", "absent", "k"},
    {"BITOP", "AND", "k", "none", "none"},
    {"BITOP", "AND", "absent", "none", "none"},
    {"BLMOVE", "l", "lone", "LEFT", "RIGHT", "0"},
    {"BLMPOP", "0", "2", "absent", "l", "LEFT", "COUNT", "9"},
    {"BLPOP", "absent", "lone", "0"},
    {"BRPOP", "l", "0"},
    {"BRPOPLPUSH", "lone", "lone", "0"},
    {"BZMPOP", "0", "1", "z", "MIN", "COUNT", "2"},
    {"BZPOPMAX", "absent", "z", "0"},
    {"BZPOPMIN", "z", "0"},
    {"COPY", "k", "absent"},
    {"COPY", "l", "absent"},
    {"COPY", "timed", "k", "REPLACE"},
    {"COPY", "k", "n"},
    {"COPY", "k", "k", "DB", "3"},
    {"DECR", "n"},
    {"DECRBY", "absent", "3"},
    {"DEL", "k", "absent", "n", "k"},
    {"EXPIRE", "k", "100"},
    {"EXPIRE", "k", "-1"},
    {"EXPIRE", "absent", "100"},
    {"EXPIRE", "k", "100", "XX"},
    {"EXPIREAT", "timed", "9000000000"},
    {"EXPIREAT", "k", "1"},
    {"FLUSHDB"},
    {"GEOADD", "geo", "14", "38", "r"},
    {"GEOADD", "geo", "NX", "14", "38", "p"},
    {"GEORADIUS", "geo", "15", "37", "200", "km", "STORE", "absent"},
    {"GEORADIUS", "geo", "15", "37", "1", "m", "STORE", "k"},
    {"GEORADIUSBYMEMBER", "geo", "p", "200", "km", "STOREDIST", "geo"},
    {"GEOSEARCHSTORE", "absent", "geo", "FROMLONLAT", "15", "37", "BYRADIUS", "200", "km"},
    {"GEOSEARCHSTORE", "z", "none", "FROMLONLAT", "15", "37", "BYRADIUS", "200", "km"},
    {"GETDEL", "k"},
    {"GETEX", "k"},
    {"GETEX", "k", "EX", "100"},
    {"GETEX", "k", "PERSIST"},
    {"GETEX", "timed", "PERSIST"},
    {"GETEX", "k", "PXAT", "1"},
    {"GETSET", "k", "w"},
    {"GETSET", "absent", "w"},
    {"HDEL", "hash", "f", "none"},
    {"HDEL", "hash", "none"},
    {"HDEL", "hash", "f", "n"},
    {"HINCRBY", "hash", "n", "2"},
    {"HINCRBY", "absent", "n", "2"},
    {"HINCRBY", "hash", "f", "2"},
    {"HINCRBYFLOAT", "hash", "n", "0.5"},
    {"HMSET", "hash", "f", "w"},
    {"HSET", "hash", "f", "v"},
    {"HSET", "hash", "g", "w", "h", kLong},
    {"HSET", "absent", "f", "v"},
    {"HSETNX", "hash", "f", "w"},
    {"HSETNX", "hash", "g", "w"},
    {"INCR", "n"},
    {"INCR", "k"},
    {"INCRBY", "absent", "3"},
    {"INCRBYFLOAT", "n", "0.5"},
    {"LINSERT", "l", "BEFORE", "b", "x"},
    {"LINSERT", "l", "AFTER", "none", "x"},
    {"LMOVE", "l", "absent", "LEFT", "RIGHT"},
    {"LMOVE", "l", "l", "LEFT", "RIGHT"},
    {"LMOVE", "l", "l", "LEFT", "LEFT"},
    {"LMOVE", "lone", "l", "RIGHT", "LEFT"},
    {"LMOVE", "lone", "lone", "RIGHT", "LEFT"},
    {"LMPOP", "2", "absent", "l", "RIGHT", "COUNT", "2"},
    {"LPOP", "l"},
    {"LPOP", "lone"},
    {"LPOP", "l", "10"},
    {"LPOP", "l", "0"},
    {"LPUSH", "l", "x", "y"},
    {"LPUSH", "absent", "x"},
    {"LPUSHX", "l", "x"},
    {"LPUSHX", "absent", "x"},
    {"LREM", "l", "0", "a"},
    {"LREM", "l", "0", "none"},
    {"LREM", "lone", "0", "a"},
    {"LSET", "l", "0", "a"},
    {"LTRIM", "l", "0", "-1"},
    {"LTRIM", "l", "1", "1"},
    {"LTRIM", "l", "5", "1"},
    {"MOVE", "timed", "5"},
    {"MOVE", "absent", "5"},
    {"MSET", "k", "w", "absent", "1", "k", "2", "block", "small"},
    {"MSETNX", "k", "w", "absent", "1"},
    {"MSETNX", "a", "w", "absent", kLong},
    {"PERSIST", "k"},
    {"PERSIST", "timed"},
    {"PEXPIRE", "block", "100000"},
    {"PEXPIREAT", "k", "9000000000000"},
    {"PFADD", "h", "x"},
    {"PFADD", "h", "a"},
    {"PFADD", "h"},
    {"PFADD", "absent"},
    {"PFDEBUG", "TODENSE", "h"},
    {"PFDEBUG", "GETREG", "h"},
    {"PFMERGE", "absent", "h"},
    {"PFMERGE", "h", "absent"},
    {"PSETEX", "k", "100000", "w"},
    {"PSETEX", "absent", "100000", "w"},
    {"RENAME", "k", "absent"},
    {"RENAME", "block", "timed"},
    {"RENAME", "k", "k"},
    {"RENAMENX", "k", "n"},
    {"RENAMENX", "timed", "absent"},
    {"RESTORE-ASKING", "absent", "0", kPayload},
    {"RESTORE", "absent", "0", kPayload},
    {"RESTORE", "absent", "100000", kPayload},
    {"RESTORE", "absent", "1", kPayload, "ABSTTL"},
    {"RESTORE", "k", "0", kPayload},
    {"RESTORE", "k", "1", kPayload, "ABSTTL", "REPLACE"},
    {"RESTORE", "timed", "0", kPayload, "REPLACE"},
    {"RPOP", "lone"},
    {"RPOP", "l", "2"},
    {"RPOPLPUSH", "lone", "absent"},
    {"RPOPLPUSH", "l", "lone"},
    {"RPUSH", "l", "x"},
    {"RPUSH", "absent", "x"},
    {"RPUSHX", "l", "x"},
    {"SADD", "s", "a", "d"},
    {"SADD", "s", "a"},
    {"SADD", "absent", "a"},
    {"SDIFFSTORE", "absent", "s", "t"},
    {"SDIFFSTORE", "s", "s", "s"},
    {"SDIFFSTORE", "none", "s", "s"},
    {"SET", "k", "w"},
    {"SET", "k", kLong},
    {"SET", "absent", "w"},
    {"SET", "absent", "w", "XX"},
    {"SET", "timed", "w", "KEEPTTL"},
    {"SET", "k", "w", "EX", "100", "GET"},
    {"SET", "k", "w", "PXAT", "9000000000000"},
    {"SET", "absent", "w", "EX", "100", "NX"},
    {"SETBIT", "k", "1", "1"},
    {"SETBIT", "k", "1", "0"},
    {"SETBIT", "n", "1", "0"},
    {"SETBIT", "k", "100", "0"},
    {"SETBIT", "absent", "1", "0"},
    {"SETBIT", "block", "1", "1"},
    {"SETBIT", "block", "2000000", "0"},
    {"SETEX", "k", "100", "w"},
    {"SETNX", "k", "w"},
    {"SETNX", "absent", "w"},
    {"SETRANGE", "k", "1", "ab"},
    {"SETRANGE", "k", "1", ""},
    {"SETRANGE", "block", "1", "ab"},
    {"SETRANGE", "absent", "1", "ab"},
    {"SINTERSTORE", "k", "s", "t"},
    {"SINTERSTORE", "s", "s", "absent"},
    {"SMOVE", "s", "t", "a"},
    {"SMOVE", "s", "t", "b"},
    {"SMOVE", "s", "absent", "a"},
    {"SMOVE", "s", "t", "x"},
    {"SMOVE", "one", "t", "1"},
    {"SPOP", "one"},
    {"SPOP", "s"},
    {"SPOP", "s", "2"},
    {"SPOP", "s", "3"},
    {"SPOP", "s", "0"},
    {"SREM", "s", "a", "x"},
    {"SREM", "s", "x"},
    {"SREM", "s", "a", "b", "c"},
    {"SUNIONSTORE", "s", "s", "t"},
    {"SUNIONSTORE", "s", "absent"},
    {"SORT", "l", "ALPHA", "STORE", "absent"},
    {"SORT", "l", "ALPHA", "STORE", "k"},
    {"SORT", "l", "ALPHA", "STORE", "l"},
    {"SORT", "l", "BY", "none"},
    {"SORT", "nokey", "STORE", "timed"},
    {"SORT", "nokey", "STORE", "absent"},
    {"SWAPDB", "0", "3"},
    {"UNLINK", "k", "absent"},
    {"XADD", "x", "*", "f", "v"},
    {"XADD", "x", "MAXLEN", "1", "*", "f", "v"},
    {"XADD", "absent", "NOMKSTREAM", "*", "f", "v"},
    {"XADD", "absent", "1-1", "f", "v"},
    {"XACK", "x", "group", "1-1"},
    {"XACK", "x", "group", "2-1"},
    {"XAUTOCLAIM", "x", "group", "other", "0", "0"},
    {"XAUTOCLAIM", "x", "group", "consumer", "0", "0"},
    {"XCLAIM", "x", "group", "other", "0", "1-1"},
    {"XDEL", "x", "1-1"},
    {"XDEL", "x", "9-9"},
    {"XGROUP", "CREATE", "x", "new", "0"},
    {"XGROUP", "CREATE", "x", "group", "0"},
    {"XGROUP", "CREATE", "absent", "new", "0", "MKSTREAM"},
    {"XGROUP", "CREATE", "absent", "new", "0"},
    {"XGROUP", "CREATECONSUMER", "x", "group", "other"},
    {"XGROUP", "CREATECONSUMER", "x", "group", "consumer"},
    {"XGROUP", "DELCONSUMER", "x", "group", "consumer"},
    {"XGROUP", "DELCONSUMER", "x", "group", "other"},
    {"XGROUP", "DESTROY", "x", "group"},
    {"XGROUP", "DESTROY", "x", "none"},
    {"XGROUP", "SETID", "x", "group", "0"},
    {"XREADGROUP", "GROUP", "group", "consumer", "STREAMS", "x", ">"},
    {"XREADGROUP", "GROUP", "group", "other", "STREAMS", "x", ">"},
    {"XREADGROUP", "GROUP", "group", "consumer", "STREAMS", "x", "0"},
    {"XREADGROUP", "GROUP", "group", "other", "STREAMS", "x", "0"},
    {"XSETID", "x", "8-8"},
    {"XTRIM", "x", "MAXLEN", "1"},
    {"XTRIM", "x", "MAXLEN", "100"},
    {"ZADD", "z", "1", "a", "9", "d"},
    {"ZADD", "z", "1", "a"},
    {"ZADD", "z", "XX", "5", "a"},
    {"ZADD", "z", "INCR", "5", "a"},
    {"ZADD", "absent", "1", "a", "1", "b"},
    {"ZADD", "absent", "XX", "1", "a"},
    {"ZDIFFSTORE", "absent", "2", "z", "y"},
    {"ZDIFFSTORE", "z", "2", "z", "z"},
    {"ZINCRBY", "z", "1", "a"},
    {"ZINCRBY", "z", "0", "a"},
    {"ZINCRBY", "absent", "1", "a"},
    {"ZINTERSTORE", "k", "2", "z", "y"},
    {"ZINTERSTORE", "z", "2", "z", "absent"},
    {"ZMPOP", "2", "absent", "z", "MAX", "COUNT", "2"},
    {"ZMPOP", "1", "y", "MIN", "COUNT", "5"},
    {"ZPOPMAX", "z"},
    {"ZPOPMAX", "z", "0"},
    {"ZPOPMIN", "z"},
    {"ZPOPMIN", "y", "2"},
    {"ZRANGESTORE", "absent", "z", "0", "1"},
    {"ZRANGESTORE", "y", "z", "9", "10"},
    {"ZREM", "z", "a", "x"},
    {"ZREM", "z", "x"},
    {"ZREM", "y", "a", "x"},
    {"ZREMRANGEBYLEX", "y", "[a", "[a"},
    {"ZREMRANGEBYLEX", "y", "-", "+"},
    {"ZREMRANGEBYRANK", "z", "0", "0"},
    {"ZREMRANGEBYRANK", "z", "5", "6"},
    {"ZREMRANGEBYSCORE", "z", "1", "2"},
    {"ZREMRANGEBYSCORE", "z", "-inf", "+inf"},
    {"ZUNIONSTORE", "absent", "2", "z", "y"},
    {"ZUNIONSTORE", "z", "1", "absent"},
};

// What Redis 7.0 does not have.
const std::vector<std::string> kOfLaterVersions = {
    "NSFLUSH",        "DELEX",          "DELIFEQ",  "EXPIREMEMBER", "HEXPIRE",
    "HEXPIREAT",      "HGETDEL",        "HGETEX",   "HPERSIST",     "HPEXPIRE",
    "HPEXPIREAT",     "HSETEX",         "INCREX",   "INVALIDATE",   "MSETEX",
    "SADDEX",         "XACKDEL",        "XDELEX",   "DRAIN",        "TAG",
    "SEXPIRE",        "SEXPIREAT",      "SPERSIST", "SPEXPIRE",     "SPEXPIREAT",
    "EXPIREMEMBERAT", "PEXPIREMEMBERAT"};

}  // namespace

TEST_CASE_METHOD(EventsTest, "a request makes the events that Redis notifies of, key by key") {
  for (const Words& request : kRequests) {
    INFO(request[0] << " " << (request.size() > 1 ? request[1] : "") << " "
                    << (request.size() > 2 ? request[2].substr(0, 20) : ""));
    RunBoth({"FLUSHALL"});
    RunBoth({"MSET", "k", "value", "n", "10", "block", kLong});
    RunBoth({"SET", "timed", "value", "EX", "1000"});
    RunBoth({"RPUSH", "l", "a", "b", "c", "a"});
    RunBoth({"RPUSH", "lone", "a"});
    RunBoth({"HSET", "hash", "f", "value", "n", "1"});
    RunBoth({"SADD", "s", "a", "b", "c"});
    RunBoth({"SADD", "t", "b"});
    RunBoth({"PFADD", "h", "a"});
    RunBoth({"SADD", "one", "1"});
    RunBoth({"XADD", "x", "1-1", "f", "v"});
    RunBoth({"XADD", "x", "2-1", "f", "v"});
    RunBoth({"XGROUP", "CREATE", "x", "group", "0"});
    RunBoth({"XREADGROUP", "GROUP", "group", "consumer", "COUNT", "1", "STREAMS", "x", ">"});
    RunBoth({"ZADD", "z", "1", "a", "2", "b", "3", "c"});
    RunBoth({"ZADD", "y", "5", "a", "5", "x"});
    RunBoth({"GEOADD", "geo", "13.361389", "38.115556", "p", "15.087269", "37.502669", "q"});
    OfRedis();
    TakeChanges();
    RunBoth(request);
    CHECK(OfMayfly() == OfRedis());
  }
}

TEST_CASE_METHOD(EventsTest, "what a key that is due leaves behind is one event, whoever finds it") {
  // Else Redis's own cycle may find a key before the next request does.
  CHECK(AskRedis({"DEBUG", "SET-ACTIVE-EXPIRE", "0"}) == "+OK\r\n");
  RunBoth({"MSET", "a", "v", "b", "v"});
  RunBoth({"SET", "a", "v", "PXAT", "1"});
  RunBoth({"SET", "b", "v", "PXAT", "1"});
  RunBoth({"SWAPDB", "0", "7"});
  RunBoth({"SELECT", "7"});
  RunBoth({"GET", "a"});
  RunBoth({"RENAME", "b", "c"});
  CHECK(OfMayfly() == OfRedis());
}

TEST_CASE("the commands whose events are compared are all that write") {
  std::vector<std::string> compared = kOfLaterVersions;
  for (const Words& request : kRequests) compared.push_back(request[0]);
  const CommandTable table;
  for (const TableRow* row : table.rows()) {
    std::string name = row->full_name;
    // MIGRATE needs a target: migrate_test.cc.
    if ((row->command->flags & kWrite) == 0 || name == "flushall" || name == "migrate") continue;
    const auto same = [&](const std::string& other) { return EqualsIgnoringCase(name, other); };
    INFO(name);
    CHECK(std::any_of(compared.begin(), compared.end(), same));
  }
}

TEST_CASE_METHOD(CommandTest, "the events of later versions' commands are those of their elder kin") {
  Run({"MSET", "k", "v", "n", "1"});
  Run({"EXPIRE", "k", "100"});
  TakeChanges();
  Run({"MSETEX", "2", "k", "w", "new", "w", "EX", "100"});
  CHECK(TakeChanges() == Lines{"set k", "expire k", "new new", "set new", "expire new"});
  Run({"MSETEX", "1", "k", "w", "KEEPTTL"});
  CHECK(TakeChanges() == Lines{"set k"});
  Run({"INCREX", "n"});
  Run({"INCREX", "n", "EX", "100"});
  Run({"INCREX", "n", "EX", "100", "ENX"});
  Run({"INCREX", "n", "PERSIST"});
  Run({"INCREX", "n", "BYFLOAT", "0.5"});
  CHECK(TakeChanges() ==
        Lines{"incrby n", "incrby n", "expire n", "incrby n", "incrby n", "persist n", "incrbyfloat n"});
  Run({"DELEX", "k"});
  Run({"DELIFEQ", "new", "w"});
  CHECK(TakeChanges() == Lines{"del k", "del new"});
  Run({"TAG", "n", "t"});
  Run({"INVALIDATE", "t"});
  CHECK(TakeChanges() == Lines{"del n"});
}

TEST_CASE_METHOD(CommandTest,
                 "a change names the client that asked for it, and none when time or memory did") {
  class Askers final : public ChangeListener {
   public:
    void OnChange(const Change& change) override { clients.push_back(change.client); }
    std::vector<uint64_t> clients;
  } askers;
  server().changes.Listen(askers, ChangeHub::kAllReasons);
  TestClient& other = Connect();
  const uint64_t first = client().session().id;
  const uint64_t second = other.session().id;
  Run({"SET", "k", "v", "PX", "10"});
  other.Run({"EXPIRE", "k", "1"});
  Run({"SELECT", "1"});
  Run({"SET", "k", "v"});
  other.Run({"FLUSHALL"});
  CHECK(std::exchange(askers.clients, {}) == std::vector<uint64_t>{first, second, first, second, second});
  other.Run({"SET", "k", "v", "PX", "10"});
  LetTimePass(10);
  other.Run({"GET", "k"});
  other.Run({"SET", "k", "v", "PX", "10"});
  AdvanceTime(10);
  other.Run({"SET", "k", "v"});
  const Now now = server().executor.now();
  keyspace().Evict(*keyspace().Peek(keyspace().KeyOf("k"), now), now);
  CHECK(askers.clients == std::vector<uint64_t>{second, 0, second, 0, second, 0});
  server().changes.Unlisten(askers);
}

}  // namespace mayfly::testing

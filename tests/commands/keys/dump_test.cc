#include "snapshot/format/dump_footer.h"
#include "snapshot/format/types.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

using Lines = std::vector<std::string>;

const Reply kBadVersion = Error("ERR DUMP payload version or checksum are wrong");
const Reply kBadData = Error("ERR Bad data format");
const Reply kBusy = Error("BUSYKEY Target key name already exists.");

class DumpTest : public CommandTest {
 public:
  std::string Dumped(const std::string& key) {
    const Reply payload = Run({"DUMP", key});
    CHECK(payload.kind == Reply::Kind::kBulk);
    return payload.text;
  }
};

// A payload of these bytes with a right checksum.
std::string Payload(std::string value, uint16_t version = 9) {
  rdb::AppendDumpFooter(value, version);
  return value;
}

unsigned VersionOf(const std::string& payload) { return rdb::CheckDumpFooter(payload).value().version; }

const std::string kText = Payload(std::string("\0\1v", 3));

}  // namespace

TEST_CASE_METHOD(DumpTest, "RESTORE makes a key again from what DUMP has answered") {
  Run({"SET", "string", "text"});
  Run({"SET", "number", "-17"});
  Run({"RPUSH", "list", "a", "1", ""});
  Run({"SADD", "set", "1", "2"});
  Run({"HSET", "hash", "f", "v", "g", "7"});
  Run({"ZADD", "zset", "1.5", "a", "-inf", "b"});
  Run({"XADD", "stream", "5-1", "f", "v"});
  const std::vector<std::vector<std::string>> looks = {{"GET", "string"},
                                                       {"GET", "number"},
                                                       {"LRANGE", "list", "0", "-1"},
                                                       {"SCARD", "set"},
                                                       {"HGETALL", "hash"},
                                                       {"ZRANGE", "zset", "0", "-1", "WITHSCORES"},
                                                       {"XRANGE", "stream", "-", "+"}};
  for (const std::vector<std::string>& look : looks) {
    const std::string& key = look[1];
    CAPTURE(key);
    const Reply before = Run(look);
    const Reply encoding = Run({"OBJECT", "ENCODING", key});
    const std::string payload = Dumped(key);
    Run({"DEL", key});
    CHECK(Run({"RESTORE", key, "0", payload}) == Ok());
    CHECK(Run(look) == before);
    CHECK(Run({"OBJECT", "ENCODING", key}) == encoding);
    CHECK(Run({"PTTL", key}) == Integer(-1));
    CHECK(Run({"DUMP", key}) == Bulk(payload));
  }
}

TEST_CASE_METHOD(DumpTest, "a key that does not exist has no payload") {
  CHECK(Run({"DUMP", "absent"}) == Null());
  Run({"SET", "due", "v", "PX", "5"});
  LetTimePass(5);
  CHECK(Run({"DUMP", "due"}) == Null());
  CHECK(Run({"DUMP"}) == Error("ERR wrong number of arguments for 'dump' command"));
}

TEST_CASE_METHOD(DumpTest, "a payload says the smallest version that carries the value") {
  Run({"SET", "string", "v"});
  Run({"RPUSH", "list", "a"});
  Run({"SADD", "set", "a"});
  Run({"HSET", "hash", "f", "v"});
  Run({"ZADD", "zset", "1", "a"});
  Run({"XADD", "stream", "1-1", "f", "v"});
  for (const char* key : {"string", "list", "set", "hash"}) CHECK(VersionOf(Dumped(key)) == 6);
  CHECK(VersionOf(Dumped("zset")) == 8);
  CHECK(VersionOf(Dumped("stream")) == 9);
  Run({"XADD", "stream", "2-1", "f", "v"});
  Run({"XDEL", "stream", "1-1"});
  CHECK(VersionOf(Dumped("stream")) == 10);
  Run({"HPEXPIRE", "hash", "1000", "FIELDS", "1", "f"});
  CHECK(VersionOf(Dumped("hash")) == 12);
}

TEST_CASE_METHOD(DumpTest, "long texts are compressed") {
  Run({"SET", "k", std::string(100'000, 'x')});
  const std::string payload = Dumped("k");
  CHECK(payload.size() < 2000);
  CHECK(Run({"RESTORE", "copy", "0", payload}) == Ok());
  CHECK(Run({"GET", "copy"}) == Bulk(std::string(100'000, 'x')));
}

TEST_CASE_METHOD(DumpTest, "RESTORE refuses to replace a key unless REPLACE is given") {
  Run({"SET", "k", "old", "EX", "100"});
  TakeChanges();
  CHECK(Run({"RESTORE", "k", "0", kText}) == kBusy);
  CHECK(TakeChanges().empty());
  CHECK(Run({"RESTORE", "k", "0", kText, "REPLACE"}) == Ok());
  CHECK(TakeChanges() == Lines{"restore k"});
  CHECK(Run({"GET", "k"}) == Bulk("v"));
  CHECK(Run({"TTL", "k"}) == Integer(-1));
  CHECK(Run({"RESTORE", "new", "0", kText}) == Ok());
  CHECK(TakeChanges() == Lines{"new new", "restore new"});
  Run({"SET", "due", "old", "PX", "5"});
  LetTimePass(5);
  CHECK(Run({"RESTORE", "due", "0", kText}) == Ok());
}

TEST_CASE_METHOD(DumpTest, "the TTL of RESTORE counts from now on, or with ABSTTL is Unix time") {
  CHECK(Run({"RESTORE", "a", "1500", kText}) == Ok());
  CHECK(Run({"PTTL", "a"}) == Integer(1500));
  CHECK(Run({"RESTORE", "b", UnixMs(2500), kText, "ABSTTL"}) == Ok());
  CHECK(Run({"PEXPIRETIME", "b"}) == Integer(WallMs() + 2500));
  StepWallClock(-1000);
  CHECK(Run({"PTTL", "a"}) == Integer(1500));
  CHECK(Run({"PTTL", "b"}) == Integer(3500));
  AdvanceTime(1500);
  CHECK(Run({"EXISTS", "a"}) == Integer(0));
  AdvanceTime(2000);
  CHECK(Run({"EXISTS", "b"}) == Integer(0));
}

TEST_CASE_METHOD(DumpTest, "a key whose deadline is over is not made, and with REPLACE it goes") {
  TakeChanges();
  CHECK(Run({"RESTORE", "k", UnixMs(0), kText, "ABSTTL"}) == Ok());
  CHECK(Run({"RESTORE", "k", "1", kText, "ABSTTL"}) == Ok());
  CHECK(TakeChanges().empty());
  Run({"SET", "k", "old"});
  TakeChanges();
  CHECK(Run({"RESTORE", "k", "1", kText, "ABSTTL"}) == kBusy);
  CHECK(Run({"RESTORE", "k", "1", kText, "ABSTTL", "REPLACE"}) == Ok());
  CHECK(TakeChanges() == Lines{"del k"});
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
}

TEST_CASE_METHOD(DumpTest, "a TTL whose end no time can be is refused, and the key keeps its value") {
  const Reply invalid = Error("ERR invalid expire time in 'restore' command");
  const int64_t most = INT64_MAX - WallMs();
  Run({"SET", "k", "old"});
  for (const int64_t ttl : {INT64_MAX, most + 1}) {
    CHECK(Run({"RESTORE", "k", std::to_string(ttl), kText, "REPLACE"}) == invalid);
    CHECK(Run({"RESTORE", "new", std::to_string(ttl), kText}) == invalid);
  }
  CHECK(Run({"GET", "k"}) == Bulk("old"));
  CHECK(Run({"TTL", "k"}) == Integer(-1));
  CHECK(Run({"EXISTS", "new"}) == Integer(0));
  CHECK(Run({"RESTORE", "new", std::to_string(most), kText}) == Ok());
  CHECK(Run({"PEXPIRETIME", "new"}) == Integer(INT64_MAX));
  CHECK(Run({"RESTORE", "k", std::to_string(INT64_MAX), kText, "ABSTTL", "REPLACE"}) == Ok());
  CHECK(Run({"PEXPIRETIME", "k"}) == Integer(INT64_MAX));
}

TEST_CASE_METHOD(DumpTest, "RESTORE reads its arguments in Redis's order, and says Redis's errors") {
  Run({"SET", "k", "v"});
  const std::string damaged = kText.substr(0, kText.size() - 1);
  CHECK(Run({"RESTORE", "k", "x", damaged, "NOSUCH"}) == Error("ERR syntax error"));
  CHECK(Run({"RESTORE", "k", "x", damaged, "IDLETIME"}) == Error("ERR syntax error"));
  CHECK(Run({"RESTORE", "k", "x", damaged, "IDLETIME", "x"}) ==
        Error("ERR value is not an integer or out of range"));
  CHECK(Run({"RESTORE", "k", "x", damaged, "IDLETIME", "-1"}) ==
        Error("ERR Invalid IDLETIME value, must be >= 0"));
  for (const char* wrong : {"-1", "256"}) {
    CHECK(Run({"RESTORE", "k", "x", damaged, "FREQ", wrong}) ==
          Error("ERR Invalid FREQ value, must be >= 0 and <= 255"));
  }
  CHECK(Run({"RESTORE", "k", "x", damaged, "FREQ", "1", "IDLETIME", "1"}) == Error("ERR syntax error"));
  CHECK(Run({"RESTORE", "k", "x", damaged, "IDLETIME", "1", "FREQ", "1"}) == Error("ERR syntax error"));
  CHECK(Run({"RESTORE", "k", "x", damaged}) == kBusy);
  CHECK(Run({"RESTORE", "new", "x", damaged}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"RESTORE", "new", "-1", damaged}) == Error("ERR Invalid TTL value, must be >= 0"));
  CHECK(Run({"RESTORE", "new", "0", damaged}) == kBadVersion);
  CHECK(Run({"RESTORE", "new", "0"}) == Error("ERR wrong number of arguments for 'restore' command"));
  CHECK(Run({"EXISTS", "new"}) == Integer(0));
}

TEST_CASE_METHOD(DumpTest, "payloads of newer servers, and damaged ones, are refused") {
  const std::string value("\0\1v", 3);
  for (const uint16_t version : {1, 6, 11, 12, 15, 80}) {
    CHECK(Run({"RESTORE", "k" + std::to_string(version), "0", Payload(value, version)}) == Ok());
  }
  for (const uint16_t version : {16, 79, 81, 65535})
    CHECK(Run({"RESTORE", "new", "0", Payload(value, version)}) == kBadVersion);
  for (size_t at = 0; at < kText.size(); ++at) {
    std::string damaged = kText;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    CHECK(Run({"RESTORE", "new", "0", damaged}) == kBadVersion);
  }
  for (size_t size = 0; size < kText.size(); ++size)
    CHECK(Run({"RESTORE", "new", "0", kText.substr(0, size)}) == kBadVersion);
}

TEST_CASE_METHOD(DumpTest, "a value that contradicts itself is refused, although its checksum is right") {
  const std::vector<std::string> values = {
      "",                                                         // no type
      std::string("\0\2v", 3),                                    // a text that ends early
      std::string("\0\1vx", 4),                                   // bytes after the value
      std::string("\1\0", 2),                                     // a list without elements
      std::string("\2\2\1a\1a", 6),                               // a member that occurs twice
      std::string("\6\1\0", 3),                                   // a module's value
      std::string("\7\1\0", 3),                                   // likewise
      "\xFF",                                                     // an opcode
      std::string("\4\x81\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 10),  // a count that is not true
  };
  Run({"SET", "k", "v"});
  for (const std::string& value : values) {
    CHECK(Run({"RESTORE", "new", "0", Payload(value)}) == kBadData);
    CHECK(Run({"RESTORE", "k", "0", Payload(value), "REPLACE"}) == kBadData);
  }
  CHECK(Run({"GET", "k"}) == Bulk("v"));
  CHECK(Run({"EXISTS", "new"}) == Integer(0));
}

TEST_CASE_METHOD(DumpTest, "fields keep their deadlines, and fields that are due do not travel") {
  Run({"HSET", "hash", "a", "1", "b", "2", "c", "3"});
  Run({"HPEXPIRE", "hash", "1000", "FIELDS", "1", "a"});
  Run({"HPEXPIRE", "hash", "5", "FIELDS", "1", "b"});
  LetTimePass(5);
  const std::string payload = Dumped("hash");
  CHECK(Run({"RESTORE", "copy", "0", payload}) == Ok());
  CHECK(Run({"HPEXPIRETIME", "copy", "FIELDS", "3", "a", "b", "c"}) ==
        Array({Integer(WallMs() + 995), Integer(-2), Integer(-1)}));
  AdvanceTime(995);
  CHECK(Run({"HGETALL", "copy"}) == Bulks({"c", "3"}));
}

TEST_CASE_METHOD(DumpTest, "a hash whose fields are all over is not made, and with REPLACE it goes") {
  Run({"HSET", "hash", "a", "1"});
  Run({"HPEXPIRE", "hash", "5", "FIELDS", "1", "a"});
  const std::string payload = Dumped("hash");
  LetTimePass(5);
  CHECK(Run({"DUMP", "hash"}) == Null());
  Run({"SET", "k", "v"});
  TakeChanges();
  CHECK(Run({"RESTORE", "new", "0", payload}) == Ok());
  CHECK(Run({"RESTORE", "k", "0", payload, "REPLACE"}) == Ok());
  CHECK(TakeChanges() == Lines{"del k"});
  CHECK(Run({"EXISTS", "new", "k"}) == Integer(0));
}

TEST_CASE_METHOD(DumpTest, "members of sets travel without their deadlines, unless they are due") {
  Run({"SADD", "set", "a", "b", "c"});
  Run({"SPEXPIRE", "set", "5", "MEMBERS", "1", "a"});
  Run({"SPEXPIRE", "set", "1000", "MEMBERS", "1", "b"});
  LetTimePass(5);
  CHECK(Run({"RESTORE", "copy", "0", Dumped("set")}) == Ok());
  CHECK(Run({"SPTTL", "copy", "MEMBERS", "3", "a", "b", "c"}) ==
        Array({Integer(-2), Integer(-1), Integer(-1)}));
}

TEST_CASE_METHOD(DumpTest, "type 22 has Valkey's meaning in a payload of version 80") {
  std::string value("\x16\1\1f\1v", 6);
  for (size_t i = 0; i < 8; ++i) value.push_back('\xFF');
  CHECK(Run({"RESTORE", "k", "0", Payload(value, 80)}) == Ok());
  CHECK(Run({"HGETALL", "k"}) == Bulks({"f", "v"}));
  CHECK(Run({"RESTORE", "new", "0", Payload(value, 12)}) == kBadData);
  CHECK(Run({"RESTORE", "new", "0", Payload(std::string("\x16\1\0\1f\1v", 7), 12)}) == Ok());
}

TEST_CASE_METHOD(DumpTest,
                 "RESTORE draws no jitter: its TTL is what is left of a deadline that was drawn before") {
  SetOption("ttl-jitter", "50");
  for (int i = 0; i < 20; ++i) {
    CHECK(Run({"RESTORE", "k", "60000", kText, "REPLACE"}) == Ok());
    CHECK(Run({"PTTL", "k"}) == Integer(60'000));
  }
}

TEST_CASE_METHOD(DumpTest, "IDLETIME says how long ago a key was accessed") {
  CHECK(Run({"RESTORE", "k", "0", kText, "IDLETIME", "1000"}) == Ok());
  CHECK(Run({"OBJECT", "IDLETIME", "k"}) == Integer(1000));
  CHECK(Run({"RESTORE", "k", "0", kText, "REPLACE", "IDLETIME", "9223372036854775807"}) == Ok());
  CHECK(Run({"OBJECT", "IDLETIME", "k"}).integer > 8'000'000);
  CHECK(Run({"RESTORE", "k", "0", kText, "REPLACE", "FREQ", "255"}) == Ok());
  CHECK(Run({"OBJECT", "IDLETIME", "k"}) == Integer(0));
}

TEST_CASE_METHOD(DumpTest, "FREQ sets the counter of the LFU policies") {
  SetOption("maxmemory-policy", "allkeys-lfu");
  CHECK(Run({"RESTORE", "k", "0", kText, "FREQ", "200"}) == Ok());
  CHECK(Run({"OBJECT", "FREQ", "k"}) == Integer(200));
  CHECK(Run({"RESTORE", "k", "0", kText, "REPLACE", "IDLETIME", "1000"}) == Ok());
  CHECK(Run({"OBJECT", "FREQ", "k"}) == Integer(5));
}

TEST_CASE_METHOD(DumpTest, "what RESTORE replaces loses its tags") {
  Run({"SET", "k", "v", "TAGS", "1", "t"});
  CHECK(Run({"RESTORE", "k", "0", kText, "REPLACE"}) == Ok());
  CHECK(Run({"INVALIDATE", "t"}) == Integer(0));
  CHECK(Run({"GET", "k"}) == Bulk("v"));
}

}  // namespace mayfly::testing

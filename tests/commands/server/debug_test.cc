#include "support/command_test.h"

namespace mayfly::testing {
namespace {

class DebugTest : public CommandTest {
 public:
  DebugTest() { Allow("yes"); }
  void Allow(const char* whom) { StartWith("enable-debug-command", whom); }
};

}  // namespace

TEST_CASE_METHOD(CommandTest, "DEBUG is refused unless an option allows it") {
  const Reply refused = Run({"DEBUG", "SLEEP", "0"});
  CHECK(refused.kind == Reply::Kind::kError);
  CHECK(refused.text.starts_with(
      "ERR DEBUG command not allowed. If the enable-debug-command option is set to"));
}

TEST_CASE_METHOD(DebugTest, "with enable-debug-command local, DEBUG is for clients on this machine") {
  Allow("local");
  for (const char* peer : {"127.0.0.1:5", "[::1]:5"}) {
    client().session().peer = peer;
    CHECK(Run({"DEBUG", "SLEEP", "0"}) == Ok());
  }
  client().session().peer = "10.0.0.1:5";
  CHECK(Run({"DEBUG", "SLEEP", "0"}).kind == Reply::Kind::kError);
  client().session().over_unix_socket = true;
  CHECK(Run({"DEBUG", "SLEEP", "0"}) == Ok());
}

// Taken from redis-server 7.0.15.
TEST_CASE_METHOD(DebugTest, "DEBUG DIGEST is that of a Redis server with the same keys") {
  const std::string nothing(40, '0');
  CHECK(Run({"DEBUG", "DIGEST"}) == Simple(nothing));
  Run({"SET", "s", "hello"});
  Run({"SET", "i", "123"});
  CHECK(Run({"DEBUG", "DIGEST"}) == Simple("cce65b6a06a621a06562f856790aa45648c9ab24"));
  CHECK(Run({"DEBUG", "DIGEST-VALUE", "s", "i", "nokey"}) ==
        Array({Simple("36b23a1456b2dce2c3ed252c456761301dba8060"),
               Simple("89f7f51b707418f666d5b45e053bd5bbbf82ac2b"), Simple(nothing)}));
  CHECK(Run({"DEBUG", "DIGEST-VALUE"}) == Array({}));
  Run({"SELECT", "3"});
  Run({"SET", "x", std::string(200, 'q')});
  CHECK(Run({"DEBUG", "DIGEST"}) == Simple("ccd23d2a533caa9d5b2053203ab7012fe71c314d"));
  Run({"PEXPIRE", "x", "100000"});
  CHECK(Run({"DEBUG", "DIGEST"}) == Simple("c985df30d382ab97706a0361a8cf69cdc14f84d3"));
  Run({"SELECT", "0"});
  Run({"PEXPIRE", "s", "100"});
  CHECK(Run({"DEBUG", "DIGEST-VALUE", "s"}) != Array({Simple("36b23a1456b2dce2c3ed252c456761301dba8060")}));
}

TEST_CASE_METHOD(DebugTest, "DEBUG OBJECT shows how a value is stored") {
  Run({"SET", "s", "hello"});
  Run({"SET", "i", "123"});
  AdvanceTime(5000);
  const std::string text = Run({"DEBUG", "OBJECT", "s"}).text;
  CHECK(text.starts_with("Value at:0x"));
  CHECK(text.find(" refcount:1 encoding:embstr serializedlength:6 lru:") != std::string::npos);
  CHECK(text.ends_with(" lru_seconds_idle:5"));
  CHECK(Run({"DEBUG", "OBJECT", "i"}).text.find(" encoding:int serializedlength:2 ") != std::string::npos);
  CHECK(Run({"DEBUG", "OBJECT", "nokey"}) == Error("ERR no such key"));
  CHECK(Run({"DEBUG", "LISTPACK", "s"}) == Error("ERR Not a listpack encoded object."));
  CHECK(Run({"DEBUG", "LISTPACK", "nokey"}) == Error("ERR no such key"));
  CHECK(Run({"DEBUG", "HTSTATS-KEY", "s"}) ==
        Error("ERR The value stored at the specified key is not represented using an hash table"));
}

TEST_CASE_METHOD(DebugTest, "DEBUG SET-ACTIVE-EXPIRE 0 leaves expired keys in memory, unseen") {
  CHECK(Run({"DEBUG", "SET-ACTIVE-EXPIRE", "0"}) == Ok());
  Run({"SET", "k", "v", "PX", "10"});
  AdvanceTime(10);
  CHECK(Run({"DBSIZE"}) == Integer(1));
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  Run({"SET", "k", "v", "PX", "10"});
  CHECK(Run({"DEBUG", "SET-ACTIVE-EXPIRE", "1"}) == Ok());
  AdvanceTime(10);
  CHECK(Run({"DBSIZE"}) == Integer(0));
}

TEST_CASE_METHOD(DebugTest, "DEBUG PROTOCOL answers each type in both protocols") {
  const auto ask = [this](const std::string& type) { return RunRaw("DEBUG PROTOCOL " + type + "\r\n"); };
  const std::pair<const char*, const char*> two[] = {
      {"string", "$11\r\nHello World\r\n"},
      {"integer", ":12345\r\n"},
      {"double", "$5\r\n3.141\r\n"},
      {"null", "$-1\r\n"},
      {"array", "*3\r\n:0\r\n:1\r\n:2\r\n"},
      {"set", "*3\r\n:0\r\n:1\r\n:2\r\n"},
      {"map", "*6\r\n:0\r\n:0\r\n:1\r\n:1\r\n:2\r\n:0\r\n"},
      {"attrib", "$39\r\nSome real reply following the attribute\r\n"},
      {"push", "-ERR RESP2 is not supported by this command\r\n"},
      {"verbatim", "$25\r\nThis is a verbatim\nstring\r\n"},
      {"TRUE", ":1\r\n"},
      {"false", ":0\r\n"},
      {"bignum", "$37\r\n1234567999999999999999999999999999999\r\n"}};
  const std::pair<const char*, const char*> three[] = {
      {"double", ",3.141\r\n"},
      {"null", "_\r\n"},
      {"set", "~3\r\n:0\r\n:1\r\n:2\r\n"},
      {"map", "%3\r\n:0\r\n#f\r\n:1\r\n#t\r\n:2\r\n#f\r\n"},
      {"attrib",
       "|1\r\n$14\r\nkey-popularity\r\n*2\r\n$7\r\nkey:123\r\n:90\r\n$39\r\nSome real reply following the "
       "attribute\r\n"},
      {"push", ">2\r\n$16\r\nserver-cpu-usage\r\n:42\r\n$40\r\nSome real reply following the push reply\r\n"},
      {"verbatim", "=29\r\ntxt:This is a verbatim\nstring\r\n"},
      {"true", "#t\r\n"},
      {"false", "#f\r\n"},
      {"bignum", "(1234567999999999999999999999999999999\r\n"}};
  for (const auto& [type, reply] : two) CHECK(ask(type) == reply);
  UseResp3();
  for (const auto& [type, reply] : three) CHECK(ask(type) == reply);
  CHECK(Run({"DEBUG", "PROTOCOL", "foo"}).text.starts_with("ERR Wrong protocol type name."));
}

TEST_CASE_METHOD(DebugTest, "DEBUG VALIDATE looks at every database") {
  Run({"SET", "k", "v", "PX", "10"});
  Run({"SELECT", "3"});
  Run({"HSET", "h", "f", "v"});
  CHECK(Run({"DEBUG", "VALIDATE"}) == Ok());
  CHECK(Run({"DEBUG", "VALIDATE", "x"}).kind == Reply::Kind::kError);
}

// The replies of redis-server 7.0.15.
TEST_CASE_METHOD(DebugTest, "DEBUG POPULATE makes keys, and leaves those that exist") {
  const Reply refused = Error("ERR value is out of range, must be positive");
  Run({"SET", "key:1", "mine"});
  CHECK(Run({"DEBUG", "POPULATE", "3"}) == Ok());
  CHECK(Run({"MGET", "key:0", "key:1", "key:2", "key:3"}) ==
        Array({Bulk("value:0"), Bulk("mine"), Bulk("value:2"), Null()}));
  CHECK(Run({"DEBUG", "POPULATE", "2", "p", "10"}) == Ok());
  CHECK(Run({"GET", "p:1"}) == Bulk(std::string("value:1\0\0\0", 10)));
  CHECK(Run({"DEBUG", "POPULATE", "1", "q", "2"}) == Ok());
  CHECK(Run({"GET", "q:0"}) == Bulk("va"));
  for (const char* count : {"x", "-1", "99999999999999999999"})
    CHECK(Run({"DEBUG", "POPULATE", count}) == refused);
  CHECK(Run({"DEBUG", "POPULATE", "2", "p", "-1"}) == refused);
  CHECK(Run({"DEBUG", "POPULATE", "2", "p", "1", "x"}).text.starts_with("ERR unknown subcommand or wrong"));
  CHECK(Run({"DBSIZE"}) == Integer(6));
  CHECK(Run({"DEBUG", "VALIDATE"}) == Ok());
}

TEST_CASE_METHOD(
    DebugTest,
    "DEBUG SET-DISABLE-DENY-SCRIPTS lets scripts call DEBUG and CONFIG, but nothing that changes "
    "the session or runs scripts") {
  const auto call = [this](const std::vector<std::string>& words) {
    std::vector<std::string> request{"EVAL", "return redis.call(unpack(ARGV))", "0"};
    request.insert(request.end(), words.begin(), words.end());
    return Run(request);
  };
  const std::string refusal = "ERR This Redis command is not allowed from script";
  CHECK(call({"DEBUG", "SLEEP", "0"}).text.starts_with(refusal));
  CHECK(Run({"DEBUG", "SET-DISABLE-DENY-SCRIPTS", "1"}) == Ok());
  CHECK(call({"DEBUG", "SLEEP", "0"}) == Ok());
  CHECK(call({"DEBUG", "POPULATE", "1"}) == Ok());
  CHECK(call({"CONFIG", "GET", "maxmemory-samples"}).elements.size() == 2);
  CHECK(call({"LATENCY", "LATEST"}) == Array({}));
  CHECK(call({"SLOWLOG", "LEN"}).kind == Reply::Kind::kInteger);
  for (const char* name : {"MULTI", "MONITOR", "SHUTDOWN"}) CHECK(call({name}).text.starts_with(refusal));
  CHECK(call({"EVAL", "return 1", "0"}).text.starts_with(refusal));
  CHECK(call({"SUBSCRIBE", "c"}).text.starts_with(refusal));
  CHECK(Run({"DEBUG", "SET-DISABLE-DENY-SCRIPTS", "0"}) == Ok());
  CHECK(call({"DEBUG", "SLEEP", "0"}).text.starts_with(refusal));
}

// The replies of redis-server 7.0.15, and of 8.0.2 for what that lacks.
TEST_CASE_METHOD(DebugTest, "DEBUG takes what steers something that does not exist here") {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"QUICKLIST-PACKED-THRESHOLD", "100b"},
                                             {"QUICKLIST-PACKED-THRESHOLD", "0"},
                                             {"PAUSE-CRON", "1"},
                                             {"REPLYBUFFER", "PEAK-RESET-TIME", "NEVER"},
                                             {"REPLYBUFFER", "PEAK-RESET-TIME", "100"},
                                             {"REPLYBUFFER", "RESIZING", "0"},
                                             {"DICT-RESIZING", "0"},
                                             {"CHANGE-REPL-ID"},
                                             {"REPL-PAUSE", "clear"},
                                             {"SET-SKIP-CHECKSUM-VALIDATION", "1"},
                                             {"AOF-FLUSH-SLEEP", "0"},
                                             {"DROP-CLUSTER-PACKET-FILTER", "-1"}}) {
    INFO(words[0]);
    std::vector<std::string> request{"DEBUG"};
    request.insert(request.end(), words.begin(), words.end());
    CHECK(Run(request) == Ok());
  }
  const Reply bad_size = Error("ERR argument must be a memory value bigger than 1 and smaller than 4gb");
  for (const char* size : {"xx", "5gb"})
    CHECK(Run({"DEBUG", "QUICKLIST-PACKED-THRESHOLD", size}) == bad_size);
  CHECK(Run({"DEBUG", "REPLYBUFFER", "PEAK-RESET-TIME", "z"}) ==
        Error("ERR value is not an integer or out of range"));
  CHECK(Run({"DEBUG", "REPLYBUFFER", "X", "1"}) ==
        Error("ERR unknown subcommand or wrong number of arguments for 'REPLYBUFFER'. Try DEBUG HELP."));
  Run({"SET", "s", "v"});
  CHECK(Run({"DEBUG", "QUICKLIST", "s"}) == Error("ERR Not a quicklist encoded object."));
  for (const char* missing : {"LOADAOF", "RESTART", "LEAK"})
    CHECK(Run({"DEBUG", missing}).text.starts_with("ERR unknown subcommand or wrong number"));
}

TEST_CASE_METHOD(DebugTest, "DEBUG answers what else tests send") {
  CHECK(Run({"DEBUG", "ERROR", "FOO bar"}) == Error("FOO bar"));
  CHECK(Run({"DEBUG", "LOG", "hello"}) == Ok());
  CHECK(Run({"DEBUG", "REPLICATE", "all", "SET", "a", "b"}) == Ok());
  CHECK(Run({"DEBUG", "REPLICATE"}).kind == Reply::Kind::kError);
  CHECK(Run({"DEBUG", "SET-DISABLE-DENY-SCRIPTS", "1"}) == Ok());
  CHECK(Run({"DEBUG", "SLEEP", "x"}) == Ok());
  CHECK(Run({"DEBUG", "HELP"}).elements.size() > 20);
  CHECK_FALSE(Run({"DEBUG", "JMAP"}).text.empty());
  CHECK(Run({"DEBUG", "STRINGMATCH-LEN", "h[ae]llo*", "hallo you"}) == Integer(1));
  CHECK(Run({"DEBUG", "STRINGMATCH-LEN", "h[ae]llo", "hullo"}) == Integer(0));
  CHECK(Run({"DEBUG", "DIGEST", "x"}) ==
        Error("ERR unknown subcommand or wrong number of arguments for 'DIGEST'. Try DEBUG HELP."));
}

TEST_CASE_METHOD(DebugTest, "a client that watches a key hears of DEBUG POPULATE") {
  Run({"WATCH", "key:0"});
  Run({"MULTI"});
  Run({"PING"});
  CHECK(Connect().Run({"DEBUG", "POPULATE", "1"}) == Ok());
  CHECK(Run({"EXEC"}) == NullArray());
}

}  // namespace mayfly::testing

// What clients and cache frameworks rely on, command by command: a case for each, with the catch that made
// another server lose them. Handshakes are in handshake_test.cc; limits on connections (too many clients,
// protected mode) in the integration tests, since they are met before any command. As long as there are only
// strings, no command can meet a key of the wrong type.
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

const Reply kNotInteger = Error("ERR value is not an integer or out of range");
const Reply kSyntax = Error("ERR syntax error");

}  // namespace

TEST_CASE_METHOD(CommandTest, "command names and option words are known in any case") {
  CHECK(Run({"sEt", "k", "v", "eX", "100", "nX"}) == Ok());
  CHECK(Run({"get", "k"}) == Bulk("v"));
  CHECK(Run({"expire", "k", "200", "gt"}) == Integer(1));
  CHECK(Run({"scan", "0", "match", "*", "count", "10", "type", "STRING"}) ==
        Array({Bulk("0"), Bulks({"k"})}));
  CHECK(Run({"client", "setinfo", "Lib-Name", "x"}) == Ok());
  CHECK(Run({"config", "get", "Databases"}) == Bulks({"Databases", "16"}));
}

TEST_CASE_METHOD(CommandTest, "HELLO without a version keeps the protocol, and its reply is in the new one") {
  CHECK(RunRaw("HELLO\r\n").starts_with("*14\r\n"));
  CHECK(RunRaw("HELLO 3\r\n").starts_with("%7\r\n"));
  CHECK(RunRaw("HELLO\r\n").starts_with("%7\r\n"));
  CHECK(RunRaw("HELLO 2\r\n").starts_with("*14\r\n"));
  CHECK(Run({"HELLO", "3", "FOO"}) == Error("ERR Syntax error in HELLO option 'FOO'"));
  CHECK(Run({"HELLO", "3", "AUTH", "default"}) == Error("ERR Syntax error in HELLO option 'AUTH'"));
  CHECK(Run({"HELLO", "three"}) == Error("ERR Protocol version is not an integer or out of range"));
}

TEST_CASE_METHOD(CommandTest, "AUTH takes a password, or a user and a password, and nothing more") {
  SetOption("requirepass", "secret");
  CHECK(Run({"AUTH"}) == Error("ERR wrong number of arguments for 'auth' command"));
  CHECK(Run({"AUTH", "default", "secret", "x"}) == kSyntax);
  CHECK(Run({"AUTH", "nobody", "secret"}) ==
        Error("WRONGPASS invalid username-password pair or user is disabled."));
  CHECK(Run({"GET", "k"}) == Error("NOAUTH Authentication required."));
  CHECK(Run({"AUTH", "default", "secret"}) == Ok());
  CHECK(Run({"GET", "k"}) == Null());
}

TEST_CASE_METHOD(CommandTest, "SELECT knows sixteen databases and says what is wrong with another number") {
  CHECK(Run({"SELECT", "15"}) == Ok());
  CHECK(Run({"SELECT", "16"}) == Error("ERR DB index is out of range"));
  CHECK(Run({"SELECT", "-1"}) == Error("ERR DB index is out of range"));
  CHECK(Run({"SELECT", "x"}) == kNotInteger);
}

TEST_CASE_METHOD(CommandTest, "names have no spaces, and an empty one takes the name away") {
  const Reply bad = Error("ERR Client names cannot contain spaces, newlines or special characters.");
  CHECK(Run({"CLIENT", "SETNAME", "a b"}) == bad);
  CHECK(Run({"CLIENT", "SETNAME", "a\nb"}) == bad);
  CHECK(Run({"CLIENT", "SETNAME", "a"}) == Ok());
  CHECK(Run({"CLIENT", "GETNAME"}) == Bulk("a"));
  CHECK(Run({"CLIENT", "SETNAME", ""}) == Ok());
  CHECK(Run({"CLIENT", "GETNAME"}) == Null());
  CHECK(Run({"CLIENT", "NOSUCH"}) == Error("ERR unknown subcommand 'NOSUCH'. Try CLIENT HELP."));
}

TEST_CASE_METHOD(CommandTest, "INFO takes several sections in any case, and answers nothing for others") {
  CHECK(Run({"INFO", "SERVER"}).text.starts_with("# Server\r\n"));
  const std::string both = Run({"INFO", "memory", "Clients"}).text;
  CHECK(both.find("# Memory\r\n") != std::string::npos);
  CHECK(both.find("# Clients\r\n") != std::string::npos);
  CHECK(both.find("# Server\r\n") == std::string::npos);
  CHECK(Run({"INFO", "nosuch"}) == Bulk(""));
  for (const char* group : {"all", "default", "everything"})
    CHECK(Run({"INFO", group}).text.find("# Server\r\n") != std::string::npos);
}

TEST_CASE_METHOD(CommandTest, "CONFIG GET takes several patterns, and leaves out options that do not exist") {
  const Reply found = Run({"CONFIG", "GET", "maxmem*policy", "DATABASES", "nosuch"});
  CHECK(found.elements.size() == 4);
  CHECK(Run({"CONFIG", "GET", "nosuch"}) == Array({}));
  UseResp3();
  CHECK(Run({"CONFIG", "GET", "nosuch"}) == Map({}));
  CHECK(Run({"CONFIG", "SET", "nosuch", "1"}) ==
        Error("ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'"));
}

TEST_CASE_METHOD(CommandTest,
                 "the error for an unknown command repeats its first arguments on one line, and the client "
                 "stays connected") {
  CHECK(Run({"FOO", "a", "b"}) == Error("ERR unknown command 'FOO', with args beginning with: 'a' 'b' "));
  CHECK(Run({"FOO"}) == Error("ERR unknown command 'FOO', with args beginning with: "));
  CHECK(Run({"FO\r\nO", "a\nb"}) == Error("ERR unknown command 'FO  O', with args beginning with: 'a b' "));
  const std::string longest(128, 'a');
  CHECK(Run({longest + "x", longest + "x", "z"}) ==
        Error("ERR unknown command '" + longest + "', with args beginning with: '" + longest + "' "));
  CHECK(Run({"PING"}) == Simple("PONG"));
}

TEST_CASE_METHOD(CommandTest, "the error for a wrong number of arguments has the name in lower case") {
  CHECK(Run({"GET"}) == Error("ERR wrong number of arguments for 'get' command"));
  CHECK(Run({"CLIENT", "SETNAME"}) == Error("ERR wrong number of arguments for 'client|setname' command"));
  CHECK(Run({"CONFIG", "GET"}) == Error("ERR wrong number of arguments for 'config|get' command"));
}

TEST_CASE_METHOD(CommandTest, "SET takes its options in any order, and a plain one drops the TTL") {
  CHECK(Run({"SET", "k", "1", "NX", "PX", "5000"}) == Ok());
  CHECK(Run({"SET", "k", "2", "NX", "PX", "5000"}) == Null());
  CHECK(Run({"SET", "k", "3", "GET", "KEEPTTL", "XX"}) == Bulk("1"));
  CHECK(Run({"PTTL", "k"}) == Integer(5000));
  CHECK(Run({"SET", "k", "4", "NX", "GET"}) == Bulk("3"));
  CHECK(Run({"SET", "absent", "1", "NX", "GET"}) == Null());
  CHECK(Run({"GET", "absent"}) == Bulk("1"));
  CHECK(Run({"SET", "k", "5"}) == Ok());
  CHECK(Run({"TTL", "k"}) == Integer(-1));
  for (const char* unit : {"EX", "PX", "EXAT", "PXAT"}) {
    CHECK(Run({"SET", "k", "6", unit, "0"}) == Error("ERR invalid expire time in 'set' command"));
    CHECK(Run({"SET", "k", "6", unit, "1", "KEEPTTL"}) == kSyntax);
  }
  CHECK(Run({"SET", "k", "6", "EX", "1", "PX", "1"}) == kSyntax);
  CHECK(Run({"GET", "k"}) == Bulk("5"));
}

TEST_CASE_METHOD(CommandTest, "GETEX without an option is GET, and GETDEL takes the key away") {
  Run({"SET", "k", "v", "EX", "100"});
  CHECK(Run({"GETEX", "k"}) == Bulk("v"));
  CHECK(Run({"TTL", "k"}) == Integer(100));
  CHECK(Run({"GETEX", "k", "PERSIST"}) == Bulk("v"));
  CHECK(Run({"TTL", "k"}) == Integer(-1));
  CHECK(Run({"GETDEL", "k"}) == Bulk("v"));
  CHECK(Run({"GETDEL", "k"}) == Null());
}

TEST_CASE_METHOD(CommandTest, "SETNX and MSETNX count, and MSETNX does all or nothing") {
  CHECK(Run({"SETNX", "a", "1"}) == Integer(1));
  CHECK(Run({"SETNX", "a", "2"}) == Integer(0));
  CHECK(Run({"MSETNX", "b", "1", "a", "2"}) == Integer(0));
  CHECK(Run({"MGET", "a", "b"}) == Array({Bulk("1"), Null()}));
  CHECK(Run({"MSETNX", "b", "1", "c", "2"}) == Integer(1));
}

TEST_CASE_METHOD(CommandTest,
                 "counters keep the TTL, take negative amounts and refuse what they cannot hold") {
  Run({"SET", "n", "10", "EX", "100"});
  CHECK(Run({"INCRBY", "n", "-15"}) == Integer(-5));
  CHECK(Run({"DECRBY", "n", "-5"}) == Integer(0));
  CHECK(Run({"INCRBYFLOAT", "n", "0.5"}) == Bulk("0.5"));
  CHECK(Run({"TTL", "n"}) == Integer(100));
  CHECK(Run({"INCR", "n"}) == kNotInteger);
  CHECK(Run({"INCRBYFLOAT", "n", "x"}) == Error("ERR value is not a valid float"));
  Run({"SET", "n", "9223372036854775807"});
  CHECK(Run({"INCR", "n"}) == Error("ERR increment or decrement would overflow"));
  UseResp3();
  CHECK(Run({"INCRBYFLOAT", "f", "1.5"}) == Bulk("1.5"));
}

TEST_CASE_METHOD(CommandTest, "APPEND of nothing makes the key, as Spring Session needs it") {
  CHECK(Run({"APPEND", "k", ""}) == Integer(0));
  CHECK(Run({"EXISTS", "k"}) == Integer(1));
  CHECK(Run({"TYPE", "k"}) == Simple("string"));
}

TEST_CASE_METHOD(CommandTest, "EXISTS, TOUCH, DEL and UNLINK count keys, EXISTS and TOUCH each time") {
  Run({"MSET", "a", "1", "b", "2", "c", "3"});
  CHECK(Run({"EXISTS", "a", "a", "absent"}) == Integer(2));
  CHECK(Run({"TOUCH", "a", "a", "absent"}) == Integer(2));
  CHECK(Run({"DEL", "a", "a", "absent"}) == Integer(1));
  CHECK(Run({"UNLINK", "b", "c", "absent"}) == Integer(2));
}

TEST_CASE_METHOD(
    CommandTest,
    "EXPIRE answers with numbers, deletes by a past time, and treats no TTL as the longest one") {
  Run({"SET", "k", "v"});
  CHECK(Run({"EXPIRE", "k", "100", "GT"}) == Integer(0));
  CHECK(Run({"EXPIRE", "k", "100", "lt"}) == Integer(1));
  CHECK(Run({"EXPIRE", "k", "200", "NX"}) == Integer(0));
  CHECK(Run({"EXPIRE", "k", "200", "NX", "GT"}) ==
        Error("ERR NX and XX, GT or LT options at the same time are not compatible"));
  CHECK(Run({"EXPIRE", "k", "200", "GT", "LT"}) ==
        Error("ERR GT and LT options at the same time are not compatible"));
  CHECK(Run({"EXPIRE", "k", "200", "x"}) == Error("ERR Unsupported option x"));
  CHECK(Run({"EXPIRE", "absent", "100"}) == Integer(0));
  CHECK(Run({"EXPIREAT", "k", "1"}) == Integer(1));
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "TTL rounds to the nearest second, and distinguishes no key from no TTL") {
  CHECK(Run({"TTL", "k"}) == Integer(-2));
  Run({"SET", "k", "v"});
  for (const char* command : {"TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME"})
    CHECK(Run({command, "k"}) == Integer(-1));
  Run({"PEXPIRE", "k", "1499"});
  CHECK(Run({"TTL", "k"}) == Integer(1));
  Run({"PEXPIRE", "k", "1500"});
  CHECK(Run({"TTL", "k"}) == Integer(2));
  CHECK(Run({"PERSIST", "k"}) == Integer(1));
  CHECK(Run({"PERSIST", "k"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "SCAN's cursor is a text below 2^53, and ends as 0") {
  for (int i = 0; i < 1000; ++i) Run({"SET", "key" + std::to_string(i), "v"});
  size_t keys = 0;
  std::string cursor = "0";
  do {
    const Reply page = Run({"SCAN", cursor, "COUNT", "100"});
    REQUIRE(page.elements.at(0).kind == Reply::Kind::kBulk);
    cursor = page.elements[0].text;
    CHECK(std::stoull(cursor) < uint64_t{1} << 53);
    keys += page.elements.at(1).elements.size();
  } while (cursor != "0");
  CHECK(keys == 1000);
  CHECK(Run({"SCAN", "x"}) == Error("ERR invalid cursor"));
}

TEST_CASE_METHOD(CommandTest, "KEYS has all of the glob's signs") {
  Run({"MSET", "abc", "1", "axc", "1", "a*c", "1"});
  CHECK(Sorted(Run({"KEYS", "a?c"})) == Sorted(Bulks({"abc", "axc", "a*c"})));
  CHECK(Run({"KEYS", "a[a-b]c"}) == Bulks({"abc"}));
  CHECK(Sorted(Run({"KEYS", "a[^b]c"})) == Sorted(Bulks({"axc", "a*c"})));
  CHECK(Run({"KEYS", "a\\*c"}) == Bulks({"a*c"}));
}

TEST_CASE_METHOD(CommandTest, "RENAME keeps the TTL, and reports a missing key in these words") {
  Run({"SET", "a", "v", "EX", "100"});
  CHECK(Run({"RENAME", "absent", "b"}) == Error("ERR no such key"));
  CHECK(Run({"RENAME", "a", "b"}) == Ok());
  CHECK(Run({"TTL", "b"}) == Integer(100));
  CHECK(Run({"COPY", "b", "b"}) == Error("ERR source and destination objects are the same"));
}

TEST_CASE_METHOD(CommandTest, "FLUSHDB and FLUSHALL take ASYNC and SYNC, and answer OK") {
  for (const char* command : {"FLUSHDB", "FLUSHALL"}) {
    Run({"SET", "k", "v"});
    CHECK(Run({command}) == Ok());
    CHECK(Run({command, "ASYNC"}) == Ok());
    CHECK(Run({command, "sync"}) == Ok());
    CHECK(Run({command, "x"}) == kSyntax);
    CHECK(Run({"DBSIZE"}) == Integer(0));
  }
}

TEST_CASE_METHOD(CommandTest, "TIME is two texts, and MEMORY USAGE a number or nothing") {
  const Reply time = Run({"TIME"});
  REQUIRE(time.elements.size() == 2);
  CHECK(time.elements[0].kind == Reply::Kind::kBulk);
  CHECK(time.elements[1].kind == Reply::Kind::kBulk);
  Run({"SET", "k", "v"});
  CHECK(Run({"MEMORY", "USAGE", "k", "SAMPLES", "5"}).kind == Reply::Kind::kInteger);
  CHECK(Run({"MEMORY", "USAGE", "absent"}) == Null());
  CHECK(Run({"OBJECT", "ENCODING", "k"}) == Bulk("embstr"));
  CHECK(Run({"OBJECT", "IDLETIME", "k"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "no error begins with a word that cluster clients act on") {
  for (const TableRow* row : server().commands.rows()) {
    for (const std::vector<std::string>& rest : {std::vector<std::string>{}, {"?"}, {"?", "?", "?"}}) {
      if (row->group == "test" || row->full_name == "shutdown") continue;
      std::vector<std::string> request = {std::string(row->full_name)};
      request.insert(request.end(), rest.begin(), rest.end());
      TestClient& sender = Connect();
      const Reply reply =
          TakeReplies(sender.RunRaw(EncodeRequest(request))).front();  // SUBSCRIBE has several
      if (reply.kind != Reply::Kind::kError) continue;
      INFO(row->full_name << ": " << reply);
      for (const char* word : {"MOVED", "ASK", "CROSSSLOT", "CLUSTERDOWN", "TRYAGAIN", "REDIRECT"})
        CHECK_FALSE(reply.text.starts_with(word));
    }
  }
}

TEST_CASE_METHOD(CommandTest, "null, maps and reports have their own shapes in each protocol") {
  Run({"MSET", "a", "ohmytext", "b", "mynewtext"});
  CHECK(RunRaw("GET absent\r\n") == "$-1\r\n");
  CHECK(Run({"CONFIG", "GET", "databases"}).kind == Reply::Kind::kArray);
  CHECK(Run({"LCS", "a", "b", "IDX"}).kind == Reply::Kind::kArray);
  CHECK(Run({"MEMORY", "STATS"}).kind == Reply::Kind::kArray);
  CHECK(Run({"COMMAND", "DOCS", "get"}).kind == Reply::Kind::kArray);
  CHECK(Run({"INFO", "server"}).kind == Reply::Kind::kBulk);
  CHECK(Run({"CLIENT", "LIST"}).kind == Reply::Kind::kBulk);
  UseResp3();
  CHECK(RunRaw("GET absent\r\n") == "_\r\n");
  for (const std::vector<std::string>& request :
       std::vector<std::vector<std::string>>{{"CONFIG", "GET", "databases"},
                                             {"LCS", "a", "b", "IDX"},
                                             {"MEMORY", "STATS"},
                                             {"COMMAND", "DOCS", "get"}})
    CHECK(Run(request).kind == Reply::Kind::kMap);
  for (const std::vector<std::string>& request : std::vector<std::vector<std::string>>{
           {"INFO", "server"}, {"CLIENT", "LIST"}, {"CLIENT", "INFO"}, {"MEMORY", "DOCTOR"}, {"LOLWUT"}}) {
    const Reply report = Run(request);
    CHECK(report.kind == Reply::Kind::kVerbatim);
    CHECK(report.text.starts_with("txt:"));
  }
  for (const std::vector<std::string>& request :
       std::vector<std::vector<std::string>>{{"EXISTS", "a"}, {"EXPIRE", "a", "100"}, {"SETNX", "a", "v"}})
    CHECK(Run(request).kind == Reply::Kind::kInteger);
  CHECK(Run({"SCAN", "0"}).kind == Reply::Kind::kArray);
}

}  // namespace mayfly::testing

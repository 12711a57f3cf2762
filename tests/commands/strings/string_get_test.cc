#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "GET of an absent key is null in the client's protocol") {
  CHECK(RunRaw("GET absent\r\n") == "$-1\r\n");
  UseResp3();
  CHECK(RunRaw("GET absent\r\n") == "_\r\n");
  CHECK(Run({"GET"}) == Error("ERR wrong number of arguments for 'get' command"));
  CHECK(Run({"GET", "a", "b"}) == Error("ERR wrong number of arguments for 'get' command"));
}

TEST_CASE_METHOD(CommandTest, "MGET answers in the order of its keys") {
  Run({"MSET", "a", "1", "b", "two"});
  CHECK(Run({"MGET", "b", "absent", "a", "b"}) == Array({Bulk("two"), Null(), Bulk("1"), Bulk("two")}));
  UseResp3();
  CHECK(RunRaw("MGET a absent\r\n") == "*2\r\n$1\r\n1\r\n_\r\n");
  CHECK(Run({"MGET"}) == Error("ERR wrong number of arguments for 'mget' command"));
}

TEST_CASE_METHOD(CommandTest, "STRLEN counts bytes, of numbers too") {
  Run({"MSET", "text", "hello", "number", "-1234", "empty", "", "big", std::string(20'000, 'x')});
  CHECK(Run({"STRLEN", "text"}) == Integer(5));
  CHECK(Run({"STRLEN", "number"}) == Integer(5));
  CHECK(Run({"STRLEN", "empty"}) == Integer(0));
  CHECK(Run({"STRLEN", "big"}) == Integer(20'000));
  CHECK(Run({"STRLEN", "absent"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "GETDEL reads a value for the last time") {
  const std::string big(50'000, 'x');
  Run({"MSET", "k", "v", "big", big});
  TakeChanges();
  CHECK(Run({"GETDEL", "k"}) == Bulk("v"));
  CHECK(TakeChanges() == std::vector<std::string>{"del k"});
  CHECK(Run({"GETDEL", "k"}) == Null());
  CHECK(TakeChanges().empty());
  CHECK(Run({"GETDEL", "big"}) == Bulk(big));
  CHECK(Run({"DBSIZE"}) == Integer(0));
  Run({"SET", "k", "v", "PX", "5"});
  LetTimePass(5);
  CHECK(Run({"GETDEL", "k"}) == Null());
  CHECK(Run({"GETDEL"}) == Error("ERR wrong number of arguments for 'getdel' command"));
}

TEST_CASE_METHOD(CommandTest, "GETEX without an option is GET") {
  Run({"SET", "k", "v", "EX", "10"});
  CHECK(Run({"GETEX", "k"}) == Bulk("v"));
  CHECK(Run({"TTL", "k"}) == Integer(10));
  CHECK(Run({"GETEX", "absent"}) == Null());
}

TEST_CASE_METHOD(CommandTest, "GETEX changes the expiry in five ways") {
  Run({"SET", "k", "v"});
  CHECK(Run({"GETEX", "k", "EX", "7"}) == Bulk("v"));
  CHECK(Run({"PTTL", "k"}) == Integer(7000));
  CHECK(Run({"GETEX", "k", "px", "7"}) == Bulk("v"));
  CHECK(Run({"PTTL", "k"}) == Integer(7));
  CHECK(Run({"GETEX", "k", "EXAT", UnixSeconds(7)}) == Bulk("v"));
  CHECK(Run({"EXPIRETIME", "k"}) == Integer(WallMs() / 1000 + 7));
  CHECK(Run({"GETEX", "k", "PXAT", UnixMs(7)}) == Bulk("v"));
  CHECK(Run({"PEXPIRETIME", "k"}) == Integer(WallMs() + 7));
  CHECK(Run({"GETEX", "k", "persist"}) == Bulk("v"));
  CHECK(Run({"TTL", "k"}) == Integer(-1));
  CHECK(Run({"GETEX", "k", "PERSIST"}) == Bulk("v"));
  CHECK(Run({"GETEX", "k", "EX", "5", "EX", "6"}) == Bulk("v"));
  CHECK(Run({"TTL", "k"}) == Integer(6));
}

TEST_CASE_METHOD(CommandTest, "GETEX with a Unix time that has passed deletes the key after answering") {
  Run({"SET", "k", "v"});
  TakeChanges();
  CHECK(Run({"GETEX", "k", "PXAT", UnixMs(0)}) == Bulk("v"));
  CHECK(Run({"GET", "k"}) == Null());
  CHECK(TakeChanges() == std::vector<std::string>{"del k"});
  Run({"SET", "k", "v"});
  CHECK(Run({"GETEX", "k", "EXAT", "1"}) == Bulk("v"));
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "GETEX refuses options that exclude each other") {
  const auto options = GENERATE(values<std::vector<std::string>>({
      {"EX"},
      {"EX", "10", "PX", "10"},
      {"EX", "10", "PERSIST"},
      {"PERSIST", "PX", "10"},
      {"KEEPTTL"},
      {"NX"},
      {"GET"},
      {"PERSIST", "x"},
  }));
  Run({"SET", "k", "v"});
  std::vector<std::string> request{"GETEX", "k"};
  request.insert(request.end(), options.begin(), options.end());
  CHECK(Run(request) == Error("ERR syntax error"));
  request[1] = "absent";
  CHECK(Run(request) == Error("ERR syntax error"));
}

TEST_CASE_METHOD(CommandTest, "GETEX reads the number only if the key exists, as Redis does") {
  Run({"SET", "k", "v"});
  for (const char* word : {"EX", "PX", "EXAT", "PXAT"}) {
    CHECK(Run({"GETEX", "k", word, "x"}) == Error("ERR value is not an integer or out of range"));
    CHECK(Run({"GETEX", "k", word, "0"}) == Error("ERR invalid expire time in 'getex' command"));
    CHECK(Run({"GETEX", "absent", word, "x"}) == Null());
    CHECK(Run({"GETEX", "absent", word, "0"}) == Null());
  }
  CHECK(Run({"GETEX", "k", "EX", "9223372036854775"}) == Error("ERR invalid expire time in 'getex' command"));
  CHECK(Run({"TTL", "k"}) == Integer(-1));
}

TEST_CASE_METHOD(CommandTest, "reads count as hits and misses, writes do not") {
  Run({"SET", "k", "v"});
  Run({"SET", "k", "v", "NX"});
  Run({"INCR", "n"});
  Run({"APPEND", "k", "x"});
  Run({"EXPIRE", "k", "100"});
  Run({"PERSIST", "k"});
  Run({"DEL", "absent"});
  Run({"SETRANGE", "k", "0", "x"});
  Run({"SETBIT", "k", "0", "0"});
  Run({"BITFIELD", "k", "SET", "u8", "0", "1", "GET", "u8", "0"});
  Run({"INCRBYFLOAT", "f", "1"});
  Run({"INCREX", "n"});
  Run({"MSETNX", "k", "v"});
  Run({"DELEX", "absent", "IFEQ", "v"});
  CHECK(stats().keyspace_hits == 0);
  CHECK(stats().keyspace_misses == 0);
  const auto read = GENERATE(values<std::vector<std::string>>({
      {"GET", "k"},
      {"GETEX", "k"},
      {"GETDEL", "k"},
      {"STRLEN", "k"},
      {"SET", "k", "w", "GET"},
      {"GETSET", "k", "w"},
      {"GETRANGE", "k", "0", "0"},
      {"DIGEST", "k"},
      {"GETBIT", "k", "0"},
      {"BITCOUNT", "k"},
      {"BITPOS", "k", "1"},
      {"BITFIELD", "k", "GET", "u8", "0"},
      {"BITOP", "NOT", "d", "k"},
      {"EXISTS", "k"},
      {"TOUCH", "k"},
      {"TYPE", "k"},
      {"TTL", "k"},
      {"PTTL", "k"},
      {"EXPIRETIME", "k"},
      {"PEXPIRETIME", "k"},
      {"OBJECT", "ENCODING", "k"},
      {"OBJECT", "IDLETIME", "k"},
  }));
  std::vector<std::string> miss = read;
  for (std::string& word : miss) word = word == "k" ? "absent" : word;
  Run(read);
  CHECK(stats().keyspace_hits == 1);
  CHECK(stats().keyspace_misses == 0);
  Run(miss);
  CHECK(stats().keyspace_hits == 1);
  CHECK(stats().keyspace_misses == 1);
}

TEST_CASE_METHOD(CommandTest, "MGET, EXISTS and TOUCH count each of their keys") {
  Run({"SET", "k", "v"});
  for (const char* command : {"MGET", "EXISTS", "TOUCH"}) Run({command, "k", "absent", "k"});
  CHECK(stats().keyspace_hits == 6);
  CHECK(stats().keyspace_misses == 3);
}

}  // namespace mayfly::testing

#include <algorithm>

#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "DEL and UNLINK answer how many keys there were") {
  const std::string command = GENERATE("DEL", "UNLINK");
  Run({"MSET", "a", "1", "b", "2", "c", std::string(50'000, 'x')});
  CHECK(Run({command, "a", "absent", "a", "c"}) == Integer(2));
  CHECK(Run({command, "a"}) == Integer(0));
  CHECK(Run({"DBSIZE"}) == Integer(1));
  CHECK(Run({"GET", "b"}) == Bulk("2"));
}

TEST_CASE_METHOD(CommandTest, "DEL of a key that is due, but not freed, finds nothing") {
  Run({"SET", "k", "v", "PX", "5"});
  LetTimePass(5);
  CHECK(Run({"DEL", "k"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "deletions pass the change point, those of absent keys too") {
  Run({"SET", "k", "v"});
  TakeChanges();
  Run({"DEL", "k", "absent"});
  CHECK(TakeChanges() == std::vector<std::string>{"del k", "absent absent"});
}

TEST_CASE_METHOD(CommandTest, "EXISTS counts a key as often as it is given") {
  Run({"MSET", "a", "1", "b", "2"});
  CHECK(Run({"EXISTS", "a"}) == Integer(1));
  CHECK(Run({"EXISTS", "a", "b", "a", "absent"}) == Integer(3));
  UseResp3();
  CHECK(RunRaw("EXISTS a\r\n") == ":1\r\n");
  CHECK(Run({"EXISTS"}) == Error("ERR wrong number of arguments for 'exists' command"));
}

TEST_CASE_METHOD(CommandTest, "TYPE distinguishes a string from no key") {
  Run({"MSET", "text", "x", "number", "1"});
  CHECK(Run({"TYPE", "text"}) == Simple("string"));
  CHECK(Run({"TYPE", "number"}) == Simple("string"));
  CHECK(Run({"TYPE", "absent"}) == Simple("none"));
}

TEST_CASE_METHOD(CommandTest, "OBJECT ENCODING says int, embstr or raw, as Redis does") {
  Run({"MSET", "int", "12", "short", std::string(44, 'x'), "long", std::string(45, 'x'), "huge",
       std::string(50'000, 'x')});
  CHECK(Run({"OBJECT", "ENCODING", "int"}) == Bulk("int"));
  CHECK(Run({"OBJECT", "ENCODING", "short"}) == Bulk("embstr"));
  CHECK(Run({"OBJECT", "ENCODING", "long"}) == Bulk("raw"));
  CHECK(Run({"OBJECT", "ENCODING", "huge"}) == Bulk("raw"));
  CHECK(Run({"OBJECT", "ENCODING", "absent"}) == Null());
  Run({"APPEND", "short", ""});
  CHECK(Run({"OBJECT", "encoding", "short"}) == Bulk("raw"));
  UseResp3();
  CHECK(RunRaw("OBJECT ENCODING absent\r\n") == "_\r\n");
}

TEST_CASE_METHOD(CommandTest,
                 "OBJECT IDLETIME counts seconds since the last access, and looking is not an access") {
  Run({"SET", "k", "v"});
  CHECK(Run({"OBJECT", "IDLETIME", "k"}) == Integer(0));
  AdvanceTime(10'000);
  for (const char* command : {"EXISTS", "TYPE", "TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME"})
    Run({command, "k"});
  Run({"SCAN", "0"});
  Run({"KEYS", "*"});
  Run({"RANDOMKEY"});
  for (const char* command : {"ENCODING", "REFCOUNT", "IDLETIME"}) Run({"OBJECT", command, "k"});
  CHECK(Run({"OBJECT", "IDLETIME", "k"}) == Integer(10));
  for (const char* command : {"GET", "TOUCH", "STRLEN", "GETEX", "PERSIST"}) {
    AdvanceTime(10'000);
    Run({command, "k"});
    CHECK(Run({"OBJECT", "IDLETIME", "k"}) == Integer(0));
  }
  CHECK(Run({"OBJECT", "IDLETIME", "absent"}) == Null());
}

TEST_CASE_METHOD(CommandTest, "OBJECT knows its subcommands") {
  CHECK(Run({"OBJECT"}) == Error("ERR wrong number of arguments for 'object' command"));
  CHECK(Run({"OBJECT", "ENCODING"}) == Error("ERR wrong number of arguments for 'object|encoding' command"));
  CHECK(Run({"OBJECT", "nonsense", "k"}) == Error("ERR unknown subcommand 'nonsense'. Try OBJECT HELP."));
  const Reply help = Run({"OBJECT", "HELP"});
  REQUIRE(help.elements.size() > 1);
  CHECK(help.elements[0] == Simple("OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
  CHECK(std::find(help.elements.begin(), help.elements.end(), Simple("FREQ key")) != help.elements.end());
}

TEST_CASE_METHOD(CommandTest, "OBJECT REFCOUNT answers 1: nothing is shared between keys") {
  Run({"MSET", "int", "5", "text", "v"});
  CHECK(Run({"OBJECT", "REFCOUNT", "int"}) == Integer(1));
  CHECK(Run({"OBJECT", "refcount", "text"}) == Integer(1));
  CHECK(Run({"OBJECT", "REFCOUNT", "absent"}) == Null());
  CHECK(Run({"OBJECT", "REFCOUNT"}) == Error("ERR wrong number of arguments for 'object|refcount' command"));
}

TEST_CASE_METHOD(CommandTest, "SET NX and EXPIRE count as an access of a key that they do not change") {
  Run({"SET", "k", "v"});
  AdvanceTime(5000);
  Run({"SET", "k", "w", "NX"});
  CHECK(Run({"OBJECT", "IDLETIME", "k"}) == Integer(0));
  AdvanceTime(5000);
  Run({"EXPIRE", "k", "100", "GT"});
  CHECK(Run({"OBJECT", "IDLETIME", "k"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "TOUCH answers how many of its keys there are") {
  Run({"MSET", "a", "1", "b", "2"});
  CHECK(Run({"TOUCH", "a", "b", "absent", "a"}) == Integer(3));
  CHECK(Run({"TOUCH", "absent"}) == Integer(0));
}

}  // namespace mayfly::testing

#include "support/command_test.h"

namespace mayfly::testing {

using Lines = std::vector<std::string>;

TEST_CASE_METHOD(CommandTest, "RENAME gives a key another name, and what had that name is gone") {
  Run({"SET", "a", "new"});
  Run({"SET", "b", "old", "EX", "100"});
  TakeChanges();
  CHECK(Run({"RENAME", "a", "b"}) == Ok());
  CHECK(TakeChanges() == Lines{"rename_from a", "rename_to b"});
  CHECK(Run({"GET", "b"}) == Bulk("new"));
  CHECK(Run({"TTL", "b"}) == Integer(-1));
  CHECK(Run({"EXISTS", "a"}) == Integer(0));
  CHECK(Run({"DBSIZE"}) == Integer(1));
  CHECK(Run({"RENAME", "a", "c"}) == Error("ERR no such key"));
  CHECK(Run({"RENAME", "a", "a"}) == Error("ERR no such key"));
  CHECK(Run({"RENAME", "b", "b"}) == Ok());
  CHECK(Run({"RENAME", "a"}) == Error("ERR wrong number of arguments for 'rename' command"));
}

TEST_CASE_METHOD(CommandTest, "RENAMENX does not replace a key that has the new name") {
  Run({"MSET", "a", "1", "b", "2"});
  TakeChanges();
  CHECK(Run({"RENAMENX", "a", "b"}) == Integer(0));
  CHECK(Run({"RENAMENX", "a", "a"}) == Integer(0));
  CHECK(TakeChanges().empty());
  CHECK(Run({"RENAMENX", "a", "c"}) == Integer(1));
  CHECK(TakeChanges() == Lines{"rename_from a", "new c", "rename_to c"});
  CHECK(Run({"GET", "c"}) == Bulk("1"));
  CHECK(Run({"RENAMENX", "absent", "c"}) == Error("ERR no such key"));
}

TEST_CASE_METHOD(CommandTest,
                 "a key that is due cannot be renamed, moved or copied, and does not block a new name") {
  Run({"SET", "due", "v", "PX", "5"});
  Run({"SET", "k", "v"});
  LetTimePass(5);
  CHECK(Run({"RENAMENX", "k", "due"}) == Integer(1));
  CHECK(Run({"PTTL", "due"}) == Integer(-1));
  Run({"SET", "gone", "v", "PX", "5"});
  LetTimePass(5);
  CHECK(Run({"RENAME", "gone", "x"}) == Error("ERR no such key"));
  Run({"SET", "gone", "v", "PX", "5"});
  LetTimePass(5);
  CHECK(Run({"MOVE", "gone", "1"}) == Integer(0));
  Run({"SET", "gone", "v", "PX", "5"});
  LetTimePass(5);
  CHECK(Run({"COPY", "gone", "x"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "MOVE takes a key to another database, unless there is one of its name") {
  TestClient& other = Connect();
  other.Run({"SELECT", "1"});
  Run({"SET", "k", "v", "PX", "100"});
  TakeChanges();
  CHECK(Run({"MOVE", "k", "1"}) == Integer(1));
  CHECK(TakeChanges() == Lines{"move_from k", "new k in 1", "move_to k in 1"});
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  CHECK(other.Run({"GET", "k"}) == Bulk("v"));
  CHECK(other.Run({"PTTL", "k"}) == Integer(100));
  Run({"SET", "k", "w"});
  CHECK(Run({"MOVE", "k", "1"}) == Integer(0));
  CHECK(Run({"GET", "k"}) == Bulk("w"));
  AdvanceTime(100);
  CHECK(Run({"MOVE", "k", "1"}) == Integer(1));
  CHECK(Run({"MOVE", "k", "1"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "MOVE reads the database before it looks up the key") {
  CHECK(Run({"MOVE", "k", "0"}) == Error("ERR source and destination objects are the same"));
  CHECK(Run({"MOVE", "k", "16"}) == Error("ERR DB index is out of range"));
  CHECK(Run({"MOVE", "k", "-1"}) == Error("ERR DB index is out of range"));
  CHECK(Run({"MOVE", "k", "x"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"MOVE", "k", "3000000000"}) ==
        Error("ERR value is out of range, value must between -2147483648 and 2147483647"));
  CHECK(Run({"MOVE", "k"}) == Error("ERR wrong number of arguments for 'move' command"));
}

TEST_CASE_METHOD(CommandTest, "COPY copies value and expiry, to another database too") {
  Run({"SET", "a", "v", "EX", "100"});
  TakeChanges();
  CHECK(Run({"COPY", "a", "b"}) == Integer(1));
  CHECK(TakeChanges() == Lines{"new b", "copy_to b"});
  CHECK(Run({"GET", "b"}) == Bulk("v"));
  CHECK(Run({"TTL", "b"}) == Integer(100));
  Run({"SET", "a", "w"});
  CHECK(Run({"COPY", "a", "b"}) == Integer(0));
  CHECK(Run({"COPY", "a", "b", "replace"}) == Integer(1));
  CHECK(Run({"GET", "b"}) == Bulk("w"));
  CHECK(Run({"TTL", "b"}) == Integer(-1));
  CHECK(Run({"COPY", "a", "a", "DB", "3", "REPLACE", "db", "1"}) == Integer(1));
  CHECK(Run({"COPY", "a", "a", "DB", "1"}) == Integer(0));
  CHECK(Run({"COPY", "absent", "c"}) == Integer(0));
  TestClient& other = Connect();
  other.Run({"SELECT", "1"});
  CHECK(other.Run({"KEYS", "*"}) == Bulks({"a"}));
  CHECK(keyspace(3).size() == 0);
}

TEST_CASE_METHOD(CommandTest, "COPY refuses what it does not know, in Redis's order") {
  const Reply same = Error("ERR source and destination objects are the same");
  CHECK(Run({"COPY", "a", "a"}) == same);
  CHECK(Run({"COPY", "a", "a", "DB", "0", "REPLACE"}) == same);
  CHECK(Run({"COPY", "a", "a", "DB"}) == Error("ERR syntax error"));
  CHECK(Run({"COPY", "a", "b", "NONSENSE"}) == Error("ERR syntax error"));
  CHECK(Run({"COPY", "a", "b", "DB", "x", "NONSENSE"}) ==
        Error("ERR value is not an integer or out of range"));
  CHECK(Run({"COPY", "a", "b", "DB", "16"}) == Error("ERR DB index is out of range"));
  CHECK(Run({"COPY", "a"}) == Error("ERR wrong number of arguments for 'copy' command"));
}

TEST_CASE_METHOD(CommandTest, "a renamed, copied or moved key keeps its deadline on the same clock") {
  Run({"SET", "mono", "v", "PX", "1000"});
  Run({"SET", "wall", "v", "PXAT", UnixMs(1000)});
  const std::string command = GENERATE("RENAME", "COPY", "MOVE");
  for (const char* key : {"mono", "wall"}) {
    if (command == "MOVE") {
      CHECK(Run({"MOVE", key, "1"}) == Integer(1));
    } else {
      Run({command, key, std::string("new") + key});
    }
  }
  const unsigned db = command == "MOVE" ? 1 : 0;
  const std::string prefix = command == "MOVE" ? "" : "new";
  TestClient& there = Connect();
  there.session().db = db;
  StepWallClock(600);
  CHECK(there.Run({"PTTL", prefix + "mono"}) == Integer(1000));
  CHECK(there.Run({"PTTL", prefix + "wall"}) == Integer(400));
  StepWallClock(400);
  CHECK(there.Run({"EXISTS", prefix + "wall"}) == Integer(0));
  AdvanceTime(999);
  CHECK(there.Run({"EXISTS", prefix + "mono"}) == Integer(1));
  AdvanceTime(1);
  CHECK(keyspace(db).size() == 0);
}

TEST_CASE_METHOD(CommandTest, "every encoding survives a copy and a new name") {
  const std::string big(50'000, 'x');
  Run({"MSET", "int", "-12", "text", "short", "big", big, "empty", ""});
  Run({"APPEND", "edited", "7"});
  Run({"APPEND", "edited", "7"});
  for (const char* key : {"int", "text", "big", "empty", "edited"}) {
    const std::string copied = std::string(key) + ":copied";
    const Reply value = Run({"GET", key});
    const Reply encoding = Run({"OBJECT", "ENCODING", key});
    CHECK(Run({"COPY", key, copied}) == Integer(1));
    CHECK(Run({"RENAME", key, "renamed"}) == Ok());
    for (const std::string& there : {copied, std::string("renamed")}) {
      CHECK(Run({"GET", there}) == value);
      CHECK(Run({"OBJECT", "ENCODING", there}) == encoding);
    }
  }
  Run({"COPY", "big:copied", "third"});
  Run({"APPEND", "big:copied", "z"});
  CHECK(Run({"STRLEN", "third"}) == Integer(50'000));
}

TEST_CASE_METHOD(CommandTest, "SWAPDB lets two databases change places for everybody") {
  TestClient& other = Connect();
  other.Run({"SELECT", "3"});
  Run({"SET", "zero", "v", "PX", "100"});
  other.Run({"SET", "three", "v"});
  TakeChanges();
  CHECK(Run({"SWAPDB", "0", "3"}) == Ok());
  CHECK(TakeChanges() == Lines{"swapped", "swapped"});
  CHECK(Run({"KEYS", "*"}) == Bulks({"three"}));
  CHECK(other.Run({"PTTL", "zero"}) == Integer(100));
  AdvanceTime(100);
  CHECK(other.Run({"DBSIZE"}) == Integer(0));
  TakeChanges();
  CHECK(Run({"SWAPDB", "0", "0"}) == Ok());
  CHECK(TakeChanges().empty());
  CHECK(Run({"GET", "three"}) == Bulk("v"));
}

TEST_CASE_METHOD(CommandTest, "SWAPDB says which index is wrong") {
  CHECK(Run({"SWAPDB", "x", "y"}) == Error("ERR invalid first DB index"));
  CHECK(Run({"SWAPDB", "0", "y"}) == Error("ERR invalid second DB index"));
  CHECK(Run({"SWAPDB", "0", "3000000000"}) == Error("ERR invalid second DB index"));
  CHECK(Run({"SWAPDB", "-1", "0"}) == Error("ERR DB index is out of range"));
  CHECK(Run({"SWAPDB", "0", "16"}) == Error("ERR DB index is out of range"));
  CHECK(Run({"SWAPDB", "0"}) == Error("ERR wrong number of arguments for 'swapdb' command"));
}

TEST_CASE_METHOD(CommandTest, "COMMAND shows both kinds of keys of a command that has two") {
  UseResp3();
  const Reply copy = Run({"COMMAND", "INFO", "copy"}).elements.at(0);
  CHECK(copy.elements[3] == Integer(1));
  CHECK(copy.elements[4] == Integer(2));
  REQUIRE(copy.elements[8].elements.size() == 2);
  CHECK(copy.elements[8].elements[0].elements[1] == Set({Simple("RO"), Simple("access")}));
  CHECK(copy.elements[8].elements[1].elements[1] == Set({Simple("OW"), Simple("update")}));
  const Reply docs = Run({"COMMAND", "DOCS", "rename"}).elements.at(1);
  const Reply& arguments = docs.elements.back();
  REQUIRE(arguments.elements.size() == 2);
  CHECK(arguments.elements[0].elements.back() == Integer(0));
  CHECK(arguments.elements[1].elements.back() == Integer(1));
}

}  // namespace mayfly::testing

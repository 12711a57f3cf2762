#include "support/command_test.h"

namespace mayfly::testing {
namespace {

using namespace std::string_literals;

constexpr std::string_view kSyntaxError = "ERR syntax error";

}  // namespace

TEST_CASE_METHOD(CommandTest, "BITOP combines strings, the shorter ones followed by zeros") {
  Run({"MSET", "a", "\x0f\xff\x01"s, "b", "\x3c\x0f"s, "c", "\x55"s});
  const auto result = [&](const std::vector<std::string>& words) {
    std::vector<std::string> request{"BITOP"};
    request.insert(request.end(), words.begin(), words.end());
    CHECK(Run(request) == Integer(3));
    return Run({"GET", "d"}).text;
  };
  CHECK(result({"AND", "d", "a", "b"}) == "\x0c\x0f\x00"s);
  CHECK(result({"or", "d", "a", "b", "c"}) == "\x7f\xff\x01"s);
  CHECK(result({"XOR", "d", "a", "b", "c"}) == "\x66\xf0\x01"s);
  CHECK(result({"Not", "d", "a"}) == "\xf0\x00\xfe"s);
  CHECK(result({"DIFF", "d", "a", "b", "c"}) == "\x02\xf0\x01"s);
  CHECK(result({"DIFF1", "d", "a", "b", "c"}) == "\x70\x00\x00"s);
  CHECK(result({"ANDOR", "d", "a", "b", "c"}) == "\x0d\x0f\x00"s);
  CHECK(result({"one", "d", "a", "b", "c"}) == "\x62\xf0\x01"s);
  for (const char* operation : {"AND", "OR", "XOR", "ONE"})
    CHECK(result({operation, "d", "a"}) == "\x0f\xff\x01"s);
}

TEST_CASE_METHOD(CommandTest, "an absent source of BITOP is all zeros") {
  Run({"SET", "a", "\x01\x02\xff"s});
  const auto result = [&](const char* operation) {
    CHECK(Run({"BITOP", operation, "d", "a", "absent"}) == Integer(3));
    return Run({"GET", "d"}).text;
  };
  CHECK(result("AND") == "\0\0\0"s);
  CHECK(result("OR") == "\x01\x02\xff"s);
  CHECK(result("DIFF") == "\x01\x02\xff"s);
  CHECK(result("DIFF1") == "\0\0\0"s);
  CHECK(result("ANDOR") == "\0\0\0"s);
  CHECK(result("ONE") == "\x01\x02\xff"s);
}

TEST_CASE_METHOD(CommandTest,
                 "BITOP replaces its destination with its expiry, and deletes it if the result is empty") {
  Run({"SET", "d", "old", "EX", "10"});
  Run({"SET", "n", "12"});
  CHECK(Run({"BITOP", "OR", "d", "n"}) == Integer(2));
  CHECK(Run({"GET", "d"}) == Bulk("12"));
  CHECK(Run({"TTL", "d"}) == Integer(-1));
  CHECK(Run({"OBJECT", "ENCODING", "d"}) == Bulk("raw"));
  CHECK(Run({"BITOP", "NOT", "d", "d"}) == Integer(2));
  CHECK(Run({"GET", "d"}) == Bulk("\xce\xcd"s));
  CHECK(Run({"BITOP", "XOR", "d", "d", "d"}) == Integer(2));
  CHECK(Run({"GET", "d"}) == Bulk("\0\0"s));
  CHECK(Run({"BITOP", "AND", "d", "absent", "none"}) == Integer(0));
  CHECK(Run({"EXISTS", "d"}) == Integer(0));
  Run({"SET", "empty", ""});
  CHECK(Run({"BITOP", "NOT", "d", "empty"}) == Integer(0));
  CHECK(Run({"EXISTS", "d"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "a source whose deadline has come is absent for BITOP") {
  Run({"MSET", "a", "xy", "b", "z"});
  Run({"PEXPIRE", "a", "5"});
  LetTimePass(5);
  CHECK(Run({"BITOP", "OR", "d", "b", "a", "b"}) == Integer(1));
  CHECK(Run({"GET", "d"}) == Bulk("z"));
}

TEST_CASE_METHOD(CommandTest, "BITOP of big values is exact to the last byte") {
  std::string a(100'001, '\x0f');
  std::string b(60'003, '\x3c');
  Run({"MSET", "a", a, "b", b});
  CHECK(Run({"BITOP", "XOR", "d", "a", "b"}) == Integer(100'001));
  std::string expected(60'003, '\x33');
  expected += std::string(100'001 - 60'003, '\x0f');
  CHECK(Run({"GET", "d"}) == Bulk(expected));
}

TEST_CASE_METHOD(CommandTest, "BITOP refuses other operations and numbers of sources") {
  Run({"SET", "d", "kept"});
  CHECK(Run({"BITOP", "NAND", "d", "a"}) == Error(kSyntaxError));
  CHECK(Run({"BITOP", "", "d", "a"}) == Error(kSyntaxError));
  CHECK(Run({"BITOP", "NOT", "d", "a", "b"}) ==
        Error("ERR BITOP NOT must be called with a single source key."));
  for (const std::string operation : {"DIFF", "DIFF1", "ANDOR"})
    CHECK(Run({"BITOP", operation, "d", "a"}) ==
          Error("ERR BITOP " + operation + " must be called with at least two source keys."));
  CHECK(Run({"BITOP", "AND", "d"}) == Error("ERR wrong number of arguments for 'bitop' command"));
  CHECK(Run({"GET", "d"}) == Bulk("kept"));
}

TEST_CASE_METHOD(CommandTest, "COMMAND shows that BITOP writes its first key and reads the others") {
  UseResp3();
  const Reply info = Run({"COMMAND", "INFO", "bitop"}).elements.at(0);
  CHECK(info.elements[3] == Integer(2));
  CHECK(info.elements[4] == Integer(-1));
  CHECK(info.elements[5] == Integer(1));
  const auto spec = [](const Reply& flags, int64_t index, int64_t last) {
    return Map({Bulk("flags"), flags, Bulk("begin_search"),
                Map({Bulk("type"), Bulk("index"), Bulk("spec"), Map({Bulk("index"), Integer(index)})}),
                Bulk("find_keys"),
                Map({Bulk("type"), Bulk("range"), Bulk("spec"),
                     Map({Bulk("lastkey"), Integer(last), Bulk("keystep"), Integer(1), Bulk("limit"),
                          Integer(0)})})});
  };
  CHECK(info.elements[8] == Set({spec(Set({Simple("OW"), Simple("update")}), 2, 0),
                                 spec(Set({Simple("RO"), Simple("access")}), 3, -1)}));
}

}  // namespace mayfly::testing

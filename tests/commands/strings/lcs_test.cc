#include "support/command_test.h"

namespace mayfly::testing {
namespace {

Reply Place(int64_t first, int64_t last) { return Array({Integer(first), Integer(last)}); }
Reply Matches(const std::vector<Reply>& matches, int64_t length) {
  return Map({Bulk("matches"), Array(matches), Bulk("len"), Integer(length)});
}

}  // namespace

TEST_CASE_METHOD(CommandTest, "LCS answers with the longest common sequence, its length or its places") {
  Run({"MSET", "a", "ohmytext", "b", "mynewtext"});
  CHECK(Run({"LCS", "a", "b"}) == Bulk("mytext"));
  CHECK(Run({"LCS", "a", "b", "LEN"}) == Integer(6));
  UseResp3();
  const Reply text = Array({Place(4, 7), Place(5, 8)});
  const Reply my = Array({Place(2, 3), Place(0, 1)});
  CHECK(Run({"LCS", "a", "b", "IDX"}) == Matches({text, my}, 6));
  CHECK(Run({"LCS", "a", "b", "idx", "MinMatchLen", "4"}) == Matches({text}, 6));
  CHECK(Run({"LCS", "a", "b", "IDX", "MINMATCHLEN", "-5"}) == Matches({text, my}, 6));
  const Reply with_length = Array({Place(4, 7), Place(5, 8), Integer(4)});
  CHECK(Run({"LCS", "a", "b", "WITHMATCHLEN", "IDX", "MINMATCHLEN", "4"}) == Matches({with_length}, 6));
  CHECK(Run({"LCS", "a", "b", "IDX", "MINMATCHLEN", "100"}) == Matches({}, 6));
}

TEST_CASE_METHOD(CommandTest, "LCS IDX is a map in RESP3 and a flat array in RESP2") {
  Run({"MSET", "a", "xa", "b", "a"});
  CHECK(RunRaw("LCS a b IDX\r\n") ==
        "*4\r\n$7\r\nmatches\r\n*1\r\n*2\r\n*2\r\n:1\r\n:1\r\n*2\r\n:0\r\n:0\r\n$3\r\nlen\r\n:1\r\n");
  UseResp3();
  CHECK(RunRaw("LCS a b IDX\r\n") ==
        "%2\r\n$7\r\nmatches\r\n*1\r\n*2\r\n*2\r\n:1\r\n:1\r\n*2\r\n:0\r\n:0\r\n$3\r\nlen\r\n:1\r\n");
}

TEST_CASE_METHOD(CommandTest, "LCS takes an absent key as empty, and a number as its digits") {
  Run({"MSET", "n", "1234", "text", "x24"});
  CHECK(Run({"LCS", "n", "text"}) == Bulk("24"));
  CHECK(Run({"LCS", "n", "n"}) == Bulk("1234"));
  CHECK(Run({"LCS", "n", "absent"}) == Bulk(""));
  CHECK(Run({"LCS", "absent", "absent", "LEN"}) == Integer(0));
  UseResp3();
  CHECK(Run({"LCS", "absent", "n", "IDX"}) == Matches({}, 0));
  Run({"SET", "n", "1", "PX", "5"});
  LetTimePass(5);
  CHECK(Run({"LCS", "text", "n"}) == Bulk(""));
}

TEST_CASE_METHOD(CommandTest, "LCS refuses other options, and length together with places") {
  CHECK(Run({"LCS", "a", "b", "FOO"}) == Error("ERR syntax error"));
  CHECK(Run({"LCS", "a", "b", "MINMATCHLEN"}) == Error("ERR syntax error"));
  CHECK(Run({"LCS", "a", "b", "MINMATCHLEN", "x"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"LCS", "a", "b", "LEN", "IDX"}) ==
        Error("ERR If you want both the length and indexes, please just use IDX."));
  CHECK(Run({"LCS", "a"}) == Error("ERR wrong number of arguments for 'lcs' command"));
}

TEST_CASE_METHOD(CommandTest, "LCS refuses texts whose table Redis would not make") {
  constexpr std::string_view kTooBig =
      "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len";
  SetOption("proto-max-bulk-len", "1mb");  // 262,144 pairs, with one more row and column
  Run({"MSET", "a", std::string(511, 'a'), "b", std::string(511, 'a'), "c", std::string(512, 'a')});
  CHECK(Run({"LCS", "a", "b", "LEN"}) == Integer(511));
  CHECK(Run({"LCS", "a", "b"}) == Bulk(std::string(511, 'a')));
  for (const char* option : {"LEN", "IDX", "WITHMATCHLEN"})
    CHECK(Run({"LCS", "a", "c", option}) == Error(kTooBig));
  Run({"MSET", "big", std::string(1'000'000, 'a'), "huge", std::string(1'000'000, 'b')});
  CHECK(Run({"LCS", "big", "huge"}) == Error(kTooBig));
  CHECK(Run({"LCS", "big", "absent"}) == Error(kTooBig));
}

}  // namespace mayfly::testing

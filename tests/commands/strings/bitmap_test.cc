#include "support/command_test.h"

namespace mayfly::testing {
namespace {

using namespace std::string_literals;

constexpr std::string_view kSyntax = "ERR syntax error";
constexpr std::string_view kNotInteger = "ERR value is not an integer or out of range";
constexpr std::string_view kBadOffset = "ERR bit offset is not an integer or out of range";
constexpr std::string_view kBadBit = "ERR bit is not an integer or out of range";

}  // namespace

TEST_CASE_METHOD(CommandTest, "SETBIT answers with the old bit and makes the string as long as it must be") {
  CHECK(Run({"SETBIT", "k", "1", "1"}) == Integer(0));
  CHECK(Run({"GET", "k"}) == Bulk("@"));
  CHECK(Run({"SETBIT", "k", "1", "0"}) == Integer(1));
  CHECK(Run({"SETBIT", "k", "23", "1"}) == Integer(0));
  CHECK(Run({"GET", "k"}) == Bulk("\0\0\1"s));
  CHECK(Run({"SETBIT", "new", "9", "0"}) == Integer(0));
  CHECK(Run({"GET", "new"}) == Bulk("\0\0"s));
  CHECK(Run({"OBJECT", "ENCODING", "new"}) == Bulk("raw"));
  CHECK(Run({"GETBIT", "k", "23"}) == Integer(1));
  CHECK(Run({"GETBIT", "k", "22"}) == Integer(0));
  CHECK(Run({"GETBIT", "k", "24"}) == Integer(0));
  CHECK(Run({"GETBIT", "k", "4294967295"}) == Integer(0));
  CHECK(Run({"GETBIT", "absent", "0"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "the bits of a number are those of its digits") {
  Run({"SET", "n", "1", "EX", "10"});
  CHECK(Run({"GETBIT", "n", "2"}) == Integer(1));
  CHECK(Run({"GETBIT", "n", "4"}) == Integer(0));
  CHECK(Run({"BITCOUNT", "n"}) == Integer(3));
  CHECK(Run({"OBJECT", "ENCODING", "n"}) == Bulk("int"));
  CHECK(Run({"SETBIT", "n", "6", "1"}) == Integer(0));
  CHECK(Run({"GET", "n"}) == Bulk("3"));
  CHECK(Run({"OBJECT", "ENCODING", "n"}) == Bulk("raw"));
  CHECK(Run({"TTL", "n"}) == Integer(10));
}

TEST_CASE_METHOD(CommandTest, "a bitmap grows out of its entry and on") {
  std::string expected;
  for (uint64_t offset = 5; offset < 400'000; offset += 3'987) {
    CHECK(Run({"SETBIT", "k", std::to_string(offset), "1"}) == Integer(0));
    expected.resize(offset / 8 + 1, '\0');
    expected[offset / 8] =
        static_cast<char>(static_cast<unsigned char>(expected[offset / 8]) | 128 >> offset % 8);
  }
  CHECK(Run({"GET", "k"}) == Bulk(expected));
  CHECK(Run({"BITCOUNT", "k"}) == Integer(101));
  CHECK(Run({"BITPOS", "k", "1", "1"}) == Integer(3'992));
  const std::string replies = RunRaw(EncodeRequest({"GET", "k"}) + EncodeRequest({"SETBIT", "k", "0", "1"}));
  CHECK(TakeReplies(replies) == std::vector<Reply>{Bulk(expected), Integer(0)});
}

TEST_CASE_METHOD(CommandTest,
                 "SETBIT and GETBIT refuse offsets beyond the limit and other bits than 0 and 1") {
  for (const char* offset :
       {"-1", "x", "", "1.0", "4294967296", "9223372036854775807", "9223372036854775808"}) {
    CHECK(Run({"SETBIT", "k", offset, "x"}) == Error(kBadOffset));
    CHECK(Run({"GETBIT", "k", offset}) == Error(kBadOffset));
  }
  CHECK(Run({"GETBIT", "k", "#0"}) == Error(kBadOffset));
  for (const char* bit : {"-1", "2", "x", "", "9223372036854775808"})
    CHECK(Run({"SETBIT", "k", "0", bit}) == Error(kBadBit));
  SetOption("proto-max-bulk-len", "1mb");
  CHECK(Run({"SETBIT", "k", "8388608", "1"}) == Error(kBadOffset));
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  CHECK(Run({"SETBIT", "k", "8388607", "1"}) == Integer(0));
  CHECK(Run({"STRLEN", "k"}) == Integer(1024 * 1024));
  CHECK(Run({"SETBIT", "k", "0"}) == Error("ERR wrong number of arguments for 'setbit' command"));
  CHECK(Run({"GETBIT", "k"}) == Error("ERR wrong number of arguments for 'getbit' command"));
}

TEST_CASE_METHOD(CommandTest, "BITCOUNT counts in all of a string or between two bytes or bits") {
  Run({"SET", "k", "foobar"});
  CHECK(Run({"BITCOUNT", "k"}) == Integer(26));
  CHECK(Run({"BITCOUNT", "k", "0", "0"}) == Integer(4));
  CHECK(Run({"BITCOUNT", "k", "1", "-2"}) == Integer(18));
  CHECK(Run({"BITCOUNT", "k", "-2", "1000"}) == Integer(7));
  CHECK(Run({"BITCOUNT", "k", "-1", "-2"}) == Integer(0));
  CHECK(Run({"BITCOUNT", "k", "1000", "2000"}) == Integer(0));
  CHECK(Run({"BITCOUNT", "k", "-1000", "0"}) == Integer(4));
  CHECK(Run({"BITCOUNT", "k", "0", "-1", "byte"}) == Integer(26));
  CHECK(Run({"BITCOUNT", "k", "0", "-1", "BIT"}) == Integer(26));
  CHECK(Run({"BITCOUNT", "k", "5", "30", "bit"}) == Integer(17));
  CHECK(Run({"BITCOUNT", "k", "1", "1", "BIT"}) == Integer(1));
  CHECK(Run({"BITCOUNT", "k", "-1", "-1", "BIT"}) == Integer(0));
  CHECK(Run({"BITCOUNT", "absent"}) == Integer(0));
  CHECK(Run({"BITCOUNT", "absent", "0", "0", "BIT"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "BITCOUNT without an end counts up to the last byte") {
  Run({"SET", "k", "foobar"});
  for (const char* start : {"0", "1", "5", "6", "1000", "-1", "-2", "-6", "-1000", "9223372036854775807"})
    CHECK(Run({"BITCOUNT", "k", start}) == Run({"BITCOUNT", "k", start, "-1"}));
  CHECK(Run({"BITCOUNT", "k", "1"}) == Integer(22));
  CHECK(Run({"BITCOUNT", "k", "-1"}) == Integer(4));
  CHECK(Run({"BITCOUNT", "absent", "1"}) == Integer(0));
  CHECK(Run({"BITCOUNT", "k", "x"}) == Error(kNotInteger));
  CHECK(Run({"BITCOUNT", "k", "BIT"}) == Error(kNotInteger));
  CHECK(Run({"BITCOUNT", "k", "0", "BIT"}) == Error(kNotInteger));
}

TEST_CASE_METHOD(CommandTest,
                 "BITCOUNT reads its arguments before it looks up the key, as Redis does since 7.2") {
  CHECK(Run({"BITCOUNT", "absent", "x"}) == Error(kNotInteger));
  CHECK(Run({"BITCOUNT", "absent", "0", "0", "BITS"}) == Error(kSyntax));
  CHECK(Run({"BITCOUNT", "absent", "-1", "-2", "BITS"}) == Error(kSyntax));
  CHECK(Run({"BITCOUNT", "absent", "0", "0", "BIT", "x"}) == Error(kSyntax));
  CHECK(Run({"BITCOUNT", "absent", "x", "0", "BITS"}) == Error(kNotInteger));
  CHECK(Run({"BITCOUNT", "absent", "0", "x"}) == Error(kNotInteger));
  CHECK(Run({"BITCOUNT", "absent", "0", "x", "BITS"}) == Error(kNotInteger));
  CHECK(Run({"BITCOUNT"}) == Error("ERR wrong number of arguments for 'bitcount' command"));
}

TEST_CASE_METHOD(CommandTest, "BITPOS finds the first bit of a kind") {
  Run({"SET", "k", "\xff\xf0\x00"s});
  CHECK(Run({"BITPOS", "k", "0"}) == Integer(12));
  CHECK(Run({"BITPOS", "k", "1"}) == Integer(0));
  CHECK(Run({"BITPOS", "k", "1", "2"}) == Integer(-1));
  CHECK(Run({"BITPOS", "k", "0", "2"}) == Integer(16));
  CHECK(Run({"BITPOS", "k", "0", "-1", "-1"}) == Integer(16));
  CHECK(Run({"BITPOS", "k", "0", "0", "0"}) == Integer(-1));
  CHECK(Run({"BITPOS", "k", "0", "7", "12", "BIT"}) == Integer(12));
  CHECK(Run({"BITPOS", "k", "0", "7", "11", "BIT"}) == Integer(-1));
  CHECK(Run({"BITPOS", "k", "1", "9", "-1", "BIT"}) == Integer(9));
  CHECK(Run({"BITPOS", "k", "1", "1", "-1", "BYTE"}) == Integer(8));
  CHECK(Run({"BITPOS", "k", "1", "3"}) == Integer(-1));
  CHECK(Run({"BITPOS", "k", "1", "2", "1"}) == Integer(-1));
}

TEST_CASE_METHOD(CommandTest, "BITPOS without an end finds zeros after the string, and in an absent key") {
  Run({"MSET", "ones", "\xff\xff\xff"s, "empty", ""});
  CHECK(Run({"BITPOS", "ones", "0"}) == Integer(24));
  CHECK(Run({"BITPOS", "ones", "0", "1"}) == Integer(24));
  CHECK(Run({"BITPOS", "ones", "0", "0", "-1"}) == Integer(-1));
  CHECK(Run({"BITPOS", "ones", "0", "3"}) == Integer(-1));
  CHECK(Run({"BITPOS", "absent", "0"}) == Integer(0));
  CHECK(Run({"BITPOS", "absent", "0", "5", "10"}) == Integer(0));
  CHECK(Run({"BITPOS", "absent", "1"}) == Integer(-1));
  CHECK(Run({"BITPOS", "empty", "0"}) == Integer(-1));
}

TEST_CASE_METHOD(CommandTest,
                 "BITPOS reads its arguments before it looks up the key, as Redis does since 7.2") {
  CHECK(Run({"BITPOS", "absent", "x"}) == Error(kNotInteger));
  CHECK(Run({"BITPOS", "absent", "2", "x"}) == Error("ERR The bit argument must be 1 or 0."));
  CHECK(Run({"BITPOS", "absent", "1", "x", "x", "x"}) == Error(kNotInteger));
  CHECK(Run({"BITPOS", "absent", "1", "0", "x", "x"}) == Error(kSyntax));
  CHECK(Run({"BITPOS", "absent", "1", "0", "x", "BIT"}) == Error(kNotInteger));
  CHECK(Run({"BITPOS", "absent", "1", "0", "1", "BIT", "x"}) == Error(kSyntax));
  CHECK(Run({"BITPOS", "absent"}) == Error("ERR wrong number of arguments for 'bitpos' command"));
}

}  // namespace mayfly::testing

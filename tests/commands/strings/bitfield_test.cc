#include "support/command_test.h"

namespace mayfly::testing {
namespace {

using namespace std::string_literals;

constexpr std::string_view kSyntax = "ERR syntax error";
constexpr std::string_view kBadOffset = "ERR bit offset is not an integer or out of range";
constexpr std::string_view kBadType =
    "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.";

Reply Integers(const std::vector<int64_t>& numbers) {
  Reply reply = Array({});
  for (const int64_t number : numbers) reply.elements.push_back(Integer(number));
  return reply;
}

}  // namespace

TEST_CASE_METHOD(CommandTest, "BITFIELD sets, gets and increments fields in the order of the request") {
  CHECK(Run({"BITFIELD", "k", "SET", "i8", "0", "-100", "GET", "i8", "0", "incrby", "i8", "0", "101", "get",
             "u8", "0"}) == Integers({0, -100, 1, 1}));
  CHECK(Run({"BITFIELD", "k", "SET", "u8", "#1", "65", "SET", "u8", "#2", "66", "GET", "u16", "8"}) ==
        Integers({0, 0, 65 * 256 + 66}));
  CHECK(Run({"GET", "k"}) == Bulk("\1AB"));
  CHECK(Run({"BITFIELD", "k", "SET", "u1", "23", "1", "GET", "u24", "0"}) == Integers({0, 0x014143}));
  CHECK(Run({"BITFIELD", "k", "SET", "i64", "3", "-2", "GET", "i64", "3"}) ==
        Integers({0x0A0A18'0000000000, -2}));
  CHECK(Run({"BITFIELD", "k", "GET", "u8", "1000"}) == Integers({0}));
}

TEST_CASE_METHOD(CommandTest, "reading a field creates no key, writing one extends the string") {
  CHECK(Run({"BITFIELD", "k"}) == Array({}));
  CHECK(Run({"BITFIELD", "k", "OVERFLOW", "SAT"}) == Array({}));
  CHECK(Run({"BITFIELD", "k", "GET", "u63", "4294967295"}) == Integers({0}));
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  CHECK(Run({"BITFIELD", "k", "OVERFLOW", "FAIL", "SET", "u2", "15", "9"}) == Array({Null()}));
  CHECK(Run({"STRLEN", "k"}) == Integer(3));
  Run({"SET", "n", "12", "PX", "50"});
  CHECK(Run({"BITFIELD", "n", "GET", "u8", "0"}) == Integers({'1'}));
  CHECK(Run({"OBJECT", "ENCODING", "n"}) == Bulk("int"));
  CHECK(Run({"BITFIELD", "n", "INCRBY", "u8", "#1", "1"}) == Integers({'3'}));
  CHECK(Run({"GET", "n"}) == Bulk("13"));
  CHECK(Run({"OBJECT", "ENCODING", "n"}) == Bulk("raw"));
  CHECK(Run({"PTTL", "n"}) == Integer(50));
}

TEST_CASE_METHOD(CommandTest, "a field that overflows wraps, saturates or stays") {
  const auto add = [&](const char* overflow, const char* type, const char* value, const char* amount) {
    Run({"DEL", "k"});
    return Run({"BITFIELD", "k", "SET", type, "0", value, "OVERFLOW", overflow, "INCRBY", type, "0", amount})
        .elements.at(1);
  };
  CHECK(add("WRAP", "u8", "255", "2") == Integer(1));
  CHECK(add("wrap", "u8", "0", "-1") == Integer(255));
  CHECK(add("WRAP", "i8", "127", "1") == Integer(-128));
  CHECK(add("WRAP", "i8", "-128", "-1") == Integer(127));
  CHECK(add("WRAP", "i64", "9223372036854775807", "1") == Integer(INT64_MIN));
  CHECK(add("SAT", "u8", "200", "100") == Integer(255));
  CHECK(add("SAT", "u8", "10", "-11") == Integer(0));
  CHECK(add("SAT", "i8", "100", "9223372036854775807") == Integer(127));
  CHECK(add("sat", "i64", "-2", "-9223372036854775808") == Integer(INT64_MIN));
  CHECK(add("SAT", "u63", "9223372036854775807", "1") == Integer(INT64_MAX));
  CHECK(add("FAIL", "u8", "255", "1") == Null());
  CHECK(add("FAIL", "i1", "-1", "-1") == Null());
  CHECK(add("fail", "i8", "100", "27") == Integer(127));
}

TEST_CASE_METHOD(CommandTest, "OVERFLOW applies to the operations after it, SET among them") {
  CHECK(Run({"BITFIELD", "k",    "SET", "u8", "0", "257", "GET", "u8", "0",
             "OVERFLOW", "SAT",  "SET", "u8", "0", "257", "GET", "u8", "0",
             "OVERFLOW", "FAIL", "SET", "u8", "0", "-1",  "GET", "u8", "0"}) ==
        Array({Integer(0), Integer(1), Integer(1), Integer(255), Null(), Integer(255)}));
  CHECK(Run({"BITFIELD", "k", "OVERFLOW", "SAT", "SET", "i4", "0", "-100", "GET", "i4", "0", "SET", "u4", "0",
             "-1", "GET", "u4", "0"}) == Integers({-1, -8, 8, 15}));
  UseResp3();
  CHECK(RunRaw("BITFIELD k OVERFLOW FAIL SET u8 0 256\r\n") == "*1\r\n_\r\n");
}

TEST_CASE_METHOD(CommandTest, "BITFIELD changes a big value in place") {
  Run({"SET", "k", std::string(40'000, 'o')});
  CHECK(Run({"BITFIELD", "k", "INCRBY", "u8", "#39999", "1", "GET", "u16", "#19999"}) ==
        Integers({'p', 'o' * 256 + 'p'}));
  CHECK(Run({"BITFIELD", "k", "SET", "u8", "#50000", "1"}) == Integers({0}));
  CHECK(Run({"STRLEN", "k"}) == Integer(50'001));
  CHECK(Run({"GETRANGE", "k", "39998", "40000"}) == Bulk("op\0"s));
}

TEST_CASE_METHOD(CommandTest,
                 "BITFIELD refuses a request with a wrong operation before it runs any of them") {
  for (const char* command : {"BITFIELD", "BITFIELD_RO"}) {
    CHECK(Run({command, "k", "GET"}) == Error(kSyntax));
    CHECK(Run({command, "k", "GET", "u8"}) == Error(kSyntax));
    CHECK(Run({command, "k", "FOO", "u8", "0"}) == Error(kSyntax));
    CHECK(Run({command, "k", "SET", "u8", "0"}) == Error(kSyntax));
    CHECK(Run({command, "k", "OVERFLOW"}) == Error(kSyntax));
    CHECK(Run({command, "k", "OVERFLOW", "NONE"}) == Error("ERR Invalid OVERFLOW type specified"));
    for (const char* type : {"", "u", "i0", "u64", "i65", "x8", "U8", "u08", "u-1", "u8x"})
      CHECK(Run({command, "k", "GET", type, "x"}) == Error(kBadType));
    for (const char* offset : {"", "#", "-1", "#-1", "x", "4294967296", "#536870912", "9223372036854775807"})
      CHECK(Run({command, "k", "GET", "u8", offset}) == Error(kBadOffset));
  }
  CHECK(Run({"BITFIELD", "k", "SET", "u8", "0", "1", "SET", "u8", "0", "x"}) ==
        Error("ERR value is not an integer or out of range"));
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  CHECK(Run({"BITFIELD"}) == Error("ERR wrong number of arguments for 'bitfield' command"));
}

// Redis 7.0 multiplies in 64 bits that wrap, and writes to field 0.
TEST_CASE_METHOD(CommandTest, "a field whose offset does not fit into 64 bits is refused") {
  CHECK(Run({"BITFIELD", "k", "SET", "u8", "#2305843009213693952", "7"}) == Error(kBadOffset));
  CHECK(Run({"BITFIELD", "k", "GET", "i64", "#9223372036854775807"}) == Error(kBadOffset));
}

TEST_CASE_METHOD(CommandTest, "BITFIELD_RO reads and does nothing else") {
  Run({"SET", "k", "AB"});
  CHECK(Run({"BITFIELD_RO", "k", "GET", "u8", "0", "get", "u8", "#1"}) == Integers({'A', 'B'}));
  CHECK(Run({"BITFIELD_RO", "k"}) == Array({}));
  CHECK(Run({"BITFIELD_RO", "absent", "GET", "i64", "0"}) == Integers({0}));
  CHECK(Run({"BITFIELD_RO", "k", "OVERFLOW", "SAT", "GET", "u8", "0"}) == Integers({'A'}));
  CHECK(Run({"BITFIELD_RO", "k", "GET", "u8", "0", "SET", "u8", "0", "1"}) ==
        Error("ERR BITFIELD_RO only supports the GET subcommand"));
  CHECK(Run({"BITFIELD_RO", "k", "SET", "u8", "0", "x"}) ==
        Error("ERR value is not an integer or out of range"));
  CHECK(Run({"BITFIELD_RO"}) == Error("ERR wrong number of arguments for 'bitfield_ro' command"));
  CHECK(Run({"GET", "k"}) == Bulk("AB"));
}

}  // namespace mayfly::testing

// Replies and errors are those of Redis 8.8's own tests; NX, XX and infinite bounds those of Valkey 9.2's.
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

constexpr const char* kMost = "9223372036854775807";
constexpr const char* kLeast = "-9223372036854775808";

Reply Step(int64_t value, int64_t applied) { return Array({Integer(value), Integer(applied)}); }
Reply FloatStep(std::string_view value, std::string_view applied) {
  return Array({Bulk(value), Bulk(applied)});
}

}  // namespace

TEST_CASE_METHOD(CommandTest, "INCREX answers with the new value and with what was added") {
  CHECK(Run({"INCREX", "n"}) == Step(1, 1));
  CHECK(Run({"INCREX", "n", "BYINT", "41"}) == Step(42, 41));
  CHECK(Run({"INCREX", "n", "byint", "-50"}) == Step(-8, -50));
  CHECK(Run({"INCREX", "n", "BYINT", "0"}) == Step(-8, 0));
  CHECK(Run({"OBJECT", "ENCODING", "n"}) == Bulk("int"));
  CHECK(Run({"INCREX", "n", "BYFLOAT", "0.5"}) == FloatStep("-7.5", "0.5"));
  CHECK(Run({"GET", "n"}) == Bulk("-7.5"));
  CHECK(Run({"INCREX", "n"}) == Error("ERR value is not an integer or out of range"));
  UseResp3();
  CHECK(RunRaw("INCREX n BYFLOAT 2.5\r\n") == "*2\r\n,-5\r\n,2.5\r\n");
  CHECK(RunRaw("INCREX n\r\n") == "*2\r\n:-4\r\n:1\r\n");
}

TEST_CASE_METHOD(CommandTest, "INCREX does not change a value that would leave its bounds") {
  Run({"SET", "n", "10"});
  TakeChanges();
  CHECK(Run({"INCREX", "n", "BYINT", "5", "UBOUND", "12", "EX", "100"}) == Step(10, 0));
  CHECK(Run({"INCREX", "n", "BYINT", "-5", "LBOUND", "8"}) == Step(10, 0));
  CHECK(Run({"INCREX", "n", "LBOUND", "20"}) == Step(10, 0));
  CHECK(Run({"INCREX", "n", "BYINT", kMost}) == Step(10, 0));
  CHECK(Run({"INCREX", "n", "BYFLOAT", "5.5", "UBOUND", "12.5"}) == FloatStep("10", "0"));
  CHECK(Run({"INCREX", "absent", "BYINT", "15", "UBOUND", "10"}) == Step(0, 0));
  CHECK(TakeChanges().empty());
  CHECK(Run({"TTL", "n"}) == Integer(-1));
  CHECK(Run({"INCREX", "n", "BYINT", "5", "LBOUND", "0", "UBOUND", "15"}) == Step(15, 5));
  CHECK(Run({"INCREX", "n", "BYINT", "-12", "UBOUND", "5"}) == Step(3, -12));
}

TEST_CASE_METHOD(CommandTest, "INCREX SATURATE stops at the bounds, wherever the value was") {
  Run({"SET", "n", "10"});
  CHECK(Run({"INCREX", "n", "BYINT", "5", "UBOUND", "12", "SATURATE"}) == Step(12, 2));
  CHECK(Run({"INCREX", "n", "saturate", "UBOUND", "5"}) == Step(5, -7));
  CHECK(Run({"INCREX", "n", "BYINT", "-9", "LBOUND", "20", "SATURATE"}) == Step(20, 15));
  CHECK(Run({"INCREX", "n", "BYINT", kMost, "UBOUND", "100", "SATURATE"}) == Step(100, 80));
  CHECK(Run({"INCREX", "n", "BYINT", kMost, "SATURATE"}) == Step(INT64_MAX, INT64_MAX - 100));
  Run({"SET", "n", "-10"});
  CHECK(Run({"INCREX", "n", "BYINT", kLeast, "SATURATE"}) == Step(INT64_MIN, INT64_MIN + 10));
  Run({"SET", "n", "10"});
  CHECK(Run({"INCREX", "n", "BYFLOAT", "5.5", "UBOUND", "12.5", "SATURATE"}) == FloatStep("12.5", "2.5"));
  CHECK(Run({"INCREX", "n", "BYFLOAT", "-6", "LBOUND", "8", "SATURATE"}) == FloatStep("8", "-4.5"));
  CHECK(Run({"INCREX", "new", "UBOUND", "0", "SATURATE"}) == Step(0, 0));
  CHECK(Run({"GET", "new"}) == Bulk("0"));
  CHECK(Run({"INCREX", "other", "LBOUND", "5", "SATURATE", "EX", "9"}) == Step(5, 5));
  CHECK(Run({"TTL", "other"}) == Integer(9));
}

TEST_CASE_METHOD(CommandTest, "INCREX refuses a step that does not fit into its reply") {
  Run({"SET", "n", kMost});
  CHECK(Run({"INCREX", "n", "BYINT", "-5", "UBOUND", kLeast, "SATURATE"}) ==
        Error("ERR applied increment would overflow"));
  Run({"SET", "f", "10"});
  for (const char* bound : {"inf", "-inf"}) {
    CHECK(Run({"INCREX", "f", "BYFLOAT", "1", "LBOUND", bound, "UBOUND", bound, "SATURATE"}) ==
          Error("ERR applied increment would be Infinity"));
    CHECK(Run({"INCREX", "f", "BYFLOAT", "1", "LBOUND", bound, "UBOUND", bound}) == FloatStep("10", "0"));
  }
  Run({"SET", "f", "-1.1e4932"});
  CHECK(Run({"INCREX", "f", "BYFLOAT", "1.1e4932", "LBOUND", "1.1e4932", "SATURATE"}) ==
        Error("ERR applied increment would be Infinity"));
  CHECK(Run({"INCREX", "f", "BYFLOAT", "-1.1e4932", "LBOUND", "-inf"}).elements.at(1) == Bulk("0"));
  CHECK(Run({"GET", "f"}) == Bulk("-1.1e4932"));
}

TEST_CASE_METHOD(CommandTest,
                 "INCREX keeps the expiry, changes it in five ways, or sets one only if there is none") {
  Run({"SET", "n", "10", "EX", "500"});
  CHECK(Run({"INCREX", "n"}) == Step(11, 1));
  CHECK(Run({"TTL", "n"}) == Integer(500));
  CHECK(Run({"INCREX", "n", "EX", "10", "ENX"}) == Step(12, 1));
  CHECK(Run({"TTL", "n"}) == Integer(500));
  CHECK(Run({"INCREX", "n", "EXAT", "1", "ENX"}) == Step(13, 1));
  CHECK(Run({"TTL", "n"}) == Integer(500));
  CHECK(Run({"INCREX", "n", "EX", "7"}) == Step(14, 1));
  CHECK(Run({"PTTL", "n"}) == Integer(7000));
  CHECK(Run({"INCREX", "n", "PX", "7"}) == Step(15, 1));
  CHECK(Run({"PTTL", "n"}) == Integer(7));
  CHECK(Run({"INCREX", "n", "EXAT", UnixSeconds(7)}) == Step(16, 1));
  CHECK(Run({"EXPIRETIME", "n"}) == Integer(WallMs() / 1000 + 7));
  CHECK(Run({"INCREX", "n", "PXAT", UnixMs(7)}) == Step(17, 1));
  CHECK(Run({"PEXPIRETIME", "n"}) == Integer(WallMs() + 7));
  CHECK(Run({"INCREX", "n", "PERSIST"}) == Step(18, 1));
  CHECK(Run({"TTL", "n"}) == Integer(-1));
  CHECK(Run({"INCREX", "n", "ENX", "EX", "9"}) == Step(19, 1));
  CHECK(Run({"TTL", "n"}) == Integer(9));
  CHECK(Run({"INCREX", "new", "PX", "9", "ENX"}) == Step(1, 1));
  CHECK(Run({"PTTL", "new"}) == Integer(9));
}

TEST_CASE_METHOD(CommandTest, "INCREX with a Unix time that has passed deletes the key after answering") {
  Run({"SET", "n", "10"});
  TakeChanges();
  CHECK(Run({"INCREX", "n", "EXAT", "1"}) == Step(11, 1));
  CHECK(Run({"EXISTS", "n"}) == Integer(0));
  CHECK(Run({"INCREX", "absent", "PXAT", UnixMs(0)}) == Step(1, 1));
  CHECK(Run({"EXISTS", "absent"}) == Integer(0));
  CHECK(TakeChanges() == std::vector<std::string>{"del n"});
}

TEST_CASE_METHOD(CommandTest, "INCREX NX counts only a new key and XX only an existing one") {
  CHECK(Run({"INCREX", "n", "XX"}) == Step(0, 0));
  CHECK(Run({"INCREX", "n", "XX", "BYFLOAT", "1.5"}) == FloatStep("0", "0"));
  CHECK(Run({"INCREX", "n", "NX", "BYINT", "3", "EX", "100"}) == Step(3, 3));
  CHECK(Run({"INCREX", "n", "nx", "BYINT", "3"}) == Step(3, 0));
  CHECK(Run({"INCREX", "n", "xx"}) == Step(4, 1));
  CHECK(Run({"TTL", "n"}) == Integer(100));
}

TEST_CASE_METHOD(
    CommandTest,
    "an option of INCREX that comes twice, without its value or with its opposite is a syntax error") {
  const auto options = GENERATE(values<std::vector<std::string>>({
      {"FOO"},
      {"BYINT"},
      {"BYINT", "1", "BYINT", "2"},
      {"BYINT", "1", "BYFLOAT", "1.5"},
      {"BYFLOAT", "1.5", "BYINT", "1"},
      {"LBOUND"},
      {"LBOUND", "0", "LBOUND", "1"},
      {"UBOUND", "9", "UBOUND", "8"},
      {"SATURATE", "SATURATE"},
      {"SAT"},
      {"EX"},
      {"EX", "1", "EX", "1"},
      {"EX", "1", "PX", "1"},
      {"EX", "1", "PERSIST"},
      {"PERSIST", "PXAT", "1"},
      {"PERSIST", "PERSIST"},
      {"PERSIST", "ENX"},
      {"ENX", "PERSIST"},
      {"ENX", "ENX", "EX", "1"},
      {"NX", "XX"},
      {"NX", "NX"},
      {"KEEPTTL"},
      {"ENX", "FOO"},
  }));
  std::vector<std::string> request{"INCREX", "n"};
  request.insert(request.end(), options.begin(), options.end());
  const Reply reply = Run(request);
  CHECK(reply.kind == Reply::Kind::kError);
  CHECK(reply.text.starts_with("ERR syntax error near '"));
  CHECK(reply.text.find("': INCREX key [NX | XX] [BYFLOAT float") != std::string::npos);
  CHECK(Run({"EXISTS", "n"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "INCREX says which of its numbers is not a number") {
  constexpr std::string_view kInvalidExpire = "ERR invalid expire time in 'increx' command";
  CHECK(Run({"INCREX"}) == Error("ERR wrong number of arguments for 'increx' command"));
  CHECK(Run({"INCREX", "n", "ENX", "BYINT", "x"}) == Error("ERR ENX flag requires an expiration"));
  CHECK(Run({"INCREX", "n", "LBOUND", "y", "BYINT", "1.5"}) ==
        Error("ERR Increment is not an integer or out of range"));
  CHECK(Run({"INCREX", "n", "BYFLOAT", "x"}) == Error("ERR Increment is not a valid float"));
  CHECK(Run({"INCREX", "n", "BYFLOAT", "nan"}) == Error("ERR Increment is not a valid float"));
  CHECK(Run({"INCREX", "n", "BYFLOAT", "-inf"}) == Error("ERR BYFLOAT increment cannot be Infinity"));
  CHECK(Run({"INCREX", "n", "LBOUND", "1.5"}) == Error("ERR LBOUND is not an integer or out of range"));
  CHECK(Run({"INCREX", "n", "UBOUND", "inf"}) == Error("ERR UBOUND is not an integer or out of range"));
  CHECK(Run({"INCREX", "n", "BYFLOAT", "1", "UBOUND", "x"}) == Error("ERR UBOUND is not a valid float"));
  CHECK(Run({"INCREX", "n", "LBOUND", "10", "UBOUND", "5", "EX", "x"}) ==
        Error("ERR LBOUND can't be greater than UBOUND"));
  CHECK(Run({"INCREX", "n", "BYFLOAT", "1", "LBOUND", "inf"}) ==
        Error("ERR LBOUND can't be greater than UBOUND"));
  CHECK(Run({"INCREX", "n", "EX", "x"}) == Error("ERR value is not an integer or out of range"));
  for (const char* word : {"EX", "PX", "EXAT", "PXAT"})
    CHECK(Run({"INCREX", "n", word, "0"}) == Error(kInvalidExpire));
  Run({"SET", "n", "text"});
  CHECK(Run({"INCREX", "n"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"INCREX", "n", "BYFLOAT", "1"}) == Error("ERR value is not a valid float"));
  Run({"SET", "n", "-inf"});
  CHECK(Run({"INCREX", "n", "BYFLOAT", "0", "LBOUND", "-100"}) == Error("ERR value cannot be Infinity"));
  CHECK(Run({"GET", "n"}) == Bulk("-inf"));
}

}  // namespace mayfly::testing

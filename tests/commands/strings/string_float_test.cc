#include "support/command_test.h"

namespace mayfly::testing {
namespace {

constexpr std::string_view kNotFloat = "ERR value is not a valid float";
constexpr std::string_view kInfinite = "ERR increment would produce NaN or Infinity";

}  // namespace

TEST_CASE_METHOD(CommandTest, "INCRBYFLOAT adds and answers with a text in both protocols") {
  CHECK(Run({"INCRBYFLOAT", "n", "1.5"}) == Bulk("1.5"));
  CHECK(Run({"INCRBYFLOAT", "n", "0.25"}) == Bulk("1.75"));
  CHECK(Run({"INCRBYFLOAT", "n", "-0.75"}) == Bulk("1"));
  CHECK(Run({"OBJECT", "ENCODING", "n"}) == Bulk("embstr"));
  CHECK(Run({"INCR", "n"}) == Integer(2));
  CHECK(Run({"INCRBYFLOAT", "n", "5.0e3"}) == Bulk("5002"));
  UseResp3();
  CHECK(RunRaw("INCRBYFLOAT n 0.5\r\n") == "$6\r\n5002.5\r\n");
  CHECK(Run({"GET", "n"}) == Bulk("5002.5"));
}

// The sums of redis-server 7.0.15.
TEST_CASE_METHOD(CommandTest,
                 "INCRBYFLOAT calculates in long double and writes 17 digits without trailing zeros") {
  const auto sum = [&](const char* value, const char* amount) {
    Run({"SET", "n", value});
    return Run({"INCRBYFLOAT", "n", amount}).text;
  };
  CHECK(sum("3.0", "1.1") == "4.1");
  CHECK(sum("0.1", "0.2") == "0.3");
  CHECK(sum("1", "-1") == "0");
  CHECK(sum("-0", "-0.0") == "0");
  CHECK(sum("1e-17", "0") == "0.00000000000000001");
  CHECK(sum("4e-18", "0") == "0");
  CHECK(sum("-4e-18", "0") == "0");
  CHECK(sum("0x10", "1") == "17");
  CHECK(sum("9223372036854775807", "1") == "9223372036854775808");
  CHECK(sum("1e21", "0") == "1000000000000000000000");
  CHECK(sum("1e4900", "0").size() == 4901);
  CHECK(sum(".5", "5.") == "5.5");
}

TEST_CASE_METHOD(CommandTest, "INCRBYFLOAT keeps the expiry") {
  Run({"SET", "n", "1", "PX", "50"});
  CHECK(Run({"INCRBYFLOAT", "n", "0.5"}) == Bulk("1.5"));
  CHECK(Run({"PTTL", "n"}) == Integer(50));
  LetTimePass(50);
  CHECK(Run({"INCRBYFLOAT", "n", "0.5"}) == Bulk("0.5"));
  CHECK(Run({"TTL", "n"}) == Integer(-1));
}

TEST_CASE_METHOD(CommandTest, "INCRBYFLOAT refuses a value or an amount that is not a number") {
  for (const std::string& text : {std::string(), std::string("x"), std::string(" 1"), std::string("1 "),
                                  std::string("nan"), std::string("1e"), std::string("1e5000"),
                                  std::string("1e-5000"), std::string("1\0", 2), std::string(6000, '1')}) {
    Run({"SET", "k", text});
    CHECK(Run({"INCRBYFLOAT", "k", "1"}) == Error(kNotFloat));
    CHECK(Run({"GET", "k"}) == Bulk(text));
    CHECK(Run({"INCRBYFLOAT", "absent", text}) == Error(kNotFloat));
  }
  CHECK(Run({"EXISTS", "absent"}) == Integer(0));
  CHECK(Run({"INCRBYFLOAT", "k"}) == Error("ERR wrong number of arguments for 'incrbyfloat' command"));
}

TEST_CASE_METHOD(CommandTest, "INCRBYFLOAT never makes an infinite number") {
  CHECK(Run({"INCRBYFLOAT", "n", "inf"}) == Error(kInfinite));
  CHECK(Run({"EXISTS", "n"}) == Integer(0));
  Run({"SET", "n", "-inf"});
  CHECK(Run({"INCRBYFLOAT", "n", "1"}) == Error(kInfinite));
  CHECK(Run({"INCRBYFLOAT", "n", "inf"}) == Error(kInfinite));
  Run({"SET", "n", "1.1e4932"});
  CHECK(Run({"INCRBYFLOAT", "n", "1.1e4932"}) == Error(kInfinite));
  CHECK(Run({"GET", "n"}) == Bulk("1.1e4932"));
}

}  // namespace mayfly::testing

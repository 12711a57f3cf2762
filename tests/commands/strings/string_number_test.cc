#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "counters start at 0 and go both ways") {
  CHECK(Run({"INCR", "n"}) == Integer(1));
  CHECK(Run({"INCRBY", "n", "41"}) == Integer(42));
  CHECK(Run({"DECR", "n"}) == Integer(41));
  CHECK(Run({"DECRBY", "n", "50"}) == Integer(-9));
  CHECK(Run({"INCRBY", "n", "-1"}) == Integer(-10));
  CHECK(Run({"DECRBY", "n", "-10"}) == Integer(0));
  CHECK(Run({"GET", "n"}) == Bulk("0"));
  CHECK(Run({"DECR", "fresh"}) == Integer(-1));
  CHECK(Run({"DECRBY", "other", "7"}) == Integer(-7));
}

TEST_CASE_METHOD(CommandTest, "a counter keeps its expiry") {
  Run({"SET", "n", "1", "PX", "50"});
  CHECK(Run({"INCR", "n"}) == Integer(2));
  CHECK(Run({"INCRBY", "n", "1000000000"}) == Integer(1'000'000'002));
  CHECK(Run({"PTTL", "n"}) == Integer(50));
  LetTimePass(50);
  CHECK(Run({"INCR", "n"}) == Integer(1));
  CHECK(Run({"TTL", "n"}) == Integer(-1));
}

TEST_CASE_METHOD(CommandTest, "counters grow through every size of integer") {
  int64_t value = 0;
  Run({"SET", "n", "0"});
  for (unsigned shift = 0; shift < 62; ++shift) {
    const int64_t step = int64_t{1} << shift;
    value += step;
    CHECK(Run({"INCRBY", "n", std::to_string(step)}) == Integer(value));
    CHECK(Run({"DECRBY", "n", std::to_string(2 * value)}) == Integer(-value));
    CHECK(Run({"GET", "n"}) == Bulk(std::to_string(-value)));
    CHECK(Run({"INCRBY", "n", std::to_string(2 * value)}) == Integer(value));
  }
}

TEST_CASE_METHOD(CommandTest, "INCR refuses a value that is not an integer") {
  for (const char* text : {"", "x", "1.5", " 1", "1 ", "+1", "01", "9223372036854775808"}) {
    Run({"SET", "k", text});
    CHECK(Run({"INCR", "k"}) == Error("ERR value is not an integer or out of range"));
    CHECK(Run({"GET", "k"}) == Bulk(text));
    Run({"SET", "k", "1"});
    CHECK(Run({"INCRBY", "k", text}) == Error("ERR value is not an integer or out of range"));
    CHECK(Run({"DECRBY", "k", text}) == Error("ERR value is not an integer or out of range"));
  }
  Run({"SET", "k", std::string(20'000, '1')});
  CHECK(Run({"DECR", "k"}) == Error("ERR value is not an integer or out of range"));
}

TEST_CASE_METHOD(CommandTest, "a counter that would overflow 64 bits is refused and stays as it was") {
  Run({"SET", "n", "9223372036854775807"});
  CHECK(Run({"INCR", "n"}) == Error("ERR increment or decrement would overflow"));
  CHECK(Run({"DECRBY", "n", "-1"}) == Error("ERR increment or decrement would overflow"));
  CHECK(Run({"GET", "n"}) == Bulk("9223372036854775807"));
  Run({"SET", "n", "-9223372036854775808"});
  CHECK(Run({"DECR", "n"}) == Error("ERR increment or decrement would overflow"));
  CHECK(Run({"INCRBY", "n", "-1"}) == Error("ERR increment or decrement would overflow"));
  CHECK(Run({"INCRBY", "n", "9223372036854775807"}) == Integer(-1));
  CHECK(Run({"INCRBY", "n", "-9223372036854775808"}) == Error("ERR increment or decrement would overflow"));
  CHECK(Run({"DECRBY", "n", "-9223372036854775808"}) == Error("ERR decrement would overflow"));
  CHECK(Run({"GET", "n"}) == Bulk("-1"));
}

TEST_CASE_METHOD(CommandTest,
                 "a text that APPEND turned into a number can be counted, and is then an integer") {
  Run({"SET", "n", "1"});
  CHECK(Run({"APPEND", "n", "0"}) == Integer(2));
  CHECK(Run({"OBJECT", "ENCODING", "n"}) == Bulk("raw"));
  CHECK(Run({"INCR", "n"}) == Integer(11));
  CHECK(Run({"OBJECT", "ENCODING", "n"}) == Bulk("int"));
}

TEST_CASE_METHOD(CommandTest, "counters need their arguments") {
  CHECK(Run({"INCR"}) == Error("ERR wrong number of arguments for 'incr' command"));
  CHECK(Run({"DECR", "n", "1"}) == Error("ERR wrong number of arguments for 'decr' command"));
  CHECK(Run({"INCRBY", "n"}) == Error("ERR wrong number of arguments for 'incrby' command"));
  CHECK(Run({"DECRBY", "n"}) == Error("ERR wrong number of arguments for 'decrby' command"));
}

}  // namespace mayfly::testing

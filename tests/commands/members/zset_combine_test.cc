// Sorted sets made of others: unions, intersections, differences.
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

class CombineTest : public CommandTest {
 public:
  CombineTest() {
    Run({"ZADD", "a", "1", "x", "2", "y", "3", "z"});
    Run({"ZADD", "b", "10", "y", "20", "z", "30", "w"});
  }
};

}  // namespace

TEST_CASE_METHOD(CombineTest, "ZUNION has the members of all, with the sum of their scores") {
  CHECK(Run({"ZUNION", "3", "a", "none", "b", "WITHSCORES"}) ==
        Bulks({"x", "1", "y", "12", "z", "23", "w", "30"}));
  CHECK(Run({"ZUNION", "2", "a", "b"}) == Bulks({"x", "y", "z", "w"}));
  CHECK(Run({"ZUNION", "2", "a", "b", "WEIGHTS", "2", "0.5", "AGGREGATE", "MAX", "WITHSCORES"}) ==
        Bulks({"x", "2", "y", "5", "z", "10", "w", "15"}));
  CHECK(Run({"ZUNION", "2", "a", "b", "AGGREGATE", "MIN", "WITHSCORES"}) ==
        Bulks({"x", "1", "y", "2", "z", "3", "w", "30"}));
}

TEST_CASE_METHOD(CombineTest, "ZINTER has the members that all have, ZDIFF those of the first alone") {
  CHECK(Run({"ZINTER", "2", "a", "b", "WITHSCORES"}) == Bulks({"y", "12", "z", "23"}));
  CHECK(Run({"ZINTER", "2", "a", "none"}) == Array({}));
  CHECK(Run({"ZINTERCARD", "2", "a", "b"}) == Integer(2));
  CHECK(Run({"ZINTERCARD", "2", "a", "b", "LIMIT", "1"}) == Integer(1));
  CHECK(Run({"ZDIFF", "2", "a", "b", "WITHSCORES"}) == Bulks({"x", "1"}));
  CHECK(Run({"ZDIFF", "2", "b", "a"}) == Bulks({"w"}));
}

TEST_CASE_METHOD(CombineTest, "a result is stored in place of what was there, or removes it if it is empty") {
  Run({"SET", "to", "a string", "EX", "100"});
  CHECK(Run({"ZUNIONSTORE", "to", "2", "a", "b"}) == Integer(4));
  CHECK(Run({"TTL", "to"}) == Integer(-1));
  CHECK(Run({"ZINTERSTORE", "a", "2", "a", "b", "WEIGHTS", "1", "-1"}) == Integer(2));
  CHECK(Run({"ZRANGE", "a", "0", "-1", "WITHSCORES"}) == Bulks({"z", "-17", "y", "-8"}));
  TakeChanges();
  CHECK(Run({"ZDIFFSTORE", "to", "2", "a", "a"}) == Integer(0));
  CHECK(TakeChanges() == std::vector<std::string>{"del to"});
  CHECK(Run({"ZDIFFSTORE", "to", "1", "none"}) == Integer(0));
}

TEST_CASE_METHOD(CombineTest, "infinities of both signs have the sum 0, and -0 is shown as Redis shows it") {
  Run({"ZADD", "p", "inf", "m", "0", "n"});
  Run({"ZADD", "q", "-inf", "m"});
  CHECK(Run({"ZUNION", "2", "p", "q", "WITHSCORES"}) == Bulks({"m", "0", "n", "0"}));
  CHECK(Run({"ZUNION", "1", "p", "WEIGHTS", "-1", "WITHSCORES"}) == Bulks({"m", "-inf", "n", "-0"}));
  CHECK(Run({"ZUNIONSTORE", "to", "1", "p", "WEIGHTS", "-1"}) == Integer(2));
  CHECK(Run({"ZSCORE", "to", "n"}) == Bulk("0"));
  CHECK(Run({"OBJECT", "ENCODING", "to"}) == Bulk("listpack"));
}

}  // namespace mayfly::testing

#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "the older forms of ZRANGE answer as its options do") {
  Run({"ZADD", "z", "1", "a", "2", "b", "3", "c", "4", "d"});
  CHECK(Run({"ZRANGEBYSCORE", "z", "(1", "3"}) == Bulks({"b", "c"}));
  CHECK(Run({"ZRANGEBYSCORE", "z", "-inf", "+inf", "LIMIT", "1", "2"}) == Bulks({"b", "c"}));
  CHECK(Run({"ZRANGEBYSCORE", "z", "1", "2", "WITHSCORES"}) == Bulks({"a", "1", "b", "2"}));
  CHECK(Run({"ZREVRANGEBYSCORE", "z", "3", "(1"}) == Bulks({"c", "b"}));
  CHECK(Run({"ZREVRANGEBYSCORE", "z", "+inf", "0", "LIMIT", "0", "1"}) == Bulks({"d"}));
  CHECK(Run({"ZREVRANGE", "z", "0", "1"}) == Bulks({"d", "c"}));
  CHECK(Run({"ZREVRANGE", "z", "-2", "-1", "WITHSCORES"}) == Bulks({"b", "2", "a", "1"}));
  CHECK(Run({"ZRANGEBYSCORE", "z", "one", "3"}) == Error("ERR min or max is not a float"));
  CHECK(Run({"ZRANGEBYSCORE", "none", "0", "3"}) == Array({}));
}

TEST_CASE_METHOD(CommandTest,
                 "members with one score are ordered by their bytes, and found between two of them") {
  Run({"ZADD", "z", "0", "a", "0", "b", "0", "c", "0", "d"});
  CHECK(Run({"ZRANGEBYLEX", "z", "[b", "(d"}) == Bulks({"b", "c"}));
  CHECK(Run({"ZRANGEBYLEX", "z", "-", "+", "LIMIT", "1", "2"}) == Bulks({"b", "c"}));
  CHECK(Run({"ZREVRANGEBYLEX", "z", "(d", "[b"}) == Bulks({"c", "b"}));
  CHECK(Run({"ZRANGEBYLEX", "z", "b", "d"}) == Error("ERR min or max not valid string range item"));
}

}  // namespace mayfly::testing

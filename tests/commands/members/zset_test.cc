// Sorted sets, member by member: ZADD and its kin, scores, ranks, ranges, removal.
#include <set>

#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "ZSCAN with NOSCORES shows the members alone") {
  Run({"ZADD", "z", "1", "a", "2", "b"});
  CHECK(Run({"ZSCAN", "z", "0", "NOSCORES"}) == Array({Bulk("0"), Bulks({"a", "b"})}));
  CHECK(Run({"ZSCAN", "z", "0", "MATCH", "b", "NOSCORES"}) == Array({Bulk("0"), Bulks({"b"})}));
  CHECK(Run({"ZSCAN", "z", "0"}) == Array({Bulk("0"), Bulks({"a", "1", "b", "2"})}));
  for (int i = 0; i < 300; ++i) Run({"ZADD", "large", std::to_string(i), "m" + std::to_string(i)});
  const Reply page = Run({"ZSCAN", "large", "0", "COUNT", "1000", "NOSCORES"});
  REQUIRE(page.elements.size() == 2);
  CHECK(page.elements[1].elements.size() == 300);
  Run({"HSET", "h", "f", "v"});
  CHECK(Run({"HSCAN", "h", "0", "NOSCORES"}) == Error("ERR NOSCORES option can only be used in ZSCAN"));
}

TEST_CASE_METHOD(CommandTest,
                 "ZADD adds members and answers with how many are new; CH counts new scores, too") {
  CHECK(Run({"ZADD", "z", "2", "b", "1", "a", "3", "c"}) == Integer(3));
  CHECK(Run({"ZADD", "z", "5", "a", "4", "d"}) == Integer(1));
  CHECK(Run({"ZADD", "z", "CH", "6", "a", "4", "d", "7", "e"}) == Integer(2));
  CHECK(Run({"ZRANGE", "z", "0", "-1", "WITHSCORES"}) ==
        Bulks({"b", "2", "c", "3", "d", "4", "a", "6", "e", "7"}));
  CHECK(Run({"TYPE", "z"}) == Simple("zset"));
  CHECK(Run({"ZCARD", "z"}) == Integer(5));
}

TEST_CASE_METHOD(CommandTest, "ZADD's conditions keep scores from being set") {
  Run({"ZADD", "z", "5", "a"});
  CHECK(Run({"ZADD", "z", "NX", "9", "a", "1", "b"}) == Integer(1));
  CHECK(Run({"ZADD", "z", "XX", "CH", "6", "a", "1", "c"}) == Integer(1));
  CHECK(Run({"ZADD", "z", "GT", "CH", "5", "a", "2", "b"}) == Integer(1));
  CHECK(Run({"ZADD", "z", "LT", "CH", "5", "a", "3", "b"}) == Integer(1));
  CHECK(Run({"ZRANGE", "z", "0", "-1", "WITHSCORES"}) == Bulks({"b", "2", "a", "5"}));
  CHECK(Run({"ZADD", "none", "XX", "1", "a"}) == Integer(0));
  CHECK(Run({"EXISTS", "none"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "ZADD INCR and ZINCRBY answer with the new score") {
  CHECK(Run({"ZINCRBY", "z", "1.5", "a"}) == Bulk("1.5"));
  CHECK(Run({"ZADD", "z", "INCR", "0.1", "a"}) == Bulk("1.6"));
  CHECK(Run({"ZADD", "z", "INCR", "XX", "1", "b"}) == Null());
  UseResp3();
  CHECK(Run({"ZINCRBY", "z", "inf", "a"}) == Double("inf"));
  CHECK(Run({"ZINCRBY", "z", "-inf", "a"}) == Error("ERR resulting score is not a number (NaN)"));
  for (const char* option : {"NX", "xx", "GT", "LT", "CH", "INCR"})
    CHECK(Run({"ZINCRBY", "z", option, "a"}) == Error("ERR syntax error"));
  CHECK(Run({"ZSCORE", "z", "a"}) == Double("inf"));
}

TEST_CASE_METHOD(CommandTest, "a sorted set is a listpack until it has too many members or a long one") {
  for (int i = 0; i < 128; ++i) Run({"ZADD", "z", std::to_string(i), std::to_string(i)});
  CHECK(Run({"OBJECT", "ENCODING", "z"}) == Bulk("listpack"));
  Run({"ZADD", "z", "1", "more"});
  CHECK(Run({"OBJECT", "ENCODING", "z"}) == Bulk("skiplist"));
  Run({"ZREMRANGEBYRANK", "z", "1", "-1"});
  CHECK(Run({"OBJECT", "ENCODING", "z"}) == Bulk("skiplist"));
  Run({"ZADD", "long", "1", std::string(65, 'x')});
  CHECK(Run({"OBJECT", "ENCODING", "long"}) == Bulk("skiplist"));
  SetOption("zset-max-listpack-entries", "1");
  Run({"ZADD", "few", "1", "a"});
  CHECK(Run({"OBJECT", "ENCODING", "few"}) == Bulk("listpack"));
  Run({"ZADD", "few", "1", "b"});
  CHECK(Run({"OBJECT", "ENCODING", "few"}) == Bulk("skiplist"));
}

TEST_CASE_METHOD(CommandTest, "the scores of small sorted sets have no -0, as in Redis") {
  Run({"ZADD", "small", "-0", "a"});
  CHECK(Run({"ZSCORE", "small", "a"}) == Bulk("0"));
  SetOption("zset-max-listpack-entries", "0");
  Run({"ZADD", "large", "-0", "a"});
  CHECK(Run({"ZSCORE", "large", "a"}) == Bulk("-0"));
}

TEST_CASE_METHOD(CommandTest, "scores and ranks of members, one or several") {
  Run({"ZADD", "z", "1", "a", "2.5", "b", "2.5", "c"});
  CHECK(Run({"ZMSCORE", "z", "b", "none", "a"}) == Array({Bulk("2.5"), Null(), Bulk("1")}));
  CHECK(Run({"ZMSCORE", "none", "b"}) == Array({Null()}));
  CHECK(Run({"ZRANK", "z", "c"}) == Integer(2));
  CHECK(Run({"ZREVRANK", "z", "c"}) == Integer(0));
  CHECK(Run({"ZRANK", "z", "none"}) == Null());
  CHECK(Run({"ZRANK", "z", "b", "WITHSCORE"}) == Array({Integer(1), Bulk("2.5")}));
  CHECK(Run({"ZREVRANK", "none", "b", "withscore"}) == NullArray());
  CHECK(Run({"ZRANK", "z", "b", "WITHSCORES"}) == Error("ERR syntax error"));
  CHECK(Run({"ZRANK", "z", "b", "WITHSCORE", "x"}) ==
        Error("ERR wrong number of arguments for 'zrank' command"));
}

TEST_CASE_METHOD(CommandTest, "ZRANGE takes ranks, scores or names, from either end, and a limit") {
  Run({"ZADD", "z", "1", "a", "2", "b", "3", "c", "4", "d"});
  CHECK(Run({"ZRANGE", "z", "-2", "100"}) == Bulks({"c", "d"}));
  CHECK(Run({"ZRANGE", "z", "0", "1", "REV"}) == Bulks({"d", "c"}));
  CHECK(Run({"ZRANGE", "z", "(1", "3", "BYSCORE"}) == Bulks({"b", "c"}));
  CHECK(Run({"ZRANGE", "z", "+inf", "-inf", "BYSCORE", "REV", "LIMIT", "1", "2"}) == Bulks({"c", "b"}));
  CHECK(Run({"ZRANGE", "z", "(9", "10", "BYSCORE"}) == Array({}));
  Run({"ZADD", "n", "0", "a", "0", "b", "0", "c"});
  CHECK(Run({"ZRANGE", "n", "(a", "+", "BYLEX"}) == Bulks({"b", "c"}));
  CHECK(Run({"ZREVRANGEBYLEX", "n", "[b", "-"}) == Bulks({"b", "a"}));
  CHECK(Run({"ZLEXCOUNT", "n", "[b", "[c"}) == Integer(2));
  CHECK(Run({"ZCOUNT", "z", "-inf", "(3"}) == Integer(2));
  CHECK(Run({"ZRANGESTORE", "to", "z", "1", "2"}) == Integer(2));
  CHECK(Run({"ZRANGE", "to", "0", "-1", "WITHSCORES"}) == Bulks({"b", "2", "c", "3"}));
  CHECK(Run({"ZRANGESTORE", "to", "none", "1", "2"}) == Integer(0));
  CHECK(Run({"EXISTS", "to"}) == Integer(0));
}

TEST_CASE_METHOD(
    CommandTest,
    "a limit of names with unequal scores skips members without a look at their names, as in Redis") {
  Run({"ZADD", "z", "0", "b", "1", "d", "2", "a"});
  CHECK(Run({"ZRANGEBYLEX", "z", "-", "[c"}) == Bulks({"b"}));
  CHECK(Run({"ZRANGEBYLEX", "z", "-", "[c", "LIMIT", "1", "5"}) == Array({}));
  CHECK(Run({"ZRANGEBYLEX", "z", "-", "[c", "LIMIT", "2", "5"}) == Bulks({"a"}));
  CHECK(Run({"ZRANGEBYLEX", "z", "-", "[c", "LIMIT", "3", "5"}) == Array({}));
  Run({"ZADD", "w", "0", "c", "1", "a", "2", "b"});
  CHECK(Run({"ZREVRANGEBYLEX", "w", "+", "[b", "LIMIT", "1", "5"}) == Array({}));
  CHECK(Run({"ZREVRANGEBYLEX", "w", "+", "[b", "LIMIT", "2", "5"}) == Bulks({"c"}));
  CHECK(Run({"ZREVRANGEBYLEX", "w", "+", "[b", "LIMIT", "0", "0"}) == Array({}));
}

TEST_CASE_METHOD(CommandTest, "the commands that ZRANGE replaces answer as it does") {
  Run({"ZADD", "z", "1", "a", "2", "b", "3", "c", "4", "d"});
  CHECK(Run({"ZREVRANGE", "z", "0", "1", "WITHSCORES"}) == Bulks({"d", "4", "c", "3"}));
  CHECK(Run({"ZRANGEBYSCORE", "z", "(1", "3", "LIMIT", "1", "5"}) == Bulks({"c"}));
  CHECK(Run({"ZREVRANGEBYSCORE", "z", "3", "(1"}) == Bulks({"c", "b"}));
  CHECK(Run({"ZRANGEBYLEX", "z", "[b", "(d"}) == Bulks({"b", "c"}));
  CHECK(Run({"ZREVRANGE", "z", "0", "1", "REV"}) == Error("ERR syntax error"));
}

TEST_CASE_METHOD(CommandTest, "in RESP3 a score stands in a pair with its member, as a double") {
  Run({"ZADD", "z", "1", "a", "2.5", "b"});
  UseResp3();
  const Reply both = Array({Array({Bulk("a"), Double("1")}), Array({Bulk("b"), Double("2.5")})});
  CHECK(Run({"ZRANGE", "z", "0", "-1", "WITHSCORES"}) == both);
  CHECK(Run({"ZUNION", "1", "z", "WITHSCORES"}) == both);
  CHECK(Run({"ZRANDMEMBER", "z", "2", "WITHSCORES"}) == both);
  CHECK(Run({"ZSCAN", "z", "0"}) == Array({Bulk("0"), Bulks({"a", "1", "b", "2.5"})}));
  CHECK(Run({"ZPOPMIN", "z"}) == Array({Bulk("a"), Double("1")}));
  CHECK(Run({"ZPOPMIN", "z", "5"}) == Array({Array({Bulk("b"), Double("2.5")})}));
}

TEST_CASE_METHOD(CommandTest, "members are removed by name and by range, and the key with the last one") {
  Run({"ZADD", "z", "1", "a", "2", "b", "3", "c", "4", "d", "5", "e", "6", "f"});
  CHECK(Run({"ZREM", "z", "a", "none", "a"}) == Integer(1));
  CHECK(Run({"ZREMRANGEBYRANK", "z", "0", "0"}) == Integer(1));
  CHECK(Run({"ZREMRANGEBYSCORE", "z", "3", "(5"}) == Integer(2));
  TakeChanges();
  CHECK(Run({"ZREMRANGEBYLEX", "z", "-", "+"}) == Integer(2));
  CHECK(TakeChanges() == std::vector<std::string>{"zremrangebylex z", "del z"});
  CHECK(Run({"EXISTS", "z"}) == Integer(0));
  CHECK(Run({"ZREM", "z", "a"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "ZRANDMEMBER shows different members, or as many as are asked for") {
  SetOption("zset-max-listpack-entries", GENERATE("128", "0"));
  for (int i = 0; i < 50; ++i) Run({"ZADD", "z", std::to_string(i), "m" + std::to_string(i)});
  for (const char* count : {"3", "40", "50", "60"}) {
    const Reply shown = Run({"ZRANDMEMBER", "z", count});
    CHECK(shown.elements.size() == std::min<size_t>(50, std::stoul(count)));
    std::set<std::string> names;
    for (const Reply& name : shown.elements) names.insert(name.text);
    CHECK(names.size() == shown.elements.size());
  }
  CHECK(Run({"ZRANDMEMBER", "z", "-70", "WITHSCORES"}).elements.size() == 140);
  CHECK(Run({"ZRANDMEMBER", "z"}).kind == Reply::Kind::kBulk);
  CHECK(Run({"ZRANDMEMBER", "none"}) == Null());
  CHECK(Run({"ZRANDMEMBER", "none", "2"}) == Array({}));
}

TEST_CASE_METHOD(CommandTest,
                 "ZSCAN shows each member of a large sorted set once, and scores with 17 digits") {
  SetOption("zset-max-listpack-entries", "0");
  for (int i = 0; i < 1'000; ++i) Run({"ZADD", "z", "0.1", "m" + std::to_string(i)});
  std::set<std::string> names;
  std::string cursor = "0";
  size_t shown = 0;
  do {
    const Reply page = Run({"ZSCAN", "z", cursor, "COUNT", "50", "MATCH", "m*"});
    cursor = page.elements[0].text;
    for (size_t i = 0; i < page.elements[1].elements.size(); i += 2, ++shown) {
      names.insert(page.elements[1].elements[i].text);
      CHECK(page.elements[1].elements[i + 1] == Bulk("0.10000000000000001"));
    }
  } while (cursor != "0");
  CHECK(names.size() == 1'000);
  CHECK(shown == 1'000);
}

TEST_CASE_METHOD(CommandTest, "a command on sorted sets refuses a key of another type") {
  Run({"SET", "s", "x"});
  const Reply wrong = Error("WRONGTYPE Operation against a key holding the wrong kind of value");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"ZADD", "s", "1", "a"},
                                             {"ZCARD", "s"},
                                             {"ZRANGE", "s", "0", "1"},
                                             {"ZUNION", "1", "s"},
                                             {"BZPOPMIN", "s", "0"},
                                             {"ZMPOP", "1", "s", "MIN"}}) {
    CHECK(Run(words) == wrong);
  }
  Run({"ZADD", "z", "1", "a"});
  CHECK(Run({"GET", "z"}) == wrong);
}

}  // namespace mayfly::testing

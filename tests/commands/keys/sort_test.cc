// SORT and SORT_RO.
#include <random>

#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

class SortTest : public CommandTest {
 public:
  Reply Whole(const std::string& key) { return Run({"LRANGE", key, "0", "-1"}); }
};

}  // namespace

TEST_CASE_METHOD(SortTest, "elements are put in order as numbers or as texts, upwards or downwards") {
  Run({"RPUSH", "l", "10", "9", "1.5", "-3", "1e2"});
  CHECK(Run({"SORT", "l"}) == Bulks({"-3", "1.5", "9", "10", "1e2"}));
  CHECK(Run({"SORT", "l", "DESC"}) == Bulks({"1e2", "10", "9", "1.5", "-3"}));
  CHECK(Run({"SORT_RO", "l", "ALPHA"}) == Bulks({"-3", "1.5", "10", "1e2", "9"}));
  CHECK(Run({"SORT", "l", "LIMIT", "1", "2"}) == Bulks({"1.5", "9"}));
  CHECK(Run({"SORT", "l", "BY", "nosort", "DESC", "LIMIT", "0", "2"}) == Bulks({"1e2", "-3"}));
  Run({"RPUSH", "l", "word"});
  CHECK(Run({"SORT", "l"}) == Error("ERR One or more scores can't be converted into double"));
}

TEST_CASE_METHOD(SortTest, "the order may be that of other keys, and other keys may be answered with") {
  Run({"RPUSH", "l", "a", "b", "c"});
  Run({"MSET", "weight_a", "3", "weight_b", "1", "weight_c", "2", "name_b", "second"});
  CHECK(Run({"SORT", "l", "BY", "weight_*"}) == Bulks({"b", "c", "a"}));
  CHECK(Run({"SORT", "l", "BY", "weight_*", "GET", "#", "GET", "name_*", "LIMIT", "0", "2"}) ==
        Array({Bulk("b"), Bulk("second"), Bulk("c"), Null()}));
}

TEST_CASE_METHOD(SortTest, "a pattern with an arrow reads a field of a hash") {
  Run({"RPUSH", "l", "a", "b", "c"});
  Run({"HSET", "user:a", "age", "30", "name", "Ann"});
  Run({"HSET", "user:b", "age", "20"});
  Run({"SET", "user:c", "no hash"});
  CHECK(Run({"SORT", "l", "BY", "user:*->age", "GET", "#", "GET", "user:*->name"}) ==
        Array({Bulk("c"), Null(), Bulk("b"), Null(), Bulk("a"), Bulk("Ann")}));
  CHECK(Run({"SORT", "l", "ALPHA", "GET", "user:*"}) == Array({Null(), Null(), Bulk("no hash")}));
}

TEST_CASE_METHOD(SortTest,
                 "a sorted set keeps its order if nothing is to be sorted; a set that is stored does not") {
  Run({"ZADD", "z", "1", "x", "2", "b", "3", "m"});
  CHECK(Run({"SORT", "z", "BY", "nosort"}) == Bulks({"x", "b", "m"}));
  CHECK(Run({"SORT", "z", "BY", "nosort", "DESC", "LIMIT", "0", "1"}) == Bulks({"m"}));
  CHECK(Run({"SORT", "z", "ALPHA"}) == Bulks({"b", "m", "x"}));
  Run({"SADD", "s", "x", "b", "m"});
  CHECK(Run({"SORT", "s", "BY", "nosort", "STORE", "to"}) == Integer(3));
  CHECK(Whole("to") == Bulks({"b", "m", "x"}));
}

TEST_CASE_METHOD(SortTest, "what is stored replaces any key, and nothing at all removes it") {
  Run({"RPUSH", "l", "3", "1", "2"});
  Run({"SET", "to", "text", "EX", "100"});
  CHECK(Run({"SORT", "l", "STORE", "to"}) == Integer(3));
  CHECK(Whole("to") == Bulks({"1", "2", "3"}));
  CHECK(Run({"TTL", "to"}) == Integer(-1));
  CHECK(Run({"SORT", "l", "GET", "none_*", "GET", "#", "STORE", "l"}) == Integer(6));
  CHECK(Whole("l") == Bulks({"", "1", "", "2", "", "3"}));
  CHECK(Run({"SORT", "absent", "STORE", "l"}) == Integer(0));
  CHECK(Run({"EXISTS", "l"}) == Integer(0));
}

TEST_CASE_METHOD(SortTest, "a list that SORT stores is taken by who waits for it") {
  TestClient& waiter = Connect();
  CHECK(waiter.Run({"BLPOP", "to", "0"}) == NoReply());
  Run({"RPUSH", "l", "2", "1"});
  CHECK(Run({"SORT", "l", "STORE", "to"}) == Integer(2));
  CHECK(waiter.Received() == std::vector<Reply>{Bulks({"to", "1"})});
  CHECK(Whole("to") == Bulks({"2"}));
}

TEST_CASE_METHOD(SortTest, "SORT answers as a real redis-server") {
  Oracle oracle;
  std::mt19937 random(20240305);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const auto of = [&](const Words& words) { return words[below(words.size())]; };
  const auto both = [&](const Words& words) {
    CAPTURE(words);
    REQUIRE(RunRaw(EncodeRequest(words)) == oracle.Ask(EncodeRequest(words), 1)[0]);
  };
  const auto number = [&] {
    return of({"0", "1", "-1", "2", "3", "1000000", "-9223372036854775808", "x", "01"});
  };
  for (int round = 0; round < 300; ++round) {
    both({"FLUSHALL"});
    both({"SET", "text", "v"});
    const bool numbers = below(2) == 0;
    for (size_t i = below(20); i != 0; --i) {
      const std::string element = numbers
                                      ? of({"1", "2", "3", "10", "-5", "1.5", "0x10", " 7", "inf", "1e3", ""})
                                      : of({"a", "b", "ab", "B", "1", "10", "", "nan"});
      both({of({"LPUSH", "RPUSH"}), "l", element});
      if (below(2) == 0) both({"SET", "w_" + element, std::to_string(below(1000))});
    }
    for (int i = 0; i < 10; ++i) {
      Words words{of({"SORT", "SORT", "SORT_RO"}), of({"l", "l", "l", "text", "to", "absent"})};
      bool by = false;
      if (below(3) == 0) {
        by = true;
        words.insert(words.end(), {"BY", of({"w_*", "nosort", "*", "#", "w_*->f"})});
      }
      if (below(3) == 0) words.insert(words.end(), {"LIMIT", number(), number()});
      for (size_t n = below(3); n != 0; --n)
        words.insert(words.end(), {"GET", of({"w_*", "#", "x", "w_*->f"})});
      if (below(2) == 0) words.push_back(of({"ASC", "DESC", "desc"}));
      // Equal weights have no order in Redis.
      if (!by && below(2) == 0) words.push_back("ALPHA");
      if (below(3) == 0) words.insert(words.end(), {"STORE", of({"to", "l"})});
      if (below(30) == 0) words.push_back(of({"BY", "GET", "LIMIT", "STORE", "x"}));
      both(words);
      both({"LRANGE", "to", "0", "-1"});
    }
  }
}

}  // namespace mayfly::testing

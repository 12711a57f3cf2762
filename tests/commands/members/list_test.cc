// Lists, but for the commands that wait (list_blocking_test.cc).
#include <algorithm>
#include <random>

#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

const Reply kWrongType = Error("WRONGTYPE Operation against a key holding the wrong kind of value");

// Most of them wrong in one way or several.
const std::vector<Words> kFaultyRequests = {{"RPUSH", "l", "a", "b", "a"},
                                            {"SET", "s", "v"},
                                            {"LPOP", "l", "-1"},
                                            {"LPOP", "l", "x"},
                                            {"LPOP", "l", "1", "1"},
                                            {"RPOP", "l", "9223372036854775808"},
                                            {"LPOP", "absent", "x"},
                                            {"LPOP", "s", "0"},
                                            {"LPOP", "l", "0"},
                                            {"LINDEX", "absent", "x"},
                                            {"LINDEX", "l", "x"},
                                            {"LINDEX", "l", "-9223372036854775808"},
                                            {"LRANGE", "s", "x", "0"},
                                            {"LRANGE", "l", "-9223372036854775808", "9223372036854775807"},
                                            {"LSET", "absent", "x", "y"},
                                            {"LSET", "l", "x", "y"},
                                            {"LSET", "l", "3", "y"},
                                            {"LSET", "l", "-4", "y"},
                                            {"LSET", "s", "x", "y"},
                                            {"LINSERT", "s", "UP", "a", "b"},
                                            {"LINSERT", "absent", "BEFORE", "a", "b"},
                                            {"LREM", "s", "x", "a"},
                                            {"LREM", "absent", "-9223372036854775808", "a"},
                                            {"LTRIM", "s", "0", "x"},
                                            {"LTRIM", "absent", "0", "1"},
                                            {"LPOS", "l", "a", "RANK", "0"},
                                            {"LPOS", "l", "a", "RANK", "x"},
                                            {"LPOS", "l", "a", "RANK", "-9223372036854775808"},
                                            {"LPOS", "l", "a", "RANK", "-9223372036854775807"},
                                            {"LPOS", "l", "a", "COUNT", "-1"},
                                            {"LPOS", "l", "a", "MAXLEN", "x"},
                                            {"LPOS", "l", "a", "RANK"},
                                            {"LPOS", "l", "a", "COUNT", "1", "COUNT", "0"},
                                            {"LPOS", "absent", "a", "COUNT", "0"},
                                            {"LPOS", "absent", "a"},
                                            {"LMOVE", "l", "s", "UP", "LEFT"},
                                            {"LMOVE", "l", "s", "LEFT", "UP"},
                                            {"LMOVE", "absent", "s", "LEFT", "LEFT"},
                                            {"LMPOP", "0", "l", "LEFT"},
                                            {"LMPOP", "x", "l", "LEFT"},
                                            {"LMPOP", "3", "l", "LEFT"},
                                            {"LMPOP", "9223372036854775807", "l", "LEFT"},
                                            {"LMPOP", "1", "l", "UP"},
                                            {"LMPOP", "1", "l", "LEFT", "COUNT"},
                                            {"LMPOP", "1", "l", "LEFT", "COUNT", "0"},
                                            {"LMPOP", "1", "l", "LEFT", "COUNT", "1", "COUNT", "1"},
                                            {"LMPOP", "1", "l", "LEFT", "SOME", "1"},
                                            {"LMPOP", "2", "absent", "none", "LEFT"},
                                            {"BLPOP", "l", "x"},
                                            {"BLPOP", "l", "-1"},
                                            {"BLPOP", "absent", "s", "l", "0"},
                                            {"BLMOVE", "l", "s", "LEFT", "UP", "x"},
                                            {"BLMOVE", "l", "s", "LEFT", "LEFT", "x"},
                                            {"BLMOVE", "l", "s", "LEFT", "LEFT", "0"},
                                            {"BRPOPLPUSH", "s", "l", "0"},
                                            {"BLMPOP", "x", "0", "l", "LEFT"},
                                            {"BLMPOP", "x", "1", "l", "LEFT"},
                                            {"BLMPOP", "0", "1", "l", "LEFT", "COUNT", "x"},
                                            {"BLMPOP", "0", "2", "s", "l", "LEFT"},
                                            {"LREM", "l", "-9223372036854775808", "a"},
                                            {"LRANGE", "l", "0", "-1"}};

class ListTest : public CommandTest {
 public:
  Reply Whole(const std::string& key) { return Run({"LRANGE", key, "0", "-1"}); }
  Reply Encoding(const std::string& key) { return Run({"OBJECT", "ENCODING", key}); }
};

}  // namespace

TEST_CASE_METHOD(ListTest, "elements are added at both ends, one after another, and read by their index") {
  CHECK(Run({"RPUSH", "l", "b", "c"}) == Integer(2));
  CHECK(Run({"LPUSH", "l", "a", "0", "-1"}) == Integer(5));
  CHECK(Whole("l") == Bulks({"-1", "0", "a", "b", "c"}));
  CHECK(Run({"LLEN", "l"}) == Integer(5));
  CHECK(Run({"LINDEX", "l", "0"}) == Bulk("-1"));
  CHECK(Run({"LINDEX", "l", "-1"}) == Bulk("c"));
  CHECK(Run({"LINDEX", "l", "5"}) == Null());
  CHECK(Run({"LRANGE", "l", "-2", "100"}) == Bulks({"b", "c"}));
  CHECK(Run({"LPUSHX", "absent", "x"}) == Integer(0));
  CHECK(Run({"RPUSHX", "l", "d"}) == Integer(6));
  CHECK(Run({"TYPE", "l"}) == Simple("list"));
}

TEST_CASE_METHOD(ListTest, "elements are changed, inserted, removed and cut off") {
  Run({"RPUSH", "l", "a", "b", "a", "c", "a"});
  CHECK(Run({"LSET", "l", "-2", "x"}) == Ok());
  CHECK(Run({"LINSERT", "l", "BEFORE", "x", "y"}) == Integer(6));
  CHECK(Run({"LINSERT", "l", "after", "x", "z"}) == Integer(7));
  CHECK(Run({"LINSERT", "l", "AFTER", "absent", "z"}) == Integer(-1));
  CHECK(Run({"LREM", "l", "-2", "a"}) == Integer(2));
  CHECK(Whole("l") == Bulks({"a", "b", "y", "x", "z"}));
  CHECK(Run({"LTRIM", "l", "1", "-2"}) == Ok());
  CHECK(Whole("l") == Bulks({"b", "y", "x"}));
  CHECK(Run({"LPOS", "l", "x"}) == Integer(2));
}

TEST_CASE_METHOD(ListTest, "the last element takes the key with it, however it goes") {
  const std::vector<Words> ways = {{"LPOP", "l"},
                                   {"RPOP", "l", "5"},
                                   {"LREM", "l", "0", "a"},
                                   {"LTRIM", "l", "1", "0"},
                                   {"LMOVE", "l", "other", "LEFT", "LEFT"},
                                   {"LMPOP", "1", "l", "RIGHT"},
                                   {"BLPOP", "l", "0"}};
  for (const Words& way : ways) {
    INFO(way[0]);
    Run({"RPUSH", "l", "a"});
    Run(way);
    CHECK(Run({"EXISTS", "l"}) == Integer(0));
  }
}

TEST_CASE_METHOD(ListTest, "an element moves between two lists, or round one") {
  Run({"RPUSH", "l", "a", "b", "c"});
  CHECK(Run({"LMOVE", "l", "other", "LEFT", "RIGHT"}) == Bulk("a"));
  CHECK(Run({"RPOPLPUSH", "l", "l"}) == Bulk("c"));
  CHECK(Whole("l") == Bulks({"c", "b"}));
  CHECK(Run({"LMOVE", "l", "l", "RIGHT", "RIGHT"}) == Bulk("b"));
  CHECK(Whole("l") == Bulks({"c", "b"}));
  CHECK(Whole("other") == Bulks({"a"}));
  Run({"SET", "text", "v"});
  CHECK(Run({"LMOVE", "l", "text", "LEFT", "LEFT"}) == kWrongType);
  CHECK(Whole("l") == Bulks({"c", "b"}));
}

TEST_CASE_METHOD(ListTest, "a list keeps its expiry while it changes") {
  Run({"RPUSH", "l", "a", "b"});
  Run({"EXPIRE", "l", "10"});
  Run({"LPUSH", "l", "c"});
  Run({"LSET", "l", "0", "d"});
  Run({"RPOP", "l"});
  CHECK(Run({"TTL", "l"}) == Integer(10));
  AdvanceTime(10'000);
  CHECK(Run({"EXISTS", "l"}) == Integer(0));
}

TEST_CASE_METHOD(ListTest, "commands on strings refuse a list, and those on lists a string") {
  Run({"RPUSH", "l", "a"});
  Run({"SET", "s", "v"});
  for (const Words& words : std::vector<Words>{{"GET", "l"},
                                               {"APPEND", "l", "x"},
                                               {"INCR", "l"},
                                               {"SETRANGE", "l", "0", "x"},
                                               {"GETDEL", "l"},
                                               {"LPUSH", "s", "x"},
                                               {"LPUSHX", "s", "x"},
                                               {"LLEN", "s"},
                                               {"LINDEX", "s", "0"},
                                               {"LRANGE", "s", "0", "0"},
                                               {"LPOS", "s", "x"},
                                               {"LSET", "s", "0", "x"},
                                               {"LREM", "s", "0", "x"},
                                               {"LTRIM", "s", "0", "0"},
                                               {"LINSERT", "s", "BEFORE", "a", "b"},
                                               {"RPOP", "s"},
                                               {"LMPOP", "2", "absent", "s", "LEFT"},
                                               {"LMOVE", "s", "l", "LEFT", "LEFT"},
                                               {"BLPOP", "s", "l", "0"}}) {
    INFO(words[0]);
    CHECK(Run(words) == kWrongType);
  }
  CHECK(Run({"SET", "l", "v"}) == Ok());
  CHECK(Run({"GET", "l"}) == Bulk("v"));
}

TEST_CASE_METHOD(ListTest, "the encoding follows list-max-listpack-size, both ways") {
  SetOption("list-max-listpack-size", "3");
  Run({"RPUSH", "l", "a", "b", "c"});
  CHECK(Encoding("l") == Bulk("listpack"));
  Run({"RPUSH", "l", "d"});
  CHECK(Encoding("l") == Bulk("quicklist"));
  Run({"LTRIM", "l", "0", "0"});
  CHECK(Encoding("l") == Bulk("listpack"));
  SetOption("list-max-listpack-size", "-2");
  Run({"LPUSH", "l", std::string(9000, 'x')});
  CHECK(Encoding("l") == Bulk("quicklist"));
  Run({"LSET", "l", "0", "y"});
  CHECK(Whole("l") == Bulks({"y", "a"}));
  CHECK(Encoding("l") == Bulk("listpack"));
}

TEST_CASE_METHOD(ListTest, "sessions on lists of any node size are answered as by a real redis-server") {
  Oracle oracle;
  std::mt19937 random(20240303);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const auto of = [&](const std::vector<std::string>& words) { return words[below(words.size())]; };
  const auto key = [&] { return of({"a", "b", "c"}); };
  const auto element = [&] {
    return below(10) == 0 ? std::string(below(6000), 'x') : of({"1", "2", "a", "b", "", "-7", "1000000"});
  };
  const auto index = [&] { return std::to_string(static_cast<int>(below(60)) - 30); };
  const auto end = [&] { return of({"LEFT", "RIGHT", "left"}); };
  const auto draw = [&]() -> Words {
    switch (below(18)) {
      case 0:
      case 1:
      case 2:
      case 3: {
        Words words{of({"LPUSH", "RPUSH", "RPUSHX"}), key()};
        for (size_t i = 0; i <= below(12); ++i) words.push_back(element());
        return words;
      }
      case 4:
        return {of({"LPOP", "RPOP"}), key(), std::to_string(below(6))};
      case 5:
        return {"LMPOP", "2", key(), key(), end(), "COUNT", std::to_string(1 + below(4))};
      case 6:
        return {"LMOVE", key(), key(), end(), end()};
      case 7:
        return {"RPOPLPUSH", key(), key()};
      case 8:
        return {"LINSERT", key(), of({"BEFORE", "AFTER"}), element(), element()};
      case 9:
        return {"LSET", key(), index(), element()};
      case 10:
        return {"LREM", key(), std::to_string(static_cast<int>(below(5)) - 2), element()};
      case 11:
        return below(4) == 0 ? Words{"LTRIM", key(), index(), index()} : Words{"LLEN", key()};
      case 12:
        return {"LINDEX", key(), index()};
      case 13:
        return {"LPOS", key(), element(), "RANK", of({"1", "-1", "2", "-3"}), "COUNT", of({"0", "1", "2"})};
      case 14:
        return {"LPOS", key(), element(), "MAXLEN", of({"0", "1", "10"}), "RANK", of({"1", "-1", "2"})};
      default:
        return {"LRANGE", key(), index(), index()};
    }
  };
  for (const char* const size : {"-2", "1", "2", "5", "-1"}) {
    SetOption("list-max-listpack-size", size);
    for (int step = 0; step < 3000; ++step) {
      const Words words = draw();
      CAPTURE(size, step, words[0]);
      REQUIRE(RunRaw(EncodeRequest(words)) == oracle.Ask(EncodeRequest(words), 1)[0]);
      if (step % 50 == 0) {
        const Words all = {"LRANGE", key(), "0", "-1"};
        REQUIRE(RunRaw(EncodeRequest(all)) == oracle.Ask(EncodeRequest(all), 1)[0]);
      }
    }
  }
}

TEST_CASE_METHOD(ListTest, "what is wrong with a request is said in Redis's words and order") {
  Oracle oracle;
  for (const int protocol : {2, 3}) {
    protocol == 3 ? UseResp3() : UseResp2();
    oracle.Ask(EncodeRequest({"HELLO", std::to_string(protocol)}) + EncodeRequest({"FLUSHALL"}), 2);
    Run({"FLUSHALL"});
    for (const Words& words : kFaultyRequests) {
      CAPTURE(protocol, words);
      CHECK(RunRaw(EncodeRequest(words)) == oracle.Ask(EncodeRequest(words), 1)[0]);
    }
  }
}

}  // namespace mayfly::testing

#include <set>

#include "support/command_test.h"

namespace mayfly::testing {
namespace {

using Lines = std::vector<std::string>;

const Reply kWrongType = Error("WRONGTYPE Operation against a key holding the wrong kind of value");

class SetTest : public CommandTest {
 public:
  // The members in order, each once.
  std::set<std::string> Members(const Words& request) {
    const Reply reply = Run(request);
    std::set<std::string> texts;
    for (const Reply& element : reply.elements) CHECK(texts.insert(element.text).second);
    return texts;
  }
  // Adds "m0", "m1" ... and returns them.
  std::set<std::string> Fill(const std::string& key, int count) {
    Words request{"SADD", key};
    for (int i = 0; i < count; ++i) request.push_back("m" + std::to_string(i));
    Run(request);
    return {request.begin() + 2, request.end()};
  }
};

using Texts = std::set<std::string>;

}  // namespace

TEST_CASE_METHOD(SetTest, "members are added once, asked for and removed, and an empty set is gone") {
  CHECK(Run({"SADD", "s", "a", "b", "a"}) == Integer(2));
  CHECK(Run({"SADD", "s", "b", "c"}) == Integer(1));
  CHECK(Run({"SCARD", "s"}) == Integer(3));
  CHECK(Run({"SISMEMBER", "s", "a"}) == Integer(1));
  CHECK(Run({"SISMEMBER", "s", "x"}) == Integer(0));
  CHECK(Run({"SMISMEMBER", "s", "a", "x", "c"}) == Array({Integer(1), Integer(0), Integer(1)}));
  CHECK(Run({"SMEMBERS", "s"}) == Bulks({"a", "b", "c"}));
  CHECK(Run({"SREM", "s", "a", "x"}) == Integer(1));
  CHECK(Run({"SREM", "s", "b", "c"}) == Integer(2));
  CHECK(Run({"EXISTS", "s"}) == Integer(0));
  CHECK(Run({"SREM", "s", "b"}) == Integer(0));
  CHECK(Run({"SCARD", "s"}) == Integer(0));
  CHECK(Run({"SMISMEMBER", "s", "a"}) == Array({Integer(0)}));
  CHECK(Run({"SMEMBERS", "s"}) == Array({}));
  CHECK(Run({"SISMEMBER", "s", "a"}) == Integer(0));
}

TEST_CASE_METHOD(SetTest, "in RESP3 what is a set is answered as one") {
  Run({"SADD", "s", "1", "2"});
  UseResp3();
  CHECK(Run({"SMEMBERS", "s"}).kind == Reply::Kind::kSet);
  CHECK(Run({"SUNION", "s", "none"}).kind == Reply::Kind::kSet);
  CHECK(Run({"SINTER", "s"}).kind == Reply::Kind::kSet);
  CHECK(Run({"SDIFF", "none"}).kind == Reply::Kind::kSet);
  CHECK(Run({"SRANDMEMBER", "s", "5"}).kind == Reply::Kind::kArray);
  CHECK(Run({"SRANDMEMBER", "none", "5"}).kind == Reply::Kind::kArray);
  CHECK(Run({"SPOP", "none", "5"}).kind == Reply::Kind::kSet);
  CHECK(Run({"SPOP", "s", "5"}).kind == Reply::Kind::kSet);
}

TEST_CASE_METHOD(SetTest, "the encoding of a set follows its members and the options") {
  Run({"SADD", "s", "1", "2"});
  CHECK(Run({"OBJECT", "ENCODING", "s"}) == Bulk("intset"));
  Run({"SADD", "s", "a"});
  CHECK(Run({"OBJECT", "ENCODING", "s"}) == Bulk("listpack"));
  Run({"SADD", "s", std::string(65, 'x')});
  CHECK(Run({"OBJECT", "ENCODING", "s"}) == Bulk("hashtable"));
  CHECK(Run({"TYPE", "s"}) == Simple("set"));
  SetOption("set-max-intset-entries", "2");
  Run({"SADD", "t", "1", "2"});
  Run({"SADD", "t", "3"});
  CHECK(Run({"OBJECT", "ENCODING", "t"}) == Bulk("hashtable"));
  SetOption("set-max-listpack-entries", "1");
  Run({"SADD", "u", "a"});
  CHECK(Run({"OBJECT", "ENCODING", "u"}) == Bulk("listpack"));
  Run({"SADD", "u", "b"});
  CHECK(Run({"OBJECT", "ENCODING", "u"}) == Bulk("hashtable"));
  SetOption("set-max-listpack-value", "100");
  Run({"SADD", "v", std::string(65, 'x')});
  CHECK(Run({"OBJECT", "ENCODING", "v"}) == Bulk("listpack"));
}

TEST_CASE_METHOD(SetTest, "SPOP takes members out, one or several, until the set is gone") {
  for (const int size : {5, 1000}) {
    Texts left = Fill("s", size);
    CHECK(left.erase(Run({"SPOP", "s"}).text) == 1);
    for (const int count : {2, size / 2, size / 2 - 4}) {
      for (const std::string& popped : Members({"SPOP", "s", std::to_string(count)}))
        CHECK(left.erase(popped) == 1);
      CHECK(Members({"SMEMBERS", "s"}) == left);
    }
    TakeChanges();
    CHECK(Members({"SPOP", "s", "1000"}) == left);
    CHECK(TakeChanges() == (left.empty() ? Lines{} : Lines{"spop s", "del s"}));
    CHECK(Run({"EXISTS", "s"}) == Integer(0));
  }
  CHECK(Run({"SPOP", "s"}) == Null());
  CHECK(Run({"SPOP", "s", "3"}) == Array({}));
  CHECK(Run({"SPOP", "s", "-1"}) == Error("ERR value is out of range, must be positive"));
  CHECK(Run({"SPOP", "s", "x"}) == Error("ERR value is out of range, must be positive"));
  CHECK(Run({"SPOP", "s", "1", "1"}) == Error("ERR syntax error"));
}

TEST_CASE_METHOD(SetTest, "a large set of which SPOP leaves few is small again") {
  Fill("s", 1000);
  Run({"SPOP", "s", "800"});
  CHECK(Run({"OBJECT", "ENCODING", "s"}) == Bulk("hashtable"));
  Run({"SPOP", "s", "190"});
  CHECK(Run({"OBJECT", "ENCODING", "s"}) == Bulk("listpack"));
  CHECK(Run({"SCARD", "s"}) == Integer(10));
  CHECK(keyspace().Validate());
}

TEST_CASE_METHOD(SetTest,
                 "SRANDMEMBER shows different members, or with a negative count as many as asked for") {
  for (const int size : {10, 600}) {
    const Texts all = Fill("s", size);
    CHECK(all.contains(Run({"SRANDMEMBER", "s"}).text));
    for (const int count : {1, 4, size - 1, size, size + 1}) {
      const Texts shown = Members({"SRANDMEMBER", "s", std::to_string(count)});
      CHECK(shown.size() == std::min<size_t>(count, all.size()));
      CHECK(std::includes(all.begin(), all.end(), shown.begin(), shown.end()));
    }
    const Reply many = Run({"SRANDMEMBER", "s", "-2000"});
    CHECK(many.elements.size() == 2000);
    for (const Reply& one : many.elements) REQUIRE(all.contains(one.text));
    CHECK(Run({"SCARD", "s"}) == Integer(size));
    Run({"DEL", "s"});
  }
  Run({"SADD", "ints", "1", "2", "3"});
  CHECK(Members({"SRANDMEMBER", "ints", "2"}).size() == 2);
  CHECK(Run({"SRANDMEMBER", "s"}) == Null());
  CHECK(Run({"SRANDMEMBER", "s", "-5"}) == Array({}));
  CHECK(Run({"SRANDMEMBER", "ints", "0"}) == Array({}));
  CHECK(Run({"SRANDMEMBER", "ints", "x"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"SRANDMEMBER", "ints", "1", "1"}) == Error("ERR syntax error"));
}

TEST_CASE_METHOD(SetTest, "SMOVE reports the source's events before the destination's") {
  Run({"SADD", "s", "a", "b"});
  Run({"SADD", "t", "b"});
  TakeChanges();
  const auto changes = [this] {
    std::vector<std::string> lines = TakeChanges();
    std::erase_if(lines,
                  [](const std::string& line) { return line.starts_with(" ") || line.starts_with("new "); });
    return lines;
  };
  Run({"SMOVE", "s", "t", "b"});
  CHECK(changes() == std::vector<std::string>{"srem s"});
  Run({"SMOVE", "s", "new", "a"});
  CHECK(changes() == std::vector<std::string>{"srem s", "del s", "sadd new"});
}

TEST_CASE_METHOD(SetTest, "SMOVE takes a member from one set to another") {
  Run({"SADD", "s", "a", "b"});
  Run({"SADD", "t", "b"});
  CHECK(Run({"SMOVE", "s", "t", "a"}) == Integer(1));
  CHECK(Members({"SMEMBERS", "t"}) == Texts{"a", "b"});
  CHECK(Run({"SMOVE", "s", "t", "x"}) == Integer(0));
  CHECK(Run({"SMOVE", "s", "s", "b"}) == Integer(1));
  CHECK(Run({"SMOVE", "s", "s", "x"}) == Integer(0));
  TakeChanges();
  CHECK(Run({"SMOVE", "s", "new", "b"}) == Integer(1));
  CHECK(TakeChanges() == Lines{"srem s", "del s", "new new", "sadd new"});
  Run({"SET", "text", "v"});
  CHECK(Run({"SMOVE", "s", "text", "b"}) == Integer(0));
  CHECK(Run({"SMOVE", "t", "text", "b"}) == kWrongType);
  CHECK(Run({"SMOVE", "text", "t", "b"}) == kWrongType);
}

TEST_CASE_METHOD(SetTest, "sets are united, intersected and subtracted, and the result may be stored") {
  Run({"SADD", "a", "1", "2", "3", "x"});
  Run({"SADD", "b", "2", "3", "4"});
  Run({"SADD", "c", "3", "x"});
  CHECK(Members({"SUNION", "a", "b", "none"}) == Texts{"1", "2", "3", "4", "x"});
  CHECK(Members({"SUNION", "b"}) == Texts{"2", "3", "4"});
  CHECK(Members({"SINTER", "a", "b", "c"}) == Texts{"3"});
  CHECK(Members({"SINTER", "a", "none"}).empty());
  CHECK(Members({"SDIFF", "a", "b", "none"}) == Texts{"1", "x"});
  CHECK(Members({"SDIFF", "a", "a"}).empty());
  CHECK(Run({"SUNIONSTORE", "a", "a", "b"}) == Integer(5));
  CHECK(Members({"SMEMBERS", "a"}) == Texts{"1", "2", "3", "4", "x"});
  CHECK(Run({"SINTERSTORE", "d", "a", "b"}) == Integer(3));
  CHECK(Run({"OBJECT", "ENCODING", "d"}) == Bulk("intset"));
  Run({"EXPIRE", "d", "100"});
  CHECK(Run({"SDIFFSTORE", "d", "a", "b"}) == Integer(2));
  CHECK(Run({"TTL", "d"}) == Integer(-1));
  CHECK(Run({"SINTERSTORE", "d", "a", "none"}) == Integer(0));
  CHECK(Run({"EXISTS", "d"}) == Integer(0));
}

TEST_CASE_METHOD(SetTest, "SINTERCARD counts up to a limit") {
  Fill("a", 1000);
  Fill("b", 500);
  CHECK(Run({"SINTERCARD", "2", "a", "b"}) == Integer(500));
  CHECK(Run({"SINTERCARD", "2", "a", "b", "LIMIT", "0"}) == Integer(500));
  CHECK(Run({"SINTERCARD", "2", "a", "b", "limit", "7"}) == Integer(7));
  CHECK(Run({"SINTERCARD", "2", "a", "none"}) == Integer(0));
  CHECK(Run({"SINTERCARD", "0", "a"}) == Error("ERR numkeys should be greater than 0"));
  CHECK(Run({"SINTERCARD", "x", "a"}) == Error("ERR numkeys should be greater than 0"));
  CHECK(Run({"SINTERCARD", "2", "a"}) == Error("ERR Number of keys can't be greater than number of args"));
  CHECK(Run({"SINTERCARD", "1", "a", "LIMIT", "-1"}) == Error("ERR LIMIT can't be negative"));
  CHECK(Run({"SINTERCARD", "1", "a", "LIMIT"}) == Error("ERR syntax error"));
  CHECK(Run({"SINTERCARD", "1", "a", "b"}) == Error("ERR syntax error"));
}

TEST_CASE_METHOD(SetTest, "SSCAN shows a small set at once and a large one in pages, each member once") {
  Run({"SADD", "ints", "1", "2", "30"});
  CHECK(Run({"SSCAN", "ints", "0", "COUNT", "1"}) == Array({Bulk("0"), Bulks({"1", "2", "30"})}));
  CHECK(Run({"SSCAN", "ints", "0", "MATCH", "3*"}) == Array({Bulk("0"), Bulks({"30"})}));
  const Texts all = Fill("s", 2000);
  Texts seen;
  std::string cursor = "0";
  size_t pages = 0;
  do {
    const Reply page = Run({"SSCAN", "s", cursor, "COUNT", "100"});
    cursor = page.elements[0].text;
    for (const Reply& member : page.elements[1].elements) CHECK(seen.insert(member.text).second);
    ++pages;
  } while (cursor != "0");
  CHECK(seen == all);
  CHECK(pages > 10);
  CHECK(Run({"SSCAN", "none", "0", "NONSENSE"}) == Array({Bulk("0"), Array({})}));
  CHECK(Run({"SSCAN", "s", "x"}) == Error("ERR invalid cursor"));
  CHECK(Run({"SSCAN", "s", "0", "COUNT", "0"}) == Error("ERR syntax error"));
  CHECK(Run({"SSCAN", "s", "0", "TYPE", "set"}) == Error("ERR syntax error"));
}

TEST_CASE_METHOD(SetTest, "commands on sets refuse other types and change nothing") {
  Run({"SET", "text", "v"});
  Run({"SADD", "s", "a"});
  TakeChanges();
  const std::vector<Words> requests = {{"SADD", "text", "a"},
                                       {"SREM", "text", "a"},
                                       {"SMEMBERS", "text"},
                                       {"SISMEMBER", "text", "a"},
                                       {"SMISMEMBER", "text", "a"},
                                       {"SCARD", "text"},
                                       {"SPOP", "text"},
                                       {"SPOP", "text", "2"},
                                       {"SRANDMEMBER", "text"},
                                       {"SRANDMEMBER", "text", "2"},
                                       {"SSCAN", "text", "0"},
                                       {"SUNION", "s", "text"},
                                       {"SINTER", "none", "text"},
                                       {"SDIFF", "s", "text"},
                                       {"SUNIONSTORE", "d", "s", "text"},
                                       {"SINTERSTORE", "d", "none", "text"},
                                       {"SDIFFSTORE", "d", "s", "text"},
                                       {"SINTERCARD", "2", "s", "text"}};
  for (const Words& request : requests) {
    INFO(request[0]);
    CHECK(Run(request) == kWrongType);
  }
  CHECK(Run({"GET", "s"}) == kWrongType);
  CHECK(TakeChanges().empty());
}

TEST_CASE_METHOD(SetTest, "a large set that is deleted is freed in slices") {
  Fill("s", 5000);
  Run({"COPY", "s", "t"});
  CHECK(Run({"DEL", "s", "t"}) == Integer(2));
  CHECK(server().databases.waiting_keys() == 2);
  AdvanceTime(0);
  CHECK(server().databases.waiting_keys() == 0);
}

}  // namespace mayfly::testing

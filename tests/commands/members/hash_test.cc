#include <set>

#include "support/command_test.h"

namespace mayfly::testing {
namespace {

using Lines = std::vector<std::string>;

const Reply kWrong = Error("WRONGTYPE Operation against a key holding the wrong kind of value");

class HashTest : public CommandTest {
 public:
  // A hash with this many fields, "f0" to ..., with values "v0" ...
  void Fill(const std::string& key, size_t fields) {
    Words words{"HSET", key};
    for (size_t i = 0; i < fields; ++i) {
      words.push_back("f" + std::to_string(i));
      words.push_back("v" + std::to_string(i));
    }
    REQUIRE(Run(words) == Integer(static_cast<int64_t>(fields)));
  }
  std::string Encoding(const std::string& key) { return Run({"OBJECT", "ENCODING", key}).text; }
};

}  // namespace

TEST_CASE_METHOD(HashTest, "HSET sets fields and answers how many are new") {
  CHECK(Run({"HSET", "h", "a", "1", "b", "two"}) == Integer(2));
  CHECK(Run({"HSET", "h", "a", "one", "c", "3", "c", "4"}) == Integer(1));
  CHECK(Run({"HGETALL", "h"}) == Bulks({"a", "one", "b", "two", "c", "4"}));
  CHECK(Run({"TYPE", "h"}) == Simple("hash"));
  CHECK(Run({"HMSET", "h", "d", "5"}) == Ok());
  CHECK(Run({"HSETNX", "h", "d", "6"}) == Integer(0));
  CHECK(Run({"HSETNX", "h", "e", "6"}) == Integer(1));
  CHECK(Run({"HSETNX", "new", "e", "6"}) == Integer(1));
  CHECK(Run({"HLEN", "h"}) == Integer(5));
  CHECK(TakeChanges() == Lines{"new h", "hset h", "hset h", "hset h", "hset h", "new new", "hset new"});
  CHECK(Run({"HSET", "h", "a", "1", "b"}) == Error("ERR wrong number of arguments for 'hset' command"));
  CHECK(Run({"HMSET", "h", "a"}) == Error("ERR wrong number of arguments for 'hmset' command"));
}

TEST_CASE_METHOD(HashTest, "HGET, HMGET, HEXISTS and HSTRLEN look at fields; absent ones are nil, 0, 0") {
  Run({"HSET", "h", "a", "text", "n", "-12", "", "x"});
  CHECK(Run({"HGET", "h", "a"}) == Bulk("text"));
  CHECK(Run({"HGET", "h", "n"}) == Bulk("-12"));
  CHECK(Run({"HGET", "h", "b"}) == Null());
  CHECK(Run({"HGET", "absent", "a"}) == Null());
  CHECK(Run({"HMGET", "h", "n", "b", ""}) == Array({Bulk("-12"), Null(), Bulk("x")}));
  CHECK(Run({"HMGET", "absent", "a", "b"}) == Array({Null(), Null()}));
  CHECK(Run({"HEXISTS", "h", "a"}) == Integer(1));
  CHECK(Run({"HEXISTS", "h", "b"}) == Integer(0));
  CHECK(Run({"HEXISTS", "absent", "b"}) == Integer(0));
  CHECK(Run({"HSTRLEN", "h", "n"}) == Integer(3));
  CHECK(Run({"HSTRLEN", "h", "b"}) == Integer(0));
  CHECK(Run({"HSTRLEN", "absent", "b"}) == Integer(0));
  CHECK(Run({"HLEN", "absent"}) == Integer(0));
}

TEST_CASE_METHOD(HashTest, "HGETALL, HKEYS and HVALS show everything; RESP3 has a map") {
  CHECK(Run({"HGETALL", "absent"}) == Array({}));
  Run({"HSET", "h", "a", "1", "b", "2"});
  CHECK(Run({"HKEYS", "h"}) == Bulks({"a", "b"}));
  CHECK(Run({"HVALS", "h"}) == Bulks({"1", "2"}));
  UseResp3();
  CHECK(Run({"HGETALL", "h"}) == Map({Bulk("a"), Bulk("1"), Bulk("b"), Bulk("2")}));
  CHECK(Run({"HGETALL", "absent"}) == Map({}));
  CHECK(Run({"HKEYS", "absent"}) == Array({}));
}

TEST_CASE_METHOD(HashTest, "HDEL deletes fields, and the key with the last one") {
  Fill("h", 4);
  TakeChanges();
  CHECK(Run({"HDEL", "h", "f0", "none", "f1", "f0"}) == Integer(2));
  CHECK(Run({"HDEL", "h", "none"}) == Integer(0));
  CHECK(Run({"HDEL", "absent", "f0"}) == Integer(0));
  CHECK(Run({"HDEL", "h", "f2", "f3", "f3"}) == Integer(2));
  CHECK(Run({"EXISTS", "h"}) == Integer(0));
  CHECK(TakeChanges() == Lines{"hdel h", "hdel h", "del h"});
}

TEST_CASE_METHOD(HashTest, "a hash is a listpack up to the limits, then a hashtable") {
  Fill("h", 512);
  CHECK(Encoding("h") == "listpack");
  Run({"HSET", "h", "f0", "changed"});
  CHECK(Encoding("h") == "listpack");
  Run({"HSET", "h", "one more", "v"});
  CHECK(Encoding("h") == "hashtable");
  CHECK(Run({"HLEN", "h"}) == Integer(513));
  CHECK(Run({"HGET", "h", "f0"}) == Bulk("changed"));
  Run({"HSET", "long", "f", std::string(64, 'v')});
  CHECK(Encoding("long") == "listpack");
  Run({"HSET", "long", std::string(65, 'f'), "v"});
  CHECK(Encoding("long") == "hashtable");
  CHECK(Run({"HLEN", "long"}) == Integer(2));
  SetOption("hash-max-listpack-entries", "1");
  Run({"HSET", "small", "a", "1"});
  CHECK(Encoding("small") == "listpack");
  Run({"HSETNX", "small", "b", "1"});
  CHECK(Encoding("small") == "hashtable");
}

TEST_CASE_METHOD(HashTest, "HINCRBY counts in a field") {
  CHECK(Run({"HINCRBY", "h", "n", "5"}) == Integer(5));
  CHECK(Run({"HINCRBY", "h", "n", "-7"}) == Integer(-2));
  CHECK(Run({"HGET", "h", "n"}) == Bulk("-2"));
  Run({"HSET", "h", "text", "x", "most", "9223372036854775807", "spaced", " 1"});
  TakeChanges();
  CHECK(Run({"HINCRBY", "h", "text", "1"}) == Error("ERR hash value is not an integer"));
  CHECK(Run({"HINCRBY", "h", "spaced", "1"}) == Error("ERR hash value is not an integer"));
  CHECK(Run({"HINCRBY", "h", "most", "1"}) == Error("ERR increment or decrement would overflow"));
  CHECK(Run({"HINCRBY", "h", "n", "x"}) == Error("ERR value is not an integer or out of range"));
  CHECK(TakeChanges().empty());
  CHECK(Run({"HINCRBY", "h", "n", "1"}) == Integer(-1));
  CHECK(TakeChanges() == Lines{"hincrby h"});
}

TEST_CASE_METHOD(HashTest, "HINCRBYFLOAT counts with a fraction") {
  CHECK(Run({"HINCRBYFLOAT", "h", "n", "10.5"}) == Bulk("10.5"));
  CHECK(Run({"HINCRBYFLOAT", "h", "n", "0.1"}) == Bulk("10.6"));
  CHECK(Run({"HINCRBYFLOAT", "h", "n", "-10.6"}) == Bulk("0"));
  CHECK(Run({"HINCRBY", "h", "n", "3"}) == Integer(3));
  Run({"HSET", "h", "text", "x", "big", "1.1e4932"});
  TakeChanges();
  CHECK(Run({"HINCRBYFLOAT", "h", "text", "1"}) == Error("ERR hash value is not a float"));
  CHECK(Run({"HINCRBYFLOAT", "h", "n", "x"}) == Error("ERR value is not a valid float"));
  CHECK(Run({"HINCRBYFLOAT", "h", "n", "inf"}) == Error("ERR value is NaN or Infinity"));
  CHECK(Run({"HINCRBYFLOAT", "h", "big", "1.1e4932"}) ==
        Error("ERR increment would produce NaN or Infinity"));
  CHECK(TakeChanges().empty());
  CHECK(Run({"HINCRBYFLOAT", "h", "n", "1e3"}) == Bulk("1003"));
  CHECK(TakeChanges() == Lines{"hincrbyfloat h"});
}

TEST_CASE_METHOD(HashTest, "HRANDFIELD answers with random fields, different ones or any") {
  const size_t fields = GENERATE(20, 1000);
  Fill("h", fields);
  const Reply one = Run({"HRANDFIELD", "h"});
  CHECK(Run({"HEXISTS", "h", one.text}) == Integer(1));
  for (const size_t count : {1, 5, 19}) {
    const Reply some = Run({"HRANDFIELD", "h", std::to_string(count)});
    std::set<std::string> names;
    for (const Reply& name : some.elements) names.insert(name.text);
    CHECK(some.elements.size() == count);
    CHECK(names.size() == count);
  }
  CHECK(Run({"HRANDFIELD", "h", "5000"}).elements.size() == fields);
  CHECK(Run({"HRANDFIELD", "h", "-50"}).elements.size() == 50);
  const Reply pairs = Run({"HRANDFIELD", "h", "3", "withvalues"});
  REQUIRE(pairs.elements.size() == 6);
  for (size_t i = 0; i < 6; i += 2)
    CHECK(Run({"HGET", "h", pairs.elements[i].text}) == pairs.elements[i + 1]);
  UseResp3();
  const Reply nested = Run({"HRANDFIELD", "h", "-3", "WITHVALUES"});
  REQUIRE(nested.elements.size() == 3);
  CHECK(nested.elements[0].elements.size() == 2);
}

TEST_CASE_METHOD(HashTest, "HRANDFIELD of nothing is nothing, and its count is checked first") {
  CHECK(Run({"HRANDFIELD", "absent"}) == Null());
  CHECK(Run({"HRANDFIELD", "absent", "5"}) == Array({}));
  Fill("h", 2);
  CHECK(Run({"HRANDFIELD", "h", "0"}) == Array({}));
  CHECK(Run({"HRANDFIELD", "absent", "x"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"HRANDFIELD", "absent", "1", "x"}) == Error("ERR syntax error"));
  CHECK(Run({"HRANDFIELD", "h", "1", "WITHVALUES", "x"}) == Error("ERR syntax error"));
  CHECK(Run({"HRANDFIELD", "h", "-9223372036854775808"}) ==
        Error("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"));
  CHECK(Run({"HRANDFIELD", "h", "4611686018427387904", "WITHVALUES"}) == Error("ERR value is out of range"));
}

TEST_CASE_METHOD(HashTest, "HSCAN shows each field once, in pages if the hash is large") {
  Fill("small", 20);
  const Reply all = Run({"HSCAN", "small", "0", "COUNT", "3"});
  CHECK(all.elements.at(0) == Bulk("0"));
  CHECK(all.elements.at(1).elements.size() == 40);
  CHECK(Run({"HSCAN", "small", "0", "MATCH", "f1"}) == Array({Bulk("0"), Bulks({"f1", "v1"})}));
  CHECK(Run({"HSCAN", "small", "0", "MATCH", "f1", "NOVALUES"}) == Array({Bulk("0"), Bulks({"f1"})}));
  Fill("large", 1000);
  std::set<std::string> seen;
  size_t shown = 0;
  size_t pages = 0;
  std::string cursor = "0";
  do {
    const Reply page = Run({"HSCAN", "large", cursor, "COUNT", "50", "NOVALUES"});
    cursor = page.elements.at(0).text;
    shown += page.elements.at(1).elements.size();
    for (const Reply& name : page.elements.at(1).elements) seen.insert(name.text);
    ++pages;
  } while (cursor != "0");
  CHECK(pages > 5);
  CHECK(shown == 1000);
  CHECK(seen.size() == 1000);
  CHECK(Run({"HSCAN", "absent", "0", "nonsense"}) == Array({Bulk("0"), Array({})}));
  CHECK(Run({"HSCAN", "small", "x"}) == Error("ERR invalid cursor"));
  CHECK(Run({"HSCAN", "small", "0", "nonsense"}) == Error("ERR syntax error"));
}

TEST_CASE_METHOD(HashTest, "commands for keys of any type take hashes") {
  StartWith("enable-debug-command", "yes");
  const size_t fields = GENERATE(3, 600);
  Fill("h", fields);
  const Reply digest = Run({"DEBUG", "DIGEST-VALUE", "h"});
  CHECK(Run({"COPY", "h", "copy"}) == Integer(1));
  CHECK(Run({"RENAME", "copy", "other"}) == Ok());
  CHECK(Run({"DEBUG", "DIGEST-VALUE", "other"}) == digest);
  Run({"HSET", "other", "f0", "changed"});
  CHECK(Run({"HGET", "h", "f0"}) == Bulk("v0"));
  CHECK(Run({"MOVE", "other", "1"}) == Integer(1));
  CHECK(Run({"SCAN", "0", "TYPE", "hash"}) == Array({Bulk("0"), Bulks({"h"})}));
  CHECK(Encoding("h") == (fields == 3 ? "listpack" : "hashtable"));
  CHECK(Run({"MEMORY", "USAGE", "h"}).integer > static_cast<int64_t>(fields * 4));
  CHECK(Run({"EXPIRE", "h", "10"}) == Integer(1));
  CHECK(Run({"HSET", "h", "new", "v"}) == Integer(1));
  CHECK(Run({"TTL", "h"}) == Integer(10));
  AdvanceTime(10'000);
  CHECK(Run({"HLEN", "h"}) == Integer(0));
  CHECK(Run({"SELECT", "1"}) == Ok());
  CHECK(Run({"HGET", "other", "f0"}) == Bulk("changed"));
  CHECK(Run({"SET", "other", "text"}) == Ok());
  CHECK(Run({"FLUSHALL"}) == Ok());
}

TEST_CASE_METHOD(HashTest, "commands on hashes refuse another type, and those on strings refuse a hash") {
  Run({"SET", "s", "text"});
  Fill("h", 2);
  TakeChanges();
  const std::vector<Words> requests = {
      {"HSET", "s", "f", "v"},
      {"HMSET", "s", "f", "v"},
      {"HSETNX", "s", "f", "v"},
      {"HGET", "s", "f"},
      {"HMGET", "s", "f"},
      {"HEXISTS", "s", "f"},
      {"HSTRLEN", "s", "f"},
      {"HLEN", "s"},
      {"HDEL", "s", "f"},
      {"HINCRBY", "s", "f", "1"},
      {"HINCRBYFLOAT", "s", "f", "1"},
      {"HGETALL", "s"},
      {"HKEYS", "s"},
      {"HVALS", "s"},
      {"HRANDFIELD", "s"},
      {"HRANDFIELD", "s", "2"},
      {"HSCAN", "s", "0"},
      {"HSCAN", "s", "0", "nonsense"},
      {"GET", "h"},
      {"INCR", "h"},
      {"APPEND", "h", "x"},
      {"STRLEN", "h"},
      {"SETBIT", "h", "1", "1"},
      {"GETSET", "h", "v"},
  };
  for (const Words& request : requests) {
    INFO(request[0]);
    CHECK(Run(request) == kWrong);
  }
  CHECK(TakeChanges().empty());
}

}  // namespace mayfly::testing

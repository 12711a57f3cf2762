// The deadlines of a hash's fields. newer_oracle_test.cc compares replies with a redis-server of version 8.
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

using Lines = std::vector<std::string>;

Reply Integers(const std::vector<int64_t>& numbers) {
  std::vector<Reply> all;
  for (const int64_t number : numbers) all.push_back(Integer(number));
  return Array(std::move(all));
}

class HashExpireTest : public CommandTest {
 public:
  // A hash with this many fields, "f0" to ...; small or large by their number.
  void Fill(const std::string& key, size_t fields) {
    Words words{"HSET", key};
    for (size_t i = 0; i < fields; ++i) {
      words.push_back("f" + std::to_string(i));
      words.push_back("v" + std::to_string(i));
    }
    REQUIRE(Run(words) == Integer(static_cast<int64_t>(fields)));
  }
  // Every field of such a hash expires in `ms`.
  void ExpireAll(const std::string& key, size_t fields, int64_t ms) {
    Words words{"HPEXPIRE", key, std::to_string(ms), "FIELDS", std::to_string(fields)};
    for (size_t i = 0; i < fields; ++i) words.push_back("f" + std::to_string(i));
    REQUIRE(Run(words).elements.size() == fields);
  }
};

constexpr size_t kSmall = 5;
constexpr size_t kLarge = 600;

}  // namespace

TEST_CASE_METHOD(HashExpireTest,
                 "a field is gone exactly at its deadline, whether the wheel has come or not") {
  const size_t fields = GENERATE(kSmall, kLarge);
  const bool late = GENERATE(false, true);
  Fill("h", fields);
  CHECK(Run({"HPEXPIRE", "h", "20", "FIELDS", "2", "f0", "f1"}) == Integers({1, 1}));
  CHECK(Run({"OBJECT", "ENCODING", "h"}) == Bulk(fields == kSmall ? "listpackex" : "hashtable"));
  AdvanceTime(19);
  CHECK(Run({"HGET", "h", "f0"}) == Bulk("v0"));
  CHECK(Run({"HLEN", "h"}) == Integer(static_cast<int64_t>(fields)));
  TakeChanges();
  late ? LetTimePass(1) : AdvanceTime(1);
  CHECK(Run({"HLEN", "h"}) == Integer(static_cast<int64_t>(fields) - 2));
  CHECK(TakeChanges() == Lines{"hexpired h"});
  CHECK(Run({"HMGET", "h", "f0", "f1", "f2"}) == Array({Null(), Null(), Bulk("v2")}));
  CHECK(Run({"HSET", "h", "f0", "again"}) == Integer(1));
  CHECK(Run({"HTTL", "h", "FIELDS", "1", "f0"}) == Integers({-1}));
  CHECK(stats().error_replies == 0);
}

TEST_CASE_METHOD(HashExpireTest, "every reading command sees no field that is due") {
  const Words request = GENERATE(Words{"HGETALL", "h"}, Words{"HKEYS", "h"}, Words{"HVALS", "h"},
                                 Words{"HLEN", "h"}, Words{"HRANDFIELD", "h", "10"}, Words{"HSCAN", "h", "0"},
                                 Words{"HMGET", "h", "f0"}, Words{"HEXISTS", "h", "f0"},
                                 Words{"HSTRLEN", "h", "f0"}, Words{"HTTL", "h", "FIELDS", "1", "f0"},
                                 Words{"HGETEX", "h", "FIELDS", "1", "f0"}, Words{"HRANDFIELD", "h"});
  INFO(request[0]);
  Fill("h", 2);
  ExpireAll("h", 1, 10);
  Run({"HSET", "other", "f1", "v1"});
  LetTimePass(10);
  Words same = request;
  same[1] = "other";
  CHECK(Run(request) == Run(same));
}

TEST_CASE_METHOD(HashExpireTest, "a hash whose last field expires is gone") {
  const size_t fields = GENERATE(kSmall, kLarge);
  const bool late = GENERATE(false, true);
  Fill("h", fields);
  ExpireAll("h", fields, 10);
  TakeChanges();
  late ? LetTimePass(10) : AdvanceTime(10);
  CHECK(Run({"HGETALL", "h"}) == Array({}));
  CHECK(Run({"EXISTS", "h"}) == Integer(0));
  CHECK(TakeChanges() == Lines{"hexpired h", "del h"});
  CHECK(Run({"INFO", "stats"}).text.find("expired_subkeys:" + std::to_string(fields)) != std::string::npos);
}

TEST_CASE_METHOD(HashExpireTest,
                 "fields that are due at one instant are dropped in slices; nobody sees one meanwhile") {
  server().changes.Unlisten(
      server().change_log);  // for a listener to effects HDEL would wait, as for a replica
  constexpr size_t kFields = 25'000;
  Fill("h", kFields);
  Run({"HSET", "h", "stays", "v"});
  ExpireAll("h", kFields, 10);
  LetTimePass(10);
  for (int i = 0; i < 4; ++i) {
    CHECK(Run({"HLEN", "h"}) == Integer(1));
    CHECK(Run({"HGETALL", "h"}) == Bulks({"stays", "v"}));
    CHECK(Run({"HGET", "h", "f24999"}) == Null());
    CHECK(Run({"HRANDFIELD", "h", "5"}) == Bulks({"stays"}));
  }
  CHECK(keyspace().Validate());
  Run({"HDEL", "h", "stays"});
  CHECK(Run({"HLEN", "h"}) == Integer(0));
  CHECK(Run({"EXISTS", "h"}) == Integer(0));
}

TEST_CASE_METHOD(HashExpireTest,
                 "SORT reads a hash of very many due fields without a wait within its reply") {
  constexpr size_t kFields = 25'000;
  Fill("h_x", kFields);
  Run({"HSET", "h_x", "stays", "v"});
  Run({"RPUSH", "l", "x"});
  ExpireAll("h_x", kFields, 10);
  LetTimePass(10);
  CHECK(Run({"SORT", "l", "BY", "nosort", "GET", "h_*->stays", "GET", "h_*->f24999"}) ==
        Array({Bulk("v"), Null()}));
}

TEST_CASE_METHOD(
    HashExpireTest,
    "fields that were due are there again if the wall clock is set back before they are dropped") {
  server().changes.Unlisten(server().change_log);  // likewise
  constexpr size_t kFields = 25'000;
  Fill("h", kFields);
  Run({"HSET", "h", "stays", "v"});
  Words words{"HPEXPIREAT", "h", UnixMs(10), "FIELDS", std::to_string(kFields)};
  for (size_t i = 0; i < kFields; ++i) words.push_back("f" + std::to_string(i));
  Run(words);
  LetTimePass(10);
  CHECK(Run({"HLEN", "h"}) == Integer(1));
  Run({"HDEL", "h", "stays"});
  const bool noticed = GENERATE(false, true);
  noticed ? StepWallClock(-1000) : StepWallClockUnnoticed(-1000);
  const int64_t left = Run({"HLEN", "h"}).integer;
  CHECK(left > 0);
  CHECK(Run({"HRANDFIELD", "h"}).text.starts_with('f'));
  CHECK(Run({"HRANDFIELD", "h", "2"}).elements.size() == 2);
  CHECK(Run({"HGETALL", "h"}).elements.size() == 2 * static_cast<size_t>(left));
  AdvanceTime(1000);
  CHECK(Run({"EXISTS", "h"}) == Integer(0));
}

TEST_CASE_METHOD(HashExpireTest,
                 "a hash whose fields are all due is absent before the last of them is dropped") {
  const std::vector<std::string> command =
      GENERATE(std::vector<std::string>{"EXISTS", "h"}, std::vector<std::string>{"TYPE", "h"},
               std::vector<std::string>{"KEYS", "*"}, std::vector<std::string>{"SCAN", "0"},
               std::vector<std::string>{"COPY", "h", "g"}, std::vector<std::string>{"RANDOMKEY"},
               std::vector<std::string>{"OBJECT", "ENCODING", "h"}, std::vector<std::string>{"HLEN", "h"},
               std::vector<std::string>{"GET", "h"});
  const size_t fields = GENERATE(kSmall, kLarge);
  const Reply absent = Run(command);
  Fill("h", fields);
  ExpireAll("h", fields, 10);
  CHECK(Run(command) != absent);
  LetTimePass(10);
  CHECK(Run(command) == absent);
}

TEST_CASE_METHOD(HashExpireTest, "a hash whose many fields were all due begins anew") {
  constexpr size_t kFields = 15'000;
  Fill("h", kFields);
  ExpireAll("h", kFields, 10);
  LetTimePass(10);
  CHECK(Run({"HRANDFIELD", "h"}) == Null());
  Fill("g", kFields);
  ExpireAll("g", kFields, 10);
  LetTimePass(10);
  CHECK(Run({"HSET", "g", "f3", "new"}) == Integer(1));
  CHECK(Run({"HGETALL", "g"}) == Bulks({"f3", "new"}));
  CHECK(Run({"HINCRBY", "g", "n", "1"}) == Integer(1));
  AdvanceTime(1);
  CHECK(Run({"HLEN", "g"}) == Integer(2));
}

TEST_CASE_METHOD(HashExpireTest, "HTTL and kin show when fields expire") {
  Fill("h", 2);
  CHECK(Run({"HPEXPIRE", "h", "1500", "FIELDS", "1", "f0"}) == Integers({1}));
  CHECK(Run({"HTTL", "h", "FIELDS", "3", "f0", "f1", "none"}) == Integers({2, -1, -2}));
  CHECK(Run({"HPTTL", "h", "FIELDS", "1", "f0"}) == Integers({1500}));
  CHECK(Run({"HPEXPIRETIME", "h", "FIELDS", "1", "f0"}) == Integers({WallMs() + 1500}));
  CHECK(Run({"HEXPIRETIME", "h", "FIELDS", "1", "f0"}) == Integers({(WallMs() + 1500 + 999) / 1000}));
  CHECK(Run({"HTTL", "absent", "FIELDS", "2", "f0", "f1"}) == Integers({-2, -2}));
  CHECK(Run({"HPERSIST", "h", "FIELDS", "3", "f0", "f1", "none"}) == Integers({1, -1, -2}));
  CHECK(Run({"HTTL", "h", "FIELDS", "1", "f0"}) == Integers({-1}));
  AdvanceTime(2000);
  CHECK(Run({"HLEN", "h"}) == Integer(2));
}

TEST_CASE_METHOD(HashExpireTest, "HEXPIRE minds its condition, and a time in the past deletes") {
  const size_t fields = GENERATE(kSmall, kLarge);
  Fill("h", fields);
  CHECK(Run({"HEXPIRE", "h", "10", "XX", "FIELDS", "1", "f0"}) == Integers({0}));
  CHECK(Run({"HEXPIRE", "h", "10", "GT", "FIELDS", "1", "f0"}) == Integers({0}));
  CHECK(Run({"HEXPIRE", "h", "10", "LT", "FIELDS", "1", "f0"}) == Integers({1}));
  CHECK(Run({"HEXPIRE", "h", "20", "NX", "FIELDS", "2", "f0", "f1"}) == Integers({0, 1}));
  CHECK(Run({"HEXPIRE", "h", "30", "GT", "FIELDS", "2", "f0", "f0"}) == Integers({1, 0}));
  CHECK(Run({"HEXPIRE", "h", "5", "LT", "FIELDS", "2", "f0", "none"}) == Integers({1, -2}));
  CHECK(Run({"HTTL", "h", "FIELDS", "2", "f0", "f1"}) == Integers({5, 20}));
  TakeChanges();
  CHECK(Run({"HEXPIREAT", "h", "1", "FIELDS", "3", "f0", "none", "f0"}) == Integers({2, -2, -2}));
  CHECK(Run({"HPEXPIREAT", "h", "1", "GT", "FIELDS", "1", "f1"}) == Integers({0}));
  CHECK(TakeChanges() == Lines{"hdel h"});
  CHECK(Run({"HLEN", "h"}) == Integer(static_cast<int64_t>(fields) - 1));
  Run({"HSET", "one", "f", "v"});
  TakeChanges();
  CHECK(Run({"HEXPIRE", "one", "0", "FIELDS", "1", "f"}) == Integers({2}));
  CHECK(TakeChanges() == Lines{"hdel one", "del one"});
}

TEST_CASE_METHOD(HashExpireTest, "setting a field removes its deadline, counting in it does not") {
  const size_t fields = GENERATE(kSmall, kLarge);
  Fill("h", fields);
  Run({"HSET", "h", "n", "1", "x", "1"});
  Run({"HEXPIRE", "h", "10", "FIELDS", "4", "f0", "f1", "n", "x"});
  Run({"HSET", "h", "f0", "a longer value than before"});
  Run({"HINCRBY", "h", "n", "1000"});
  Run({"HINCRBYFLOAT", "h", "x", "0.5"});
  CHECK(Run({"HTTL", "h", "FIELDS", "4", "f0", "f1", "n", "x"}) == Integers({-1, 10, 10, 10}));
  AdvanceTime(10'000);
  CHECK(Run({"HMGET", "h", "f0", "f1", "n", "x"}) ==
        Array({Bulk("a longer value than before"), Null(), Null(), Null()}));
  CHECK(Run({"HINCRBY", "h", "n", "5"}) == Integer(5));
  CHECK(Run({"HTTL", "h", "FIELDS", "1", "n"}) == Integers({-1}));
}

TEST_CASE_METHOD(HashExpireTest, "the key's own expiry and those of its fields do not disturb each other") {
  const size_t fields = GENERATE(kSmall, kLarge);
  Fill("h", fields);
  Run({"PEXPIRE", "h", "50"});
  CHECK(Run({"HPEXPIRE", "h", "10", "FIELDS", "1", "f0"}) == Integers({1}));
  CHECK(Run({"HPEXPIREAT", "h", UnixMs(20), "FIELDS", "1", "f1"}) == Integers({1}));
  CHECK(Run({"PTTL", "h"}) == Integer(50));
  AdvanceTime(10);
  CHECK(Run({"HLEN", "h"}) == Integer(static_cast<int64_t>(fields) - 1));
  Run({"PERSIST", "h"});
  LetTimePass(10);
  CHECK(Run({"HLEN", "h"}) == Integer(static_cast<int64_t>(fields) - 2));
  Run({"HPEXPIRE", "h", "40", "FIELDS", "1", "f2"});
  Run({"PEXPIREAT", "h", UnixMs(10)});
  AdvanceTime(10);
  CHECK(Run({"EXISTS", "h"}) == Integer(0));
  CHECK(keyspace().Validate());
}

TEST_CASE_METHOD(HashExpireTest, "copies and renamed hashes keep the deadlines of their fields") {
  const size_t fields = GENERATE(kSmall, kLarge);
  Fill("h", fields);
  Run({"HPEXPIRE", "h", "20", "FIELDS", "1", "f0"});
  Run({"COPY", "h", "copy"});
  Run({"RENAME", "h", "other"});
  Run({"COPY", "other", "other", "DB", "1"});
  Run({"MOVE", "copy", "1"});
  LetTimePass(20);
  CHECK(Run({"HLEN", "other"}) == Integer(static_cast<int64_t>(fields) - 1));
  Run({"SELECT", "1"});
  CHECK(Run({"HEXISTS", "copy", "f0"}) == Integer(0));
  AdvanceTime(1);
  CHECK(Run({"HLEN", "other"}) == Integer(static_cast<int64_t>(fields) - 1));
}

TEST_CASE_METHOD(HashExpireTest, "HGETEX, HSETEX and HGETDEL report what they do") {
  Run({"HSETEX", "h", "EX", "10", "FIELDS", "2", "a", "1", "b", "2"});
  CHECK(TakeChanges() == Lines{"new h", "hset h", "hexpire h"});
  CHECK(Run({"HGETEX", "h", "PERSIST", "FIELDS", "2", "a", "none"}) == Array({Bulk("1"), Null()}));
  CHECK(Run({"HGETEX", "h", "PERSIST", "FIELDS", "1", "a"}) == Bulks({"1"}));
  CHECK(TakeChanges() == Lines{"hpersist h"});
  CHECK(Run({"HGETEX", "h", "PX", "10", "FIELDS", "1", "a"}) == Bulks({"1"}));
  CHECK(TakeChanges() == Lines{"hexpire h"});
  CHECK(Run({"HSETEX", "h", "PXAT", "1", "FIELDS", "1", "c", "3"}) == Integer(1));
  CHECK(TakeChanges() == Lines{"hset h", "hdel h"});
  CHECK(Run({"HGETDEL", "h", "FIELDS", "3", "a", "a", "none"}) == Array({Bulk("1"), Null(), Null()}));
  CHECK(Run({"HGETEX", "h", "EXAT", "1", "FIELDS", "2", "b", "b"}) == Array({Bulk("2"), Null()}));
  CHECK(TakeChanges() == Lines{"hdel h", "hdel h", "del h"});
  CHECK(Run({"HSETEX", "h", "PXAT", "1", "FIELDS", "1", "c", "3"}) == Integer(1));
  CHECK(TakeChanges() == Lines{"new h", "hset h", "hdel h", "del h"});
}

TEST_CASE_METHOD(HashExpireTest, "HSETEX sets all fields or none, by its condition") {
  CHECK(Run({"HSETEX", "h", "FXX", "FIELDS", "1", "a", "1"}) == Integer(0));
  CHECK(Run({"HSETEX", "h", "FNX", "PX", "10", "FIELDS", "2", "a", "1", "b", "2"}) == Integer(1));
  CHECK(Run({"HSETEX", "h", "FNX", "FIELDS", "2", "a", "3", "c", "3"}) == Integer(0));
  CHECK(Run({"HSETEX", "h", "FXX", "FIELDS", "2", "a", "3", "c", "3"}) == Integer(0));
  CHECK(Run({"HSETEX", "h", "KEEPTTL", "FXX", "FIELDS", "1", "a", "3"}) == Integer(1));
  CHECK(Run({"HSETEX", "h", "FIELDS", "1", "b", "3"}) == Integer(1));
  CHECK(Run({"HPTTL", "h", "FIELDS", "2", "a", "b"}) == Integers({10, -1}));
  LetTimePass(10);
  CHECK(Run({"HSETEX", "h", "FNX", "FIELDS", "1", "a", "4"}) == Integer(1));
}

}  // namespace mayfly::testing

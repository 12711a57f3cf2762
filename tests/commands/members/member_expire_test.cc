// Members of sets and sorted sets that expire: SADDEX of Dragonfly, EXPIREMEMBER of KeyDB, FIELDTTL.
#include <algorithm>
#include <set>

#include "cache/keyspace/reaper.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

using Lines = std::vector<std::string>;

const Reply kWrong = Error("WRONGTYPE Operation against a key holding the wrong kind of value");
const Reply kTimeNotInteger = Error("ERR value is not an integer or out of range");

class MemberExpireTest : public CommandTest {
 public:
  // A set of which "m0", "m1" ... expire in a second, and "stays" does not.
  void FillSet(const std::string& key, size_t members) {
    Words words{"SADDEX", key, "1"};
    for (size_t i = 0; i < members; ++i) words.push_back("m" + std::to_string(i));
    REQUIRE(Run(words) == Integer(static_cast<int64_t>(members)));
    REQUIRE(Run({"SADD", key, "stays"}) == Integer(1));
  }
  // A sorted set with these members, "m0" having the lowest score. All expire in a second but "stays" in the middle.
  void FillSortedSet(const std::string& key, size_t members) {
    Words words{"ZADD", key, std::to_string(members) + ".5", "stays"};
    for (size_t i = 0; i < members; ++i) {
      words.push_back(std::to_string(2 * i));
      words.push_back("m" + std::to_string(i));
    }
    REQUIRE(Run(words) == Integer(static_cast<int64_t>(members) + 1));
    for (size_t i = 0; i < members; ++i)
      REQUIRE(Run({"EXPIREMEMBER", key, "m" + std::to_string(i), "1"}) == Integer(1));
  }
  // The key has one member of each type, which expires in a second; others stay.
  void FillAllTypes() {
    Run({"HSET", "h", "m", "v", "other", "v"});
    Run({"SADD", "s", "m", "other"});
    Run({"ZADD", "z", "1", "m", "2", "other"});
  }
};

}  // namespace

// ---- SADDEX

TEST_CASE_METHOD(MemberExpireTest,
                 "a member of a set is gone exactly at its deadline, whether the wheel has come or not") {
  const bool late = GENERATE(false, true);
  Run({"SADD", "s", "a"});
  CHECK(Run({"SADDEX", "s", "2", "b", "c"}) == Integer(2));
  CHECK(Run({"OBJECT", "ENCODING", "s"}) == Bulk("hashtable"));
  AdvanceTime(1999);
  CHECK(Run({"SCARD", "s"}) == Integer(3));
  CHECK(Run({"FIELDTTL", "s", "b"}) == Integer(1));
  TakeChanges();
  late ? LetTimePass(1) : AdvanceTime(1);
  CHECK(Run({"SCARD", "s"}) == Integer(1));
  CHECK(TakeChanges() == Lines{"sexpired s"});
  CHECK(Run({"SISMEMBER", "s", "b"}) == Integer(0));
  CHECK(Run({"SADD", "s", "b"}) == Integer(1));
  CHECK(Run({"FIELDTTL", "s", "b"}) == Integer(-1));
  AdvanceTime(10'000);
  CHECK(Run({"SCARD", "s"}) == Integer(2));
  CHECK(stats().error_replies == 0);
}

TEST_CASE_METHOD(MemberExpireTest,
                 "SADDEX gives members that are there its TTL, unless they are to keep theirs") {
  Run({"SADD", "s", "lasting"});
  CHECK(Run({"SADDEX", "s", "10", "a", "a", "lasting"}) == Integer(1));
  CHECK(Run({"SADDEX", "s", "KEEPTTL", "20", "a", "b"}) == Integer(1));
  CHECK(Run({"SADDEX", "s", "keepttl", "20", "a"}) == Integer(0));
  CHECK(Run({"FIELDTTL", "s", "lasting"}) == Integer(10));
  CHECK(Run({"FIELDTTL", "s", "a"}) == Integer(10));
  CHECK(Run({"FIELDTTL", "s", "b"}) == Integer(20));
  CHECK(Run({"SADDEX", "s", "30", "a"}) == Integer(0));
  CHECK(Run({"FIELDTTL", "s", "a"}) == Integer(30));
  Run({"SADD", "s", "a", "new"});
  CHECK(Run({"FIELDTTL", "s", "a"}) == Integer(30));
  CHECK(Run({"FIELDTTL", "s", "new"}) == Integer(-1));
  Run({"SADD", "t", "x"});
  CHECK(Run({"SADDEX", "t", "KEEPTTL", "20", "x"}) == Integer(0));
  CHECK(Run({"FIELDTTL", "t", "x"}) == Integer(-1));
  CHECK(Run({"OBJECT", "ENCODING", "t"}) == Bulk("listpack"));
}

TEST_CASE_METHOD(MemberExpireTest, "SADDEX refuses what is no TTL, and other types") {
  for (const char* seconds : {"0", "-1", "x", "1.5", "9223372036854775807", "99999999999999", ""})
    CHECK(Run({"SADDEX", "s", seconds, "a"}) == kTimeNotInteger);
  CHECK(Run({"SADDEX", "s", "KEEPTTL", "0", "a"}) == kTimeNotInteger);
  CHECK(Run({"SADDEX", "s", "KEEPTTL", "2"}) == Error("ERR wrong number of arguments for 'saddex' command"));
  CHECK(Run({"SADDEX", "s", "2"}) == Error("ERR wrong number of arguments for 'saddex' command"));
  Run({"SET", "text", "v"});
  CHECK(Run({"SADDEX", "text", "2", "a"}) == kWrong);
  CHECK(Run({"EXISTS", "s"}) == Integer(0));
}

TEST_CASE_METHOD(MemberExpireTest, "SADDEX and EXPIREMEMBER report what they do, as HEXPIRE does") {
  FillAllTypes();
  TakeChanges();
  Run({"SADDEX", "new", "2", "a"});
  CHECK(TakeChanges() == Lines{"new new", "sadd new", "sexpire new"});
  Run({"SADDEX", "new", "2", "a", "b"});
  CHECK(TakeChanges() == Lines{"sadd new", "sexpire new"});
  Run({"SADDEX", "new", "3", "a", "b"});
  CHECK(TakeChanges() == Lines{"sexpire new"});
  Run({"SADDEX", "new", "KEEPTTL", "4", "a"});
  CHECK(TakeChanges().empty());
  for (const char* key : {"h", "s", "z"}) CHECK(Run({"EXPIREMEMBER", key, "m", "5"}) == Integer(1));
  CHECK(TakeChanges() == Lines{"hexpire h", "sexpire s", "zexpire z"});
  for (const char* key : {"h", "s", "z"}) CHECK(Run({"EXPIREMEMBER", key, "none", "5"}) == Integer(0));
  CHECK(TakeChanges().empty());
  for (const char* key : {"h", "s", "z"}) CHECK(Run({"EXPIREMEMBER", key, "m", "0"}) == Integer(1));
  CHECK(TakeChanges() == Lines{"hdel h", "srem s", "zrem z"});
  for (const char* key : {"h", "s", "z"}) CHECK(Run({"EXPIREMEMBER", key, "other", "-1"}) == Integer(1));
  CHECK(TakeChanges() == Lines{"hdel h", "del h", "srem s", "del s", "zrem z", "del z"});
}

// ---- EXPIREMEMBER and FIELDTTL

TEST_CASE_METHOD(MemberExpireTest, "EXPIREMEMBER works alike on hashes, sets and sorted sets") {
  const std::string key = GENERATE("h", "s", "z");
  const std::string count = key == "h" ? "HLEN" : key == "s" ? "SCARD" : "ZCARD";
  FillAllTypes();
  CHECK(Run({"FIELDTTL", key, "m"}) == Integer(-1));
  CHECK(Run({"FIELDTTL", key, "none"}) == Integer(-3));
  CHECK(Run({"EXPIREMEMBER", key, "m", "5"}) == Integer(1));
  CHECK(Run({"FIELDTTL", key, "m"}) == Integer(5));
  CHECK(Run({"EXPIREMEMBER", key, "m", "1500", "MS"}) == Integer(1));
  CHECK(Run({"FIELDTTL", key, "m"}) == Integer(2));
  CHECK(Run({"EXPIREMEMBER", key, "m", "3", "s"}) == Integer(1));
  CHECK(Run({"FIELDTTL", key, "m"}) == Integer(3));
  CHECK(Run({"TTL", key}) == Integer(-1));
  LetTimePass(3000);
  CHECK(Run({"FIELDTTL", key, "m"}) == Integer(-3));
  CHECK(Run({"EXPIREMEMBER", key, "m", "5"}) == Integer(0));
  CHECK(Run({count, key}) == Integer(1));
  CHECK(Run({"EXPIREMEMBER", key, "other", "1"}) == Integer(1));
  LetTimePass(1000);
  CHECK(Run({"FIELDTTL", key, "other"}) == Integer(-2));
  CHECK(Run({"EXISTS", key}) == Integer(0));
}

TEST_CASE_METHOD(MemberExpireTest, "EXPIREMEMBERAT and PEXPIREMEMBERAT give a member a Unix time") {
  const std::string key = GENERATE("h", "s", "z");
  FillAllTypes();
  const int64_t now_s = WallMs() / 1000;
  CHECK(Run({"EXPIREMEMBERAT", key, "m", std::to_string(now_s + 5)}) == Integer(1));
  CHECK(Run({"FIELDTTL", key, "m"}) == Integer(5));
  CHECK(Run({"PEXPIREMEMBERAT", key, "m", std::to_string(WallMs() + 1500)}) == Integer(1));
  AdvanceTime(1499);
  CHECK(Run({"FIELDTTL", key, "m"}) == Integer(1));
  AdvanceTime(1);
  CHECK(Run({"FIELDTTL", key, "m"}) == Integer(-3));
  CHECK(Run({"PEXPIREMEMBERAT", key, "m", std::to_string(WallMs() + 1)}) == Integer(0));
  TakeChanges();
  CHECK(Run({"PEXPIREMEMBERAT", key, "other", std::to_string(WallMs())}) == Integer(1));
  const std::string removes = key == "h" ? "hdel " : key == "s" ? "srem " : "zrem ";
  CHECK(TakeChanges() == Lines{removes + key, "del " + key});
}

TEST_CASE_METHOD(MemberExpireTest,
                 "a Unix time that is set early ends a member late, as of any deadline of that kind") {
  FillAllTypes();
  Run({"PEXPIREMEMBERAT", "s", "m", std::to_string(WallMs() + 1000)});
  StepWallClock(-500);
  AdvanceTime(1499);
  CHECK(Run({"SCARD", "s"}) == Integer(2));
  AdvanceTime(1);
  CHECK(Run({"SCARD", "s"}) == Integer(1));
}

TEST_CASE_METHOD(MemberExpireTest, "EXPIREMEMBER and FIELDTTL refuse what they cannot do") {
  FillAllTypes();
  Run({"SET", "text", "v"});
  Run({"RPUSH", "l", "m"});
  CHECK(Run({"EXPIREMEMBER", "text", "m", "5"}) == kWrong);
  CHECK(Run({"EXPIREMEMBER", "l", "m", "5"}) == kWrong);
  CHECK(Run({"FIELDTTL", "text", "m"}) == kWrong);
  CHECK(Run({"FIELDTTL", "l", "m"}) == kWrong);
  CHECK(Run({"FIELDTTL", "absent", "m"}) == Integer(-2));
  CHECK(Run({"EXPIREMEMBER", "absent", "m", "5"}) == Integer(0));
  CHECK(Run({"EXPIREMEMBER", "s", "m", "x"}) == kTimeNotInteger);
  CHECK(Run({"EXPIREMEMBER", "s", "m", "5", "h"}) == Error("ERR Invalid unit arg"));
  CHECK(Run({"EXPIREMEMBER", "s", "m", "5", "s", "s"}) == Error("ERR Invalid number of arguments"));
  CHECK(Run({"EXPIREMEMBERAT", "text", "m", "5"}) == kWrong);
  CHECK(Run({"PEXPIREMEMBERAT", "l", "m", "5"}) == kWrong);
  CHECK(Run({"EXPIREMEMBERAT", "absent", "m", "5"}) == Integer(0));
  CHECK(Run({"EXPIREMEMBERAT", "s", "m", "x"}) == kTimeNotInteger);
  CHECK(Run({"EXPIREMEMBERAT", "s", "m", "-1"}) == Error("ERR invalid expire time, must be >= 0"));
  CHECK(Run({"EXPIREMEMBERAT", "s", "m", "9223372036854775807"}) ==
        Error("ERR invalid expire time in 'expirememberat' command"));
  const Reply too_far = Error("ERR invalid expire time in 'expiremember' command");
  CHECK(Run({"EXPIREMEMBER", "s", "m", "9223372036854775807"}) == too_far);
  CHECK(Run({"EXPIREMEMBER", "s", "m", "9223372036854775807", "MS"}) == too_far);
  CHECK(Run({"FIELDTTL", "s", "m"}) == Integer(-1));
}

// ---- every command sees what is left

TEST_CASE_METHOD(MemberExpireTest, "every reading command on sets sees no member that is due") {
  const Words request =
      GENERATE(Words{"SMEMBERS", "s"}, Words{"SCARD", "s"}, Words{"SISMEMBER", "s", "m0"},
               Words{"SMISMEMBER", "s", "m0", "stays"}, Words{"SRANDMEMBER", "s"},
               Words{"SRANDMEMBER", "s", "10"}, Words{"SRANDMEMBER", "s", "-3"}, Words{"SSCAN", "s", "0"},
               Words{"SUNION", "s"}, Words{"SUNION", "s", "absent"}, Words{"SINTER", "s", "s"},
               Words{"SDIFF", "s", "absent"}, Words{"SINTERCARD", "1", "s"}, Words{"SPOP", "s"},
               Words{"SPOP", "s", "5"}, Words{"SREM", "s", "m0", "m1", "stays"},
               Words{"SMOVE", "s", "t", "m0"}, Words{"ZUNION", "1", "s", "WITHSCORES"},
               Words{"ZINTERCARD", "1", "s"}, Words{"SUNIONSTORE", "t", "s"}, Words{"SDIFFSTORE", "t", "s"},
               Words{"SORT", "s", "ALPHA"}, Words{"SADD", "s", "m0"}, Words{"SADDEX", "s", "1", "m0"});
  INFO(request[0]);
  FillSet("s", 2);
  Run({"SADD", "other", "stays"});
  LetTimePass(1000);
  Words same = request;
  std::replace(same.begin(), same.end(), std::string("s"), std::string("other"));
  CHECK(Run(request) == Run(same));
}

TEST_CASE_METHOD(MemberExpireTest, "every reading command on sorted sets sees no member that is due") {
  const Words request = GENERATE(
      Words{"ZCARD", "z"}, Words{"ZSCORE", "z", "m0"}, Words{"ZMSCORE", "z", "m0", "stays"},
      Words{"ZRANK", "z", "stays"}, Words{"ZREVRANK", "z", "stays"}, Words{"ZRANK", "z", "m0"},
      Words{"ZRANGE", "z", "0", "-1", "WITHSCORES"}, Words{"ZRANGE", "z", "0", "9", "BYSCORE"},
      Words{"ZREVRANGE", "z", "0", "0"}, Words{"ZCOUNT", "z", "-inf", "+inf"},
      Words{"ZLEXCOUNT", "z", "-", "+"}, Words{"ZRANDMEMBER", "z", "5"}, Words{"ZRANDMEMBER", "z"},
      Words{"ZPOPMIN", "z"}, Words{"ZPOPMAX", "z", "2"}, Words{"ZMPOP", "1", "z", "MIN", "COUNT", "3"},
      Words{"BZPOPMIN", "z", "0"}, Words{"ZRANGESTORE", "t", "z", "0", "-1"},
      Words{"ZUNION", "2", "z", "z", "WITHSCORES"}, Words{"ZDIFF", "1", "z"}, Words{"ZINTERCARD", "1", "z"},
      Words{"ZREM", "z", "m0", "stays"}, Words{"ZREMRANGEBYRANK", "z", "0", "0"},
      Words{"ZREMRANGEBYSCORE", "z", "0", "9"}, Words{"ZINCRBY", "z", "1", "m0"},
      Words{"ZADD", "z", "XX", "CH", "7", "m0"}, Words{"SORT", "z", "ALPHA"}, Words{"GEOPOS", "z", "m0"});
  INFO(request[0]);
  FillSortedSet("z", 2);
  Run({"ZADD", "other", "2.5", "stays"});
  LetTimePass(1000);
  Words same = request;
  std::replace(same.begin(), same.end(), std::string("z"), std::string("other"));
  const Reply expected = Run(same);
  Reply got = Run(request);
  for (Reply& element : got.elements) {
    if (element.text == "z") element.text = "other";
  }
  CHECK(got == expected);
}

TEST_CASE_METHOD(MemberExpireTest,
                 "a sorted set's members keep their rank until the deadline, and not longer") {
  FillSortedSet("z", 3);
  CHECK(Run({"ZRANK", "z", "stays"}) == Integer(2));
  CHECK(Run({"ZCOUNT", "z", "0", "3"}) == Integer(2));
  Run({"ZADD", "z", "9", "m0"});
  Run({"ZINCRBY", "z", "1", "m1"});
  CHECK(Run({"FIELDTTL", "z", "m0"}) == Integer(1));
  AdvanceTime(999);
  CHECK(Run({"ZRANGE", "z", "0", "-1"}) == Bulks({"m1", "stays", "m2", "m0"}));
  TakeChanges();
  AdvanceTime(1);
  CHECK(TakeChanges() == Lines{"zexpired z"});
  CHECK(Run({"ZRANGE", "z", "0", "-1"}) == Bulks({"stays"}));
  CHECK(Run({"ZADD", "z", "1", "m0"}) == Integer(1));
  CHECK(Run({"FIELDTTL", "z", "m0"}) == Integer(-1));
}

TEST_CASE_METHOD(MemberExpireTest, "a key whose members are all due is absent for every command") {
  const Words command = GENERATE(Words{"EXISTS", "k"}, Words{"TYPE", "k"}, Words{"KEYS", "*"},
                                 Words{"SCAN", "0"}, Words{"RANDOMKEY"}, Words{"COPY", "k", "g"},
                                 Words{"OBJECT", "ENCODING", "k"}, Words{"GET", "k"}, Words{"SPOP", "k"},
                                 Words{"ZPOPMIN", "k"}, Words{"SORT", "k"}, Words{"FIELDTTL", "k", "m"});
  const bool sorted = GENERATE(false, true);
  INFO(command[0]);
  const Reply absent = Run(command);
  sorted ? Run({"ZADD", "k", "1", "m"}) : Run({"SADD", "k", "m"});
  Run({"EXPIREMEMBER", "k", "m", "1"});
  TakeChanges();
  LetTimePass(1000);
  CHECK(Run(command) == absent);
  AdvanceTime(1);
  CHECK(TakeChanges() == Lines{sorted ? "zexpired k" : "sexpired k", "del k"});
}

// ---- many at once

TEST_CASE_METHOD(MemberExpireTest,
                 "members of a set that are due at one instant are dropped in slices; nobody sees one") {
  server().changes.Unlisten(
      server().change_log);  // for a listener to effects SADD would wait, as for a replica
  constexpr size_t kMembers = 25'000;
  FillSet("s", kMembers);
  FillSet("t", kMembers);
  LetTimePass(1000);
  for (int i = 0; i < 2; ++i) {
    CHECK(Run({"SCARD", "s"}) == Integer(1));
    CHECK(Run({"SMEMBERS", "s"}) == Bulks({"stays"}));
    CHECK(Run({"SRANDMEMBER", "s", "5"}) == Bulks({"stays"}));
    CHECK(Run({"SINTERCARD", "2", "s", "s"}) == Integer(1));
  }
  CHECK(Run({"SISMEMBER", "s", "m24999"}) == Integer(0));
  CHECK(Run({"SADD", "t", "m24999"}) == Integer(1));
  CHECK(Run({"SUNION", "t"}).elements.size() == 2);
  CHECK(Run({"SPOP", "t", "10"}).elements.size() == 2);
  CHECK(Run({"EXISTS", "t"}) == Integer(0));
  CHECK(Run({"INFO", "stats"}).text.find("expired_subkeys:") != std::string::npos);
  CHECK(keyspace().Validate());
  AdvanceTime(1);
  CHECK(Run({"SCARD", "s"}) == Integer(1));
}

TEST_CASE_METHOD(
    MemberExpireTest,
    "members of a sorted set that are due at one instant have no rank, and are freed in slices") {
  server().changes.Unlisten(server().change_log);  // likewise
  constexpr size_t kMembers = 25'000;
  FillSortedSet("z", kMembers);
  const auto bytes = [&] { return Run({"MEMORY", "USAGE", "z"}).integer; };
  const int64_t full = bytes();
  LetTimePass(1000);
  // A request of its own would wait, and a script that names the key (zset_due_test.cc).
  CHECK(Run({"EVAL", "return redis.call('ZCARD', 'z')", "0"}) == Integer(1));
  CHECK(bytes() > full / 5);  // many are still to be freed
  for (int i = 0; i < 2; ++i) {
    CHECK(Run({"ZCARD", "z"}) == Integer(1));
    CHECK(Run({"ZRANK", "z", "stays"}) == Integer(0));
    CHECK(Run({"ZRANGE", "z", "0", "-1"}) == Bulks({"stays"}));
    CHECK(Run({"ZSCAN", "z", "0", "COUNT", "100000"}).elements[1].elements.size() == 2);
    CHECK(Run({"ZUNION", "1", "z"}) == Bulks({"stays"}));
    CHECK(keyspace().Validate());
  }
  CHECK(Run({"ZADD", "z", "1", "m24999"}) == Integer(1));
  CHECK(Run({"ZRANGE", "z", "0", "-1"}) == Bulks({"m24999", "stays"}));
  AdvanceTime(1);
  CHECK(Run({"ZCARD", "z"}) == Integer(2));
  // ZADD has taken one of them over.
  CHECK(Run({"INFO", "stats"}).text.find("expired_subkeys:" + std::to_string(kMembers - 1)) !=
        std::string::npos);
  CHECK(bytes() < full / 100);
}

TEST_CASE_METHOD(MemberExpireTest, "commands see no member that the wheel's first slice has left over") {
  constexpr size_t kMembers = 3000;
  FillSet("s", kMembers);
  FillSortedSet("z", kMembers);
  LetTimePass(1000);
  for (int slice = 0; slice < 2; ++slice) {
    size_t budget = 500;
    CHECK(keyspace().reaper().Advance(server().clock.Read(), &budget));
  }
  CHECK(keyspace().Validate());
  CHECK(Run({"SCARD", "s"}) == Integer(1));
  CHECK(Run({"SUNION", "s"}) == Bulks({"stays"}));
  CHECK(Run({"EVAL", "return redis.call('ZCARD', 'z')", "0"}) == Integer(1));
  CHECK(Run({"ZREVRANK", "z", "stays"}) == Integer(0));
  CHECK(Run({"ZUNION", "2", "s", "z"}) == Bulks({"stays"}));
  CHECK(Run({"INFO", "stats"}).text.find("expired_subkeys:6000") != std::string::npos);
}

// ---- beside other things

TEST_CASE_METHOD(MemberExpireTest,
                 "the key's own expiry and those of its members do not disturb each other") {
  const std::string key = GENERATE("s", "z");
  const std::string count = key == "s" ? "SCARD" : "ZCARD";
  FillAllTypes();
  Run({"PEXPIRE", key, "50000"});
  CHECK(Run({"EXPIREMEMBER", key, "m", "10"}) == Integer(1));
  CHECK(Run({"PTTL", key}) == Integer(50'000));
  AdvanceTime(10'000);
  CHECK(Run({count, key}) == Integer(1));
  CHECK(Run({"TTL", key}) == Integer(40));
  Run({"EXPIREMEMBER", key, "other", "100"});
  AdvanceTime(40'000);
  CHECK(Run({"EXISTS", key}) == Integer(0));
}

TEST_CASE_METHOD(MemberExpireTest,
                 "copies and renamed sets keep the deadlines of their members, results have none") {
  const std::string key = GENERATE("s", "z");
  const std::string count = key == "s" ? "SCARD" : "ZCARD";
  FillAllTypes();
  Run({"EXPIREMEMBER", key, "m", "10"});
  Run({"COPY", key, "copy"});
  Run({"COPY", key, "moved"});
  Run({"MOVE", "moved", "1"});
  Run({"RENAME", key, "renamed"});
  if (key == "s") {
    Run({"SUNIONSTORE", "result", "renamed"});
    Run({"SINTERSTORE", "second", "renamed"});
  } else {
    Run({"ZUNIONSTORE", "result", "1", "renamed"});
    Run({"ZRANGESTORE", "second", "renamed", "0", "-1"});
  }
  AdvanceTime(10'000);
  for (const char* kept : {"copy", "renamed"}) CHECK(Run({count, kept}) == Integer(1));
  for (const char* made : {"result", "second"}) CHECK(Run({count, made}) == Integer(2));
  Run({"SELECT", "1"});
  CHECK(Run({count, "moved"}) == Integer(1));
}

TEST_CASE_METHOD(MemberExpireTest,
                 "SMOVE takes a member's deadline along, but does not change one that is there") {
  Run({"SADDEX", "s", "10", "a", "b", "c"});
  Run({"SADD", "t", "b"});
  CHECK(Run({"SMOVE", "s", "t", "a"}) == Integer(1));
  CHECK(Run({"SMOVE", "s", "t", "b"}) == Integer(1));
  CHECK(Run({"SMOVE", "s", "new", "c"}) == Integer(1));
  CHECK(Run({"EXISTS", "s"}) == Integer(0));
  CHECK(Run({"FIELDTTL", "t", "a"}) == Integer(10));
  CHECK(Run({"FIELDTTL", "t", "b"}) == Integer(-1));
  CHECK(Run({"FIELDTTL", "new", "c"}) == Integer(10));
  LetTimePass(10'000);
  CHECK(Run({"SMEMBERS", "t"}) == Bulks({"b"}));
  CHECK(Run({"EXISTS", "new"}) == Integer(0));
}

TEST_CASE_METHOD(MemberExpireTest, "SPOP of most members leaves the others their deadlines") {
  FillSet("s", 300);
  CHECK(Run({"SPOP", "s", "298"}).elements.size() == 298);
  Run({"SREM", "s", "stays"});
  LetTimePass(1000);
  CHECK(Run({"EXISTS", "s"}) == Integer(0));
}

TEST_CASE_METHOD(MemberExpireTest, "who waits for a member of a sorted set does not get one that is due") {
  FillSortedSet("z", 1);
  Run({"ZREM", "z", "stays"});
  LetTimePass(1000);
  TestClient& waiting = Connect();
  CHECK(waiting.Run({"BZPOPMIN", "z", "0"}) == NoReply());
  Run({"ZADD", "z", "5", "new"});
  TurnWheels();
  CHECK(waiting.Received() == std::vector<Reply>{Array({Bulk("z"), Bulk("new"), Bulk("5")})});
}

TEST_CASE_METHOD(MemberExpireTest,
                 "a write waits until replicas are told of members that a script has only hidden") {
  FillSortedSet("z", 25'000);
  LetTimePass(1000);
  CHECK(Run({"EVAL", "#!lua flags=no-writes\nreturn redis.call('ZCARD', 'z')", "0"}) == Integer(1));
  CHECK(Run({"ZADD", "z", "1", "new"}) == NoReply());
  for (int i = 0; i < 100; ++i) AdvanceTime(10);
  CHECK(client().Received() == std::vector<Reply>{Integer(1)});
  CHECK(Run({"ZCARD", "z"}) == Integer(2));
}

TEST_CASE_METHOD(MemberExpireTest, "a task that its stream refuses is gone when all its members are due") {
  Run({"SET", "s", "x"});
  constexpr int kMembers = 12'000;  // more than a command drops of another value
  for (int i = 0; i < kMembers; ++i) {
    const std::string member = "m" + std::to_string(i);
    Run({"ZADD", "z", "1", member});
    Run({"SADD", "k", member});
    Run({"HSET", "h", member, "v"});
    for (const char* key : {"z", "k", "h"}) Run({"EXPIREMEMBER", key, member, "1500", "ms"});
  }
  for (const char* key : {"z", "k", "h"}) CHECK(Run({"PEXPIRE", key, "500", "INTO", "s"}) == Integer(1));
  AdvanceTime(2000);
  CHECK(Run({"ZRANDMEMBER", "z", "-2"}) == Array({}));
  CHECK(Run({"ZPOPMIN", "z"}) == Array({}));
  CHECK(Run({"SRANDMEMBER", "k"}) == Null());
  CHECK(Run({"HRANDFIELD", "h"}) == Null());
  CHECK(Run({"EXISTS", "z", "k", "h"}) == Integer(0));
}

}  // namespace mayfly::testing

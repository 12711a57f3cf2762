// JITTER and SLIDE: deadlines by chance, and deadlines that an access moves.
#include <set>
#include <string>
#include <vector>

#include "support/command_test.h"

namespace mayfly::testing {
namespace {

const Reply kNeedsTtl = Error("ERR JITTER and SLIDE need a relative TTL: EX or PX");
const Reply kNeedsPercentage = Error("ERR JITTER is followed by a percentage, as in EX 60 JITTER 10");

class TtlWordsTest : public CommandTest {
 public:
  int64_t Pttl(const std::string& key = "k") { return Run({"PTTL", key}).integer; }
};

}  // namespace

// ---- JITTER

TEST_CASE_METHOD(TtlWordsTest, "with jitter keys that were set together expire one after another") {
  std::set<int64_t> ttls;
  for (int i = 0; i < 200; ++i) {
    const std::string key = "k" + std::to_string(i);
    CHECK(Run({"SET", key, "v", "EX", "60", "JITTER", "5"}) == Ok());
    const int64_t ttl = Pttl(key);
    CHECK(ttl >= 57'000);
    CHECK(ttl <= 63'000);
    ttls.insert(ttl);
  }
  CHECK(ttls.size() > 150);
  AdvanceTime(static_cast<uint64_t>(*ttls.begin()) - 1);
  CHECK(Run({"DBSIZE"}) == Integer(200));
  AdvanceTime(1);
  CHECK(Run({"DBSIZE"}).integer < 200);
  AdvanceTime(6'000);
  CHECK(Run({"DBSIZE"}) == Integer(0));
}

TEST_CASE_METHOD(TtlWordsTest, "GETEX, EXPIRE and PEXPIRE take jitter as SET does") {
  const std::vector<std::vector<std::string>> requests = {{"GETEX", "k", "EX", "100", "JITTER", "10"},
                                                          {"EXPIRE", "k", "100", "JITTER", "10"},
                                                          {"PEXPIRE", "k", "100000", "XX", "JITTER", "10"}};
  Run({"SET", "k", "v", "EX", "7"});
  for (const auto& request : requests) {
    std::set<int64_t> ttls;
    for (int i = 0; i < 100; ++i) {
      CHECK(Run(request).kind != Reply::Kind::kError);
      CHECK(Pttl() >= 90'000);
      CHECK(Pttl() <= 110'000);
      ttls.insert(Pttl());
    }
    CHECK(ttls.size() > 50);
  }
}

TEST_CASE_METHOD(TtlWordsTest, "a short TTL with jitter is at least a millisecond") {
  for (int i = 0; i < 50; ++i) {
    Run({"SET", "k", "v", "PX", "1", "JITTER", "100"});
    CHECK(Pttl() >= 1);
  }
}

TEST_CASE_METHOD(TtlWordsTest,
                 "ttl-jitter holds for relative TTLs, and a JITTER of the request comes first") {
  SetOption("ttl-jitter", "5");
  const auto differ = [&](const std::vector<std::string>& request) {
    std::set<int64_t> ttls;
    for (int i = 0; i < 50; ++i) {
      Run({"SET", "k", "v", "JITTER", "0", "EX", "1"});
      CHECK(Run(request).kind != Reply::Kind::kError);
      CHECK(Pttl() >= 57'000);
      CHECK(Pttl() <= 63'000);
      ttls.insert(Pttl());
    }
    return ttls.size() > 10;
  };
  CHECK(differ({"SET", "k", "v", "EX", "60"}));
  CHECK(differ({"SET", "k", "v", "PX", "60000", "XX"}));
  CHECK(differ({"SETEX", "k", "60", "v"}));
  CHECK(differ({"PSETEX", "k", "60000", "v"}));
  CHECK(differ({"GETEX", "k", "EX", "60"}));
  CHECK(differ({"EXPIRE", "k", "60"}));
  CHECK(differ({"PEXPIRE", "k", "60000"}));
  CHECK_FALSE(differ({"SET", "k", "v", "EX", "60", "JITTER", "0"}));
  CHECK_FALSE(differ({"SET", "k", "v", "PXAT", UnixMs(60'000)}));
  CHECK_FALSE(differ({"PEXPIREAT", "k", UnixMs(60'000)}));
}

TEST_CASE_METHOD(TtlWordsTest, "a deadline that a key has gets no other jitter") {
  SetOption("ttl-jitter", "5");
  Run({"SET", "k", "1", "EX", "60"});
  const int64_t ttl = Pttl();
  Run({"SET", "k", "2", "KEEPTTL"});
  Run({"INCR", "k"});
  Run({"APPEND", "k", "0"});
  CHECK(Pttl() == ttl);
  Run({"COPY", "k", "copy"});
  Run({"RENAME", "k", "renamed"});
  CHECK(Pttl("copy") == ttl);
  CHECK(Pttl("renamed") == ttl);
}

TEST_CASE_METHOD(TtlWordsTest, "jitter needs a relative TTL and a percentage") {
  Run({"SET", "k", "v"});
  CHECK(Run({"SET", "k", "v", "JITTER", "5"}) == kNeedsTtl);
  CHECK(Run({"SET", "k", "v", "EX", "60", "JITTER"}) == kNeedsPercentage);
  CHECK(Run({"SET", "k", "v", "EX", "60", "JITTER", "5", "JITTER", "5"}) ==
        Error("ERR JITTER is given twice"));
  CHECK(Run({"SET", "k", "v", "KEEPTTL", "JITTER", "5"}) == kNeedsTtl);
  CHECK(Run({"SET", "k", "v", "PXAT", UnixMs(1000), "JITTER", "5"}) == kNeedsTtl);
  CHECK(Run({"GETEX", "k", "JITTER", "5"}) == kNeedsTtl);
  CHECK(Run({"GETEX", "k", "PERSIST", "JITTER", "5"}) == kNeedsTtl);
  CHECK(Run({"EXPIRE", "k", "60", "JITTER"}) == kNeedsPercentage);
  CHECK(Run({"EXPIREAT", "k", UnixSeconds(60), "JITTER", "5"}) == Error("ERR Unsupported option JITTER"));
  CHECK(Run({"SET", "k", "v", "EX", "60", "JITTER", "x"}) ==
        Error("ERR value is not an integer or out of range"));
  for (const char* percent : {"-1", "101"}) {
    CHECK(Run({"SET", "k", "v", "EX", "60", "JITTER", percent}) ==
          Error("ERR JITTER must be a percentage between 0 and 100"));
  }
  CHECK(Pttl() == -1);
}

// ---- SLIDE

TEST_CASE_METHOD(TtlWordsTest, "a deadline that slides is moved by each read, and passes when nobody reads") {
  CHECK(Run({"SET", "k", "v", "EX", "60", "SLIDE"}) == Ok());
  for (int i = 0; i < 5; ++i) {
    AdvanceTime(59'999);
    CHECK(Run({"GET", "k"}) == Bulk("v"));
    CHECK(Pttl() == 60'000);
  }
  AdvanceTime(59'999);
  CHECK(Run({"EXISTS", "k"}) == Integer(1));
  AdvanceTime(1);
  CHECK(Run({"GET", "k"}) == Null());
}

TEST_CASE_METHOD(TtlWordsTest, "a deadline slides on every type, by reads and by writes") {
  const std::vector<std::vector<std::string>> makers = {
      {"HSET", "k", "f", "1"},        {"RPUSH", "k", "a"},          {"SADD", "k", "a"},
      {"ZADD", "k", "1", "a"},        {"XADD", "k", "*", "f", "v"}, {"PFADD", "k", "a"},
      {"GEOADD", "k", "1", "1", "a"}, {"SETBIT", "k", "7", "1"},    {"SET", "k", "v"}};
  const std::vector<std::vector<std::string>> users = {
      {"HGET", "k", "f"},  {"LRANGE", "k", "0", "-1"}, {"SISMEMBER", "k", "a"}, {"ZINCRBY", "k", "1", "a"},
      {"XLEN", "k"},       {"PFCOUNT", "k"},           {"GEOPOS", "k", "a"},    {"GETBIT", "k", "7"},
      {"APPEND", "k", "w"}};
  for (size_t i = 0; i < makers.size(); ++i) {
    INFO(makers[i][0]);
    Run({"DEL", "k"});
    Run(makers[i]);
    CHECK(Run({"EXPIRE", "k", "1800", "SLIDE"}) == Integer(1));
    AdvanceTime(1'000'000);
    CHECK(Run(users[i]).kind != Reply::Kind::kError);
    CHECK(Pttl() == 1'800'000);
    AdvanceTime(1'799'999);
    CHECK(Run({"EXISTS", "k"}) == Integer(1));
    AdvanceTime(1);
    CHECK(Run({"EXISTS", "k"}) == Integer(0));
  }
}

TEST_CASE_METHOD(TtlWordsTest, "MAX bounds how far a deadline slides, in the unit of the TTL") {
  Run({"SET", "k", "v", "EX", "60", "SLIDE", "MAX", "90"});
  AdvanceTime(50'000);
  Run({"GET", "k"});
  CHECK(Pttl() == 40'000);
  AdvanceTime(39'999);
  CHECK(Run({"GET", "k"}) == Bulk("v"));
  CHECK(Pttl() == 1);
  AdvanceTime(1);
  CHECK(Run({"GET", "k"}) == Null());
  Run({"SET", "k", "v", "PX", "60", "SLIDE", "MAX", "60"});
  AdvanceTime(40);
  Run({"GET", "k"});
  CHECK(Pttl() == 20);
}

TEST_CASE_METHOD(TtlWordsTest, "a MAX below the TTL is an error and not a shorter TTL, whatever the jitter") {
  const Reply too_low =
      Error("ERR SLIDE MAX must not be less than the TTL: MAX counts from now, and ends the sliding");
  Run({"SET", "k", "v", "EX", "100"});
  CHECK(Run({"SET", "k", "w", "EX", "60", "SLIDE", "MAX", "10"}) == too_low);
  CHECK(Run({"SET", "k", "w", "PX", "60", "JITTER", "100", "SLIDE", "MAX", "59"}) == too_low);
  CHECK(Run({"GETEX", "k", "EX", "60", "SLIDE", "MAX", "59"}) == too_low);
  CHECK(Run({"EXPIRE", "k", "60", "SLIDE", "MAX", "59"}) == too_low);
  CHECK(Run({"PEXPIRE", "k", "60", "SLIDE", "MAX", "59"}) == too_low);
  CHECK(Run({"EXPIRE", "absent", "60", "SLIDE", "MAX", "59"}) == too_low);
  CHECK(Run({"GET", "k"}) == Bulk("v"));
  CHECK(Pttl() == 100'000);
  for (int i = 0; i < 100; ++i) {
    REQUIRE(Run({"SET", "k", "v", "PX", "60", "JITTER", "100", "SLIDE", "MAX", "60"}) == Ok());
    CHECK(Pttl() <= 60);
  }
}

TEST_CASE_METHOD(TtlWordsTest, "what does not touch a key does not move its deadline") {
  Run({"SET", "k", "v", "PX", "1000", "SLIDE"});
  AdvanceTime(400);
  for (const std::vector<std::string>& look :
       std::vector<std::vector<std::string>>{{"PEEK", "k"},
                                             {"TTL", "k"},
                                             {"EXISTS", "k"},
                                             {"TYPE", "k"},
                                             {"OBJECT", "IDLETIME", "k"},
                                             {"SCAN", "0"},
                                             {"EXPIRING", "0", "5000"}}) {
    Run(look);
    CHECK(Pttl() == 600);
  }
  TestClient& quiet = Connect();
  quiet.Run({"CLIENT", "NO-TOUCH", "ON"});
  CHECK(quiet.Run({"GET", "k"}) == Bulk("v"));
  CHECK(Pttl() == 600);
  CHECK(Run({"TOUCH", "k"}) == Integer(1));
  CHECK(Pttl() == 1000);
}

TEST_CASE_METHOD(TtlWordsTest, "a deadline slides under every eviction policy") {
  for (const char* policy : {"allkeys-lru", "allkeys-sieve", "volatile-lfu", "volatile-ttl", "noeviction"}) {
    INFO(policy);
    SetOption("maxmemory-policy", policy);
    Run({"SET", "k", "v", "PX", "1000", "SLIDE"});
    AdvanceTime(900);
    Run({"GET", "k"});
    CHECK(Pttl() == 1000);
  }
}

TEST_CASE_METHOD(TtlWordsTest, "another deadline ends the sliding, and a value that is changed keeps it") {
  const auto slides = [&] {
    AdvanceTime(100);
    const int64_t before = Pttl();
    Run({"GET", "k"});
    return before != Pttl();
  };
  const auto anew = [&] { Run({"SET", "k", "1", "PX", "1000", "SLIDE"}); };
  for (const std::vector<std::string>& keeper :
       std::vector<std::vector<std::string>>{{"INCR", "k"},
                                             {"APPEND", "k", "0"},
                                             {"SETRANGE", "k", "0", "7"},
                                             {"SET", "k", "2", "KEEPTTL"},
                                             {"INCREX", "k", "BYINT", "1"},
                                             {"GETEX", "k"}}) {
    INFO(keeper[0]);
    anew();
    CHECK(Run(keeper).kind != Reply::Kind::kError);
    CHECK(slides());
  }
  for (const std::vector<std::string>& ender :
       std::vector<std::vector<std::string>>{{"SET", "k", "2", "PX", "1000"},
                                             {"SET", "k", "2"},
                                             {"PEXPIRE", "k", "1000"},
                                             {"PEXPIREAT", "k", UnixMs(1'000'000)},
                                             {"GETEX", "k", "PX", "1000"},
                                             {"GETEX", "k", "PERSIST"},
                                             {"PERSIST", "k"}}) {
    INFO(ender[0]);
    anew();
    CHECK(Run(ender).kind != Reply::Kind::kError);
    CHECK_FALSE(slides());
  }
}

TEST_CASE_METHOD(TtlWordsTest, "RENAME, MOVE and COPY take a deadline that slides along") {
  Run({"SET", "a", "v", "PX", "1000", "SLIDE"});
  Run({"COPY", "a", "b"});
  Run({"RENAME", "a", "c"});
  Run({"RPUSH", "l", "x"});
  Run({"PEXPIRE", "l", "1000", "SLIDE"});
  Run({"RENAME", "l", "m"});
  Run({"COPY", "m", "n"});
  AdvanceTime(600);
  for (const char* key : {"b", "c", "m", "n"}) {
    INFO(key);
    CHECK(Pttl(key) == 400);
    Run({"TOUCH", key});
    CHECK(Pttl(key) == 1000);
  }
}

TEST_CASE_METHOD(TtlWordsTest,
                 "a deadline that moved is told to who follows every change, and to no client") {
  Run({"SET", "k", "v", "PX", "1000", "SLIDE"});
  TestClient& watcher = Connect();
  watcher.Run({"WATCH", "k"});
  watcher.Run({"MULTI"});
  watcher.Run({"PING"});
  TakeChanges();
  AdvanceTime(500);
  Run({"GET", "k"});
  CHECK(TakeChanges() == std::vector<std::string>{"slid k"});
  CHECK(watcher.Run({"EXEC"}) == Array({Simple("PONG")}));
}

TEST_CASE_METHOD(TtlWordsTest, "a hash whose deadline slides drops its fields at theirs") {
  Run({"HSET", "k", "f", "1", "g", "2"});
  Run({"EXPIRE", "k", "10", "SLIDE"});
  Run({"HPEXPIRE", "k", "3000", "FIELDS", "1", "f"});
  for (int i = 0; i < 4; ++i) {
    AdvanceTime(1000);
    Run({"HGET", "k", "g"});
    CHECK(Pttl() == 10'000);
    CHECK(Run({"HLEN", "k"}) == Integer(i < 2 ? 2 : 1));
  }
}

TEST_CASE_METHOD(TtlWordsTest, "SLIDE needs a relative TTL, and MAX a time") {
  Run({"SET", "k", "v"});
  CHECK(Run({"SET", "k", "v", "SLIDE"}) == kNeedsTtl);
  CHECK(Run({"SET", "k", "v", "KEEPTTL", "SLIDE"}) == kNeedsTtl);
  CHECK(Run({"SET", "k", "v", "PXAT", UnixMs(1000), "SLIDE"}) == kNeedsTtl);
  CHECK(Run({"SET", "k", "v", "EX", "1", "SLIDE", "SLIDE"}) == Error("ERR SLIDE is given twice"));
  CHECK(Run({"SET", "k", "v", "EX", "1", "SLIDE", "MAX"}) ==
        Error("ERR SLIDE MAX is followed by a time, in the unit of the TTL"));
  CHECK(Run({"SET", "k", "v", "EX", "1", "max", "5"}) ==
        Error("ERR MAX comes right after SLIDE, as in EX 60 SLIDE MAX 3600"));
  CHECK(Run({"SET", "k", "v", "EX", "1", "SLIDER"}) == Error("ERR syntax error"));
  CHECK(Run({"SET", "k", "v", "EX", "1", "SLIDE", "MAX", "x"}) ==
        Error("ERR value is not an integer or out of range"));
  CHECK(Run({"SET", "k", "v", "EX", "1", "SLIDE", "MAX", "0"}) ==
        Error("ERR invalid expire time in 'set' command"));
  CHECK(Run({"EXPIREAT", "k", UnixSeconds(60), "SLIDE"}) == Error("ERR Unsupported option SLIDE"));
  CHECK(Run({"GETEX", "k", "SLIDE"}) == kNeedsTtl);
  CHECK(Pttl() == -1);
}

}  // namespace mayfly::testing

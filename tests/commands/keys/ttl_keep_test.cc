// JITTER, SLIDE and the rules for TTLs where they meet: what a key keeps, what is refused before anything is answered,
// and times at the end of what clients can read.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "support/command_test.h"

namespace mayfly::testing {
namespace {

using Call = std::vector<std::string>;

const Reply kTtlRequired = Error("ERR a TTL is required for this key");

class TtlKeepTest : public CommandTest {
 public:
  int64_t Pttl(const std::string& key = "k") { return Run({"PTTL", key}).integer; }
};

}  // namespace

// ---- required

TEST_CASE_METHOD(TtlKeepTest, "a write that is refused has answered nothing before, and its client goes on") {
  Run({"SADD", "set", "a"});
  SetOption("ttl-required", "yes");
  for (const Call& write : std::vector<Call>{{"BITFIELD", "k", "SET", "u8", "0", "1"},
                                             {"SETBIT", "k", "7", "1"},
                                             {"SETRANGE", "k", "3", "v"},
                                             {"APPEND", "k", "v"},
                                             {"INCR", "k"},
                                             {"INCREX", "k"},
                                             {"GETSET", "k", "v"},
                                             {"SET", "k", "v", "GET"},
                                             {"SETNX", "k", "v"},
                                             {"MSET", "other", "v", "k", "v"},
                                             {"SUNIONSTORE", "k", "set"},
                                             {"SORT", "set", "ALPHA", "STORE", "k"},
                                             {"COPY", "set", "k"},
                                             {"RENAME", "set", "k"},
                                             {"SMOVE", "set", "k", "a"},
                                             {"LPUSH", "k", "a"},
                                             {"HSET", "k", "f", "v"},
                                             {"ZADD", "k", "1", "a"},
                                             {"XADD", "k", "*", "f", "v"},
                                             {"PFADD", "k", "a"},
                                             {"GEOADD", "k", "1", "1", "a"}}) {
    INFO(write[0]);
    CHECK(Run(write) == kTtlRequired);
    CHECK(Run({"EXISTS", "k", "other"}) == Integer(0));
    CHECK(Run({"SCARD", "set"}) == Integer(1));
  }
  CHECK(Run({"SET", "k", "v", "EX", "60", "GET"}) == Null());
  CHECK(Run({"GETEX", "k", "PERSIST"}) == kTtlRequired);
  CHECK(Run({"PERSIST", "k"}) == kTtlRequired);
  CHECK(Run({"GETSET", "set", "v"}) ==
        Error("WRONGTYPE Operation against a key holding the wrong kind of value"));
  CHECK(Pttl() == 60'000);
}

TEST_CASE_METHOD(TtlKeepTest,
                 "within a transaction and a script a refusal is the reply of its command alone") {
  SetOption("ttl-required", "yes");
  Run({"MULTI"});
  Run({"BITFIELD", "a", "SET", "u8", "0", "1"});
  Run({"SET", "b", "v", "EX", "60"});
  CHECK(Run({"EXEC"}) == Array({kTtlRequired, Ok()}));
  CHECK(Run({"EVAL", "return redis.pcall('BITFIELD', 'a', 'SET', 'u8', '0', '1')", "0"}) == kTtlRequired);
  CHECK(Run({"EXISTS", "a", "b"}) == Integer(1));
}

TEST_CASE_METHOD(TtlKeepTest, "a key without a TTL from before can be edited, whatever its type") {
  Run({"SET", "n", "1"});
  Run({"SET", "s", "v"});
  Run({"SET", "bits", "v"});
  Run({"SET", "long", std::string(20'000, 'x')});
  Run({"HSET", "h", "f", "1"});
  Run({"RPUSH", "l", "a", "b"});
  SetOption("ttl-required", "yes");
  for (const Call& edit : std::vector<Call>{{"INCR", "n"},
                                            {"INCREX", "n"},
                                            {"INCRBYFLOAT", "n", "1.5"},
                                            {"APPEND", "s", "w"},
                                            {"SETRANGE", "long", "3", "y"},
                                            {"BITFIELD", "bits", "SET", "u8", "0", "1"},
                                            {"HSET", "h", "g", "2"},
                                            {"LPOP", "l"}}) {
    INFO(edit[0]);
    CHECK(Run(edit).kind != Reply::Kind::kError);
    CHECK(Pttl(edit[1]) == -1);
  }
  SetOption("default-ttl", "60");
  for (const Call& edit : std::vector<Call>{{"INCRBYFLOAT", "n", "1"},
                                            {"APPEND", "s", "w"},
                                            {"SETRANGE", "long", "3", "z"},
                                            {"BITFIELD", "bits", "SET", "u8", "0", "2"},
                                            {"HSET", "h", "g", "3"},
                                            {"LMOVE", "l", "l", "LEFT", "RIGHT"}}) {
    INFO(edit[0]);
    CHECK(Run(edit).kind != Reply::Kind::kError);
    CHECK(Pttl(edit[1]) == 60'000);
  }
}

TEST_CASE_METHOD(TtlKeepTest, "PFCOUNT is a read: it is not refused, and gives no TTL") {
  Run({"PFADD", "k", "a", "b"});
  SetOption("ttl-required", "yes");
  CHECK(Run({"PFCOUNT", "k"}) == Integer(2));
  SetOption("ttl-required", "no");
  Run({"PFADD", "other", "a"});
  SetOption("default-ttl", "60");
  CHECK(Run({"PFCOUNT", "other"}) == Integer(1));
  CHECK(Pttl("other") == -1);
  Run({"PFADD", "other", "b"});
  CHECK(Pttl("other") == 60'000);
}

// ---- max

TEST_CASE_METHOD(TtlKeepTest, "a maximum that came later leaves a deadline alone that a key keeps") {
  const auto anew = [&] {
    SetOption("max-ttl", "0");
    Run({"SET", "k", "1", "EX", "600"});
    Run({"DEL", "copy", "renamed"});
    SetOption("max-ttl", "60");
  };
  for (const Call& keeper : std::vector<Call>{{"INCR", "k"},
                                              {"APPEND", "k", "0"},
                                              {"INCREX", "k"},
                                              {"SETBIT", "k", "7", "0"},
                                              {"SET", "k", "2", "KEEPTTL"},
                                              {"MSETEX", "1", "k", "2", "KEEPTTL"},
                                              {"GETEX", "k"}}) {
    INFO(keeper[0]);
    anew();
    CHECK(Run(keeper).kind != Reply::Kind::kError);
    CHECK(Pttl() == 600'000);
  }
  anew();
  Run({"COPY", "k", "copy"});
  CHECK(Pttl("copy") == 60'000);
  CHECK(Pttl() == 600'000);
  Run({"RENAME", "k", "renamed"});
  CHECK(Pttl("renamed") == 60'000);
  anew();
  CHECK(Run({"PERSIST", "k"}) == Integer(1));
  CHECK(Pttl() == 60'000);
  CHECK(Run({"EXPIREAT", "k", UnixSeconds(600)}) == Integer(1));
  CHECK(Pttl() == 60'000);
}

// ---- JITTER beside SLIDE

TEST_CASE_METHOD(TtlKeepTest, "a deadline that slides keeps the TTL that ttl-jitter has drawn for it") {
  SetOption("ttl-jitter", "10");
  Run({"SET", "k", "v", "JITTER", "0", "EX", "1"});
  for (const Call& slider : std::vector<Call>{{"SET", "k", "v", "EX", "100", "SLIDE"},
                                              {"GETEX", "k", "EX", "100", "SLIDE"},
                                              {"EXPIRE", "k", "100", "SLIDE"},
                                              {"SET", "k", "v", "EX", "100", "SLIDE", "JITTER", "10"}}) {
    INFO(slider[0]);
    std::set<int64_t> ttls;
    for (int i = 0; i < 50; ++i) {
      CHECK(Run(slider).kind != Reply::Kind::kError);
      const int64_t drawn = Pttl();
      CHECK(drawn >= 90'000);
      CHECK(drawn <= 110'000);
      ttls.insert(drawn);
      AdvanceTime(1000);
      Run({"GET", "k"});
      CHECK(Pttl() == drawn);
    }
    CHECK(*ttls.begin() < 97'000);
    CHECK(*ttls.rbegin() > 103'000);
  }
}

TEST_CASE_METHOD(TtlKeepTest, "an access gives a deadline that slides at most the maximum") {
  SetOption("max-ttl", "50");
  Run({"SET", "k", "v", "EX", "100", "SLIDE"});
  CHECK(Pttl() == 50'000);
  AdvanceTime(20'000);
  Run({"GET", "k"});
  CHECK(Pttl() == 50'000);
}

// ---- the end of time

TEST_CASE_METHOD(TtlKeepTest,
                 "the furthest deadlines stay what clients can read, with jitter and when they slide") {
  for (int i = 0; i < 20; ++i) {
    const std::string longest = std::to_string(INT64_MAX - WallMs());
    CHECK(Run({"SET", "k", "v", "PX", longest, "JITTER", "100"}) == Ok());
    CHECK(Run({"PEXPIRETIME", "k"}).integer > WallMs());
    CHECK(Run({"SET", "s", "v", "PX", longest, "SLIDE"}) == Ok());
    AdvanceTime(1000);
    CHECK(Run({"GET", "s"}) == Bulk("v"));
    CHECK(Run({"PEXPIRETIME", "s"}).integer > WallMs());
  }
}

// ---- errors

TEST_CASE_METHOD(TtlKeepTest,
                 "wrong numbers are errors for a key that is absent, and for a TTL in the past") {
  CHECK(Run({"EXPIRE", "absent", "60", "JITTER", "x"}) ==
        Error("ERR value is not an integer or out of range"));
  CHECK(Run({"EXPIRE", "absent", "60", "SLIDE", "MAX", "0"}) ==
        Error("ERR invalid expire time in 'expire' command"));
  Run({"SET", "k", "v"});
  CHECK(Run({"EXPIRE", "k", "-1", "JITTER", "101"}) ==
        Error("ERR JITTER must be a percentage between 0 and 100"));
  CHECK(Run({"EXPIRE", "k", "-1", "SLIDE"}) == Integer(1));
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
}

}  // namespace mayfly::testing

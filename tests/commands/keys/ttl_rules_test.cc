// default-ttl, max-ttl, ttl-required and ttl-rule: which TTLs keys may have, whatever writes them.
#include <string>
#include <vector>

#include "support/command_test.h"

namespace mayfly::testing {
namespace {

using Request = std::vector<std::string>;
using Requests = std::vector<Request>;

const Reply kRequired = Error("ERR a TTL is required for this key");

// Each makes the key "k" without a TTL. Keys named src... are there.
const Requests kMakers = {
    {"SET", "k", "v"},
    {"SET", "k", "v", "NX"},
    {"SET", "k", "v", "GET"},
    {"SETNX", "k", "v"},
    {"GETSET", "k", "v"},
    {"MSET", "j", "v", "k", "v"},
    {"MSETNX", "j", "v", "k", "v"},
    {"MSETEX", "2", "j", "v", "k", "v"},
    {"APPEND", "k", "v"},
    {"INCR", "k"},
    {"INCRBYFLOAT", "k", "1.5"},
    {"INCREX", "k"},
    {"SETRANGE", "k", "3", "v"},
    {"SETBIT", "k", "3", "1"},
    {"BITFIELD", "k", "SET", "u8", "0", "7"},
    {"BITOP", "NOT", "k", "src"},
    {"PFADD", "k", "a"},
    {"PFMERGE", "k", "srchll"},
    {"HSET", "k", "f", "v"},
    {"HSETNX", "k", "f", "v"},
    {"HINCRBY", "k", "f", "1"},
    {"HINCRBYFLOAT", "k", "f", "1"},
    {"HSETEX", "k", "EX", "1000", "FIELDS", "1", "f", "v"},
    {"RPUSH", "k", "v"},
    {"LPUSH", "k", "v"},
    {"LMOVE", "srclist", "k", "LEFT", "RIGHT"},
    {"RPOPLPUSH", "srclist", "k"},
    {"SADD", "k", "v"},
    {"SADDEX", "k", "1000", "v"},
    {"SMOVE", "srcset", "k", "a"},
    {"SUNIONSTORE", "k", "srcset"},
    {"SINTERSTORE", "k", "srcset"},
    {"SDIFFSTORE", "k", "srcset"},
    {"ZADD", "k", "1", "v"},
    {"ZINCRBY", "k", "1", "v"},
    {"ZUNIONSTORE", "k", "1", "srczset"},
    {"ZRANGESTORE", "k", "srczset", "0", "-1"},
    {"GEOADD", "k", "1", "1", "v"},
    {"GEOSEARCHSTORE", "k", "srczset", "FROMLONLAT", "0", "0", "BYRADIUS", "20000", "km"},
    {"XADD", "k", "*", "f", "v"},
    {"SORT", "srclist", "ALPHA", "STORE", "k"},
    {"COPY", "src", "k"},
    {"RENAME", "src", "k"},
    {"RENAMENX", "srclist", "k"}};

class TtlRulesCommandTest : public CommandTest {
 public:
  int64_t Pttl(const std::string& key = "k") { return Run({"PTTL", key}).integer; }
  // The sources of kMakers, and nothing else; no rule applies to them.
  void Sources() {
    Run({"FLUSHALL"});
    Run({"SET", "src", "v"});
    Run({"PFADD", "srchll", "a"});
    Run({"RPUSH", "srclist", "a", "b"});
    Run({"SADD", "srcset", "a", "b"});
    Run({"GEOADD", "srczset", "1", "1", "a", "2", "2", "b"});
  }
  void Rule(const std::string& rules) { SetOption("ttl-rule", rules); }
};

}  // namespace

TEST_CASE_METHOD(TtlRulesCommandTest,
                 "a default TTL is given by every write that would leave a key without one") {
  Rule("k default 100");
  for (const Request& maker : kMakers) {
    INFO(maker[0]);
    Sources();
    CHECK(Run(maker).kind != Reply::Kind::kError);
    CHECK(Pttl() == 100'000);
    CHECK(Pttl("j") < 0);
  }
}

TEST_CASE_METHOD(TtlRulesCommandTest,
                 "a required TTL refuses every write without one, before it changes anything") {
  Rule("k required");
  for (const Request& maker : kMakers) {
    INFO(maker[0]);
    Sources();
    const Reply keys = Run({"DBSIZE"});
    CHECK(Run(maker) == kRequired);
    CHECK(Run({"EXISTS", "k", "j"}) == Integer(0));
    CHECK(Run({"DBSIZE"}) == keys);
    CHECK(Run({"LLEN", "srclist"}) == Integer(2));
    CHECK(Run({"SCARD", "srcset"}) == Integer(2));
  }
  for (const Request& maker : Requests{{"SET", "k", "v", "EX", "10"},
                                       {"SETEX", "k", "10", "v"},
                                       {"SET", "k", "v", "KEEPTTL"},
                                       {"MSETEX", "1", "k", "v", "EX", "10"},
                                       {"INCREX", "n", "EX", "10"}}) {
    INFO(maker[0]);
    CHECK(Run(maker).kind != Reply::Kind::kError);
  }
}

TEST_CASE_METHOD(TtlRulesCommandTest,
                 "a required TTL lets keys without one be edited and removed, but not persist") {
  Run({"RPUSH", "k", "a", "b"});
  Run({"SET", "t", "v", "EX", "10"});
  SetOption("ttl-required", "yes");
  CHECK(Run({"RPUSH", "k", "c"}) == Integer(3));
  CHECK(Run({"LPOP", "k"}) == Bulk("a"));
  CHECK(Run({"PERSIST", "t"}) == kRequired);
  CHECK(Run({"GETEX", "t", "PERSIST"}) == kRequired);
  CHECK(Pttl("t") == 10'000);
  CHECK(Run({"SET", "t", "w", "GET"}) == kRequired);
  CHECK(Run({"GET", "t"}) == Bulk("v"));
  CHECK(Run({"DEL", "k"}) == Integer(1));
}

TEST_CASE_METHOD(TtlRulesCommandTest, "a maximum clamps every TTL, and nothing persists") {
  Sources();
  SetOption("max-ttl", "100");
  for (const Request& maker : Requests{{"SET", "k", "v", "EX", "1000"},
                                       {"SET", "k", "v", "PXAT", UnixMs(1'000'000)},
                                       {"SETEX", "k", "1000", "v"},
                                       {"GETEX", "k", "EX", "1000"},
                                       {"EXPIRE", "k", "1000"},
                                       {"PEXPIREAT", "k", UnixMs(1'000'000)},
                                       {"PERSIST", "k"},
                                       {"SET", "k", "v"},
                                       {"HSET", "h", "f", "v"}}) {
    INFO(maker[0]);
    CHECK(Run(maker).kind != Reply::Kind::kError);
    CHECK(Pttl(maker[1]) == 100'000);
  }
  Run({"SET", "k", "v", "EX", "99"});
  CHECK(Pttl() == 99'000);
}

TEST_CASE_METHOD(TtlRulesCommandTest,
                 "a key from before the rule gets its TTL by the next edit, of any type") {
  const Requests makers = {
      {"SET", "k", "5"},        {"SETBIT", "k", "1", "1"},    {"SET", "k", std::string(20'000, 'x')},
      {"HSET", "k", "f", "1"},  {"RPUSH", "k", "a", "b"},     {"SADD", "k", "a"},
      {"ZADD", "k", "1", "a"},  {"XADD", "k", "*", "f", "v"}, {"PFADD", "k", "a"},
      {"RPUSH", "k", "a", "b"}, {"RPUSH", "k", "a", "b"},     {"HSET", "k", "f", "1"}};
  const Requests edits = {{"INCR", "k"},
                          {"SETBIT", "k", "2", "1"},
                          {"SETRANGE", "k", "0", "y"},
                          {"HSET", "k", "g", "1"},
                          {"LSET", "k", "0", "c"},
                          {"SADD", "k", "b"},
                          {"ZINCRBY", "k", "1", "a"},
                          {"XADD", "k", "*", "f", "v"},
                          {"PFADD", "k", "b"},
                          {"LMOVE", "k", "k", "LEFT", "RIGHT"},
                          {"LMOVE", "k", "k", "LEFT", "LEFT"},
                          {"HPEXPIRE", "k", "50", "FIELDS", "1", "f"}};
  for (size_t i = 0; i < makers.size(); ++i) {
    INFO(edits[i][0]);
    SetOption("default-ttl", "0");
    Run({"DEL", "k"});
    Run(makers[i]);
    SetOption("default-ttl", "100");
    CHECK(Pttl() == -1);
    CHECK(Run(edits[i]).kind != Reply::Kind::kError);
    CHECK(Pttl() == 100'000);
  }
  AdvanceTime(50);
  CHECK(Run({"EXISTS", "k"}) == Integer(0));  // with its only field
}

TEST_CASE_METHOD(TtlRulesCommandTest, "PERSIST gives a key its default TTL anew") {
  SetOption("default-ttl", "100");
  Run({"SET", "k", "v", "EX", "10"});
  CHECK(Run({"PERSIST", "k"}) == Integer(1));
  CHECK(Pttl() == 100'000);
}

TEST_CASE_METHOD(TtlRulesCommandTest,
                 "the first rule that matches counts, and the options say what it does not") {
  SetOption("max-ttl", "1d");
  Rule("sess:admin:* max 15m sess:* default 30m jitter 10");
  Run({"SET", "sess:admin:1", "v"});
  CHECK(Pttl("sess:admin:1") == 900'000);
  Run({"SET", "sess:2", "v"});
  CHECK(Pttl("sess:2") >= 1'620'000);
  CHECK(Pttl("sess:2") <= 1'980'000);
  Run({"SET", "other", "v"});
  CHECK(Pttl("other") == 86'400'000);
}

TEST_CASE_METHOD(TtlRulesCommandTest, "RENAME and COPY obey the rules of the new name") {
  Rule("short:* max 10 must:* required");
  Run({"SET", "a", "v", "EX", "100"});
  Run({"SET", "lasting", "v"});
  CHECK(Run({"COPY", "a", "short:a"}) == Integer(1));
  CHECK(Pttl("short:a") == 10'000);
  CHECK(Run({"COPY", "lasting", "must:a"}) == kRequired);
  CHECK(Run({"RENAME", "lasting", "must:a"}) == kRequired);
  CHECK(Run({"EXISTS", "lasting", "must:a"}) == Integer(1));
  CHECK(Run({"RENAME", "a", "must:a"}) == Ok());
}

TEST_CASE_METHOD(TtlRulesCommandTest, "rules hold in transactions and scripts") {
  Rule("k required");
  Run({"MULTI"});
  Run({"SET", "k", "v"});
  Run({"SET", "k", "w", "EX", "5"});
  CHECK(Run({"EXEC"}) == Array({kRequired, Ok()}));
  Run({"DEL", "k"});
  CHECK(Run({"EVAL", "return redis.pcall('SET', KEYS[1], 'v')", "1", "k"}) == kRequired);
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  Rule("k default 7");
  CHECK(Run({"EVAL", "return redis.call('SET', KEYS[1], 'v')", "1", "k"}) == Ok());
  CHECK(Pttl() == 7'000);
}

TEST_CASE_METHOD(TtlRulesCommandTest, "CONFIG SET changes the rules, all of them or none") {
  CHECK(Run({"CONFIG", "SET", "ttl-rule", "k default 7", "max-ttl", "5"}) == Ok());
  Run({"SET", "k", "v"});
  CHECK(Pttl() == 5'000);
  CHECK(Run({"CONFIG", "SET", "default-ttl", "9", "ttl-rule", "k nonsense"}).kind == Reply::Kind::kError);
  CHECK(Run({"CONFIG", "GET", "default-ttl"}) == Array({Bulk("default-ttl"), Bulk("0")}));
  CHECK(Run({"CONFIG", "SET", "ttl-rule", "", "max-ttl", "0"}) == Ok());
  Run({"SET", "k", "v"});
  CHECK(Pttl() == -1);
}

TEST_CASE_METHOD(TtlRulesCommandTest, "a key that a default TTL was given to tells of its creation alone") {
  SetOption("default-ttl", "100");
  TakeChanges();
  Run({"HSET", "k", "f", "v"});
  CHECK(TakeChanges() == std::vector<std::string>{"new k", "hset k"});
}

}  // namespace mayfly::testing

#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

constexpr uint64_t kMinuteMs = 60'000;

// Under a factor of 0 every hit counts.
class LfuCommandTest : public CommandTest {
 public:
  LfuCommandTest() {
    SetOption("lfu-log-factor", "0");
    SetOption("maxmemory-policy", GENERATE("allkeys-lfu", "volatile-lfu"));
  }
  int64_t FreqOf(const std::string& key) { return Run({"OBJECT", "FREQ", key}).integer; }
};

}  // namespace

TEST_CASE_METHOD(LfuCommandTest, "a new key starts at 5, and each command that uses it counts once") {
  Run({"SET", "k", "1"});
  int64_t count = 5;
  CHECK(FreqOf("k") == count);
  const std::vector<std::vector<std::string>> uses = {{"GET", "k"},
                                                      {"SET", "k", "10"},
                                                      {"INCR", "k"},
                                                      {"APPEND", "k", "0"},
                                                      {"EXPIRE", "k", "1000"},
                                                      {"GETEX", "k", "EX", "2000"},
                                                      {"PERSIST", "k"},
                                                      {"SETNX", "k", "v"},
                                                      {"MSET", "k", "v"},
                                                      {"SETEX", "k", "1000", "v"},
                                                      {"TOUCH", "k"},
                                                      {"STRLEN", "k"},
                                                      {"MGET", "k"},
                                                      {"COPY", "k", "copy"}};
  for (const std::vector<std::string>& use : uses) {
    INFO(use[0]);
    Run(use);
    CHECK(FreqOf("k") == ++count);
  }
  CHECK(FreqOf("copy") == 5);
  Run({"RENAME", "k", "copy"});
  CHECK(FreqOf("copy") == ++count);
  for (const char* look : {"EXISTS", "TYPE", "TTL", "PTTL", "EXPIRETIME"}) Run({look, "copy"});
  Run({"SCAN", "0"});
  CHECK(FreqOf("copy") == count);
}

// What a copy replaces, what is renamed over, what is overwritten: whose count stays.
TEST_CASE_METHOD(LfuCommandTest, "each command leaves the counts that it leaves in Redis") {
  Oracle oracle({"--maxmemory", "1gb", "--maxmemory-policy", "allkeys-lfu", "--lfu-log-factor", "0"});
  const auto ask_both = [&](const Words& request) {
    const Reply redis = TakeReplies(oracle.Ask(EncodeRequest(request), 1)[0]).at(0);
    const Reply mayfly = Run(request);
    INFO(request[0]);
    CHECK(mayfly == redis);
  };
  const std::vector<Words> uses = {{"COPY", "k", "d"},
                                   {"COPY", "k", "d", "REPLACE"},
                                   {"COPY", "k", "d", "DB", "1", "REPLACE"},
                                   {"RENAME", "k", "d"},
                                   {"RENAMENX", "k", "d"},
                                   {"RENAMENX", "k", "n"},
                                   {"MOVE", "k", "1"},
                                   {"SET", "d", "3"},
                                   {"SET", "d", "3", "GET"},
                                   {"SET", "d", "3", "NX"},
                                   {"SET", "d", "3", "KEEPTTL"},
                                   {"GETSET", "d", "3"},
                                   {"MSET", "k", "3", "d", "4"},
                                   {"MSETNX", "n", "3", "d", "4"},
                                   {"SETNX", "d", "3"},
                                   {"APPEND", "d", "3"},
                                   {"SETRANGE", "d", "1", "3"},
                                   {"SETBIT", "d", "1", "1"},
                                   {"INCR", "d"},
                                   {"INCRBYFLOAT", "d", "1.5"},
                                   {"GETEX", "d", "PX", "100000"},
                                   {"GETEX", "d"},
                                   {"GETEX", "d", "PERSIST"},
                                   {"EXPIRE", "d", "1000"},
                                   {"EXPIRE", "d", "1000", "XX"},
                                   {"PERSIST", "d"},
                                   {"BITCOUNT", "d"},
                                   {"BITPOS", "d", "1"},
                                   {"BITFIELD", "d", "GET", "u8", "0"},
                                   {"BITFIELD", "d", "SET", "u8", "0", "1"},
                                   {"GETRANGE", "d", "0", "1"},
                                   {"STRLEN", "d"},
                                   {"EXISTS", "d"},
                                   {"TOUCH", "d"},
                                   {"TYPE", "d"},
                                   {"LCS", "k", "d"},
                                   {"GETBIT", "d", "1"},
                                   {"BITFIELD_RO", "d", "GET", "u8", "0"},
                                   {"BITOP", "OR", "n", "k", "d"},
                                   {"SUBSTR", "d", "0", "1"},
                                   {"SETEX", "d", "100", "3"},
                                   {"TTL", "d"},
                                   {"PEXPIRETIME", "d"},
                                   {"OBJECT", "ENCODING", "d"},
                                   {"OBJECT", "REFCOUNT", "d"},
                                   {"OBJECT", "FREQ", "d"},
                                   {"MGET", "k", "d"}};
  for (const Words& use : uses) {
    INFO("after " << use[0] << " of " << use.size() << " words");
    ask_both({"FLUSHALL"});
    ask_both({"SET", "k", "1"});
    ask_both({"SET", "d", "2"});
    ask_both({"TOUCH", "k"});
    for (int i = 0; i < 10; ++i) ask_both({"TOUCH", "d"});
    ask_both(use);
    for (const char* db : {"1", "0"}) {
      ask_both({"SELECT", db});
      for (const char* key : {"k", "d", "n"}) ask_both({"OBJECT", "FREQ", key});
    }
  }
}

TEST_CASE_METHOD(LfuCommandTest, "OBJECT FREQ answers what is left of the count") {
  SetOption("lfu-decay-time", "2");
  Run({"SET", "k", "v"});
  for (int i = 0; i < 7; ++i) Run({"GET", "k"});
  CHECK(FreqOf("k") == 12);
  AdvanceTime(6 * kMinuteMs);
  CHECK(FreqOf("k") == 9);
  SetOption("lfu-decay-time", "0");
  CHECK(FreqOf("k") == 12);
  CHECK(Run({"OBJECT", "FREQ", "absent"}) == Null());
}

TEST_CASE_METHOD(CommandTest, "FREQ and IDLETIME each need their policy, once there is a key") {
  Run({"SET", "k", "v"});
  CHECK(Run({"OBJECT", "FREQ", "absent"}) == Null());
  CHECK(Run({"OBJECT", "FREQ", "k"}) ==
        Error("ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that "
              "when switching between policies at runtime LRU and LFU data will take some time to adjust."));
  SetOption("maxmemory-policy", "allkeys-lfu");
  CHECK(Run({"OBJECT", "IDLETIME", "absent"}) == Null());
  CHECK(Run({"OBJECT", "IDLETIME", "k"}) ==
        Error("ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when "
              "switching between policies at runtime LRU and LFU data will take some time to adjust."));
}

TEST_CASE_METHOD(CommandTest, "a change of policy makes neither idle times nor counts wrong") {
  Run({"SET", "k", "v"});
  AdvanceTime(3 * kMinuteMs + Entry::kStampMs);
  SetOption("maxmemory-policy", "allkeys-lfu");
  CHECK(Run({"OBJECT", "FREQ", "k"}) == Integer(2));
  Run({"GET", "k"});
  AdvanceTime(2 * kMinuteMs);
  SetOption("maxmemory-policy", "volatile-lru");
  CHECK(Run({"OBJECT", "IDLETIME", "k"}) == Integer(120));  // the minute was remembered
  Run({"GET", "k"});
  CHECK(Run({"OBJECT", "IDLETIME", "k"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "under allkeys-lfu a full server keeps keys that are read often") {
  SetOption("maxmemory-policy", "allkeys-lfu");
  SetOption("maxkeys", "100");
  for (int i = 0; i < 20; ++i) {
    Run({"SET", "hot" + std::to_string(i), "v"});
    for (int use = 0; use < 30; ++use) Run({"GET", "hot" + std::to_string(i)});
  }
  for (int i = 0; i < 2000; ++i) Run({"SET", "cold" + std::to_string(i), "v"});
  CHECK(Run({"DBSIZE"}) == Integer(100));
  int64_t left = 0;
  for (int i = 0; i < 20; ++i) left += Run({"EXISTS", "hot" + std::to_string(i)}).integer;
  CHECK(left == 20);
}

TEST_CASE_METHOD(CommandTest, "the options of LFU have Redis's defaults and bounds") {
  CHECK(Run({"CONFIG", "GET", "lfu-log-factor"}) == Bulks({"lfu-log-factor", "10"}));
  CHECK(Run({"CONFIG", "GET", "lfu-decay-time"}) == Bulks({"lfu-decay-time", "1"}));
  CHECK(Run({"CONFIG", "GET", "maxmemory-samples"}) == Bulks({"maxmemory-samples", "5"}));
  CHECK(Run({"CONFIG", "SET", "lfu-log-factor", "-1"}) ==
        Error("ERR CONFIG SET failed (possibly related to argument 'lfu-log-factor') - argument must be "
              "between 0 and 2147483647 inclusive"));
  CHECK(Run({"CONFIG", "SET", "maxmemory-samples", "0"}) ==
        Error("ERR CONFIG SET failed (possibly related to argument 'maxmemory-samples') - argument must be "
              "between 1 and 64 inclusive"));
}

TEST_CASE_METHOD(CommandTest, "lfu-log-factor counts from its change on, while LFU is in force already") {
  SetOption("maxmemory-policy", "allkeys-lfu");
  Run({"SET", "k", "v"});
  const auto freq = [&] { return Run({"OBJECT", "FREQ", "k"}).integer; };
  CHECK(Run({"CONFIG", "SET", "lfu-log-factor", "0"}) == Ok());
  for (int i = 0; i < 20; ++i) Run({"GET", "k"});
  CHECK(freq() == 25);
  CHECK(Run({"CONFIG", "SET", "lfu-log-factor", "2147483647"}) == Ok());
  for (int i = 0; i < 100; ++i) Run({"GET", "k"});
  CHECK(freq() <= 26);
}

}  // namespace mayfly::testing

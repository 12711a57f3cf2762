#include <map>
#include <set>

#include "support/command_test.h"

namespace mayfly::testing {
namespace {

struct Due {
  std::string key;
  int64_t ttl_ms;
};

// The reply that ends an iteration with these keys.
Reply Last(const std::vector<Due>& keys) {
  std::vector<Reply> flat;
  for (const Due& due : keys) {
    flat.push_back(Bulk(due.key));
    flat.push_back(Integer(due.ttl_ms));
  }
  return Array({Bulk("0"), Array(flat)});
}

class ExpiringTest : public CommandTest {
 public:
  // One call; its keys are added to `seen`. Returns the next cursor.
  std::string Page(const std::string& cursor, std::vector<std::string> request) {
    request.insert(request.begin(), "EXPIRING");
    request.insert(request.end(), {"CURSOR", cursor});
    const Reply page = Run(request);
    REQUIRE(page.elements.size() == 2);
    const std::vector<Reply>& flat = page.elements[1].elements;
    for (size_t i = 0; i + 1 < flat.size(); i += 2) {
      CHECK((i == 0 || flat[i - 1].integer <= flat[i + 1].integer));
      seen[flat[i].text] = flat[i + 1].integer;
    }
    ++pages;
    return page.elements[0].text;
  }
  void Iterate(const std::vector<std::string>& request) {
    seen.clear();
    pages = 0;
    std::string cursor = "0";
    do cursor = Page(cursor, request);
    while (cursor != "0");
  }
  void SetMany(int from, int to, int64_t first_ms, int64_t step_ms) {
    for (int i = from; i < to; ++i)
      Run({"SET", "key:" + std::to_string(i), "v", "PX", std::to_string(first_ms + (i - from) * step_ms)});
  }

  std::map<std::string, int64_t> seen;
  int pages = 0;
};

}  // namespace

TEST_CASE_METHOD(ExpiringTest, "EXPIRING shows the keys that expire in a range of time, the nearest first") {
  Run({"SET", "minute", "v", "EX", "60"});
  Run({"SET", "second", "v", "PX", "1000"});
  Run({"SET", "day", "v", "EX", "86400"});
  Run({"SET", "lasting", "v"});
  CHECK(Run({"EXPIRING", "0", "1000"}) == Last({{"second", 1000}}));
  CHECK(Run({"EXPIRING", "0", "60000"}) == Last({{"second", 1000}, {"minute", 60'000}}));
  CHECK(Run({"EXPIRING", "1001", "60000"}) == Last({{"minute", 60'000}}));
  CHECK(Run({"EXPIRING", "1000", "59999"}) == Last({{"second", 1000}}));
  CHECK(Run({"EXPIRING", "1001", "59999"}) == Last({}));
  CHECK(Run({"EXPIRING", "0", "9223372036854775807"}) ==
        Last({{"second", 1000}, {"minute", 60'000}, {"day", 86'400'000}}));
  AdvanceTime(500);
  CHECK(Run({"EXPIRING", "0", "999"}) == Last({{"second", 500}}));
  AdvanceTime(500);
  CHECK(Run({"EXPIRING", "0", "999"}) == Last({}));
}

TEST_CASE_METHOD(ExpiringTest, "EXPIRING answers an array in both protocols") {
  Run({"SET", "k", "v", "PX", "20"});
  const std::string_view reply = "*2\r\n$1\r\n0\r\n*2\r\n$1\r\nk\r\n:20\r\n";
  CHECK(RunRaw("EXPIRING 0 20\r\n") == reply);
  CHECK(RunRaw("EXPIRING 0 19\r\n") == "*2\r\n$1\r\n0\r\n*0\r\n");
  UseResp3();
  CHECK(RunRaw("expiring 20 20 match k count 1 cursor 0\r\n") == reply);
}

TEST_CASE_METHOD(ExpiringTest, "EXPIRING does not show a key whose deadline has come, freed or not") {
  Run({"SET", "k", "v", "PX", "20"});
  Run({"SET", "wall", "v", "PXAT", UnixMs(20)});
  LetTimePass(19);
  CHECK(Run({"EXPIRING", "0", "1"}).elements[1].elements.size() == 4);
  LetTimePass(1);
  CHECK(Run({"EXPIRING", "0", "100"}) == Last({}));
}

TEST_CASE_METHOD(ExpiringTest, "EXPIRING follows deadlines that move, either way and on either clock") {
  Run({"SET", "k", "v", "PX", "50"});
  Run({"PEXPIRE", "k", "70000"});
  CHECK(Run({"EXPIRING", "0", "60000"}) == Last({}));
  CHECK(Run({"EXPIRING", "60001", "80000"}) == Last({{"k", 70'000}}));
  Run({"PEXPIREAT", "k", UnixMs(30)});
  CHECK(Run({"EXPIRING", "0", "100"}) == Last({{"k", 30}}));
  StepWallClockUnnoticed(-1000);
  CHECK(Run({"EXPIRING", "0", "100"}) == Last({}));
  CHECK(Run({"EXPIRING", "0", "1030"}) == Last({{"k", 1030}}));
  StepWallClockUnnoticed(1020);
  CHECK(Run({"EXPIRING", "0", "100"}) == Last({{"k", 10}}));
  Run({"PERSIST", "k"});
  CHECK(Run({"EXPIRING", "0", "9223372036854775807"}) == Last({}));
}

TEST_CASE_METHOD(ExpiringTest, "EXPIRING shows the selected database only") {
  Run({"SET", "zero", "v", "PX", "20"});
  Run({"SELECT", "1"});
  CHECK(Run({"EXPIRING", "0", "100"}) == Last({}));
  Run({"SET", "one", "v", "PX", "30"});
  CHECK(Run({"EXPIRING", "0", "100"}) == Last({{"one", 30}}));
}

TEST_CASE_METHOD(ExpiringTest, "EXPIRING goes by a key's own deadline, not by those of its members") {
  Run({"HSET", "h", "f", "v", "g", "w"});
  Run({"HPEXPIRE", "h", "20", "FIELDS", "1", "f"});
  CHECK(Run({"EXPIRING", "0", "100"}) == Last({}));
  Run({"PEXPIRE", "h", "500"});
  CHECK(Run({"EXPIRING", "0", "100"}) == Last({}));
  CHECK(Run({"EXPIRING", "0", "500"}) == Last({{"h", 500}}));
  AdvanceTime(20);
  CHECK(Run({"EXPIRING", "0", "480"}) == Last({{"h", 480}}));
  Run({"SADDEX", "gone", "1", "a"});
  Run({"PEXPIRE", "gone", "5000"});
  LetTimePass(1000);  // no member is left
  CHECK(Run({"EXPIRING", "0", "9000"}) == Last({}));
}

TEST_CASE_METHOD(ExpiringTest, "EXPIRING MATCH chooses by name") {
  Run({"SET", "a:1", "v", "PX", "10"});
  Run({"SET", "b:1", "v", "PX", "20"});
  Run({"SET", "a:2", "v", "PX", "30"});
  CHECK(Run({"EXPIRING", "0", "100", "MATCH", "a:*"}) == Last({{"a:1", 10}, {"a:2", 30}}));
  CHECK(Run({"EXPIRING", "0", "100", "MATCH", "*"}).elements[1].elements.size() == 6);
  CHECK(Run({"EXPIRING", "0", "100", "MATCH", "x", "MATCH", "b*"}) == Last({{"b:1", 20}}));
}

TEST_CASE_METHOD(ExpiringTest, "EXPIRING counts as no access") {
  Run({"SET", "k", "v", "PX", "60000"});
  AdvanceTime(30'000);
  Run({"EXPIRING", "0", "60000"});
  CHECK(stats().keyspace_hits == 0);
  CHECK(Run({"OBJECT", "IDLETIME", "k"}) == Integer(30));
}

TEST_CASE_METHOD(ExpiringTest, "EXPIRING runs in transactions and scripts") {
  Run({"SET", "k", "v", "PX", "20"});
  Run({"MULTI"});
  Run({"EXPIRING", "0", "20"});
  CHECK(Run({"EXEC"}) == Array({Last({{"k", 20}})}));
  CHECK(Run({"EVAL", "return redis.call('EXPIRING', 0, 20)", "0"}) == Last({{"k", 20}}));
}

TEST_CASE_METHOD(ExpiringTest, "EXPIRING refuses what it does not know") {
  CHECK(Run({"EXPIRING", "0"}) ==
        Error("ERR wrong number of arguments for 'expiring' command: EXPIRING from-ms to-ms "
              "[MATCH pattern] [COUNT count] [CURSOR cursor]"));
  const Reply not_integer = Error("ERR value is not an integer or out of range");
  for (const char* bad : {"x", "", "-1", "1.5", "9223372036854775808"}) {
    CHECK(Run({"EXPIRING", bad, "10"}) == not_integer);
    CHECK(Run({"EXPIRING", "0", bad}) == not_integer);
  }
  CHECK(Run({"EXPIRING", "0", "10", "COUNT", "x"}) == not_integer);
  for (const char* option : {"MATCH", "COUNT", "CURSOR", "TYPE", "5"})
    CHECK(Run({"EXPIRING", "0", "10", option}) ==
          Error("ERR syntax error near '" + std::string(option) +
                "': EXPIRING from-ms to-ms [MATCH pattern] [COUNT count] [CURSOR cursor]"));
  CHECK(Run({"EXPIRING", "0", "10", "COUNT", "0"}) == Error("ERR count should be greater than 0"));
  CHECK(Run({"EXPIRING", "0", "10", "COUNT", "-1"}) == Error("ERR count should be greater than 0"));
  for (const char* cursor : {"x", "1x", "18446744073709551616"})
    CHECK(Run({"EXPIRING", "0", "10", "CURSOR", cursor}) == Error("ERR invalid cursor"));
  CHECK(Run({"EXPIRING", "11", "10"}) == Last({}));
}

TEST_CASE_METHOD(ExpiringTest, "any number is a safe cursor of EXPIRING") {
  SetMany(0, 3000, 1, 20);
  for (const char* cursor : {"1", "9007199254740991", "9007199254740992", "4611686018427387904", "-1",
                             "6917529027641081856", "9223372036854775807", "18446744073709551615"}) {
    const Reply page = Run({"EXPIRING", "0", "60000", "COUNT", "9223372036854775807", "CURSOR", cursor});
    CHECK(page.elements.size() == 2);
  }
}

TEST_CASE_METHOD(ExpiringTest, "up to 1000 keys come in one reply, more in pages") {
  SetMany(0, 1000, 1, 50);
  Iterate({"0", "50000", "COUNT", "1"});
  CHECK(pages == 1);
  CHECK(seen.size() == 1000);
  SetMany(1000, 5000, 50'000, 50);
  Iterate({"0", "250000"});
  CHECK(pages > 4);
  CHECK(pages < 12);
  CHECK(seen.size() == 5000);
  Iterate({"0", "250000", "COUNT", "6000"});
  CHECK(pages == 1);
  CHECK(seen.size() == 5000);
  Iterate({"100000", "110000", "MATCH", "*7"});
  CHECK(seen.size() == 20);
}

TEST_CASE_METHOD(ExpiringTest,
                 "the cursor of EXPIRING is positive for clients that read it as a signed number") {
  SetMany(0, 5000, 1, 50);
  const std::string cursor = Run({"EXPIRING", "0", "250000"}).elements[0].text;
  CHECK(std::stoll(cursor) > 0);
}

TEST_CASE_METHOD(ExpiringTest,
                 "a herd that expires at one moment comes in pages, too, and so does what is beside it") {
  for (int i = 0; i < 3000; ++i) Run({"SET", "herd:" + std::to_string(i), "v", "PX", "50000"});
  for (int i = 0; i < 2000; ++i) Run({"SET", "lasting:" + std::to_string(i), "v"});
  SetMany(0, 500, 1, 20);
  Iterate({"0", "60000", "COUNT", "100"});
  CHECK(seen.size() == 3500);
  CHECK(pages > 40);
  CHECK(pages < 60);
  Iterate({"0", "60000", "COUNT", "4000"});
  CHECK(seen.size() == 3500);
  CHECK(pages == 1);
  Iterate({"0", "40000"});
  CHECK(seen.size() == 500);
}

TEST_CASE_METHOD(ExpiringTest, "what EXPIRING looks at in one call is bounded, whatever is there") {
  for (int i = 0; i < 3000; ++i) Run({"SET", "herd:" + std::to_string(i), "v", "PX", "50000"});
  const Reply page = Run({"EXPIRING", "0", "60000"});
  CHECK(page.elements[0].text != "0");
  CHECK(page.elements[1].elements.size() < 2 * 100);
}

TEST_CASE_METHOD(ExpiringTest, "EXPIRING finds every key that stays, while others come, go and move") {
  // The keys that stay go through the wheel's levels in the meantime.
  SetMany(0, 3000, 5000, 60);
  std::string cursor = "0";
  int other = 0;
  do {
    cursor = Page(cursor, {"0", "200000", "COUNT", "20"});
    for (int i = 0; i < 300; ++i, ++other) {
      const std::string name = "other:" + std::to_string(other % 2000);
      if (other % 3 == 0) Run({"SET", name, "v", "PX", std::to_string(1 + other * 97 % 200'000)});
      if (other % 3 == 1) Run({"DEL", name});
      if (other % 3 == 2) Run({"PEXPIRE", name, std::to_string(1 + other * 31 % 200'000)});
    }
    for (int i = 0; i < 3000; i += 50)
      Run({"SET", "key:" + std::to_string(i), std::string(i % 300, 'x'), "KEEPTTL"});
    AdvanceTime(100);
  } while (cursor != "0" && pages < 40);
  CHECK(cursor == "0");
  for (int i = 0; i < 3000; ++i) CHECK(seen.contains("key:" + std::to_string(i)));
}

TEST_CASE_METHOD(ExpiringTest,
                 "when the wall clock is set, EXPIRING begins again without leaving a key out") {
  for (int i = 0; i < 3000; ++i)
    Run({"SET", "wall:" + std::to_string(i), "v", "PXAT", UnixMs(20'000 + i * 50)});
  std::string cursor = Page("0", {"0", "500000"});
  REQUIRE(cursor != "0");
  StepWallClock(-10'000);
  while (cursor != "0") cursor = Page(cursor, {"0", "500000", "COUNT", "100"});
  CHECK(seen.size() == 3000);
}

}  // namespace mayfly::testing

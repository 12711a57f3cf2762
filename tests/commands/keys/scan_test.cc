#include <algorithm>
#include <set>

#include "support/command_test.h"

namespace mayfly::testing {
namespace {

// One whole iteration: every key that was shown, as often as it was shown.
std::vector<std::string> ScanAll(CommandTest& test, const std::vector<std::string>& options = {}) {
  std::vector<std::string> shown;
  std::string cursor = "0";
  do {
    std::vector<std::string> request{"SCAN", cursor};
    request.insert(request.end(), options.begin(), options.end());
    const Reply page = test.Run(request);
    REQUIRE(page.elements.size() == 2);
    REQUIRE(page.elements[1].kind == Reply::Kind::kArray);
    cursor = page.elements[0].text;
    REQUIRE(std::stoull(cursor) < (uint64_t{1} << 53));
    for (const Reply& key : page.elements[1].elements) shown.push_back(key.text);
  } while (cursor != "0");
  std::sort(shown.begin(), shown.end());
  return shown;
}

std::vector<std::string> SortedKeys(int from, int to) {
  std::vector<std::string> keys;
  for (int i = from; i < to; ++i) keys.push_back("key:" + std::to_string(i));
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace

TEST_CASE_METHOD(CommandTest, "SCAN of nothing ends at once") {
  CHECK(RunRaw("SCAN 0\r\n") == "*2\r\n$1\r\n0\r\n*0\r\n");
  UseResp3();
  CHECK(RunRaw("SCAN 0\r\n") == "*2\r\n$1\r\n0\r\n*0\r\n");
}

TEST_CASE_METHOD(CommandTest, "SCAN shows every key once while nothing changes, whatever the page size") {
  for (const std::string& key : SortedKeys(0, 3000)) Run({"SET", key, "v"});
  const std::string count = GENERATE("1", "10", "777", "100000");
  CHECK(ScanAll(*this, {"COUNT", count}) == SortedKeys(0, 3000));
}

TEST_CASE_METHOD(CommandTest,
                 "COUNT bounds how many keys a call of SCAN looks at, also those that do not match") {
  for (const std::string& key : SortedKeys(0, 3000)) Run({"SET", key, "v"});
  for (const size_t count : {1, 10, 100, 1000}) {
    const Reply page = Run({"SCAN", "0", "COUNT", std::to_string(count)});
    CHECK(page.elements[1].elements.size() >= count);
    CHECK(page.elements[1].elements.size() < count + 64);  // the last part of the table is shown as a whole
    const Reply none = Run({"SCAN", "0", "COUNT", std::to_string(count), "MATCH", "nosuch"});
    CHECK(none.elements[0] == page.elements[0]);
    CHECK(none.elements[1] == Array({}));
  }
}

TEST_CASE_METHOD(CommandTest, "SCAN shows the keys that stay while others come and go") {
  for (const std::string& key : SortedKeys(0, 500)) Run({"SET", key, "v"});
  std::set<std::string> shown;
  std::string cursor = "0";
  int grown = 500;
  do {
    const Reply page = Run({"SCAN", cursor, "COUNT", "20"});
    cursor = page.elements[0].text;
    for (const Reply& key : page.elements[1].elements) shown.insert(key.text);
    for (int i = 0; i < 200 && grown < 8000; ++i) Run({"SET", "key:" + std::to_string(grown++), "v"});
    if (grown >= 8000) {
      for (int i = 600; i < 8000; ++i) Run({"DEL", "key:" + std::to_string(i)});
    }
  } while (cursor != "0");
  for (const std::string& key : SortedKeys(0, 500)) CHECK(shown.count(key) == 1);
}

TEST_CASE_METHOD(CommandTest, "SCAN shows the keys that stay while nearly all others go") {
  for (const std::string& key : SortedKeys(0, 20'000)) Run({"SET", key, "v"});
  std::set<std::string> shown;
  std::string cursor = "0";
  int gone = 200;
  do {
    const Reply page = Run({"SCAN", cursor, "COUNT", "100", "TYPE", "string", "MATCH", "key:*"});
    cursor = page.elements[0].text;
    REQUIRE(std::stoull(cursor) < (uint64_t{1} << 53));
    for (const Reply& key : page.elements[1].elements) shown.insert(key.text);
    for (int i = 0; i < 500 && gone < 20'000; ++i) Run({"DEL", "key:" + std::to_string(gone++)});
  } while (cursor != "0");
  CHECK(gone > 10'000);
  for (const std::string& key : SortedKeys(0, 200)) CHECK(shown.count(key) == 1);
}

TEST_CASE_METHOD(CommandTest, "SCAN MATCH and TYPE choose what is shown") {
  Run({"MSET", "user:1", "a", "user:2", "b", "item:1", "c"});
  CHECK(ScanAll(*this, {"MATCH", "user:*"}) == std::vector<std::string>{"user:1", "user:2"});
  CHECK(ScanAll(*this, {"match", "*:1", "count", "100"}) == std::vector<std::string>{"item:1", "user:1"});
  CHECK(ScanAll(*this, {"MATCH", "*"}).size() == 3);
  CHECK(ScanAll(*this, {"MATCH", "x*", "MATCH", "item*"}) == std::vector<std::string>{"item:1"});
  CHECK(ScanAll(*this, {"TYPE", "string"}).size() == 3);
  CHECK(ScanAll(*this, {"TYPE", "STRING", "MATCH", "i*"}) == std::vector<std::string>{"item:1"});
  CHECK(ScanAll(*this, {"TYPE", "hash"}).empty());
  CHECK(ScanAll(*this, {"TYPE", "nonsense"}).empty());
}

TEST_CASE_METHOD(CommandTest, "SCAN refuses what it does not know") {
  CHECK(Run({"SCAN"}) == Error("ERR wrong number of arguments for 'scan' command"));
  for (const char* cursor : {"x", "1x", " 1", "1 ", "0.5", "18446744073709551616", "--1", "+"})
    CHECK(Run({"SCAN", cursor}) == Error("ERR invalid cursor"));
  CHECK(Run({"SCAN", "x", "NONSENSE"}) == Error("ERR invalid cursor"));
  CHECK(Run({"SCAN", "0", "COUNT"}) == Error("ERR syntax error"));
  CHECK(Run({"SCAN", "0", "MATCH"}) == Error("ERR syntax error"));
  CHECK(Run({"SCAN", "0", "TYPE"}) == Error("ERR syntax error"));
  CHECK(Run({"SCAN", "0", "NOVALUES"}) == Error("ERR NOVALUES option can only be used in HSCAN"));
  CHECK(Run({"SCAN", "0", "COUNT", "0"}) == Error("ERR syntax error"));
  CHECK(Run({"SCAN", "0", "COUNT", "-1"}) == Error("ERR syntax error"));
  CHECK(Run({"SCAN", "0", "COUNT", "x"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"SCAN", "0", "COUNT", "9223372036854775808"}) ==
        Error("ERR value is not an integer or out of range"));
}

TEST_CASE_METHOD(CommandTest, "any number is a safe cursor, and what strtoul reads is a number") {
  for (const std::string& key : SortedKeys(0, 100)) Run({"SET", key, "v"});
  for (const char* cursor : {"", "007", "+5", "-1", "-0", "18446744073709551615", "9007199254740991",
                             "9007199254740992", "4503599627370496"}) {
    CHECK(Run({"SCAN", cursor, "COUNT", "9223372036854775807"}).elements.size() == 2);
  }
}

TEST_CASE_METHOD(CommandTest, "a zero byte ends a cursor, whatever comes after it") {
  for (const std::string& key : SortedKeys(0, 100)) Run({"SET", key, "v"});
  const Reply page = Run({"SCAN", "0"});
  const std::string cursor = page.elements[0].text;
  REQUIRE(cursor != "0");
  const Reply next = Run({"SCAN", cursor});
  for (const std::string& rest : {std::string("\0", 1), std::string("\0x", 2), std::string("\0\n 9", 4)}) {
    CHECK(Run({"SCAN", "0" + rest}) == page);
    CHECK(Run({"SCAN", rest}) == page);
    CHECK(Run({"SCAN", cursor + rest}) == next);
    for (const char* bad : {" ", "+", "-", "x", "99999999999999999999"})
      CHECK(Run({"SCAN", bad + rest}) == Error("ERR invalid cursor"));
  }
}

TEST_CASE_METHOD(CommandTest, "a star shows the empty key, two stars do not") {
  Run({"MSET", "", "1", "a", "2"});
  for (const char* pattern : {"**", "***", "*?", "?*"}) {
    CHECK(Run({"KEYS", pattern}) == Bulks({"a"}));
    CHECK(ScanAll(*this, {"MATCH", pattern}) == std::vector<std::string>{"a"});
  }
  CHECK(Sorted(Run({"KEYS", "*"})) == Bulks({"", "a"}));
  CHECK(ScanAll(*this, {"MATCH", "*"}) == std::vector<std::string>{"", "a"});
  CHECK(Run({"KEYS", ""}) == Bulks({""}));
}

TEST_CASE_METHOD(CommandTest, "SCAN, KEYS and RANDOMKEY do not show a key whose deadline has come") {
  Run({"SET", "stays", "v"});
  Run({"SET", "goes", "v", "PX", "5"});
  LetTimePass(5);
  CHECK(ScanAll(*this) == std::vector<std::string>{"stays"});
  CHECK(Run({"KEYS", "*"}) == Bulks({"stays"}));
  for (int i = 0; i < 20; ++i) CHECK(Run({"RANDOMKEY"}) == Bulk("stays"));
  Run({"DEL", "stays"});
  CHECK(Run({"RANDOMKEY"}) == Null());
}

TEST_CASE_METHOD(CommandTest, "KEYS takes Redis's patterns") {
  Run({"MSET", "hello", "1", "hallo", "2", "hxllo", "3", "hllo", "4", "a*b", "5", "a\\b", "6"});
  CHECK(Sorted(Run({"KEYS", "h?llo"})) == Bulks({"hallo", "hello", "hxllo"}));
  CHECK(Sorted(Run({"KEYS", "h*llo"})) == Bulks({"hallo", "hello", "hllo", "hxllo"}));
  CHECK(Sorted(Run({"KEYS", "h[ae]llo"})) == Bulks({"hallo", "hello"}));
  CHECK(Sorted(Run({"KEYS", "h[^e]llo"})) == Bulks({"hallo", "hxllo"}));
  CHECK(Sorted(Run({"KEYS", "h[a-e]llo"})) == Bulks({"hallo", "hello"}));
  CHECK(Run({"KEYS", "a\\*b"}) == Bulks({"a*b"}));
  CHECK(Run({"KEYS", "hello"}) == Bulks({"hello"}));
  CHECK(Run({"KEYS", "HELLO"}) == Array({}));
  CHECK(Run({"KEYS", "*"}).elements.size() == 6);
  CHECK(Run({"KEYS"}) == Error("ERR wrong number of arguments for 'keys' command"));
}

TEST_CASE_METHOD(CommandTest, "KEYS announces as many keys as it shows, however many there are") {
  for (const std::string& key : SortedKeys(0, 5000)) Run({"SET", key, "v"});
  CHECK(Run({"KEYS", "key:*"}).elements.size() == 5000);
  CHECK(Run({"KEYS", "*99"}).elements.size() == 50);
}

TEST_CASE_METHOD(CommandTest, "RANDOMKEY finds every key in the end, and nothing in an empty database") {
  CHECK(RunRaw("RANDOMKEY\r\n") == "$-1\r\n");
  Run({"MSET", "a", "1", "b", "2", "c", "3"});
  std::set<std::string> seen;
  for (int i = 0; i < 1000 && seen.size() < 3; ++i) seen.insert(Run({"RANDOMKEY"}).text);
  CHECK(seen == std::set<std::string>{"a", "b", "c"});
}

}  // namespace mayfly::testing

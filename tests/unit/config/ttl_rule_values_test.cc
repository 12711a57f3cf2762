// Times with units, and the value of ttl-rule.
#include "config/ttl_rule_values.h"

#include "config/scalars.h"
#include "config/words.h"
#include "support/catch.h"

namespace mayfly::config {
namespace {

std::string Read(const std::string& text) {
  Duration time;
  if (const Problem problem = ReadDuration(text, time)) return *problem;
  return std::to_string(time.ms) + " as " + FormatDuration(time);
}

std::string ReadRules(const std::string& text) {
  std::vector<TtlRule> rules;
  if (const Problem problem = ReadTtlRules(SplitAtSpaces(text), rules)) return *problem;
  return FormatTtlRules(rules);
}

}  // namespace

TEST_CASE("a time is a number of seconds, or has a unit in either case") {
  CHECK(Read("0") == "0 as 0");
  CHECK(Read("90") == "90000 as 90");
  CHECK(Read("1500ms") == "1500 as 1500ms");
  CHECK(Read("2000MS") == "2000 as 2");
  CHECK(Read("3s") == "3000 as 3");
  CHECK(Read("30m") == "1800000 as 1800");
  CHECK(Read("12H") == "43200000 as 43200");
  CHECK(Read("7d") == "604800000 as 604800");
  CHECK(Read("365000d") == "31536000000000 as 31536000000");
}

TEST_CASE("what is no time is refused") {
  for (const char* text : {"", "m", "-1", "1.5", "1 s", " 1", "1w", "1ss", "+1", "99999999999999999999"}) {
    INFO(text);
    CHECK(Read(text) == "argument must be a time: a number of seconds, or one with ms, s, m, h or d");
  }
  CHECK(Read("365001d") == "argument must be at most 1000 years");
  CHECK(Read("9223372036854775807d") == "argument must be at most 1000 years");
}

TEST_CASE("rules follow one another, and are answered in one form") {
  CHECK(ReadRules("sess:* default 30m max 1d jitter 5") == "sess:* default 1800 max 86400 jitter 5");
  CHECK(ReadRules("task:* max 1d INTO jobs a into b required") ==
        "task:* max 86400 into jobs a required into b");
  CHECK(ReadRules("a REQUIRED b Max 500ms c* jitter 0") == "a required b max 500ms c* jitter 0");
}

TEST_CASE("rules that say nothing, or something else, are refused") {
  CHECK(ReadRules("a") == "after 'a' comes default, max, jitter, into or required");
  CHECK(ReadRules("a default 1 b") == "after 'b' comes default, max, jitter, into or required");
  CHECK(ReadRules("a b default 1") == "after 'a' comes default, max, jitter, into or required, not 'b'");
  CHECK(ReadRules("default 1") == "a rule begins with a pattern of keys");
  CHECK(ReadRules("a default") == "a value is missing after 'default'");
  CHECK(ReadRules("a into") == "a value is missing after 'into'");
  CHECK(ReadRules("a max x").starts_with("argument must be a time"));
  CHECK(ReadRules("a jitter 101") == "jitter must be a percentage between 0 and 100");
  CHECK(ReadRules("a jitter -1") == "jitter must be a percentage between 0 and 100");
  std::vector<TtlRule> rules;
  CHECK(ReadTtlRules(std::vector<std::string>{"a b", "max", "1"}, rules) ==
        "a pattern must not be empty or contain spaces; '?' matches one");
  CHECK(ReadTtlRules(std::vector<std::string>{"", "max", "1"}, rules) ==
        "a pattern must not be empty or contain spaces; '?' matches one");
}

TEST_CASE("a stream's name has no spaces") {
  std::vector<TtlRule> rules;
  for (const char* name : {"", "a b"})
    CHECK(ReadTtlRules(std::vector<std::string>{"a", "into", name}, rules) ==
          "the name of a stream must not be empty or contain spaces");
}

TEST_CASE("lines add to one another up to a limit, and no words empty the list") {
  std::vector<TtlRule> rules;
  const std::vector<std::string> one{"a*", "max", "1"};
  for (int i = 0; i < 128; ++i) CHECK_FALSE(ReadTtlRules(one, rules));
  CHECK(ReadTtlRules(one, rules) == "there may be at most 128 rules");
  CHECK(rules.size() == 128);
  CHECK_FALSE(ReadTtlRules(std::vector<std::string>{""}, rules));
  CHECK(rules.empty());
}

}  // namespace mayfly::config

// What INFO says of calls, beside what a redis-server says of the same calls: all but the times.
#include <algorithm>
#include <cctype>
#include <sstream>

#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

// The digits of a time become one N.
std::string WithoutTimes(const std::string& line) {
  std::string bare;
  bool in_time = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const std::string_view before = std::string_view(line).substr(0, i);
    const bool begins = before.ends_with("usec=") || before.ends_with("usec_per_call=") ||
                        (before.ends_with('=') && line.starts_with("latency_percentiles_usec_"));
    const bool digit = std::isdigit(static_cast<unsigned char>(line[i])) != 0 || line[i] == '.';
    if (begins && digit) bare += 'N';
    in_time = digit && (begins || in_time);
    if (!in_time) bare += line[i];
  }
  return bare;
}

// Redis shows commands in the order of its table.
std::vector<std::string> SortedLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(WithoutTimes(line));
  std::sort(lines.begin(), lines.end());
  return lines;
}

class InfoCallsTest : public CommandTest {
 public:
  void RunBoth(const Words& words) {
    Run(words);
    oracle_.Ask(EncodeRequest(words), 1);
  }
  void Compare(const std::string& section) {
    INFO(section);
    const Words words = {"INFO", section};
    const std::string theirs = TakeReplies(oracle_.Ask(EncodeRequest(words), 1)[0]).at(0).text;
    CHECK(SortedLines(Run(words).text) == SortedLines(theirs));
  }

 private:
  Oracle oracle_;
};

}  // namespace

TEST_CASE_METHOD(InfoCallsTest, "commandstats, errorstats and latencystats count as Redis's do") {
  RunBoth({"CONFIG", "RESETSTAT"});
  for (const Words& words : std::vector<Words>{{"SET", "k", "v"},
                                               {"GET", "k"},
                                               {"GET", "k"},
                                               {"get"},
                                               {"NOSUCH"},
                                               {"CLIENT", "NOSUCH"},
                                               {"CLIENT"},
                                               {"INCR", "k"},
                                               {"LPUSH", "k", "v"},
                                               {"CLIENT", "ID"},
                                               {"CLIENT", "GETNAME"},
                                               {"AUTH", "wrong"},
                                               {"AUTH", "nobody", "wrong"},
                                               {"HELLO", "4"},
                                               {"CONFIG", "GET", "hz"},
                                               {"APPEND", "k"},
                                               {"BLPOP", "k", "0"},
                                               {"SELECT", "99"},
                                               {"PING"}})
    RunBoth(words);
  Compare("commandstats");
  Compare("errorstats");
  Compare("latencystats");
}

TEST_CASE_METHOD(InfoCallsTest, "percentiles are named as Redis names them, also none") {
  RunBoth({"CONFIG", "RESETSTAT"});
  for (const char* percentiles : {"0 50 99.99 100", "12.5", "33.3333333", ""}) {
    RunBoth({"CONFIG", "SET", "latency-tracking-info-percentiles", percentiles});
    Compare("latencystats");
  }
  RunBoth({"CONFIG", "SET", "latency-tracking", "no"});
  Compare("latencystats");
}

}  // namespace mayfly::testing

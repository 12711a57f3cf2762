#include "base/text/subsequence.h"

#include <algorithm>
#include <random>
#include <string>

#include "support/catch.h"

namespace mayfly {
namespace {

// The runs as text: "4,5+4 2,0+2" gives offset in a, offset in b and length of each.
std::string Shown(std::string_view a, std::string_view b) {
  std::string text;
  for (const CommonRun& run : CommonRuns(a, b)) {
    if (!text.empty()) text += " ";
    text += std::to_string(run.in_a) + "," + std::to_string(run.in_b) + "+" + std::to_string(run.length);
  }
  return text;
}

// The definition, by trying everything, without a table.
size_t LongestOf(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return 0;
  if (a.back() == b.back()) return 1 + LongestOf(a.substr(0, a.size() - 1), b.substr(0, b.size() - 1));
  return std::max(LongestOf(a.substr(0, a.size() - 1), b), LongestOf(a, b.substr(0, b.size() - 1)));
}

}  // namespace

// The first is the example in Redis's documentation of LCS.
TEST_CASE("runs are reported from the end, with their offsets in both texts") {
  CHECK(Shown("ohmytext", "mynewtext") == "4,5+4 2,0+2");
  CHECK(CommonLength("ohmytext", "mynewtext") == 6);
  CHECK(Shown("abc", "abc") == "0,0+3");
  CHECK(Shown("abc", "xyz").empty());
  CHECK(Shown("", "abc").empty());
  CHECK(Shown("abc", "").empty());
  CHECK(CommonLength("", "") == 0);
}

TEST_CASE("of two equally long subsequences, the one that shortens the second text first is reported") {
  CHECK(Shown("ab", "ba") == "1,0+1");
  CHECK(Shown("ba", "ab") == "1,0+1");
  CHECK(Shown("aba", "bab") == "1,0+2");
}

TEST_CASE("the subsequence is the longest, and its runs are in both texts") {
  constexpr unsigned kSeed = 5;
  CAPTURE(kSeed);
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 300; ++round) {
    std::string a(random() % 10, ' ');
    std::string b(random() % 10, ' ');
    for (std::string* text : {&a, &b}) {
      for (char& c : *text) c = static_cast<char>('a' + random() % 3);
    }
    CAPTURE(round, a, b);
    size_t length = 0;
    size_t before_a = a.size();
    size_t before_b = b.size();
    for (const CommonRun& run : CommonRuns(a, b)) {
      REQUIRE(run.length > 0);
      REQUIRE(run.in_a + run.length <= before_a);
      REQUIRE(run.in_b + run.length <= before_b);
      REQUIRE(a.substr(run.in_a, run.length) == b.substr(run.in_b, run.length));
      length += run.length;
      before_a = run.in_a;
      before_b = run.in_b;
    }
    REQUIRE(length == LongestOf(a, b));
    REQUIRE(CommonLength(a, b) == length);
  }
}

}  // namespace mayfly

#include "base/text/glob.h"

#include <memory>
#include <random>
#include <string>

#include "support/catch.h"

namespace mayfly {
namespace {

// A plain but slow implementation of the same rules: a recursion that tries everything. For texts that are not
// empty.
class PlainMatcher {
 public:
  explicit PlainMatcher(bool ignore_case) : ignore_case_(ignore_case) {}

  bool Match(std::string_view pattern, std::string_view text) const {
    if (pattern.empty()) return text.empty();
    if (pattern[0] == '*') {
      return Match(pattern.substr(1), text) || (!text.empty() && Match(pattern, text.substr(1)));
    }
    if (text.empty()) return false;
    if (pattern[0] == '?') return Match(pattern.substr(1), text.substr(1));
    if (pattern[0] == '[') return MatchClass(pattern.substr(1), text);
    if (pattern[0] == '\\' && pattern.size() > 1) pattern.remove_prefix(1);
    return Lower(pattern[0]) == Lower(text[0]) && Match(pattern.substr(1), text.substr(1));
  }

 private:
  int Lower(char c) const {
    // As Redis on x86: a byte above 127 is a negative number.
    const int byte = static_cast<unsigned char>(c);
    const int number = byte < 128 ? byte : byte - 256;
    return ignore_case_ && number >= 'A' && number <= 'Z' ? number + 32 : number;
  }
  bool MatchClass(std::string_view rest, std::string_view text) const {
    const int wanted = Lower(text[0]);
    const bool negated = rest.starts_with('^');
    if (negated) rest.remove_prefix(1);
    bool found = false;
    while (!rest.empty() && rest[0] != ']') {
      size_t taken = 1;
      if (rest[0] == '\\' && rest.size() > 1) {
        found |= rest[1] == text[0];
        taken = 2;
      } else if (rest.size() > 2 && rest[1] == '-') {
        const bool in_order = static_cast<signed char>(rest[0]) <= static_cast<signed char>(rest[2]);
        found |= wanted >= Lower(rest[in_order ? 0 : 2]) && wanted <= Lower(rest[in_order ? 2 : 0]);
        taken = 3;
      } else {
        found |= Lower(rest[0]) == wanted;
      }
      rest.remove_prefix(taken);
    }
    if (!rest.empty()) rest.remove_prefix(1);
    return found != negated && Match(rest, text.substr(1));
  }

  bool ignore_case_;
};

}  // namespace

TEST_CASE("a star matches any bytes, a question mark one byte, other bytes themselves") {
  CHECK(GlobMatch("", ""));
  CHECK_FALSE(GlobMatch("", "a"));
  CHECK(GlobMatch("**", "abc"));
  CHECK(GlobMatch("a*c", "abbbc"));
  CHECK_FALSE(GlobMatch("a*c", "abbb"));
  CHECK(GlobMatch("*a*b*", "xxaxxbxx"));
  CHECK(GlobMatch("h?llo", "hello"));
  CHECK_FALSE(GlobMatch("h?llo", "hllo"));
  CHECK_FALSE(GlobMatch("?", ""));
  CHECK(GlobMatch(std::string_view("a\0*", 3), std::string_view("a\0b", 3)));
}

TEST_CASE("the empty text matches the empty pattern only") {
  for (const char* pattern : {"*", "**", "?", "[^a]", "\\"}) CHECK_FALSE(GlobMatch(pattern, ""));
  CHECK(GlobMatch("a*", "a"));
  CHECK(GlobMatch("a**", "a"));
}

TEST_CASE("a class matches one of its bytes, ranges included, or none of them if negated") {
  CHECK(GlobMatch("h[ae]llo", "hallo"));
  CHECK_FALSE(GlobMatch("h[ae]llo", "hillo"));
  CHECK(GlobMatch("[a-c]", "b"));
  CHECK(GlobMatch("[c-a]", "b"));
  CHECK_FALSE(GlobMatch("[a-c]", "d"));
  CHECK(GlobMatch("[^a]", "b"));
  CHECK_FALSE(GlobMatch("[^a]", "a"));
  CHECK_FALSE(GlobMatch("[^a]", ""));
  CHECK(GlobMatch("[\\]]", "]"));
  CHECK(GlobMatch("[\\-a]", "-"));
}

TEST_CASE("the bytes of a range are signed, as Redis's chars are") {
  CHECK(GlobMatch("[\xf0-\xff]", "\xf5"));
  CHECK(GlobMatch("[a-\xff]", "A"));
  CHECK(GlobMatch("[a-\xff]", std::string_view("\0", 1)));
  CHECK_FALSE(GlobMatch("[a-\xff]", "b"));
  CHECK_FALSE(GlobMatch("[a-\xff]", "\x80"));
}

TEST_CASE("an empty class matches nothing, and a class that is not closed ends with the pattern") {
  CHECK_FALSE(GlobMatch("[]", "a"));
  CHECK(GlobMatch("[^]", "a"));
  CHECK_FALSE(GlobMatch("[", "["));
  CHECK(GlobMatch("[^", "x"));
  CHECK(GlobMatch("[ab", "b"));
  CHECK(GlobMatch("[a-", "-"));
  CHECK(GlobMatch("[a-]", "]"));  // a range up to ']' in a class that is not closed
  CHECK_FALSE(GlobMatch("[ab", "bx"));
}

TEST_CASE("a backslash quotes the next byte, and matches itself at the end of the pattern") {
  CHECK(GlobMatch("\\*", "*"));
  CHECK_FALSE(GlobMatch("\\*", "a"));
  CHECK(GlobMatch("a\\", "a\\"));
  CHECK(GlobMatch("\\a", "a"));
}

TEST_CASE("case is ignored only with GlobCase::kIgnore") {
  CHECK_FALSE(GlobMatch("MAX*", "maxmemory"));
  CHECK(GlobMatch("MAX*", "maxmemory", GlobCase::kIgnore));
  CHECK(GlobMatch("[A-C]x", "bX", GlobCase::kIgnore));
  CHECK(GlobMatch("\\A", "a", GlobCase::kIgnore));
}

TEST_CASE("without regard to case, a class keeps the case of escaped letters and orders a range first") {
  CHECK_FALSE(GlobMatch("[\\M]", "m", GlobCase::kIgnore));
  CHECK(GlobMatch("[M]", "m", GlobCase::kIgnore));
  CHECK(GlobMatch("[A-z]", "m", GlobCase::kIgnore));
  CHECK_FALSE(GlobMatch("[l-Z]", "m", GlobCase::kIgnore));  // from 'z' to 'l'
}

TEST_CASE("a pattern that takes naive matchers exponential time is matched at once") {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "a*";
  CHECK_FALSE(GlobMatch(pattern + "b", std::string(10'000, 'a')));
  CHECK(GlobMatch(pattern, std::string(10'000, 'a')));
}

TEST_CASE("a pattern of any depth is matched to its end") {
  constexpr size_t kDepth = 50'000;
  std::string pattern;
  for (size_t i = 0; i < kDepth; ++i) pattern += "*?";
  CHECK(GlobMatch(pattern, std::string(kDepth, 'a')));
  CHECK_FALSE(GlobMatch(pattern, std::string(kDepth - 1, 'a')));
  CHECK(GlobMatch(pattern + "b", std::string(kDepth, 'a') + "b"));
  CHECK_FALSE(GlobMatch(pattern + "b", std::string(kDepth + 1, 'a')));
}

TEST_CASE("random patterns agree with a plain implementation") {
  constexpr unsigned kSeed = 11;
  CAPTURE(kSeed);
  std::mt19937 random(kSeed);
  const auto draw = [&](std::string_view alphabet, size_t least, size_t most) {
    std::string text(least + random() % (most - least + 1), ' ');
    for (char& c : text) c = alphabet[random() % alphabet.size()];
    return text;
  };
  for (int round = 0; round < 200'000; ++round) {
    const bool plain = round % 4 == 0;
    const bool ignore_case = round % 2 == 0;
    const std::string pattern = draw(plain ? "ab*?" : "aAzb*?[[]^-\\\xff", 0, 8);
    const std::string text = draw(plain ? "ab" : "aAzb[]^-\\\xff", 1, plain ? 8 : 4);
    INFO(pattern << " " << text << " " << ignore_case);
    if (GlobMatch(pattern, text, ignore_case ? GlobCase::kIgnore : GlobCase::kSensitive) !=
        PlainMatcher(ignore_case).Match(pattern, text))
      FAIL("they differ");
  }
}

TEST_CASE("matching random bytes terminates and reads nothing past their end") {
  std::mt19937 random(12);
  for (int round = 0; round < 50'000; ++round) {
    const size_t size = random() % 10;
    const auto exact = std::make_unique<char[]>(size);  // so that a sanitizer sees a read past the end
    for (size_t i = 0; i < size; ++i) exact[i] = "[]^-\\*?ab\xff"[random() % 10];
    GlobMatch({exact.get(), size}, "ab]-");
    GlobMatch("*[a-]*", {exact.get(), size}, GlobCase::kIgnore);
  }
}

TEST_CASE("stars, question marks and brackets make a pattern, a backslash alone does not") {
  for (const char* text : {"maxmemory-policy", "a\\b", "]", ""}) CHECK_FALSE(HasGlobSyntax(text));
  for (const char* pattern : {"*", "a?", "[a]", "\\*"}) CHECK(HasGlobSyntax(pattern));
}

}  // namespace mayfly

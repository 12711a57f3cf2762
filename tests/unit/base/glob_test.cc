#include "base/glob.h"

#include <memory>
#include <random>
#include <string>

#include <catch2/catch.hpp>

namespace mayfly {
namespace {

// The same rules without classes and escapes, written as simply as possible; slow.
bool PlainMatch(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    for (size_t i = 0; i <= text.size(); ++i) {
      if (PlainMatch(pattern.substr(1), text.substr(i))) return true;
    }
    return false;
  }
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) &&
         PlainMatch(pattern.substr(1), text.substr(1));
}

}  // namespace

TEST_CASE("stars, question marks and plain bytes") {
  CHECK(GlobMatch("", ""));
  CHECK_FALSE(GlobMatch("", "a"));
  CHECK(GlobMatch("*", ""));
  CHECK(GlobMatch("**", "abc"));
  CHECK(GlobMatch("a*c", "abbbc"));
  CHECK_FALSE(GlobMatch("a*c", "abbb"));
  CHECK(GlobMatch("*a*b*", "xxaxxbxx"));
  CHECK(GlobMatch("h?llo", "hello"));
  CHECK_FALSE(GlobMatch("h?llo", "hllo"));
  CHECK_FALSE(GlobMatch("?", ""));
  CHECK(GlobMatch(std::string_view("a\0*", 3), std::string_view("a\0b", 3)));
}

TEST_CASE("classes, ranges and negation") {
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
  CHECK(GlobMatch("[\xf0-\xff]", "\xf5"));
}

TEST_CASE("a class that is empty or not closed") {
  CHECK_FALSE(GlobMatch("[]", "a"));
  CHECK(GlobMatch("[^]", "a"));
  CHECK_FALSE(GlobMatch("[", "["));
  CHECK(GlobMatch("[^", "x"));
  CHECK(GlobMatch("[ab", "b"));
  CHECK(GlobMatch("[a-", "-"));
  CHECK(GlobMatch("[a-]", "]"));  // a range up to ']', and then no end
  CHECK_FALSE(GlobMatch("[ab", "bx"));
}

TEST_CASE("a backslash takes the next byte as it is, and stands for itself at the end") {
  CHECK(GlobMatch("\\*", "*"));
  CHECK_FALSE(GlobMatch("\\*", "a"));
  CHECK(GlobMatch("a\\", "a\\"));
  CHECK(GlobMatch("\\a", "a"));
}

TEST_CASE("letters match in any case only if that is asked for") {
  CHECK_FALSE(GlobMatch("MAX*", "maxmemory"));
  CHECK(GlobMatch("MAX*", "maxmemory", GlobCase::kIgnore));
  CHECK(GlobMatch("[A-C]x", "bX", GlobCase::kIgnore));
  CHECK(GlobMatch("\\A", "a", GlobCase::kIgnore));
}

TEST_CASE("a pattern that takes naive matchers exponential time is matched at once") {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "a*";
  CHECK_FALSE(GlobMatch(pattern + "b", std::string(10'000, 'a')));
  CHECK(GlobMatch(pattern, std::string(10'000, 'a')));
}

TEST_CASE("random patterns of stars and question marks match as by the simple rules") {
  constexpr unsigned kSeed = 11;
  CAPTURE(kSeed);
  std::mt19937 random(kSeed);
  const auto draw = [&](std::string_view alphabet, size_t most) {
    std::string text(random() % (most + 1), ' ');
    for (char& c : text) c = alphabet[random() % alphabet.size()];
    return text;
  };
  for (int round = 0; round < 50'000; ++round) {
    const std::string pattern = draw("ab*?", 7);
    const std::string text = draw("ab", 8);
    INFO(pattern << " " << text);
    if (GlobMatch(pattern, text) != PlainMatch(pattern, text)) FAIL("they differ");
  }
}

TEST_CASE("matching random bytes ends, and reads nothing beyond the pattern") {
  std::mt19937 random(12);
  for (int round = 0; round < 50'000; ++round) {
    const size_t size = random() % 10;
    const auto exact = std::make_unique<char[]>(size);  // so that a sanitizer sees a read past the end
    for (size_t i = 0; i < size; ++i) exact[i] = "[]^-\\*?ab\xff"[random() % 10];
    GlobMatch({exact.get(), size}, "ab]-");
    GlobMatch("*[a-]*", {exact.get(), size}, GlobCase::kIgnore);
  }
}

TEST_CASE("a pattern without wildcards is recognized") {
  CHECK_FALSE(HasGlobSyntax("maxmemory-policy"));
  for (const char* pattern : {"*", "a?", "[a]", "a\\b"}) CHECK(HasGlobSyntax(pattern));
}

}  // namespace mayfly

#include "config/words.h"

#include <random>

#include "support/catch.h"

namespace mayfly::config {
namespace {

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("a line is split at white space, and quotes hold words together") {
  CHECK(SplitWords("port 7000") == Words{"port", "7000"});
  CHECK(SplitWords("  a\t b\r\n") == Words{"a", "b"});
  CHECK(SplitWords("") == Words{});
  CHECK(SplitWords(" \t") == Words{});
  CHECK(SplitWords("a \"b c\" 'd e'") == Words{"a", "b c", "d e"});
  CHECK(SplitWords("a \"\" ''") == Words{"a", "", ""});
  CHECK(SplitWords("a\"b c\"") == Words{"ab c"});
}

TEST_CASE("double quotes have escapes, and single quotes only their own") {
  CHECK(SplitWords(R"("\x41\x0a\n\r\t\b\a\"\\\q")") == Words{"A\n\n\r\t\b\a\"\\q"});
  CHECK(SplitWords(R"("\xZZ")") == Words{"xZZ"});
  CHECK(SplitWords(R"('it\'s \n')") == Words{"it's \\n"});
  CHECK(SplitWords(R"(a\nb)") == Words{"a\\nb"});
  CHECK(SplitWords(R"("\x00")") == Words{std::string(1, '\0')});
}

TEST_CASE("quotes that do not pair up, or that end inside a word, are an error") {
  for (const char* line : {"\"", "a \"b", "'", "a 'b", "\"a\"b", "'a'b", "\"a\\", "\"a\\\"", "\"\\x4"}) {
    INFO(line);
    CHECK_FALSE(SplitWords(line));
  }
}

TEST_CASE("a quoted word reads back as itself, whatever its bytes") {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 12, '\0');
    for (char& c : text) c = static_cast<char>(random());
    CHECK(SplitWords(QuoteWord(text)) == Words{text});
    CHECK(SplitWords("x " + QuoteWord(text) + " y") == Words{"x", text, "y"});
  }
}

TEST_CASE("a value of CONFIG SET is split at each space, and joined again") {
  CHECK(SplitAtSpaces("a \"b\tc\" d") == Words{"a", "\"b\tc\"", "d"});
  CHECK(SplitAtSpaces("a  b ") == Words{"a", "", "b", ""});
  CHECK(SplitAtSpaces("").empty());
  CHECK(SplitAtSpaces(" ") == Words{"", ""});
  CHECK(JoinWords(Words{"a", "b"}) == "a b");
  CHECK(JoinWords(Words{"", "a", ""}) == " a ");
  CHECK(JoinWords(Words{}) == "");
}

TEST_CASE("Printable shows no byte that would break a line, and cuts a long text") {
  CHECK(Printable("a\nb\x80") == "a\\x0ab\\x80");
  const std::string shown = Printable(std::string(100'000, '\0'));
  CHECK(shown.size() < 400);
  CHECK(shown.ends_with("..."));
}

}  // namespace mayfly::config

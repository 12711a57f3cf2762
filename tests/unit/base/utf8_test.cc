#include "base/text/utf8.h"

#include <string>
#include <vector>

#include "support/catch.h"

namespace mayfly {
namespace {

using std::string_literals::operator""s;

TEST_CASE("a character of UTF-8 has one to four bytes") {
  CHECK(Utf8SizeAt("a") == 1);
  CHECK(Utf8SizeAt("\0x"s) == 1);
  CHECK(Utf8SizeAt("\x7F") == 1);
  CHECK(Utf8SizeAt("\xC2\x80") == 2);
  CHECK(Utf8SizeAt("\xDF\xBF!") == 2);
  CHECK(Utf8SizeAt("\xE0\xA0\x80") == 3);
  CHECK(Utf8SizeAt("\xED\x9F\xBF") == 3);
  CHECK(Utf8SizeAt("\xEF\xBF\xBF") == 3);
  CHECK(Utf8SizeAt("\xF0\x90\x80\x80") == 4);
  CHECK(Utf8SizeAt("\xF4\x8F\xBF\xBF") == 4);
}

TEST_CASE("longer forms, surrogates, numbers that are too high, and parts of characters are none") {
  for (const char* text :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2z", "\xC2\xC0", "\xE0\x9F\xBF", "\xE0\xA0",
        "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF0\x90\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    INFO(static_cast<unsigned>(static_cast<unsigned char>(text[0])));
    CHECK(Utf8SizeAt(text) == 0);
    CHECK_FALSE(IsUtf8("abc"s + text));
  }
  CHECK(IsUtf8(""));
  CHECK(
      IsUtf8("Gr\xC3\xBC\xC3\x9F"
             "e \xF0\x9F\xA6\x8B"));
}

TEST_CASE("a text is cut at the end of a character, also one that is not UTF-8") {
  const std::string text = "a\xC3\xBC\xE2\x82\xAC\xF0\x9F\x99\x82z";  // characters of 1, 2, 3, 4 and 1 bytes
  const std::vector<size_t> ends = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11};
  for (size_t bytes = 0; bytes < ends.size(); ++bytes)
    CHECK(WholeCharacters(text, bytes).size() == ends[bytes]);
  CHECK(WholeCharacters(text, 100) == text);
  CHECK(WholeCharacters("\xBC\xBC\xBC\xBC\xBC", 4).size() == 4);
}

}  // namespace
}  // namespace mayfly

#include "base/text/quote.h"

#include "support/catch.h"

namespace mayfly {
namespace {

std::string Quoted(std::string_view bytes) {
  std::string text;
  AppendQuoted(text, bytes);
  return text;
}

TEST_CASE("a quoted text is on one line and in ASCII, whatever its bytes are") {
  CHECK(Quoted("") == "\"\"");
  CHECK(Quoted("plain ~text") == "\"plain ~text\"");
  CHECK(Quoted("a\"b\\c") == R"("a\"b\\c")");
  CHECK(Quoted("\n\r\t\a\b") == R"("\n\r\t\a\b")");
  CHECK(Quoted({"\0\x1b\x7f\x80\xff\v\f", 7}) == R"("\x00\x1b\x7f\x80\xff\x0b\x0c")");
}

TEST_CASE("a quoted text is appended") {
  std::string text = "before ";
  AppendQuoted(text, "x");
  CHECK(text == "before \"x\"");
}

}  // namespace
}  // namespace mayfly

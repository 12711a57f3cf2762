#include "exec/metrics/json_text.h"

#include <limits>
#include <string>

#include "support/catch.h"

namespace mayfly {
namespace {

using std::string_literals::operator""s;

std::string Written(std::string_view text) {
  JsonText json;
  json.String(text);
  return json.text();
}

TEST_CASE("commas stand between values, and nowhere else") {
  JsonText json;
  json.Open('{').Key("a").Number(1).Key("b").Open('[').Close(']').Key("c").Open('[').String("x").Bool(true);
  json.Open('{').Close('}').Decimal(0.5).Close(']').Key("d").Number(-2).Close('}');
  CHECK(json.text() == R"({"a":1,"b":[],"c":["x",true,{},0.5],"d":-2})");
}

TEST_CASE("texts are escaped, also what could end a script in HTML") {
  CHECK(Written("a\"b\\c") == R"("a\"b\\c")");
  CHECK(Written("\n\0\x7F"s) == R"("\u000a\u0000\u007f")");
  CHECK(Written("</script>&") == R"("\u003c/script\u003e\u0026")");
  CHECK(Written("Gr\xC3\xBC\xC3\x9F") == "\"Gr\xC3\xBC\xC3\x9F\"");
}

TEST_CASE("bytes that are not UTF-8 are shown as such") { CHECK(Written("a\xFF\xC3") == R"("a\\xff\\xc3")"); }

TEST_CASE("what is no number in JSON is null") {
  JsonText json;
  json.Open('[').Decimal(std::numeric_limits<double>::infinity()).Decimal(1e300).Close(']');
  CHECK(json.text() == "[null,1e+300]");
}

}  // namespace
}  // namespace mayfly

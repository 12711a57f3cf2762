#include "base/text/ascii.h"

#include <string>

#include "support/catch.h"

namespace mayfly {
namespace {

TEST_CASE("only the 26 letters of ASCII have a case") {
  for (int i = 0; i < 256; ++i) {
    const char c = static_cast<char>(i);
    const std::string lower = "abcdefghijklmnopqrstuvwxyz", upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    INFO(i);
    CHECK(IsLower(c) == (lower.find(c) != std::string::npos));
    CHECK(IsUpper(c) == (upper.find(c) != std::string::npos));
    CHECK(Lower(c) == (IsUpper(c) ? lower[upper.find(c)] : c));
    CHECK(Upper(c) == (IsLower(c) ? upper[lower.find(c)] : c));
  }
  CHECK(LowerCase("MiXed-1\xC4") == "mixed-1\xC4");
  CHECK(UpperCase("MiXed-1\xE4") == "MIXED-1\xE4");
}

TEST_CASE("words are the same in any case") {
  CHECK(EqualsIgnoringCase("keepTtl", "KEEPTTL"));
  CHECK(EqualsIgnoringCase("", ""));
  CHECK_FALSE(EqualsIgnoringCase("keepttl", "KEEPTT"));
  CHECK_FALSE(EqualsIgnoringCase("[", "{"));  // differ in the bit that letters of two cases differ in
  CHECK(SameIgnoringCase("MaxMemory", "mAXmEMORY"));
  CHECK_FALSE(SameIgnoringCase("a", "ab"));
  CHECK_FALSE(SameIgnoringCase("@", "`"));
}

TEST_CASE("hexadecimal digits have two cases") {
  CHECK(HexDigit('0') == 0);
  CHECK(HexDigit('9') == 9);
  CHECK(HexDigit('a') == 10);
  CHECK(HexDigit('F') == 15);
  for (const char c : {'/', ':', '@', 'G', '`', 'g', ' '}) CHECK(HexDigit(c) == -1);
}

}  // namespace
}  // namespace mayfly

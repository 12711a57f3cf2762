// The expected values are redis-server's replies to INCRBYFLOAT.
#include "base/text/long_double.h"

#include <cfloat>
#include <cmath>
#include <limits>

#include "support/catch.h"

namespace mayfly {

TEST_CASE("a long double is parsed as by strtold, except for spaces, NaN and numbers out of range") {
  CHECK(ParseLongDouble("0.1") == 0.1L);
  CHECK(ParseLongDouble("+1e3") == 1000.0L);
  CHECK(ParseLongDouble("0x1p-2") == 0.25L);
  CHECK(ParseLongDouble(".5") == 0.5L);
  CHECK(ParseLongDouble("5.") == 5.0L);
  CHECK(std::isinf(ParseLongDouble("-infinity").value_or(0)));
  CHECK(ParseLongDouble(std::string(5000, '0') + "7") == 7.0L);
  for (const std::string& text :
       {std::string(), std::string(" 1"), std::string("\t1"), std::string("1 "), std::string("nan"),
        std::string("-nan"), std::string("x"), std::string("1e"), std::string("0x"), std::string("1e9999"),
        std::string("1e-9999"), std::string("1\0", 2), std::string(5119, '0') + "7"}) {
    INFO("text: " << text.substr(0, 20));
    CHECK_FALSE(ParseLongDouble(text));
  }
}

TEST_CASE("a long double is formatted with 17 digits after the point, less trailing zeros") {
  CHECK(FormatLongDouble(0) == "0");
  CHECK(FormatLongDouble(-0.0L) == "0");
  CHECK(FormatLongDouble(3) == "3");
  CHECK(FormatLongDouble(-10.5L) == "-10.5");
  CHECK(FormatLongDouble(100) == "100");
  CHECK(FormatLongDouble(0.1L) == "0.1");
  CHECK(FormatLongDouble(1e-17L) == "0.00000000000000001");
  CHECK(FormatLongDouble(-4e-18L) == "0");
  CHECK(FormatLongDouble(1e21L) == "1000000000000000000000");
  CHECK(FormatLongDouble(std::numeric_limits<long double>::infinity()) == "inf");
  CHECK(FormatLongDouble(-std::numeric_limits<long double>::infinity()) == "-inf");
  CHECK(ParseLongDouble(FormatLongDouble(LDBL_MAX)) == LDBL_MAX);
  CHECK(ParseLongDouble(FormatLongDouble(-LDBL_MAX)) == -LDBL_MAX);
}

}  // namespace mayfly

// The numbers of INCRBYFLOAT: long double, as text and back by Redis's rules.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mayfly {

// What strtold reads, all of it: also "inf", "1e3" and "0x1p3". Nothing for "", leading spaces, NaN, and what
// is too big or too near to 0.
std::optional<long double> ParseLongDouble(std::string_view text);

// With 17 digits behind the point, without the zeros at their end: "3", "0.1", "-0.00000000000000001"; never
// with an exponent. Up to 5 KB. "inf" and "-inf". REQUIRES: no NaN.
std::string FormatLongDouble(long double value);

}  // namespace mayfly

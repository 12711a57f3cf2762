// The numbers of INCRBYFLOAT: parses and formats long double by Redis's rules.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mayfly {

// Parses a text that strtold reads as a whole: also "inf", "1e3" and "0x1p3". Returns nullopt for "", leading spaces, NaN,
// and numbers that are too large or too close to 0.
std::optional<long double> ParseLongDouble(std::string_view text);

// Formats with 17 digits after the point, less trailing zeros, and never with an exponent: "3", "0.1",
// "-0.00000000000000001", "inf", "-inf". Up to 5 KB long.
// REQUIRES: value is not NaN.
std::string FormatLongDouble(long double value);

}  // namespace mayfly

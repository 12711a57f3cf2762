// Reads the kinds of values shared by many options: numbers, sizes and the like. Problems are Redis's error texts; after a
// problem nothing is changed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "config/option.h"
#include "config/problem.h"

namespace mayfly::config {

// The greatest number of bytes.
inline constexpr uint64_t kBytesMax = std::numeric_limits<int64_t>::max();

[[nodiscard]] Problem ReadYesNo(const std::string& text, bool& value);
// Within the option's range.
[[nodiscard]] Problem ReadInteger(const Option& option, const std::string& text, int64_t& value);
// A time, with or without a unit (30m): seconds.
[[nodiscard]] Problem ReadDuration(std::string_view text, Duration& value);
// In seconds or, with parts of a second, in ms.
std::string FormatDuration(Duration value);
// A number of bytes, with or without a unit (1kb), within the option's range.
[[nodiscard]] Problem ReadByteCount(const Option& option, const std::string& text, uint64_t& value);

// The name of a file or a directory in the working directory; `what` is "filename" or "dirname". The option's minimum is 1
// if the name must not be empty.
[[nodiscard]] Problem CheckName(const Option& option, const std::string& text, const char* what);

// The error text for a word that is not among `names`.
std::string NoneOf(std::span<const std::string_view> names);

}  // namespace mayfly::config

// The numbers that strings hold, for the commands that count with them.
#pragma once

#include <cstdint>
#include <optional>

#include "base/long_double.h"
#include "exec/values/string_access.h"

namespace mayfly {

// The integer that a string holds; nothing if it is not an integer. What APPEND has changed is kept as text,
// even if it reads as a number.
inline std::optional<int64_t> IntegerOf(const Entry& entry) {
  if (entry.encoding() == Encoding::kInteger) return entry.integer();
  return ParseInteger(entry.text());
}

// The number that a string holds, with its fraction; nothing if it is not a number.
inline std::optional<long double> FloatOf(const Entry& entry) {
  if (entry.encoding() == Encoding::kInteger) return entry.integer();
  return ParseLongDouble(entry.text());
}

}  // namespace mayfly

// The numbers in strings, for counting commands.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "base/text/long_double.h"
#include "exec/values/string_access.h"

namespace mayfly {

// The integer in a string; nothing if the string is not an integer. A string changed by APPEND is kept as text, even if
// readable as a number.
inline std::optional<int64_t> IntegerOf(const Entry& entry) {
  if (entry.encoding() == Encoding::kInteger) return entry.integer();
  return ParseInteger(entry.text());
}

// The number in a string, with its fraction; nothing if the string is not a number.
inline std::optional<long double> FloatOf(const Entry& entry) {
  if (entry.encoding() == Encoding::kInteger) return entry.integer();
  return ParseLongDouble(entry.text());
}

// The two kinds of numbers in strings, for commands that add to numbers.
struct IntegerKind {
  using Number = int64_t;
  static constexpr std::string_view kInvalidValue = errors::kNotInteger;
  static constexpr Event kEvent{"incrby"};

  static std::optional<Number> Parse(std::string_view text) { return ParseInteger(text); }
  static std::optional<Number> ValueOf(const Entry& entry) { return IntegerOf(entry); }
  static std::optional<Number> Add(Number a, Number b) {
    Number sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::nullopt : std::optional(sum);
  }
  static std::optional<Number> Subtract(Number a, Number b) {
    Number difference = 0;
    return __builtin_sub_overflow(a, b, &difference) ? std::nullopt : std::optional(difference);
  }
};

struct FloatKind {
  using Number = long double;
  static constexpr std::string_view kInvalidValue = errors::kNotFloat;
  static constexpr Event kEvent{"incrbyfloat"};

  static std::optional<Number> Parse(std::string_view text) { return ParseLongDouble(text); }
  static std::optional<Number> ValueOf(const Entry& entry) { return FloatOf(entry); }
  static std::optional<Number> Finite(Number number) {
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
  }
  static std::optional<Number> Add(Number a, Number b) { return Finite(a + b); }
  static std::optional<Number> Subtract(Number a, Number b) { return Finite(a - b); }
};

// The number of a key before an addition, and the entry; 0 and null for an absent key. Returns nothing, after an error
// reply, if the value is something else.
template <typename Kind>
std::optional<typename Kind::Number> FindNumber(Context& ctx, const Key& key, Entry*& existing) {
  if (!FindString(ctx, key, existing)) return std::nullopt;
  if (existing == nullptr) return typename Kind::Number{0};
  const std::optional<typename Kind::Number> value = Kind::ValueOf(*existing);
  if (!value) ctx.Fail(Kind::kInvalidValue);
  return value;
}

}  // namespace mayfly

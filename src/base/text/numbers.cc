#include "base/text/numbers.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/text/ascii.h"

namespace mayfly {
namespace {

template <typename T>
std::optional<T> ParseWhole(std::string_view text) noexcept {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  const std::string_view digits = text[0] == '-' ? text.substr(1) : text;
  if (digits[0] == '0' && text.size() > 1) return std::nullopt;
  return value;
}

// `text` ends with a zero byte after `size` bytes.
std::optional<double> ParseByStrtod(const char* text, size_t size) noexcept {
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(text, &end);
  if (end != text + size || std::isnan(value)) return std::nullopt;
  if (errno == ERANGE && (std::isinf(value) || value == 0)) return std::nullopt;  // 1e999, 1e-999
  return value;
}

char* PutText(char* out, std::string_view text) noexcept { return out + text.copy(out, text.size()); }

// Formats d.ddd * 10^exponent as Redis does: without an exponent if few zeros must be added, else with one.
char* LayOut(char* out, std::string_view digits, int exponent) noexcept {
  const int count = static_cast<int>(digits.size());
  const int zeros_behind = exponent - (count - 1);
  if (zeros_behind >= 0 && zeros_behind < 8) return std::fill_n(PutText(out, digits), zeros_behind, '0');
  if (zeros_behind < 0 && (zeros_behind > -7 || std::abs(exponent) < 4)) {
    if (exponent < 0) return PutText(std::fill_n(PutText(out, "0."), -exponent - 1, '0'), digits);
    const size_t whole = static_cast<size_t>(exponent) + 1;
    return PutText(PutText(PutText(out, digits.substr(0, whole)), "."), digits.substr(whole));
  }
  out = PutText(out, digits.substr(0, 1));
  if (count > 1) out = PutText(PutText(out, "."), digits.substr(1));
  out = PutText(out, exponent < 0 ? "e-" : "e+");
  return out + FormatInteger(std::abs(exponent), out);
}

}  // namespace

std::optional<int64_t> ParseInteger(std::string_view text) noexcept {
  if (text.empty() || text.size() > kMaxIntegerText) return std::nullopt;
  return ParseWhole<int64_t>(text);
}

std::optional<uint64_t> ParseUnsigned(std::string_view text) noexcept {
  if (text.empty() || text.size() > kMaxIntegerText) return std::nullopt;
  return ParseWhole<uint64_t>(text);
}

std::optional<double> ParseDouble(std::string_view text) {
  int64_t whole = 0;
  if (ParseInteger(text, whole)) return static_cast<double>(whole);
  if (text.empty() || text[0] == ' ' || (text[0] >= '\t' && text[0] <= '\r')) return std::nullopt;
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed_to, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && parsed_to == end && std::isfinite(value) && value != 0) return value;
  // Only rare texts are left: +1, 0x1p3, inf, texts of or rounded to 0, and texts that are no number.
  constexpr size_t kMostUsual = 256;
  if (text.size() >= kMostUsual) {
    const std::string copy(text);
    return ParseByStrtod(copy.c_str(), copy.size());
  }
  char copy[kMostUsual];
  copy[text.copy(copy, text.size())] = '\0';
  return ParseByStrtod(copy, text.size());
}

size_t FormatInteger(int64_t value, char* out) noexcept {
  return static_cast<size_t>(std::to_chars(out, out + kMaxIntegerText, value).ptr - out);
}

std::string FormatDouble(double value) {
  char text[kMaxDoubleText];
  return std::string(text, FormatDouble(value, text));
}

size_t FormatDouble(double value, char* out) noexcept {
  if (std::isnan(value)) return std::string_view("nan").copy(out, kMaxDoubleText);
  if (std::isinf(value)) return std::string_view(value > 0 ? "inf" : "-inf").copy(out, kMaxDoubleText);
  if (value == 0 && std::signbit(value)) return std::string_view("-0").copy(out, kMaxDoubleText);
  constexpr double kWholeUpTo = 0x1p62;
  if (std::abs(value) <= kWholeUpTo && value == std::trunc(value))
    return FormatInteger(static_cast<int64_t>(value), out);
  // The shortest digits come as "1.2345e-07". This code takes the text apart and LayOut puts it together again.
  char text[kMaxDoubleText];
  const auto made = std::to_chars(text, text + sizeof text, std::abs(value), std::chars_format::scientific);
  const char* const e = std::find(text, made.ptr, 'e');
  char digits[kMaxDoubleText];
  size_t count = 0;
  for (const char* c = text; c != e; ++c) {
    if (*c != '.') digits[count++] = *c;
  }
  int exponent = 0;
  std::from_chars(e[1] == '+' ? e + 2 : e + 1, made.ptr, exponent);
  char* const begin = value < 0 ? PutText(out, "-") : out;
  return static_cast<size_t>(LayOut(begin, {digits, count}, exponent) - out);
}

std::optional<uint64_t> ParseBytes(std::string_view text) noexcept {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  // Leading zeros are allowed here, as in redis.conf.
  uint64_t number = 0;
  if (std::from_chars(text.data(), text.data() + digits, number).ec != std::errc()) return std::nullopt;
  struct Unit {
    std::string_view name;
    uint64_t factor;
  };
  static constexpr Unit kUnits[] = {{"", 1},
                                    {"b", 1},
                                    {"k", 1000},
                                    {"kb", 1ULL << 10},
                                    {"m", 1000 * 1000},
                                    {"mb", 1ULL << 20},
                                    {"g", 1000ULL * 1000 * 1000},
                                    {"gb", 1ULL << 30}};
  const std::string unit = LowerCase(text.substr(digits));
  for (const Unit& known : kUnits) {
    if (unit != known.name) continue;
    if (number > UINT64_MAX / known.factor) return std::nullopt;
    return number * known.factor;
  }
  return std::nullopt;
}

std::string FormatBytesHuman(uint64_t bytes) {
  constexpr const char* kSuffix = "BKMGTP";
  double size = static_cast<double>(bytes);
  int power = 0;
  while (size >= 1024 && power < 5) size /= 1024, ++power;
  char text[32];
  if (power == 0) {
    std::snprintf(text, sizeof text, "%lluB", static_cast<unsigned long long>(bytes));
  } else {
    std::snprintf(text, sizeof text, "%.2f%c", size, kSuffix[power]);
  }
  return text;
}

}  // namespace mayfly

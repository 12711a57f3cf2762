#include "base/numbers.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/ascii.h"

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

// Formats d.ddd * 10^exponent as Redis does: without an exponent if few zeros must be added, else with one.
std::string LayOut(std::string digits, int exponent) {
  const int count = static_cast<int>(digits.size());
  const int zeros_behind = exponent - (count - 1);
  if (zeros_behind >= 0 && zeros_behind < 8) return digits.append(static_cast<size_t>(zeros_behind), '0');
  if (zeros_behind < 0 && (zeros_behind > -7 || std::abs(exponent) < 4)) {
    if (exponent < 0) return "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
    return digits.insert(static_cast<size_t>(exponent) + 1, 1, '.');
  }
  if (count > 1) digits.insert(1, 1, '.');
  return digits + (exponent < 0 ? "e-" : "e+") + std::to_string(std::abs(exponent));
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

std::optional<double> ParseDouble(std::string_view text) noexcept {
  constexpr size_t kMaxText = 256;
  if (text.empty() || text.size() >= kMaxText || text[0] == ' ' || (text[0] >= '\t' && text[0] <= '\r'))
    return std::nullopt;
  char copy[kMaxText];
  copy[text.copy(copy, text.size())] = '\0';
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(copy, &end);
  if (end != copy + text.size() || std::isnan(value)) return std::nullopt;
  if (errno == ERANGE && (std::isinf(value) || value == 0)) return std::nullopt;  // 1e999, 1e-999
  return value;
}

size_t FormatInteger(int64_t value, char* out) noexcept {
  return static_cast<size_t>(std::to_chars(out, out + kMaxIntegerText, value).ptr - out);
}

std::string FormatDouble(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  constexpr double kWholeUpTo = 0x1p62;
  if (std::abs(value) <= kWholeUpTo && value == std::trunc(value)) {
    char text[kMaxIntegerText];
    return std::string(text, FormatInteger(static_cast<int64_t>(value), text));
  }
  // The shortest digits come as "1.2345e-07". They are taken apart here and laid out by LayOut.
  char text[32];
  const auto made = std::to_chars(text, text + sizeof text, std::abs(value), std::chars_format::scientific);
  const char* const e = std::find(text, made.ptr, 'e');
  std::string digits(1, text[0]);
  if (e - text > 2) digits.append(text + 2, static_cast<size_t>(e - (text + 2)));
  int exponent = 0;
  std::from_chars(e[1] == '+' ? e + 2 : e + 1, made.ptr, exponent);
  return (value < 0 ? "-" : "") + LayOut(std::move(digits), exponent);
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

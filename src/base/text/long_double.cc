#include "base/text/long_double.h"

#include <array>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace mayfly {
namespace {

// Redis rejects longer texts. LDBL_MAX has 4,933 digits before the point.
constexpr size_t kMaxText = size_t{5} * 1024;

bool IsSpace(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

std::optional<long double> ParseLongDouble(std::string_view text) {
  if (text.empty() || text.size() >= kMaxText || IsSpace(text[0])) return std::nullopt;
  std::array<char, kMaxText> copy;
  copy[text.copy(copy.data(), text.size())] = '\0';
  char* end = nullptr;
  errno = 0;
  const long double value = std::strtold(copy.data(), &end);
  if (end != copy.data() + text.size() || std::isnan(value)) return std::nullopt;
  if (errno == ERANGE && (std::isinf(value) || value == 0)) return std::nullopt;
  return value;
}

std::string FormatLongDouble(long double value) {
  assert(!std::isnan(value));
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, kMaxText> text;
  const int size = std::snprintf(text.data(), text.size(), "%.17Lf", value);
  std::string_view digits(text.data(), static_cast<size_t>(size));
  digits = digits.substr(0, digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.remove_suffix(1);
  return std::string(digits == "-0" ? "0" : digits);
}

}  // namespace mayfly

#include "base/numbers.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <system_error>

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
  const double value = std::strtod(copy, &end);
  if (end != copy + text.size() || std::isnan(value)) return std::nullopt;
  if (std::isinf(value) && copy[text[0] == '-' || text[0] == '+'] < 'A') return std::nullopt;  // 1e999
  return value;
}

size_t FormatInteger(int64_t value, char* out) noexcept {
  return static_cast<size_t>(std::to_chars(out, out + kMaxIntegerText, value).ptr - out);
}

std::string FormatDouble(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[32];
  const auto made = std::to_chars(text, text + sizeof text, value);
  return std::string(text, made.ptr);
}

std::optional<uint64_t> ParseBytes(std::string_view text) noexcept {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<uint64_t> number = ParseUnsigned(text.substr(0, digits));
  if (!number) return std::nullopt;
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
  std::string unit(text.substr(digits));
  for (char& c : unit) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  for (const Unit& known : kUnits) {
    if (unit != known.name) continue;
    if (*number > UINT64_MAX / known.factor) return std::nullopt;
    return *number * known.factor;
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

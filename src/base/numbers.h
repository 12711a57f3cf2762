// Text to number and back, by Redis's rules: the whole text or nothing, without leading zeros,
// spaces or plus sign.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/short_bytes.h"

namespace mayfly {

// Longest text of a 64-bit integer, sign included.
inline constexpr size_t kMaxIntegerText = 20;

// "0", "-1", "42"; nothing for "", "+1", "01", "-0", " 1", or what does not fit (Redis's string2ll).
std::optional<int64_t> ParseInteger(std::string_view text) noexcept;
namespace internal {

// Four to eight digits at once; false where there is something else. Digits are added up in pairs, then in
// fours, then in eights, each sum within the bytes that it is made of.
[[gnu::always_inline]] inline bool ParseDigits(std::string_view text, int64_t& value) noexcept {
  constexpr uint64_t kOnes = 0x0101010101010101;
  const size_t last = text.size() - sizeof(uint32_t);
  const size_t unused_bits = 8 * (sizeof(uint32_t) - last);
  // The last digit lies in the highest byte; zeros below the first.
  uint64_t digits = uint64_t{LoadWord<uint32_t>(text.data() + last)} << 32 |
                    uint64_t{LoadWord<uint32_t>(text.data())} << unused_bits;
  digits -= (kOnes * '0') << unused_bits;
  // Above 9, a byte reaches its highest bit once 118 are added.
  if (((digits | (digits + kOnes * 118)) & (kOnes * 128)) != 0) return false;
  digits = (digits * 10 + (digits >> 8)) & 0x00FF00FF00FF00FF;
  digits = (digits * 100 + (digits >> 16)) & 0x0000FFFF0000FFFF;
  value = static_cast<int64_t>((digits * 10'000 + (digits >> 32)) & 0xFFFFFFFF);
  return true;
}

}  // namespace internal

// The same, faster for plain numbers of few digits: false instead of nothing, and `value` is unspecified
// then.
[[gnu::always_inline]] inline bool ParseInteger(std::string_view text, int64_t& value) noexcept {
  constexpr size_t kSurelyFits = 18;
  static_assert(std::endian::native == std::endian::little);
  if (text.size() - 1 >= kSurelyFits || static_cast<unsigned char>(text[0] - '1') > 8) {
    const std::optional<int64_t> parsed = ParseInteger(text);
    value = parsed.value_or(0);
    return parsed.has_value();
  }
  if (text.size() - sizeof(uint32_t) <= sizeof(uint32_t)) return internal::ParseDigits(text, value);
  int64_t number = 0;
  for (const char c : text) {
    const auto digit = static_cast<unsigned char>(c - '0');
    if (digit > 9) return false;
    number = number * 10 + digit;
  }
  value = number;
  return true;
}
// The same without a sign.
std::optional<uint64_t> ParseUnsigned(std::string_view text) noexcept;
// A finite or infinite decimal number as strtod reads it; nothing for "", spaces or NaN.
std::optional<double> ParseDouble(std::string_view text) noexcept;

// Writes `value` in decimal at `out` (kMaxIntegerText bytes at least); the number of bytes written.
size_t FormatInteger(int64_t value, char* out) noexcept;
// The shortest text that reads back as `value`: Redis's form ("1", "0.1", "1e+21", "inf", "-inf", "nan").
std::string FormatDouble(double value);

// "100", "1k", "1kb", "1mb", "1g" in bytes, as redis.conf has it: k, m, g are powers of 1000, and
// kb, mb, gb of 1024.
std::optional<uint64_t> ParseBytes(std::string_view text) noexcept;
// "1.50M": how INFO tells *_human fields.
std::string FormatBytesHuman(uint64_t bytes);

}  // namespace mayfly

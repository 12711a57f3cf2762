// Parses and formats numbers by Redis's rules. The whole text must be the number, without leading zeros, spaces or a
// plus sign.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text/short_bytes.h"

namespace mayfly {

// Length of the longest text of a 64-bit integer, including the sign.
inline constexpr size_t kMaxIntegerText = 20;

// Parses "0", "-1", "42". Returns nullopt for "", "+1", "01", "-0", " 1" and for numbers out of range.
// (Redis's string2ll.)
std::optional<int64_t> ParseInteger(std::string_view text) noexcept;
namespace internal {

// Parses four to eight digits at once; returns false if another byte is among them. Digits are combined into pairs, pairs
// into fours, and fours into eights. Each result lies in the bytes of its parts.
[[gnu::always_inline]] inline bool ParseDigits(std::string_view text, int64_t& value) noexcept {
  constexpr uint64_t kOnes = 0x0101010101010101;
  const size_t last = text.size() - sizeof(uint32_t);
  const size_t unused_bits = 8 * (sizeof(uint32_t) - last);
  // The last digit is in the highest byte; the bytes below the first digit are 0.
  uint64_t digits = uint64_t{LoadWord<uint32_t>(text.data() + last)} << 32 |
                    uint64_t{LoadWord<uint32_t>(text.data())} << unused_bits;
  digits -= (kOnes * '0') << unused_bits;
  // Adding 118 sets the highest bit of every byte above 9.
  if (((digits | (digits + kOnes * 118)) & (kOnes * 128)) != 0) return false;
  digits = (digits * 10 + (digits >> 8)) & 0x00FF00FF00FF00FF;
  digits = (digits * 100 + (digits >> 16)) & 0x0000FFFF0000FFFF;
  value = static_cast<int64_t>((digits * 10'000 + (digits >> 32)) & 0xFFFFFFFF);
  return true;
}

}  // namespace internal

// Like ParseInteger above, but faster for positive numbers of few digits. Returns false, and leaves `value` unspecified, if
// ParseInteger(text) would return nullopt.
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
// Like ParseInteger, for an unsigned integer.
std::optional<uint64_t> ParseUnsigned(std::string_view text) noexcept;
// Parses a finite or infinite number as strtod does. Returns nullopt for "", spaces, NaN, and numbers that
// are too large or too close to 0. Throws std::bad_alloc if there is no memory for a copy of a long text.
std::optional<double> ParseDouble(std::string_view text);

// Writes `value` in decimal to `out`, which must have room for kMaxIntegerText bytes. Returns the number of
// bytes written.
size_t FormatInteger(int64_t value, char* out) noexcept;
// The shortest text that reads back as `value`, in Redis's form: "1", "0.1", "1e+21", "inf", "-inf", "nan".
std::string FormatDouble(double value);
// Writes the same text to `out`, which must have room for kMaxDoubleText bytes. Returns the number of bytes written.
inline constexpr size_t kMaxDoubleText = 32;
size_t FormatDouble(double value, char* out) noexcept;

// Parses a number of bytes as redis.conf does: "100", "1k", "1kb", "1mb", "1g". The units k, m, g are powers
// of 1000, and kb, mb, gb powers of 1024, in any case of letters. Returns nullopt if malformed or out of
// range.
std::optional<uint64_t> ParseBytes(std::string_view text) noexcept;
// "1.50M": the format of INFO's *_human fields.
std::string FormatBytesHuman(uint64_t bytes);

}  // namespace mayfly

// Integers of 1 to 64 bits within a string of bits, and what happens when one grows out of its bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mayfly {

struct FieldType {
  static constexpr unsigned kMaxWidth = 64;

  bool is_signed = false;
  unsigned width = 0;  // bits, 1 to 64; an unsigned one has at most 63, so that int64_t holds its value

  // "i16", "u8"; nothing for any other text.
  static std::optional<FieldType> Parse(std::string_view text) noexcept;
  // What these low bits mean.
  int64_t ValueOf(uint64_t bits) const noexcept;
};

enum class FieldOverflow : uint8_t { kWrap, kSaturate, kFail };

// The value that a field takes, in its low bits; nothing where it does not fit and may not change (kFail).
// An unsigned field takes the value as one of 64 unsigned bits, so -1 is far too big for it.
std::optional<uint64_t> SetField(FieldType type, int64_t value, FieldOverflow overflow) noexcept;
// The same for the sum of what it holds and `amount`.
std::optional<uint64_t> AddToField(FieldType type, int64_t value, int64_t amount,
                                   FieldOverflow overflow) noexcept;

}  // namespace mayfly

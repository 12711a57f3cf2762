// Integers of 1 to 64 bits within a string of bits (BITFIELD), and the ways to treat an overflow.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mayfly {

struct FieldType {
  static constexpr unsigned kMaxWidth = 64;

  bool is_signed = false;
  unsigned width = 0;  // 1 to 64 bits; at most 63 if unsigned, so that int64_t holds every value

  // Parses "i16" or "u8"; nullopt for any other text.
  static std::optional<FieldType> Parse(std::string_view text) noexcept;
  // Returns the value of a field from the low `width` bits of `bits`.
  int64_t ValueOf(uint64_t bits) const noexcept;
};

enum class FieldOverflow : uint8_t { kWrap, kSaturate, kFail };

// Returns the bits of a field set to `value`, in the low bits; nullopt if `value` does not fit and `overflow` is kFail. An
// unsigned field reads `value` as a 64-bit unsigned number: -1 is far too big for an unsigned field.
std::optional<uint64_t> SetField(FieldType type, int64_t value, FieldOverflow overflow) noexcept;
// Like SetField, for the sum of the current value and `amount`.
std::optional<uint64_t> AddToField(FieldType type, int64_t value, int64_t amount,
                                   FieldOverflow overflow) noexcept;

}  // namespace mayfly

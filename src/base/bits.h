// Bytes as a string of bits, in the order of the bitmap commands: bit 0 is the highest of the first byte.
//
// A string has no end for a reader: bits behind its last byte are 0. Units: indices and widths count bits,
// sizes bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mayfly {

inline constexpr unsigned kByteBits = 8;

constexpr uint64_t BitsOf(size_t bytes) noexcept { return uint64_t{bytes} * kByteBits; }

inline bool BitAt(std::string_view bytes, uint64_t index) noexcept {
  const uint64_t byte = index / kByteBits;
  if (byte >= bytes.size()) return false;
  return (static_cast<unsigned char>(bytes[byte]) >> (kByteBits - 1 - index % kByteBits) & 1U) != 0;
}

// REQUIRES: the byte of `index` is there.
inline void SetBitAt(char* bytes, uint64_t index, bool bit) noexcept {
  const auto mask = static_cast<unsigned char>(1U << (kByteBits - 1 - index % kByteBits));
  const uint64_t at = index / kByteBits;
  bytes[at] = static_cast<char>(bit ? bytes[at] | mask : bytes[at] & ~mask);
}

// An unsigned number of up to 64 bits that begins at `index`, highest bit first. REQUIRES: 1 <= width <= 64.
uint64_t ReadBits(std::string_view bytes, uint64_t index, unsigned width) noexcept;
// Its low `width` bits become those of the string. REQUIRES: 1 <= width <= 64, and the bytes are there.
void WriteBits(char* bytes, uint64_t index, unsigned width, uint64_t value) noexcept;

// How many bits from `first` to `last` are 1. REQUIRES: first <= last < BitsOf(bytes.size()).
uint64_t CountOnes(std::string_view bytes, uint64_t first, uint64_t last) noexcept;
// Where the first `bit` from `first` to `last` stands. REQUIRES: as CountOnes.
std::optional<uint64_t> FindBit(std::string_view bytes, bool bit, uint64_t first, uint64_t last) noexcept;

}  // namespace mayfly

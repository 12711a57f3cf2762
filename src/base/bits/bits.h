// Bytes as a string of bits, in the order of the bitmap commands. Bit 0 is the highest bit of the first byte.
//
// Reading past the end gives zeros. Units: indices and widths are in bits, sizes in bytes.
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

// REQUIRES: `bytes` includes the byte of bit `index`.
inline void SetBitAt(char* bytes, uint64_t index, bool bit) noexcept {
  const auto mask = static_cast<unsigned char>(1U << (kByteBits - 1 - index % kByteBits));
  const uint64_t at = index / kByteBits;
  bytes[at] = static_cast<char>(bit ? bytes[at] | mask : bytes[at] & ~mask);
}

// Reads an unsigned number of `width` bits at bit `index`, highest bit first.
// REQUIRES: 1 <= width <= 64.
uint64_t ReadBits(std::string_view bytes, uint64_t index, unsigned width) noexcept;
// Writes the low `width` bits of `value` at bit `index`, highest bit first.
// REQUIRES: 1 <= width <= 64, and `bytes` includes all bits written.
void WriteBits(char* bytes, uint64_t index, unsigned width, uint64_t value) noexcept;

// The number of ones in the bits `first` to `last`, both included.
// REQUIRES: first <= last < BitsOf(bytes.size()).
uint64_t CountOnes(std::string_view bytes, uint64_t first, uint64_t last) noexcept;
// The index of the first bit equal to `bit` in `first` to `last`, both included; nullopt if no bit is equal.
// REQUIRES: first <= last < BitsOf(bytes.size()).
std::optional<uint64_t> FindBit(std::string_view bytes, bool bit, uint64_t first, uint64_t last) noexcept;

}  // namespace mayfly

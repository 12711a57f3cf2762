#include "base/bits/key_slot.h"

#include <array>

#include "base/bits/bits.h"

namespace mayfly {
namespace {

constexpr uint16_t kPolynomial = 0x1021;

// The effect of each byte on a checksum after the byte is shifted out of the upper half, by the polynomial.
constexpr std::array<uint16_t, 256> kTable = [] {
  std::array<uint16_t, 256> table{};
  for (size_t byte = 0; byte < table.size(); ++byte) {
    auto crc = static_cast<uint16_t>(byte << kByteBits);
    for (unsigned bit = 0; bit < kByteBits; ++bit) {
      const bool carry = (crc & 0x8000) != 0;
      crc = static_cast<uint16_t>(crc << 1);
      if (carry) crc ^= kPolynomial;
    }
    table[byte] = crc;
  }
  return table;
}();

}  // namespace

uint16_t Crc16(std::string_view bytes) noexcept {
  uint16_t crc = 0;
  for (const char c : bytes) {
    const auto at = static_cast<uint8_t>((crc >> kByteBits) ^ static_cast<uint8_t>(c));
    crc = static_cast<uint16_t>(crc << kByteBits) ^ kTable[at];
  }
  return crc;
}

std::string_view HashTagOf(std::string_view key) noexcept {
  const size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

}  // namespace mayfly

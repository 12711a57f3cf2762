#include "snapshot/format/crc64.h"

#include <array>
#include <cstddef>

#include "snapshot/format/byte_order.h"

namespace mayfly::rdb {
namespace {

constexpr uint64_t kReflectedPolynomial = 0x95AC9329AC4BC9B5;
// Bytes summed in one step. Eight look-ups of a step do not wait for each other.
constexpr size_t kStride = 8;

using ByteEffects = std::array<uint64_t, 256>;

// kEffects[n][byte]: the effect of a byte on the checksum, if n more bytes follow.
constexpr std::array<ByteEffects, kStride> kEffects = [] {
  std::array<ByteEffects, kStride> effects{};
  for (uint64_t byte = 0; byte < 256; ++byte) {
    uint64_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ kReflectedPolynomial : crc >> 1;
    effects[0][byte] = crc;
  }
  for (size_t after = 1; after < kStride; ++after) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint64_t crc = effects[after - 1][byte];
      effects[after][byte] = crc >> 8 ^ effects[0][crc & 0xFF];
    }
  }
  return effects;
}();

}  // namespace

uint64_t Crc64(uint64_t crc, std::string_view bytes) noexcept {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  for (; static_cast<size_t>(end - at) >= kStride; at += kStride) {
    const uint64_t word = crc ^ LoadLittle<uint64_t>(at);
    crc = 0;
    for (size_t i = 0; i < kStride; ++i) crc ^= kEffects[kStride - 1 - i][word >> 8 * i & 0xFF];
  }
  for (; at != end; ++at) crc = crc >> 8 ^ kEffects[0][(crc ^ static_cast<uint8_t>(*at)) & 0xFF];
  return crc;
}

}  // namespace mayfly::rdb

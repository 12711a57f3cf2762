// Numbers in a given byte order, at any address.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace mayfly::rdb {

static_assert(std::endian::native == std::endian::little);

// REQUIRES: sizeof(Number) bytes are at `from`.
template <typename Number>
Number LoadLittle(const char* from) noexcept {
  Number number;
  std::memcpy(&number, from, sizeof number);
  return number;
}

// Writes the lowest `bytes` bytes of `number`, the lowest first. REQUIRES: bytes <= 8, and `to` has room for them.
inline void StoreLittle(char* to, uint64_t number, size_t bytes) noexcept { std::memcpy(to, &number, bytes); }

// Appends the lowest `bytes` bytes of `number`, the lowest first. REQUIRES: bytes <= 8.
inline void AppendLittle(std::string& to, uint64_t number, size_t bytes) {
  to.append(reinterpret_cast<const char*>(&number), bytes);
}

// Reads an unsigned number of `bytes` bytes, the highest first. REQUIRES: bytes <= 8, and they are at `from`.
inline uint64_t LoadBig(const char* from, size_t bytes) noexcept {
  uint64_t number = 0;
  for (size_t i = 0; i < bytes; ++i) number = number << 8 | static_cast<uint8_t>(from[i]);
  return number;
}

// Appends the lowest `bytes` bytes of `number`, the highest first. REQUIRES: bytes <= 8.
inline void AppendBig(std::string& to, uint64_t number, size_t bytes) {
  for (size_t i = bytes; i-- != 0;) to.push_back(static_cast<char>(number >> 8 * i));
}

// Reads a signed number of `bytes` bytes, the lowest first. REQUIRES: 1 <= bytes <= 8, and they are at `from`.
inline int64_t LoadSigned(const char* from, size_t bytes) noexcept {
  uint64_t number = 0;
  std::memcpy(&number, from, bytes);
  const size_t unused_bits = 64 - 8 * bytes;
  return static_cast<int64_t>(number << unused_bits) >> unused_bits;
}

// The number of bytes of the shortest two's complement form of `number`, 1 to 8.
inline size_t SignedBytes(int64_t number) noexcept {
  const auto magnitude = static_cast<uint64_t>(number < 0 ? ~number : number);
  return static_cast<size_t>(std::bit_width(magnitude)) / 8 + 1;
}

}  // namespace mayfly::rdb

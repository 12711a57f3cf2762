// HyperLogLog: estimates the number of different elements in 12 KB at most, with a standard error of 0.81 %. The bytes have
// Redis's format for strings: a value may go from one server to the other.
//
//   | "HYLL" | encoding 1 | unused 3 | count 8 | registers |
//
// An element's hash chooses one of 16384 registers and has a rank: one more than the number of zero bits at the low end. A
// register holds the highest rank of its elements. `count` is the last estimate, little-endian; the highest bit of `count`
// marks the estimate as outdated.
//
//   dense (0)   6 bits for each register, low bits first: 12288 bytes
//   sparse (1)  runs of equal registers:
//                 00xxxxxx           x + 1 registers that are 0
//                 01xxxxxx yyyyyyyy  xy + 1 registers that are 0
//                 1vvvvvxx           x + 1 registers that hold v + 1
//
// A client may store any bytes. No function reads beyond the given bytes, and bytes in no valid format are called corrupt.
// The estimator is from Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace mayfly::hll {

inline constexpr size_t kRegisters = 16384;
inline constexpr size_t kHeaderBytes = 16;
inline constexpr size_t kEncodingAt = 4;
inline constexpr size_t kCountAt = 8;
inline constexpr size_t kDenseBytes = kHeaderBytes + kRegisters * 6 / 8;
// No valid value is longer: each byte of a sparse value stands for at least one register.
inline constexpr size_t kMostBytes = kHeaderBytes + kRegisters;
inline constexpr uint8_t kDense = 0;
inline constexpr uint8_t kSparse = 1;
// The highest rank that the sparse encoding can hold.
inline constexpr uint8_t kMostSparseRank = 32;

// The register and the rank of an element.
struct Place {
  size_t index;
  uint8_t rank;
};
Place PlaceOf(std::string_view element) noexcept;

// Returns true if header and size belong to a HyperLogLog. The runs of a sparse value may still be corrupt.
bool IsHyperLogLog(std::string_view bytes) noexcept;
// REQUIRES: IsHyperLogLog(bytes), here and below.
inline bool IsDense(std::string_view bytes) noexcept { return bytes[kEncodingAt] == kDense; }
// The last estimate; nullopt if outdated.
std::optional<uint64_t> StoredCount(std::string_view bytes) noexcept;
// Computes the estimate anew. Returns nullopt if the bytes are corrupt.
std::optional<uint64_t> Count(std::string_view bytes) noexcept;

// A run of equal registers of the sparse encoding.
struct Run {
  size_t bytes;   // 1 or 2; 0 if the second byte is missing
  size_t length;  // registers
  uint8_t rank;
};
// REQUIRES: `at` < bytes.size().
Run RunAt(std::string_view bytes, size_t at) noexcept;

// The registers of dense bytes. REQUIRES: index < kRegisters.
inline uint8_t DenseRegister(const char* bytes, size_t index) noexcept {
  const auto* const registers = reinterpret_cast<const uint8_t*>(bytes + kHeaderBytes);
  const size_t bit = index * 6;
  const size_t at = bit / 8;
  // The last register ends with the last byte.
  const unsigned high = bit % 8 > 2 ? registers[at + 1] : 0;
  return static_cast<uint8_t>(((registers[at] | high << 8U) >> (bit % 8)) & 63U);
}
// REQUIRES: also rank < 64.
void SetDenseRegister(char* bytes, size_t index, uint8_t rank) noexcept;
// Raises the register to `rank`; false if the register is already as high.
inline bool RaiseDense(char* bytes, const Place& place) noexcept {
  if (DenseRegister(bytes, place.index) >= place.rank) return false;
  SetDenseRegister(bytes, place.index, place.rank);
  return true;
}
void StoreCount(char* bytes, uint64_t count) noexcept;
// Marks the stored estimate as outdated.
inline void ForgetCount(char* bytes) noexcept {
  bytes[kHeaderBytes - 1] = static_cast<char>(static_cast<uint8_t>(bytes[kHeaderBytes - 1]) | 0x80U);
}

// All registers, a byte each: the union of several HyperLogLogs.
class Registers {
 public:
  // Raises each register to the register of `bytes`. Returns false if the bytes are corrupt; some registers are raised even
  // then.
  bool Merge(std::string_view bytes) noexcept;
  uint64_t Count() const noexcept;
  uint8_t operator[](size_t index) const noexcept { return ranks_[index]; }

 private:
  std::array<uint8_t, kRegisters> ranks_{};
};

}  // namespace mayfly::hll

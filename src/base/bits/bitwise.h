// The operations of BITOP: combines several strings of bits into one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace mayfly {

// Which bits are 1 in the result; x is the first source.
enum class BitOperation : uint8_t {
  kAnd,    // those of every source
  kOr,     // those of at least one source
  kXor,    // those of an odd number of sources
  kNot,    // those that x lacks; x is the only source
  kDiff,   // those of x and of no other source
  kDiff1,  // those of another source but not of x
  kAndOr,  // those of x and of another source
  kOne,    // those of exactly one source
};

// Writes the result, `size` bytes, to `out`. A shorter source is extended by zeros.
// REQUIRES: there is at least one source; none is longer than `size` or overlaps `out`.
void CombineBits(BitOperation operation, std::span<const std::string_view> sources, char* out,
                 size_t size) noexcept;

}  // namespace mayfly

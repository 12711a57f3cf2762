// The operations of BITOP: combines several strings of bits into one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace mayfly {

// The bits that are 1 in the result. x is the first source.
enum class BitOperation : uint8_t {
  kAnd,    // bits in every source
  kOr,     // bits in at least one source
  kXor,    // bits in an odd number of sources
  kNot,    // bits not in x; x is the only source
  kDiff,   // bits in x and in no other source
  kDiff1,  // bits in another source but not in x
  kAndOr,  // bits in x and in another source
  kOne,    // bits in exactly one source
};

// Writes the result, `size` bytes, to `out`. A shorter source is extended by zeros.
// REQUIRES: at least one source; no source is longer than `size` or overlaps `out`.
void CombineBits(BitOperation operation, std::span<const std::string_view> sources, char* out,
                 size_t size) noexcept;

}  // namespace mayfly

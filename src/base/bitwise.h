// One string of bits made of several: BITOP's operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace mayfly {

// Of x, the first source, and all others:
enum class BitOperation : uint8_t {
  kAnd,    // in every source
  kOr,     // in at least one
  kXor,    // in an odd number of them
  kNot,    // not in x, the only one
  kDiff,   // in x and in no other
  kDiff1,  // not in x but in another
  kAndOr,  // in x and in another
  kOne,    // in exactly one
};

// Writes `size` bytes to `out`; a source that is shorter goes on with zeros. REQUIRES: sources is not empty,
// none is longer than `size`, and none overlaps `out`.
void CombineBits(BitOperation operation, std::span<const std::string_view> sources, char* out,
                 size_t size) noexcept;

}  // namespace mayfly

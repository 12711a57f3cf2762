// A hash of a text for clients to compute as well: XXH3 with 64 bits and no seed, as 16 hexadecimal digits. Collisions are
// easy to construct: the digest serves comparisons, never hash tables.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace mayfly {

inline constexpr size_t kDigestDigits = 16;
using Digest = std::array<char, kDigestDigits>;

// Lower case, highest digit first, with leading zeros.
Digest DigestOf(std::string_view text) noexcept;

}  // namespace mayfly

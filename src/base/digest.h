// A fingerprint of a text that clients compute as well: XXH3 of 64 bits without a seed, in 16 hexadecimal
// digits. Anybody can make texts that collide, so it is for comparing, never for a table.
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

// SHA-1, by OpenSSL: for names and digests of Redis, never for secrets.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace mayfly {

using Sha1 = std::array<unsigned char, 20>;

Sha1 Sha1Of(std::string_view bytes) noexcept;
// 40 lower-case hexadecimal digits.
std::string HexOf(const Sha1& hash);

}  // namespace mayfly

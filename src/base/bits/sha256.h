// SHA-256, by OpenSSL: the stored form of users' passwords.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mayfly {

inline constexpr size_t kSha256Digits = 64;

// As 64 lower-case hexadecimal digits.
std::string Sha256HexOf(std::string_view bytes);

}  // namespace mayfly

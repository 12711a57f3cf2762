#include "base/bits/sha256.h"

#include <array>

#include <openssl/sha.h>

namespace mayfly {

std::string Sha256HexOf(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<unsigned char, kSha256Digits / 2> hash{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), hash.data());
  std::string text;
  text.reserve(kSha256Digits);
  for (const unsigned char byte : hash) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace mayfly

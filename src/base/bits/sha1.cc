#include "base/bits/sha1.h"

#include <openssl/sha.h>

namespace mayfly {

Sha1 Sha1Of(std::string_view bytes) noexcept {
  Sha1 hash{};
  SHA1(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), hash.data());
  return hash;
}

std::string HexOf(const Sha1& hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : hash) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace mayfly

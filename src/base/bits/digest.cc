#include "base/bits/digest.h"

#include <cstdint>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace mayfly {

Digest DigestOf(std::string_view text) noexcept {
  constexpr unsigned kDigitBits = 4;
  Digest digest{};
  uint64_t hash = XXH3_64bits(text.data(), text.size());
  for (size_t i = digest.size(); i-- > 0; hash >>= kDigitBits) digest[i] = "0123456789abcdef"[hash & 0xF];
  return digest;
}

}  // namespace mayfly

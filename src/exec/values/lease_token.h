// The text of a lease's token: 16 hex digits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text/ascii.h"

namespace mayfly {

inline constexpr size_t kLeaseTokenDigits = 16;

inline std::string LeaseTokenText(uint64_t token) {
  std::string text(kLeaseTokenDigits, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, token >>= 4)
    *digit = "0123456789abcdef"[token & 15];
  return text;
}

// Returns nothing if the text is no token, and thus fits no lease.
inline std::optional<uint64_t> ParseLeaseToken(std::string_view text) noexcept {
  if (text.size() != kLeaseTokenDigits) return std::nullopt;
  uint64_t token = 0;
  for (const char c : text) {
    const int digit = HexDigit(c);
    if (digit < 0) return std::nullopt;
    token = token << 4 | static_cast<uint64_t>(digit);
  }
  return token;
}

}  // namespace mayfly

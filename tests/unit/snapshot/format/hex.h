// Bytes in hexadecimal digits, as tests write them.
#pragma once

#include <string>
#include <string_view>

namespace mayfly::rdb {

// Reads "00 0568 FF"; spaces are ignored. REQUIRES: an even number of digits.
inline std::string FromHex(std::string_view digits) {
  std::string bytes;
  int high = -1;
  for (const char c : digits) {
    if (c == ' ') continue;
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    if (high >= 0) bytes.push_back(static_cast<char>(high << 4 | digit));
    high = high >= 0 ? -1 : digit;
  }
  return bytes;
}

}  // namespace mayfly::rdb

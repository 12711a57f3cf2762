// Letters of ASCII in both cases, and hexadecimal digits. The locale has no influence: other bytes stay as they are.
#pragma once

#include <algorithm>
#include <cassert>
#include <string>
#include <string_view>

namespace mayfly {

constexpr bool IsLower(char c) noexcept { return c >= 'a' && c <= 'z'; }
constexpr bool IsUpper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
constexpr char Lower(char c) noexcept { return IsUpper(c) ? static_cast<char>(c + ('a' - 'A')) : c; }
constexpr char Upper(char c) noexcept { return IsLower(c) ? static_cast<char>(c - ('a' - 'A')) : c; }

inline std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = Lower(c);
  return lower;
}
inline std::string UpperCase(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = Upper(c);
  return upper;
}

// REQUIRES: `upper` has no lower-case letter.
constexpr bool EqualsIgnoringCase(std::string_view text, std::string_view upper) noexcept {
  if (text.size() != upper.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    assert(!IsLower(upper[i]));
    if (Upper(text[i]) != upper[i]) return false;
  }
  return true;
}
// For two texts in any case.
constexpr bool SameIgnoringCase(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

// The value of a hexadecimal digit in either case; -1 for any other byte.
constexpr int HexDigit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  c = Lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace mayfly

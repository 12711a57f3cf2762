// UTF-8: the ends of characters, and invalid bytes.
#pragma once

#include <cstddef>
#include <string_view>

namespace mayfly {

// The bytes of the character at the front of the text: 1 to 4; 0 if no character of UTF-8 begins there (RFC 3629: no
// surrogates, nothing above U+10FFFF, the shortest form).
// REQUIRES: text is not empty.
constexpr size_t Utf8SizeAt(std::string_view text) noexcept {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](size_t i, unsigned least, unsigned most) {
    return i < text.size() && at(i) >= least && at(i) <= most;
  };
  constexpr unsigned kLeast = 0x80, kMost = 0xBF;  // of a byte after the first
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  if (first < 0xE0) return follows(1, kLeast, kMost) ? 2 : 0;
  const unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : kLeast;
  const unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : kMost;
  if (!follows(1, least, most) || !follows(2, kLeast, kMost)) return 0;
  if (first < 0xF0) return 3;
  return follows(3, kLeast, kMost) ? 4 : 0;
}

// The longest front of the text that has at most so many bytes and does not end within a character.
constexpr std::string_view WholeCharacters(std::string_view text, size_t bytes) noexcept {
  constexpr size_t kLongest = 4;
  const std::string_view front = text.substr(0, bytes);
  for (size_t back = 1; back < kLongest && back <= front.size(); ++back) {
    const size_t begin = front.size() - back;
    const size_t size = Utf8SizeAt(text.substr(begin));
    if (size != 0) return size > back ? front.substr(0, begin) : front;
  }
  return front;
}

constexpr bool IsUtf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const size_t size = Utf8SizeAt(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace mayfly

// Long texts for tests of what is read, kept and written in pieces.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mayfly::testing {

inline std::string Repeat(std::string_view text, size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

// Bytes that differ everywhere, so that what is torn or out of order shows. There are no runs in them, so that a toy
// transport's ciphertext is longer than they are.
inline std::string Pattern(size_t size) {
  std::string bytes;
  for (size_t i = 0; bytes.size() < size; ++i) bytes += std::to_string(i) + ' ';
  bytes.resize(size);
  return bytes;
}

}  // namespace mayfly::testing

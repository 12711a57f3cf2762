// Whether two short texts are equal, without a call: for keys and words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace mayfly {

namespace internal {

template <typename Word>
inline Word LoadWord(const char* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// The first and the last word of both, which meet or overlap. REQUIRES: sizeof(Word) <= size <= 2 *
// sizeof(Word).
template <typename Word>
inline bool SameEnds(const char* a, const char* b, size_t size) noexcept {
  const size_t last = size - sizeof(Word);
  return ((LoadWord<Word>(a) ^ LoadWord<Word>(b)) | (LoadWord<Word>(a + last) ^ LoadWord<Word>(b + last))) ==
         0;
}

}  // namespace internal

[[gnu::always_inline]] inline bool SameBytes(std::string_view a, std::string_view b) noexcept {
  const size_t size = a.size();
  if (size != b.size()) return false;
  if (size > 2 * sizeof(uint64_t)) return std::memcmp(a.data(), b.data(), size) == 0;
  if (size >= sizeof(uint64_t)) return internal::SameEnds<uint64_t>(a.data(), b.data(), size);
  if (size >= sizeof(uint32_t)) return internal::SameEnds<uint32_t>(a.data(), b.data(), size);
  for (size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

}  // namespace mayfly

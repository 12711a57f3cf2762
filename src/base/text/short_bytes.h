// Compares and copies short texts without a function call. For keys, words, and values on their way into a reply.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace mayfly {

namespace internal {

template <typename Word>
[[gnu::always_inline]] inline Word LoadWord(const char* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

template <typename Word>
[[gnu::always_inline]] inline void StoreWord(char* to, Word word) noexcept {
  std::memcpy(to, &word, sizeof word);
}

// Compares the first and the last word of both texts; the words meet or overlap.
// REQUIRES: sizeof(Word) <= size <= 2 * sizeof(Word).
template <typename Word>
[[gnu::always_inline]] inline bool SameEnds(const char* a, const char* b, size_t size) noexcept {
  assert(size >= sizeof(Word) && size <= 2 * sizeof(Word));
  const size_t last = size - sizeof(Word);
  return ((LoadWord<Word>(a) ^ LoadWord<Word>(b)) | (LoadWord<Word>(a + last) ^ LoadWord<Word>(b + last))) ==
         0;
}

template <typename Word>
[[gnu::always_inline]] inline void CopyEnds(char* to, const char* from, size_t size) noexcept {
  const size_t last = size - sizeof(Word);
  const Word head = LoadWord<Word>(from);
  const Word tail = LoadWord<Word>(from + last);
  StoreWord(to, head);
  StoreWord(to + last, tail);
}

// A 16-byte register on every supported machine.
using Pair [[gnu::vector_size(16)]] = uint64_t;

// Copies the first and the last 16 bytes times the number of indices kAt; the two parts meet or overlap.
// Copies pair by pair, because gcc copies whole arrays through the stack.
template <size_t... kAt>
[[gnu::always_inline]] inline void CopyEndPairs(char* to, const char* from, size_t size,
                                                std::index_sequence<kAt...>) noexcept {
  const size_t last = size - sizeof...(kAt) * sizeof(Pair);
  const Pair head[] = {LoadWord<Pair>(from + kAt * sizeof(Pair))...};
  const Pair tail[] = {LoadWord<Pair>(from + last + kAt * sizeof(Pair))...};
  (StoreWord(to + kAt * sizeof(Pair), head[kAt]), ...);
  (StoreWord(to + last + kAt * sizeof(Pair), tail[kAt]), ...);
}
template <size_t kPairs>
[[gnu::always_inline]] inline void CopyEndPairs(char* to, const char* from, size_t size) noexcept {
  CopyEndPairs(to, from, size, std::make_index_sequence<kPairs>());
}

// If gcc knows a bound of the size, gcc expands memcpy into a string instruction, which takes tens of cycles to start. In
// this function gcc knows no bound.
[[gnu::noinline]] inline void CopyLong(char* to, const char* from, size_t size) noexcept {
  std::memmove(to, from, size);
}

}  // namespace internal

// As memcpy, but without a call for up to 128 bytes.
[[gnu::always_inline]] inline void CopyBytes(char* to, const char* from, size_t size) noexcept {
  constexpr size_t kPair = sizeof(internal::Pair);
  // Hides from gcc where `from` points. Otherwise gcc warns about branches that a small array rules out.
  asm("" : "+r"(from));
  if (size >= kPair) {
    if (size <= 2 * kPair) return internal::CopyEndPairs<1>(to, from, size);
    if (size <= 4 * kPair) return internal::CopyEndPairs<2>(to, from, size);
    if (size <= 8 * kPair) return internal::CopyEndPairs<4>(to, from, size);
    internal::CopyLong(to, from, size);
  } else if (size >= sizeof(uint64_t)) {
    internal::CopyEnds<uint64_t>(to, from, size);
  } else if (size >= sizeof(uint32_t)) {
    internal::CopyEnds<uint32_t>(to, from, size);
  } else if (size != 0) {
    to[0] = from[0];
    to[size / 2] = from[size / 2];
    to[size - 1] = from[size - 1];
  }
}

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

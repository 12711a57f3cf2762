#include "base/bits/bits.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

namespace mayfly {
namespace {

using Word = uint64_t;
constexpr unsigned kWordBits = 64;

Word LoadWord(const char* from) noexcept {
  Word word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Loads 8 bytes with the first bit highest.
Word LoadInOrder(const char* from) noexcept {
  const Word word = LoadWord(from);
  if constexpr (std::endian::native == std::endian::little) return __builtin_bswap64(word);
  return word;
}

// Stores in each byte the number of ones in the same byte.
Word OnesByByte(Word word) noexcept {
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  return (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F;
}

uint64_t SumOfBytes(Word bytes) noexcept {
  constexpr Word kEven = 0x00FF00FF00FF00FF;
  return ((bytes & kEven) + (bytes >> kByteBits & kEven)) * 0x0001000100010001 >> 48;
}

// Not every x86-64 has a popcount instruction; hence words are counted in parallel. A byte of the sum can hold the ones of
// 31 words, 8 each.
uint64_t CountOnesOfBytes(std::string_view bytes) noexcept {
  constexpr size_t kWordsASum = 31;
  const char* at = bytes.data();
  size_t words = bytes.size() / sizeof(Word);
  uint64_t ones = 0;
  while (words > 0) {
    const size_t now = std::min(words, kWordsASum);
    Word sum = 0;
    for (size_t i = 0; i < now; ++i, at += sizeof(Word)) sum += OnesByByte(LoadWord(at));
    ones += SumOfBytes(sum);
    words -= now;
  }
  for (size_t left = bytes.size() % sizeof(Word); left > 0; --left, ++at)
    ones += static_cast<unsigned>(std::popcount(static_cast<unsigned char>(*at)));
  return ones;
}

// The index of the first byte from `byte` to `end` that contains `bit`; `end` if no byte does.
size_t FindByte(std::string_view bytes, bool bit, size_t byte, size_t end) noexcept {
  const Word none = bit ? 0 : ~Word{0};
  while (end - byte >= sizeof(Word) && LoadWord(bytes.data() + byte) == none) byte += sizeof(Word);
  while (byte < end && bytes[byte] == static_cast<char>(none)) ++byte;
  return byte;
}

}  // namespace

uint64_t ReadBits(std::string_view bytes, uint64_t index, unsigned width) noexcept {
  assert(width >= 1 && width <= kWordBits);
  const size_t first = index / kByteBits;
  if (first >= bytes.size()) return 0;
  // Up to 64 bits at any bit offset span at most nine bytes: a word and one more byte.
  char window[sizeof(Word) + 1] = {};
  bytes.substr(first, sizeof window).copy(window, sizeof window);
  const auto skipped = static_cast<unsigned>(index % kByteBits);
  Word word = LoadInOrder(window) << skipped;
  word |= static_cast<unsigned char>(window[sizeof(Word)]) >> (kByteBits - skipped);
  return word >> (kWordBits - width);
}

void WriteBits(char* bytes, uint64_t index, unsigned width, uint64_t value) noexcept {
  assert(width >= 1 && width <= kWordBits);
  while (width > 0) {
    const uint64_t at = index / kByteBits;
    const auto skipped = static_cast<unsigned>(index % kByteBits);
    const unsigned taken = std::min(width, kByteBits - skipped);
    const unsigned below = kByteBits - skipped - taken;  // bits of the byte after the written ones
    const unsigned mask = ((1U << taken) - 1) << below;
    const auto part = static_cast<unsigned>(value >> (width - taken)) << below;
    bytes[at] = static_cast<char>((static_cast<unsigned char>(bytes[at]) & ~mask) | (part & mask));
    index += taken;
    width -= taken;
  }
}

uint64_t CountOnes(std::string_view bytes, uint64_t first, uint64_t last) noexcept {
  assert(first <= last && last < BitsOf(bytes.size()));
  uint64_t ones = 0;
  const uint64_t end = last + 1;
  const uint64_t whole_from = std::min(BitsOf((first + kByteBits - 1) / kByteBits), end);
  const uint64_t whole_to = std::max(end - end % kByteBits, whole_from);
  for (uint64_t i = first; i < whole_from; ++i) ones += BitAt(bytes, i) ? 1 : 0;
  for (uint64_t i = whole_to; i < end; ++i) ones += BitAt(bytes, i) ? 1 : 0;
  return ones + CountOnesOfBytes(bytes.substr(whole_from / kByteBits, (whole_to - whole_from) / kByteBits));
}

std::optional<uint64_t> FindBit(std::string_view bytes, bool bit, uint64_t first, uint64_t last) noexcept {
  assert(first <= last && last < BitsOf(bytes.size()));
  const uint64_t end = last + 1;
  uint64_t i = first;
  for (; i < end && i % kByteBits != 0; ++i) {
    if (BitAt(bytes, i) == bit) return i;
  }
  if (i < end) i = BitsOf(FindByte(bytes, bit, i / kByteBits, end / kByteBits));
  for (; i < end; ++i) {
    if (BitAt(bytes, i) == bit) return i;
  }
  return std::nullopt;
}

}  // namespace mayfly

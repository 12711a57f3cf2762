// A protocol word of at most 7 letters as one integer, the same in any case. Options can thus be a switch:
//
//     switch (WordOf(args.Next())) {
//       case WordOf("EX"): ...
//
// Only letters fold: each byte loses bit 5, and a result between 'A' and 'Z' came from a letter. A text thus equals a
// constant word of letters exactly when both are the same, case aside.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "base/text/short_bytes.h"

namespace mayfly {

// The letters in the low bytes, their number in the highest byte. 0 if the text is empty or longer than 7 bytes.
[[gnu::always_inline]] constexpr uint64_t WordOf(std::string_view text) noexcept {
  constexpr size_t kLongest = 7;
  constexpr uint64_t kUpper = 0xDFDFDFDFDFDFDF;
  const size_t size = text.size();
  if (size - 1 >= kLongest) return 0;
  uint64_t word = 0;
  if (std::is_constant_evaluated() || size < sizeof(uint16_t)) {
    for (size_t i = 0; i < size; ++i) word |= uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
  } else if (size >= sizeof(uint32_t)) {
    const size_t last = size - sizeof(uint32_t);
    word = internal::LoadWord<uint32_t>(text.data()) |
           uint64_t{internal::LoadWord<uint32_t>(text.data() + last)} << (8 * last);
  } else {
    const size_t last = size - sizeof(uint16_t);
    word = internal::LoadWord<uint16_t>(text.data()) |
           uint64_t{internal::LoadWord<uint16_t>(text.data() + last)} << (8 * last);
  }
  return (word & kUpper) | uint64_t{size} << (8 * kLongest);
}

}  // namespace mayfly

// LZF, the compression of strings in snapshot files and DUMP payloads. The library liblzf does the work.
//
// A compressed text does not contain its length: the snapshot has both lengths in front of it. Units: bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace mayfly::rdb::lzf {

// A compressed text is smaller than the text by at least this number of bytes.
inline constexpr size_t kLeastGain = 4;

// The longest text that `compressed` bytes can stand for. LZF's best instruction copies 264 bytes and takes 3 bytes.
constexpr size_t LongestText(size_t compressed) noexcept {
  constexpr size_t kExpansion = 264 / 3;
  return compressed * kExpansion;
}

// Compresses `text` into `room` and returns the number of bytes written; 0 if the result would not fit.
// Needs 256 KB of stack, for the library's table.
// REQUIRES: room.size() is text.size() - kLeastGain or less. A text of 4 GB or more is not compressed.
size_t Compress(std::string_view text, std::span<char> room) noexcept;

// Whether the text's first bytes repeat each other no more often than random bytes do, such as those of a picture, of another
// compressed text, or of an encrypted one. A short text tells too little, and is not called random.
bool LooksRandom(std::string_view text) noexcept;

// Fills `text` with the text that `compressed` stands for. Returns false if `compressed` is damaged, or if its text has
// another length; then the bytes of `text` are unspecified. Never reads or writes beyond the two ranges.
[[nodiscard]] bool Decompress(std::string_view compressed, std::span<char> text) noexcept;

}  // namespace mayfly::rdb::lzf

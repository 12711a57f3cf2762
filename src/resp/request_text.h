// Writes requests, for connections on which this server is the one that asks, and for replicas.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/text/numbers.h"

namespace mayfly::resp {

// The most bytes around one word or number of words: a type, digits and two ends of lines.
inline constexpr size_t kMostAroundWord = 1 + kMaxIntegerText + 2 + 2;

// Writes the number of words of a request, or the number of bytes of a word: "*3\r\n". Returns the end.
inline char* WriteCount(char* out, char type, size_t count) noexcept {
  *out++ = type;
  if (count <= 9) {
    *out++ = static_cast<char>('0' + count);
  } else if (count <= 99) {
    *out++ = static_cast<char>('0' + count / 10);
    *out++ = static_cast<char>('0' + count % 10);
  } else {
    out += FormatInteger(static_cast<int64_t>(count), out);
  }
  *out++ = '\r';
  *out++ = '\n';
  return out;
}
inline char* WriteWord(char* out, std::string_view word) noexcept {
  out = WriteCount(out, '$', word.size());
  if (!word.empty()) std::memcpy(out, word.data(), word.size());
  out += word.size();
  *out++ = '\r';
  *out++ = '\n';
  return out;
}
// Room for these words, without the number of words.
inline size_t MostWordBytes(std::span<const std::string_view> words) noexcept {
  size_t bytes = words.size() * kMostAroundWord;
  for (const std::string_view word : words) bytes += word.size();
  return bytes;
}

// Appends the request that consists of the words of `first` and of `then`. Throws std::bad_alloc.
inline void AppendRequest(std::string& text, std::span<const std::string_view> first,
                          std::span<const std::string_view> then = {}) {
  const size_t before = text.size();
  text.resize(before + kMostAroundWord + MostWordBytes(first) + MostWordBytes(then));
  char* out = WriteCount(text.data() + before, '*', first.size() + then.size());
  for (const std::string_view word : first) out = WriteWord(out, word);
  for (const std::string_view word : then) out = WriteWord(out, word);
  text.resize(static_cast<size_t>(out - text.data()));
}
inline std::string RequestText(std::initializer_list<std::string_view> words) {
  std::string text;
  AppendRequest(text, {words.begin(), words.size()});
  return text;
}

}  // namespace mayfly::resp

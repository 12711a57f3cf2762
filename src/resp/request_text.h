// Writes requests, for connections on which this server is the one that asks, and for replicas.
#pragma once

#include <cassert>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/text/short_bytes.h"
#include "resp/writer.h"

namespace mayfly::resp {

// The most bytes around one word, or for the number of words: a header and the end of a line.
inline constexpr size_t kMostAroundWord = kHeaderSize + 2;

[[gnu::always_inline]] inline char* WriteWord(char* out, std::string_view word) noexcept {
  out = PutHeader(out, '$', static_cast<int64_t>(word.size()));
  CopyBytes(out, word.data(), word.size());
  return PutLineEnd(out + word.size());
}
// Room for these words, without the number of words.
inline size_t MostWordBytes(std::span<const std::string_view> words) noexcept {
  size_t bytes = words.size() * kMostAroundWord;
  for (const std::string_view word : words) bytes += word.size();
  return bytes;
}

// Room for the request that consists of the words of `first` and of `then`.
inline size_t MostRequestBytes(std::span<const std::string_view> first,
                               std::span<const std::string_view> then) noexcept {
  return kMostAroundWord + MostWordBytes(first) + MostWordBytes(then);
}
// Writes this request. Returns its end.
inline char* WriteRequest(char* out, std::span<const std::string_view> first,
                          std::span<const std::string_view> then) noexcept {
  out = PutHeader(out, '*', static_cast<int64_t>(first.size() + then.size()));
  for (const std::string_view word : first) out = WriteWord(out, word);
  for (const std::string_view word : then) out = WriteWord(out, word);
  return out;
}
// Appends it. Throws std::bad_alloc.
inline void AppendRequest(std::string& text, std::span<const std::string_view> first,
                          std::span<const std::string_view> then = {}) {
  const size_t before = text.size();
  text.resize(before + MostRequestBytes(first, then));
  text.resize(static_cast<size_t>(WriteRequest(text.data() + before, first, then) - text.data()));
}
inline std::string RequestText(std::initializer_list<std::string_view> words) {
  std::string text;
  AppendRequest(text, {words.begin(), words.size()});
  return text;
}

}  // namespace mayfly::resp

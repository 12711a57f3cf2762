// Requests as clients write them.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace mayfly::testing {

// Appends one request in RESP; `words` is any range of texts.
template <typename Words>
void AppendRequest(std::string& out, const Words& words) {
  out += '*';
  out += std::to_string(words.size());
  out += "\r\n";
  for (const std::string_view word : words) {
    out += '$';
    out += std::to_string(word.size());
    out += "\r\n";
    out += word;
    out += "\r\n";
  }
}
inline void AppendRequest(std::string& out, std::initializer_list<std::string_view> words) {
  AppendRequest<std::initializer_list<std::string_view>>(out, words);
}

}  // namespace mayfly::testing

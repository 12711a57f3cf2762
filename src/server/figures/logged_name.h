// A name chosen by a client, made printable and short for a line of the log or of INFO. Takes no memory: see Log.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace mayfly {

class LoggedName {
 public:
  static constexpr size_t kMostBytes = 32;

  explicit LoggedName(std::string_view name) noexcept {
    for (const char c : name.substr(0, kMostBytes)) {
      const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
      text_[size_++] = plain ? c : '?';
    }
    if (name.size() <= kMostBytes) return;
    constexpr std::string_view kMore = "...";
    size_ += kMore.copy(text_.data() + size_, kMore.size());
  }
  std::string_view view() const noexcept { return {text_.data(), size_}; }

 private:
  static constexpr size_t kRoom = kMostBytes + 3;

  std::array<char, kRoom> text_{};
  size_t size_ = 0;
};

}  // namespace mayfly

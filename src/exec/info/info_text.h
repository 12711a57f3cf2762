// Builds the text that INFO answers: "# Section", then "field:value" lines, all ended by "\r\n", and an empty
// line between sections.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "base/heap.h"
#include "base/numbers.h"

namespace mayfly {

class InfoText {
 public:
  void Section(std::string_view title) {
    if (!text_.empty()) text_ += "\r\n";
    text_.append("# ").append(title).append("\r\n");
  }
  void Field(std::string_view name, std::string_view value) {
    text_.append(name).append(":").append(value).append("\r\n");
  }
  template <std::integral Number>
  void Field(std::string_view name, Number value) {
    Field(name, std::to_string(value));
  }
  // A number of bytes, and beside it the form for people.
  void Bytes(std::string_view name, uint64_t bytes) {
    Field(name, bytes);
    Field(std::string(name) + "_human", FormatBytesHuman(bytes));
  }
  void Fixed(std::string_view name, double value, int decimals, std::string_view unit = {}) {
    Field(name, FixedText(value, decimals).append(unit));
  }
  static std::string FixedText(double value, int decimals) {
    char text[64];
    const int size = std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return {text, static_cast<size_t>(size)};
  }

  // As the allocator counts them.
  size_t memory() const noexcept {
    return text_.capacity() > std::string().capacity() ? Heap::SizeClass(text_.capacity() + 1) : 0;
  }

  std::string Take() noexcept { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace mayfly

#include "base/short_bytes.h"

#include <string>

#include <catch2/catch.hpp>

namespace mayfly {
namespace {

// In a block of exactly its size, so that a sanitizer sees any read or write beyond it.
std::string Text(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i * 7 % 26);
  text.shrink_to_fit();
  return text;
}

}  // namespace

TEST_CASE("texts of any length are equal to themselves, and differ from texts with one other byte") {
  for (size_t size = 0; size < 70; ++size) {
    const std::string text = Text(size);
    CHECK(SameBytes(text, std::string(text)));
    CHECK_FALSE(SameBytes(text, Text(size + 1)));
    for (size_t i = 0; i < size; ++i) {
      std::string other = text;
      other[i] = static_cast<char>(other[i] ^ 0x80);
      CHECK_FALSE(SameBytes(text, other));
    }
  }
}

TEST_CASE("a copy equals the text, and nothing after it is written") {
  for (size_t size = 0; size < 300; ++size) {
    const std::string text = Text(size);
    std::string room(size + 2, '#');
    CopyBytes(room.data() + 1, text.data(), size);
    CHECK(room == "#" + text + "#");
  }
}

}  // namespace mayfly

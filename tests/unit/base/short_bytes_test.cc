#include "base/text/short_bytes.h"

#include <string>

#include "support/catch.h"

namespace mayfly {
namespace {

// In a block of exactly this size, so that a sanitizer detects any access past the end.
std::string Text(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i * 7 % 26);
  text.shrink_to_fit();
  return text;
}

}  // namespace

TEST_CASE("SameBytes finds a difference in any byte, at any length") {
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

TEST_CASE("CopyBytes copies any length and writes nothing past its end") {
  for (size_t size = 0; size < 300; ++size) {
    const std::string text = Text(size);
    std::string room(size + 2, '#');
    CopyBytes(room.data() + 1, text.data(), size);
    CHECK(room == "#" + text + "#");
  }
}

}  // namespace mayfly

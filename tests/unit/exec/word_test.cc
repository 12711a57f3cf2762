#include "exec/arguments/word.h"

#include <string>

#include "support/catch.h"

namespace mayfly {

TEST_CASE("a word is the same in any case") {
  CHECK(WordOf(std::string("ex")) == WordOf("EX"));
  CHECK(WordOf(std::string("Get")) == WordOf("GET"));
  CHECK(WordOf(std::string("pXaT")) == WordOf("PXAT"));
  CHECK(WordOf(std::string("keepttl")) == WordOf("KEEPTTL"));
  CHECK(WordOf(std::string("persist")) == WordOf("PERSIST"));
  CHECK(WordOf(std::string("n")) == WordOf("N"));
}

TEST_CASE("no other text counts as the same word") {
  for (const std::string& text :
       {std::string(), std::string("KEEPTTLX"), std::string("EX\0", 3), std::string("EX "), std::string("E"),
        std::string("EXAT"), std::string("EX\0\0\0\0\0\2", 8)}) {
    CHECK(WordOf(text) != WordOf("EX"));
    CHECK(WordOf(text) != WordOf("KEEPTTL"));
  }
  // Every byte changed to every other value.
  for (int byte = 0; byte < 256; ++byte) {
    for (size_t at = 0; at < 4; ++at) {
      std::string text = "PXAT";
      if (static_cast<char>(byte & ~0x20) == text[at]) continue;
      text[at] = static_cast<char>(byte);
      CHECK(WordOf(text) != WordOf("PXAT"));
    }
  }
}

}  // namespace mayfly

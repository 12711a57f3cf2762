#include "base/text/quote.h"

namespace mayfly {
namespace {

// The letter after the backslash; 0 for a byte without a letter.
constexpr char EscapeOf(char c) noexcept {
  switch (c) {
    case '\\':
    case '"':
      return c;
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '\a':
      return 'a';
    case '\b':
      return 'b';
    default:
      return 0;
  }
}

}  // namespace

void AppendQuoted(std::string& text, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  text.reserve(text.size() + bytes.size() + 2);
  text += '"';
  for (const char c : bytes) {
    if (const char escape = EscapeOf(c); escape != 0) {
      text += '\\';
      text += escape;
    } else if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      text += "\\x";
      text += kDigits[byte >> 4];
      text += kDigits[byte & 15];
    }
  }
  text += '"';
}

}  // namespace mayfly

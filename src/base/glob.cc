#include "base/glob.h"

#include <algorithm>
#include <cstddef>

namespace mayfly {
namespace {

unsigned char Fold(char c, GlobCase letters) noexcept {
  if (letters == GlobCase::kIgnore && c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return static_cast<unsigned char>(c);
}

// Matches `c` against the class whose '[' is before `at`; moves `at` past the class.
bool MatchClass(std::string_view pattern, size_t& at, char c, GlobCase letters) noexcept {
  const unsigned char wanted = Fold(c, letters);
  const bool negated = at < pattern.size() && pattern[at] == '^';
  if (negated) ++at;
  bool found = false;
  while (at < pattern.size()) {
    if (pattern[at] == '\\' && at + 1 < pattern.size()) {
      found |= Fold(pattern[at + 1], letters) == wanted;
      at += 2;
    } else if (pattern[at] == ']') {
      ++at;
      break;
    } else if (at + 2 < pattern.size() && pattern[at + 1] == '-') {
      const unsigned char first = Fold(pattern[at], letters);
      const unsigned char last = Fold(pattern[at + 2], letters);
      found |= wanted >= std::min(first, last) && wanted <= std::max(first, last);
      at += 3;
    } else {
      found |= Fold(pattern[at++], letters) == wanted;
    }
  }
  return found != negated;
}

// Matches `c` against the pattern element at `at`, which is not '*'; moves `at` past it.
bool MatchOne(std::string_view pattern, size_t& at, char c, GlobCase letters) noexcept {
  const char element = pattern[at++];
  if (element == '?') return true;
  if (element == '[') return MatchClass(pattern, at, c, letters);
  if (element == '\\' && at < pattern.size()) return Fold(pattern[at++], letters) == Fold(c, letters);
  return Fold(element, letters) == Fold(c, letters);
}

}  // namespace

bool GlobMatch(std::string_view pattern, std::string_view text, GlobCase letters) noexcept {
  constexpr size_t kNone = std::string_view::npos;
  size_t at = 0;
  size_t after_star = kNone;  // where to continue after a mismatch, in the pattern
  size_t star_text = 0;       // and in the text
  for (size_t i = 0; i < text.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      after_star = ++at;
      star_text = i;
      if (at == pattern.size()) return true;
      continue;
    }
    if (at < pattern.size() && MatchOne(pattern, at, text[i], letters)) {
      ++i;
      continue;
    }
    if (after_star == kNone) return false;
    at = after_star;
    i = ++star_text;
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

bool HasGlobSyntax(std::string_view pattern) noexcept {
  return pattern.find_first_of("*?[\\") != std::string_view::npos;
}

}  // namespace mayfly

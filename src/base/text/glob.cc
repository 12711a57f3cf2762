#include "base/text/glob.h"

#include <cstddef>
#include <utility>

#include "base/text/ascii.h"

namespace mayfly {
namespace {

// Redis compares chars with the sign of its compiler: signed. Hence "[\x80-a]" holds the bytes from 0 to 'a' too.
signed char Fold(char c, GlobCase letters) noexcept {
  return static_cast<signed char>(letters == GlobCase::kIgnore ? Lower(c) : c);
}

// Compares in Redis's way: Redis first puts the ends of a range in order, and then ignores their case. Hence "[m-Z]" is the
// range from 'z' to 'm', an empty range.
bool InRange(char from, char to, signed char wanted, GlobCase letters) noexcept {
  if (static_cast<signed char>(from) > static_cast<signed char>(to)) std::swap(from, to);
  return wanted >= Fold(from, letters) && wanted <= Fold(to, letters);
}

// Matches `c` against the class whose '[' is before `at`; moves `at` past the class. An escaped letter
// of a class keeps its case, as in Redis.
bool MatchClass(std::string_view pattern, size_t& at, char c, GlobCase letters) noexcept {
  const signed char wanted = Fold(c, letters);
  const bool negated = at < pattern.size() && pattern[at] == '^';
  if (negated) ++at;
  bool found = false;
  while (at < pattern.size()) {
    if (pattern[at] == '\\' && at + 1 < pattern.size()) {
      found |= pattern[at + 1] == c;
      at += 2;
    } else if (pattern[at] == ']') {
      ++at;
      break;
    } else if (at + 2 < pattern.size() && pattern[at + 1] == '-') {
      found |= InRange(pattern[at], pattern[at + 2], wanted, letters);
      at += 3;
    } else {
      found |= Fold(pattern[at++], letters) == wanted;
    }
  }
  return found != negated;
}

// Matches `c` against the pattern element at `at`, any element but '*'; moves `at` past the element.
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
  if (text.empty()) return pattern.empty();
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
  return pattern.find_first_of("*?[") != std::string_view::npos;
}

}  // namespace mayfly

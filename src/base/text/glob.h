// Glob patterns with the rules of Redis's KEYS, SCAN MATCH and CONFIG GET. The rules:
//
//   *                    any number of bytes
//   ?                    one byte
//   [abc] [a-z] [^a]     one byte of a class; a range may be written backwards
//   \x                   the byte x itself
//
// A class without ']' extends to the end of the pattern. The empty text matches only the empty pattern, not even `*`:
// commands that take `*` for "everything" test for `*` themselves. After a mismatch only the last `*` is tried again, so the
// cost is at most pattern size times text size for any pattern.
#pragma once

#include <string_view>

namespace mayfly {

enum class GlobCase { kSensitive, kIgnore };

bool GlobMatch(std::string_view pattern, std::string_view text,
               GlobCase letters = GlobCase::kSensitive) noexcept;

// Returns false for a literal text. A backslash alone does not make a pattern, as in Redis.
bool HasGlobSyntax(std::string_view pattern) noexcept;

}  // namespace mayfly

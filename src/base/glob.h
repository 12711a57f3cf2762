// Glob patterns with the rules of Redis's KEYS, SCAN MATCH and CONFIG GET.
//
// `*` any run of bytes, `?` one byte, `[abc]`, `[a-z]`, `[^a]` one byte of a class, `\` takes the next byte
// as it is. A class that is not closed ends with the pattern; a range may be written backwards. Only the last
// `*` is ever tried again, so the cost is at most pattern size times text size, whatever the pattern.
#pragma once

#include <string_view>

namespace mayfly {

enum class GlobCase { kSensitive, kIgnore };

bool GlobMatch(std::string_view pattern, std::string_view text,
               GlobCase letters = GlobCase::kSensitive) noexcept;

// False when `pattern` can match only itself.
bool HasGlobSyntax(std::string_view pattern) noexcept;

}  // namespace mayfly

// A text in double quotes on one line, with escapes, in Redis's form for people. Bytes that do not print in ASCII are
// escaped (\n, \x00).
#pragma once

#include <string>
#include <string_view>

namespace mayfly {

// Throws std::bad_alloc.
void AppendQuoted(std::string& text, std::string_view bytes);

}  // namespace mayfly

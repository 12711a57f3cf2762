// A text in double quotes on one line, with escapes, as Redis writes it for people. What does not print in ASCII is
// escaped (\n, \x00).
#pragma once

#include <string>
#include <string_view>

namespace mayfly {

// Throws std::bad_alloc.
void AppendQuoted(std::string& text, std::string_view bytes);

}  // namespace mayfly

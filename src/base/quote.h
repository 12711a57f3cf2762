// A text in double quotes, as Redis writes it for people: on one line, whatever its bytes are. What does not print in
// ASCII is escaped (\n, \x00).
#pragma once

#include <string>
#include <string_view>

namespace mayfly {

// Throws std::bad_alloc.
void AppendQuoted(std::string& text, std::string_view bytes);

}  // namespace mayfly

// Parses inline requests: plain lines, as typed into telnet.
//
// Words are separated by blanks. A part of a word may be in double quotes, with the escapes \n \r \t \b \a \xHH and \ before
// any other character, or in single quotes, with \' as the only escape. A closing quote ends the word and must be followed
// by a blank or the end of the line.
#pragma once

#include <string_view>

#include "resp/args.h"

namespace mayfly::resp {

// Appends the words of `line` (without its line end) to `args`, as views into `line`. If quotes must be removed, the words
// are views into a block kept by `args`. Returns false, and appends nothing, if quotes are not balanced. Throws
// std::bad_alloc.
bool SplitInline(std::string_view line, ArgList& args);

}  // namespace mayfly::resp

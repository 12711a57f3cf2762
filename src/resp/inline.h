// Inline requests: what a person types into telnet.
//
// Words are separated by blanks. A part of a word may stand in double quotes, where \n \r \t \b \a \xHH and
// \ before any other character are known, or in single quotes, where only \' is. A closing quote ends the
// word and must be followed by a blank or the end.
#pragma once

#include <string_view>

#include "resp/args.h"

namespace mayfly::resp {

// Appends the words of `line` (without its line end) to `args`: views into `line`, or into a block that
// `args` keeps where quotes had to be taken away. False, with nothing appended, when quotes are not balanced.
// Throws std::bad_alloc.
bool SplitInline(std::string_view line, ArgList& args);

}  // namespace mayfly::resp

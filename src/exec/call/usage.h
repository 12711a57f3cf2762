// The usage line of a command, from its row's syntax, for error texts. For commands unknown to Redis: their errors show the
// expected arguments, where Redis only says "syntax error". Throws std::bad_alloc.
#pragma once

#include <string>
#include <string_view>

#include "exec/call/args.h"
#include "exec/call/command_table.h"

namespace mayfly {

// True if no other server has this command.
bool IsOfMayflyAlone(const TableRow& row) noexcept;
// "TAKE key LEASE milliseconds ..."; for a subcommand "EXPLOG READ seq ...".
std::string UsageOf(const TableRow& row);
// "ERR syntax error near '5': HOTKEYS [COUNT count]".
std::string SyntaxErrorNear(const TableRow& row, std::string_view word);
// The same near the argument at the cursor. The argument may be the last, with its value missing.
std::string SyntaxErrorAt(const TableRow& row, const Args& args);

}  // namespace mayfly

// The usage line of a command, from its row's syntax, for error texts. For errors of commands that Redis does not have,
// which say what was expected where Redis says "syntax error" alone. Throws std::bad_alloc.
#pragma once

#include <string>
#include <string_view>

#include "exec/call/args.h"
#include "exec/call/command_table.h"

namespace mayfly {

// Whether no other server has this command.
bool IsOfMayflyAlone(const TableRow& row) noexcept;
// "TAKE key LEASE milliseconds ..."; of a subcommand "EXPLOG READ seq ...".
std::string UsageOf(const TableRow& row);
// "ERR syntax error near '5': HOTKEYS [COUNT count]".
std::string SyntaxErrorNear(const TableRow& row, std::string_view word);
// The same near the argument at the cursor. It may be the last one, whose value is missing.
std::string SyntaxErrorAt(const TableRow& row, const Args& args);

}  // namespace mayfly

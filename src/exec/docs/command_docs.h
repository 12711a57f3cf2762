// Writes the replies of COMMAND, COMMAND INFO and COMMAND DOCS about a row, in Redis's shapes.
#pragma once

#include <string_view>

#include "exec/call/command_table.h"
#include "resp/writer.h"

namespace mayfly {

// The row of a name as these commands take it: "get", "client|setname", in any case. Null if there is none.
const TableRow* FindByFullName(const CommandTable& table, std::string_view full_name) noexcept;

// Ten elements: name, arity, flags, first key, last key, step, ACL categories, tips, key specs, subcommands.
void WriteCommandInfo(resp::Writer& reply, const TableRow& row);

// A map: summary, since, group and, if there are any, complexity, what replaces a deprecated command,
// arguments, subcommands. Names of arguments follow from the syntax, except those of
// Command::argument_notes: each note is for the first such argument that has no note yet, and may leave out
// either part.
void WriteCommandDocs(resp::Writer& reply, const TableRow& row);

}  // namespace mayfly

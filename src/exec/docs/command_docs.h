// Writes the replies of COMMAND, COMMAND INFO and COMMAND DOCS about a row, in Redis's shapes.
#pragma once

#include <string_view>

#include "exec/call/command_table.h"
#include "resp/writer.h"

namespace mayfly {

// The row of a name as typed in these commands: "get", "client|setname", in any case. Null for an unknown name.
const TableRow* FindByFullName(const CommandTable& table, std::string_view full_name) noexcept;

// Ten elements: name, arity, flags, first key, last key, step, ACL categories, tips, key specs, subcommands.
void WriteCommandInfo(resp::Writer& reply, const TableRow& row);

// A map: summary, since, group, and if present complexity, the replacement of a deprecated command, arguments, subcommands.
// Names of arguments follow from the syntax, except the names in Command::argument_notes: each note is for the first
// matching argument without a note, and may omit either part.
void WriteCommandDocs(resp::Writer& reply, const TableRow& row);

}  // namespace mayfly

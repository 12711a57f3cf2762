// What COMMAND, COMMAND INFO and COMMAND DOCS tell of a row, in Redis's shapes.
#pragma once

#include <string_view>

#include "exec/command_table.h"
#include "resp/writer.h"

namespace mayfly {

// By the name that these commands use: "get", "client|setname", in any case. Null where there is none.
const TableRow* FindByFullName(const CommandTable& table, std::string_view full_name) noexcept;

// Ten elements: name, arity, flags, first key, last key, step, ACL categories, tips, key specs, subcommands.
void WriteCommandInfo(resp::Writer& reply, const TableRow& row);

// A map: summary, since, group, and where there are any complexity, what stands for a deprecated command,
// arguments, subcommands. Names of arguments follow from the syntax, but for those of
// Command::argument_notes: each note is for the first such argument that has none yet, and may leave out
// either part.
void WriteCommandDocs(resp::Writer& reply, const TableRow& row);

}  // namespace mayfly

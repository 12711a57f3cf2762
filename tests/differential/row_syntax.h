// One row of the command table with the tree of its arguments, ready to draw requests from.
//
// What the oracle does not know of a row is cut out of the tree (gaps.h), so that it is never drawn.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exec/call/command_table.h"
#include "exec/docs/command_syntax.h"

namespace mayfly::testing {

struct RowSyntax {
  const TableRow* row = nullptr;
  std::vector<SyntaxArgument> arguments;
  std::vector<std::string> tokens;  // every option word of the tree, once

  // "object|encoding" is sent as two words.
  std::vector<std::string> Name() const;
  bool IsContainer() const noexcept { return row->command->handler == nullptr; }
};

// REQUIRES: the row's syntax can be read (a test of COMMAND DOCS says so).
RowSyntax ReadRow(const TableRow& row);
// Whether `token` stands anywhere in the tree of this argument.
bool Holds(const SyntaxArgument& argument, std::string_view token);
// Takes the option away, and choices that become empty by that.
void CutToken(std::vector<SyntaxArgument>& arguments, std::string_view token);

}  // namespace mayfly::testing

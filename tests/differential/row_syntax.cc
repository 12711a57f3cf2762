#include "differential/row_syntax.h"

#include <algorithm>
#include <stdexcept>

namespace mayfly::testing {
namespace {

void CollectTokens(const std::vector<SyntaxArgument>& arguments, std::vector<std::string>& tokens) {
  for (const SyntaxArgument& argument : arguments) {
    const bool known = std::find(tokens.begin(), tokens.end(), argument.token) != tokens.end();
    if (!argument.token.empty() && !known) tokens.push_back(argument.token);
    CollectTokens(argument.arguments, tokens);
  }
}

}  // namespace

std::vector<std::string> RowSyntax::Name() const {
  std::string name = row->full_name;
  const size_t bar = name.find('|');
  if (bar == std::string::npos) return {name};
  return {name.substr(0, bar), name.substr(bar + 1)};
}

RowSyntax ReadRow(const TableRow& row) {
  std::optional<std::vector<SyntaxArgument>> arguments = ParseSyntax(row.command->syntax);
  if (!arguments) throw std::runtime_error("the syntax of " + row.full_name + " cannot be read");
  RowSyntax syntax{.row = &row, .arguments = std::move(*arguments), .tokens = {}};
  CollectTokens(syntax.arguments, syntax.tokens);
  return syntax;
}

bool Holds(const SyntaxArgument& argument, std::string_view token) {
  return argument.token == token ||
         std::any_of(argument.arguments.begin(), argument.arguments.end(),
                     [&](const SyntaxArgument& below) { return Holds(below, token); });
}

void CutToken(std::vector<SyntaxArgument>& arguments, std::string_view token) {
  for (SyntaxArgument& argument : arguments) CutToken(argument.arguments, token);
  std::erase_if(arguments, [&](const SyntaxArgument& argument) {
    const bool is_group = argument.type == ArgumentType::kOneOf || argument.type == ArgumentType::kBlock;
    return argument.token == token || (is_group && argument.arguments.empty());
  });
}

}  // namespace mayfly::testing

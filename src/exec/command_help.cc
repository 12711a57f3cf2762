#include "exec/command_help.h"

#include <string>
#include <vector>

namespace mayfly {
namespace {

std::string UpperCase(std::string_view lower) {
  std::string upper(lower);
  for (char& c : upper) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  return upper;
}

}  // namespace

void ReplyHelp(Context& ctx, Args&) {
  const TableRow& container = *ctx.row.parent;
  std::vector<std::string> lines;
  lines.push_back(UpperCase(container.full_name) +
                  " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
  for (const TableRow* row : container.subcommands) {
    if (row == &ctx.row) continue;
    const Command& command = *row->command;
    lines.push_back(UpperCase(command.name));
    if (!command.syntax.empty()) lines.back().append(" ").append(command.syntax);
    lines.push_back("    " + std::string(command.summary));
  }
  lines.emplace_back("HELP");
  lines.emplace_back("    Prints this help.");
  ctx.reply.Array(lines.size());
  for (const std::string& line : lines) ctx.reply.Simple(line);
}

}  // namespace mayfly

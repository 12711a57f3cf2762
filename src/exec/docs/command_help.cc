#include "exec/docs/command_help.h"

#include <cassert>

#include "base/text/ascii.h"

namespace mayfly {
HelpText::HelpText(std::string_view container) {
  lines_.push_back(UpperCase(container) + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
}

void HelpText::Add(std::string_view name, std::string_view syntax, std::string_view summary) {
  lines_.push_back(UpperCase(name));
  if (!syntax.empty()) lines_.back().append(" ").append(syntax);
  lines_.push_back("    " + std::string(summary));
}

void HelpText::Reply(resp::Writer& reply) const {
  reply.Array(lines_.size());
  for (const std::string& line : lines_) reply.Simple(line);
}

void ReplyHelp(Context& ctx, Args&) {
  assert(ctx.row.parent != nullptr);
  const TableRow& container = *ctx.row.parent;
  HelpText text(container.full_name);
  for (const TableRow* row : container.subcommands) {
    const Command& command = *row->command;
    if (row != &ctx.row) text.Add(command.name, command.syntax, command.summary);
  }
  text.Add("help", "", kHelpOnHelp);
  text.Reply(ctx.reply);
}

}  // namespace mayfly

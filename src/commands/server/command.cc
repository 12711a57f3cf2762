// COMMAND: names, flags and documentation of all commands, from the table.
#include <optional>
#include <string_view>
#include <vector>

#include "base/text/glob.h"
#include "exec/call/command_keys.h"
#include "exec/call/command_table.h"
#include "exec/dispatch/context.h"
#include "exec/docs/command_docs.h"
#include "exec/docs/command_help.h"

namespace mayfly::command_commands {
namespace {

void CommandAll(Context& ctx, Args&) {
  const std::vector<TableRow*>& rows = ctx.server.commands.rows();
  ctx.reply.Array(rows.size());
  for (const TableRow* row : rows) WriteCommandInfo(ctx.reply, *row);
}

void CommandCount(Context& ctx, Args&) {
  ctx.reply.Integer(static_cast<int64_t>(ctx.server.commands.rows().size()));
}

void CommandInfo(Context& ctx, Args& args) {
  if (args.Done()) return CommandAll(ctx, args);
  ctx.reply.Array(args.Left());
  while (!args.Done()) {
    const TableRow* row = FindByFullName(ctx.server.commands, args.Next());
    if (row == nullptr) {
      ctx.reply.Null();
    } else {
      WriteCommandInfo(ctx.reply, *row);
    }
  }
}

void WriteDocsOf(resp::Writer& reply, const std::vector<const TableRow*>& rows) {
  reply.Map(rows.size());
  for (const TableRow* row : rows) {
    reply.Bulk(row->full_name);
    WriteCommandDocs(reply, *row);
  }
}

void CommandDocs(Context& ctx, Args& args) {
  const CommandTable& commands = ctx.server.commands;
  std::vector<const TableRow*> rows;
  if (args.Done()) rows.assign(commands.rows().begin(), commands.rows().end());
  while (!args.Done()) {
    if (const TableRow* row = FindByFullName(commands, args.Next())) rows.push_back(row);
  }
  WriteDocsOf(ctx.reply, rows);
}

// Calls fn for every command, and after each container for the container's subcommands.
template <typename Fn>
void ForEachRow(const CommandTable& commands, Fn&& fn) {
  for (const TableRow* row : commands.rows()) {
    fn(*row);
    for (const TableRow* sub : row->subcommands) fn(*sub);
  }
}

void ReplyNames(resp::Writer& reply, const std::vector<std::string_view>& names) {
  reply.Array(names.size());
  for (const std::string_view name : names) reply.Bulk(name);
}

bool InCategory(const TableRow& row, std::string_view category) {
  for (const std::string_view name : CommandTable::AclNames(row.acl)) {
    if (SameIgnoringCase(category, name)) return true;
  }
  return false;
}

// As in Redis, the list has subcommands, too; COMMAND COUNT does not count them.
void CommandList(Context& ctx, Args& args) {
  const CommandTable& commands = ctx.server.commands;
  std::vector<std::string_view> names;
  if (args.Done()) {
    ForEachRow(commands, [&names](const TableRow& row) { names.push_back(row.full_name); });
    return ReplyNames(ctx.reply, names);
  }
  if (args.Left() != 3 || !args.Accept("FILTERBY")) return ctx.Fail(errors::kSyntax);
  const bool by_pattern = args.Accept("PATTERN");
  const bool by_category = !by_pattern && args.Accept("ACLCAT");
  if (!by_pattern && !by_category && !args.Accept("MODULE")) return ctx.Fail(errors::kSyntax);
  const std::string_view wanted = args.Next();
  ForEachRow(commands, [&](const TableRow& row) {
    if (by_pattern ? GlobMatch(wanted, row.full_name, GlobCase::kIgnore)
                   : by_category && InCategory(row, wanted))
      names.push_back(row.full_name);
  });
  ReplyNames(ctx.reply, names);
}

// The keys of the call in the arguments. Returns nullopt after an error reply.
std::optional<std::vector<FoundKey>> ReadKeys(Context& ctx, const Args& args) {
  const std::span<const std::string_view> call = args.Rest();
  const TableRow* row = ctx.server.commands.FindCall(call);
  const auto fail = [&ctx](std::string_view error) { return ctx.Fail(error), std::nullopt; };
  if (row == nullptr || (!row->subcommands.empty() && call.size() > 1))
    return fail("ERR Invalid command specified");
  const Command& command = *row->command;
  if (!TakesKeys(command)) return fail("ERR The command has no key arguments");
  if (!row->Takes(call.size())) return fail("ERR Invalid number of arguments specified for command");
  std::optional<std::vector<FoundKey>> keys = KeysOf(command, call);
  if (keys) return keys;
  if ((command.flags & kNoMandatoryKeys) == 0) return fail("ERR Invalid arguments specified for command");
  return std::vector<FoundKey>();
}

void CommandGetKeys(Context& ctx, Args& args) {
  const std::optional<std::vector<FoundKey>> keys = ReadKeys(ctx, args);
  if (!keys) return;
  ctx.reply.Array(keys->size());
  for (const FoundKey& key : *keys) ctx.reply.Bulk(key.text);
}

void CommandGetKeysAndFlags(Context& ctx, Args& args) {
  const std::optional<std::vector<FoundKey>> keys = ReadKeys(ctx, args);
  if (!keys) return;
  ctx.reply.Array(keys->size());
  for (const FoundKey& key : *keys) {
    ctx.reply.Array(2);
    ctx.reply.Bulk(key.text);
    const std::vector<std::string_view> names = KeyUseNames(key.use);
    ctx.reply.Set(names.size());
    for (const std::string_view name : names) ctx.reply.Simple(name);
  }
}

constexpr uint32_t kFlags = kLoading | kStale;
constexpr std::string_view kOrderTip = "nondeterministic_output_order";

constexpr Command kCommandRows[] = {
    {.name = "count",
     .arity = 2,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = CommandCount,
     .since = "2.8.13",
     .complexity = "O(1)",
     .summary = "Answers how many commands there are."},
    {.name = "docs",
     .arity = -2,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = CommandDocs,
     .since = "7.0.0",
     .complexity = "O(N) where N is the number of commands to tell of",
     .summary = "Shows what commands are for and which arguments they take.",
     .syntax = "[command-name [command-name ...]]",
     .tips = kOrderTip},
    {.name = "getkeys",
     .arity = -4,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = CommandGetKeys,
     .since = "2.8.13",
     .complexity = "O(N) where N is the number of arguments to the command",
     .summary = "Answers with the arguments of a call that are keys.",
     .syntax = "command arg [arg ...]"},
    {.name = "getkeysandflags",
     .arity = -4,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = CommandGetKeysAndFlags,
     .since = "7.0.0",
     .complexity = "O(N) where N is the number of arguments to the command",
     .summary = "Answers with the arguments of a call that are keys, and what the call does to each.",
     .syntax = "command arg [arg ...]"},
    HelpRow("5.0.0", kAclConnection),
    {.name = "info",
     .arity = -2,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = CommandInfo,
     .since = "2.8.13",
     .complexity = "O(N) where N is the number of commands to tell of",
     .summary = "Shows arity, flags, key positions and categories of commands.",
     .syntax = "[command-name [command-name ...]]",
     .tips = kOrderTip},
    {.name = "list",
     .arity = -2,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = CommandList,
     .since = "7.0.0",
     .complexity = "O(N) where N is the number of commands",
     .summary = "Lists the names of commands.",
     .syntax = "[FILTERBY <MODULE module-name | ACLCAT category | PATTERN pattern>]",
     .tips = kOrderTip},
};

constexpr Command kRows[] = {
    {.name = "command",
     .arity = -1,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = CommandAll,
     .since = "2.8.13",
     .complexity = "O(N) where N is the number of commands",
     .summary = "Shows arity, flags, key positions and categories of every command.",
     .subcommands = kCommandRows,
     .tips = kOrderTip},
};

const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly::command_commands

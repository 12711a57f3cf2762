#include "exec/command_docs.h"

#include <string>
#include <vector>

#include "exec/command_syntax.h"

namespace mayfly {
namespace {

std::vector<std::string_view> SplitTips(std::string_view tips) {
  std::vector<std::string_view> words;
  while (!tips.empty()) {
    const size_t end = tips.find(' ');
    words.push_back(tips.substr(0, end));
    tips.remove_prefix(end == std::string_view::npos ? tips.size() : end + 1);
  }
  return words;
}

std::vector<std::string_view> KeyUseNames(uint16_t use) {
  struct UseName {
    uint16_t bit;
    std::string_view text;
  };
  constexpr UseName kNames[] = {
      {kKeyRO, "RO"},         {kKeyRW, "RW"},         {kKeyOW, "OW"},
      {kKeyRM, "RM"},         {kKeyAccess, "access"}, {kKeyUpdate, "update"},
      {kKeyInsert, "insert"}, {kKeyDelete, "delete"}, {kKeyVariableFlags, "variable_flags"}};
  std::vector<std::string_view> found;
  for (const UseName& name : kNames) {
    if ((use & name.bit) != 0) found.push_back(name.text);
  }
  return found;
}

void WriteSimpleSet(resp::Writer& reply, const std::vector<std::string_view>& names) {
  reply.Set(names.size());
  for (const std::string_view name : names) reply.Simple(name);
}

void WriteSearch(resp::Writer& reply, std::string_view name, std::string_view type, size_t fields) {
  reply.Bulk(name);
  reply.Map(2);
  reply.Bulk("type");
  reply.Bulk(type);
  reply.Bulk("spec");
  reply.Map(fields);
}

void WriteNumber(resp::Writer& reply, std::string_view name, int64_t value) {
  reply.Bulk(name);
  reply.Integer(value);
}

void WriteKeySpec(resp::Writer& reply, const KeySpec& keys) {
  reply.Map(keys.notes.empty() ? 3 : 4);
  if (!keys.notes.empty()) {
    reply.Bulk("notes");
    reply.Bulk(keys.notes);
  }
  reply.Bulk("flags");
  WriteSimpleSet(reply, KeyUseNames(keys.use));
  WriteSearch(reply, "begin_search", "index", 1);
  WriteNumber(reply, "index", keys.first);
  WriteSearch(reply, "find_keys", "range", 3);
  // Counted from the first key; from the end where negative.
  WriteNumber(reply, "lastkey", keys.last < 0 ? keys.last : keys.last - keys.first);
  WriteNumber(reply, "keystep", keys.step);
  WriteNumber(reply, "limit", 0);
}

void WriteKeySpecs(resp::Writer& reply, const Command& command) {
  if (command.keys.first == 0) return reply.Set(0);
  reply.Set(command.more_keys.first == 0 ? 1 : 2);
  WriteKeySpec(reply, command.keys);
  if (command.more_keys.first != 0) WriteKeySpec(reply, command.more_keys);
}

void WriteText(resp::Writer& reply, std::string_view name, std::string_view value) {
  reply.Bulk(name);
  reply.Bulk(value);
}

// Which specification the next key has: with one of them, all keys have that.
struct KeySpecIndex {
  int64_t next = 0;
  bool rises = false;
  int64_t Take() noexcept { return rises ? next++ : next; }
};

void WriteArgument(resp::Writer& reply, const SyntaxArgument& argument, KeySpecIndex& key_spec) {
  const bool nested = argument.type == ArgumentType::kOneOf || argument.type == ArgumentType::kBlock;
  const bool is_key = argument.type == ArgumentType::kKey;
  const bool flagged = argument.optional || argument.multiple;
  reply.Map(size_t{3} + (is_key ? 1 : 0) + (argument.token.empty() ? 0 : 1) + (flagged ? 1 : 0));
  WriteText(reply, "name", argument.name);
  WriteText(reply, "type", NameOf(argument.type));
  if (!nested) WriteText(reply, "display_text", argument.name);
  if (is_key) WriteNumber(reply, "key_spec_index", key_spec.Take());
  if (!argument.token.empty()) WriteText(reply, "token", argument.token);
  if (flagged) {
    std::vector<std::string_view> flags;
    if (argument.optional) flags.emplace_back("optional");
    if (argument.multiple) flags.emplace_back("multiple");
    reply.Bulk("flags");
    WriteSimpleSet(reply, flags);
  }
  if (nested) {
    reply.Bulk("arguments");
    reply.Array(argument.arguments.size());
    for (const SyntaxArgument& inner : argument.arguments) WriteArgument(reply, inner, key_spec);
  }
}

}  // namespace

const TableRow* FindByFullName(const CommandTable& table, std::string_view full_name) noexcept {
  const size_t bar = full_name.find('|');
  const TableRow* row = table.Find(full_name.substr(0, bar));
  if (row == nullptr || bar == std::string_view::npos) return row;
  return CommandTable::FindSubcommand(*row, full_name.substr(bar + 1));
}

void WriteCommandInfo(resp::Writer& reply, const TableRow& row) {
  const Command& command = *row.command;
  reply.Array(10);
  reply.Bulk(row.full_name);
  reply.Integer(command.arity);
  WriteSimpleSet(reply, CommandTable::FlagNames(command.flags));
  reply.Integer(command.keys.first);
  reply.Integer(command.more_keys.first == 0 ? command.keys.last : command.more_keys.last);
  reply.Integer(command.keys.step);
  const std::vector<std::string_view> categories = CommandTable::AclNames(row.acl);
  reply.Set(categories.size());
  for (const std::string_view category : categories) reply.Simple("@" + std::string(category));
  const std::vector<std::string_view> tips = SplitTips(command.tips);
  reply.Set(tips.size());
  for (const std::string_view tip : tips) reply.Bulk(tip);
  WriteKeySpecs(reply, command);
  if (row.subcommands.empty()) return reply.Set(0);
  reply.Array(row.subcommands.size());
  for (const TableRow* sub : row.subcommands) WriteCommandInfo(reply, *sub);
}

void WriteCommandDocs(resp::Writer& reply, const TableRow& row) {
  const Command& command = *row.command;
  const std::vector<SyntaxArgument> arguments =
      ParseSyntax(command.syntax).value_or(std::vector<SyntaxArgument>());
  reply.Map(size_t{3} + (command.complexity.empty() ? 0 : 1) + (arguments.empty() ? 0 : 1) +
            (row.subcommands.empty() ? 0 : 1));
  WriteText(reply, "summary", command.summary);
  WriteText(reply, "since", command.since);
  WriteText(reply, "group", row.group);
  if (!command.complexity.empty()) WriteText(reply, "complexity", command.complexity);
  if (!arguments.empty()) {
    reply.Bulk("arguments");
    reply.Array(arguments.size());
    KeySpecIndex key_spec{.rises = command.more_keys.first != 0};
    for (const SyntaxArgument& argument : arguments) WriteArgument(reply, argument, key_spec);
  }
  if (row.subcommands.empty()) return;
  reply.Bulk("subcommands");
  reply.Map(row.subcommands.size());
  for (const TableRow* sub : row.subcommands) {
    reply.Bulk(sub->full_name);
    WriteCommandDocs(reply, *sub);
  }
}

}  // namespace mayfly

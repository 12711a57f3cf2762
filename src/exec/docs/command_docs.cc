#include "exec/docs/command_docs.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exec/call/command_keys.h"
#include "exec/docs/command_syntax.h"

namespace mayfly {
namespace {

std::vector<std::string_view> SplitWords(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = text.find(' ');
    words.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return words;
}

// One note of Command::argument_notes. Holds views of the note.
struct ArgumentNote {
  explicit ArgumentNote(std::string_view note) {
    const size_t at = std::min(note.find('@'), note.size());
    if (at < note.size()) since = note.substr(at + 1);
    const size_t equals = std::min(note.substr(0, at).find('='), at);
    word = note.substr(0, equals);
    if (equals < at) name = note.substr(equals + 1, at - equals - 1);
  }

  std::string_view word;
  std::string_view name = {};
  std::string_view since = {};
};

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

void WriteText(resp::Writer& reply, std::string_view name, std::string_view value) {
  reply.Bulk(name);
  reply.Bulk(value);
}

void WriteRange(resp::Writer& reply, const KeySpec& keys) {
  WriteSearch(reply, "begin_search", "index", 1);
  WriteNumber(reply, "index", keys.first);
  WriteSearch(reply, "find_keys", "range", 3);
  // Counted from the first key; if negative, from the end.
  WriteNumber(reply, "lastkey", keys.last < 0 ? keys.last : keys.last - keys.first);
  WriteNumber(reply, "keystep", keys.step);
  WriteNumber(reply, "limit", 0);
}

void WriteCounted(resp::Writer& reply, const KeySpec& keys) {
  WriteSearch(reply, "begin_search", "index", 1);
  WriteNumber(reply, "index", keys.count_at);
  WriteSearch(reply, "find_keys", "keynum", 3);
  WriteNumber(reply, "keynumidx", 0);
  WriteNumber(reply, "firstkey", keys.first - keys.count_at);
  WriteNumber(reply, "keystep", keys.step);
}

// For keys whose places do not follow from the arguments, or not from positions.
void WriteUnknown(resp::Writer& reply) {
  WriteSearch(reply, "begin_search", "unknown", 0);
  WriteSearch(reply, "find_keys", "unknown", 0);
}

void WriteKeySpec(resp::Writer& reply, const KeySpec& keys) {
  reply.Map(keys.notes.empty() ? 3 : 4);
  if (!keys.notes.empty()) {
    reply.Bulk("notes");
    reply.Bulk(keys.notes);
  }
  reply.Bulk("flags");
  WriteSimpleSet(reply, KeyUseNames(keys.use));
  if (keys.first == 0) return WriteUnknown(reply);
  keys.count_at != 0 ? WriteCounted(reply, keys) : WriteRange(reply, keys);
}

// The words with a key spec for each word.
std::span<const std::string_view> SpecWordsOf(const Command& command) noexcept {
  const KeyAfterWord& word = command.key_after_word;
  return word.every || word.half || word.rest ? word.words : std::span<const std::string_view>();
}

// A key after a word, the keys in the first half of the arguments after a word, or all of these arguments. In the last case
// the search begins at the end, as Redis shows it.
void WriteWordSpec(resp::Writer& reply, const KeyAfterWord& key, std::string_view word) {
  reply.Map(3);
  reply.Bulk("flags");
  WriteSimpleSet(reply, KeyUseNames(key.use));
  WriteSearch(reply, "begin_search", "keyword", 2);
  WriteText(reply, "keyword", word);
  WriteNumber(reply, "startfrom", key.rest ? -2 : static_cast<int64_t>(key.from));
  WriteSearch(reply, "find_keys", "range", 3);
  WriteNumber(reply, "lastkey", key.half || key.rest ? -1 : 0);
  WriteNumber(reply, "keystep", 1);
  WriteNumber(reply, "limit", key.half ? 2 : 0);
}

// A word of which only the last use counts may stand anywhere: SORT's STORE.
bool HasUnplacedWord(const Command& command) noexcept {
  return !command.key_after_word.words.empty() && SpecWordsOf(command).empty();
}

size_t CountKeySpecs(const Command& command) {
  return KeySpecsOf(command).size() + SpecWordsOf(command).size() + (HasUnplacedWord(command) ? 1 : 0);
}

void WriteUnplacedWordSpec(resp::Writer& reply, const KeyAfterWord& key) {
  reply.Map(4);
  WriteText(reply, "notes", "The key after the last " + std::string(key.words[0]) + ".");
  reply.Bulk("flags");
  WriteSimpleSet(reply, KeyUseNames(key.use));
  WriteUnknown(reply);
}

void WriteKeySpecs(resp::Writer& reply, const Command& command) {
  const std::vector<const KeySpec*> specs = KeySpecsOf(command);
  const std::span<const std::string_view> words = SpecWordsOf(command);
  reply.Set(CountKeySpecs(command));
  for (const KeySpec* spec : specs) WriteKeySpec(reply, *spec);
  for (const std::string_view word : words) WriteWordSpec(reply, command.key_after_word, word);
  if (HasUnplacedWord(command)) WriteUnplacedWordSpec(reply, command.key_after_word);
}

// First, last and step over all keys, as COMMAND showed keys before key specs: zeros if an argument gives the number of
// keys.
void WriteKeyRange(resp::Writer& reply, const Command& command) {
  const KeySpec none;
  const KeySpec& keys = command.keys.count_at != 0 ? none : command.keys;
  const bool more = command.more_keys.first != 0 && command.more_keys.count_at == 0;
  reply.Integer(keys.first);
  reply.Integer(more ? command.more_keys.last : keys.last);
  reply.Integer(keys.step);
}

// Writes arguments in the order of the syntax. The first key belongs to the first key spec, and so on; further keys belong
// to the last spec. Patterns that form keys share one spec: the second.
class ArgumentWriter {
 public:
  ArgumentWriter(resp::Writer& reply, const Command& command)
      : reply_(reply),
        key_specs_(CountKeySpecs(command)),
        forms_keys_(command.more_keys.first == 0 && command.more_keys.use != 0) {
    for (const std::string_view note : SplitWords(command.argument_notes)) notes_.emplace_back(note);
  }

  void Write(const SyntaxArgument& argument) {
    const bool nested = argument.type == ArgumentType::kOneOf || argument.type == ArgumentType::kBlock;
    const bool forms_keys = forms_keys_ && argument.type == ArgumentType::kPattern;
    const bool is_key = argument.type == ArgumentType::kKey || forms_keys;
    const bool flagged = argument.optional || argument.multiple;
    const bool has_token = !argument.token.empty() || argument.type == ArgumentType::kPureToken;
    const ArgumentNote note = TakeNote(argument);
    const std::string_view name = note.name.empty() ? std::string_view(argument.name) : note.name;
    reply_.Map(size_t{3} + (is_key ? 1 : 0) + (has_token ? 1 : 0) + (note.since.empty() ? 0 : 1) +
               (flagged ? 1 : 0));
    WriteText(reply_, "name", name);
    WriteText(reply_, "type", NameOf(argument.type));
    if (!nested) WriteText(reply_, "display_text", name);
    if (forms_keys) keys_ = 1;
    if (is_key) WriteNumber(reply_, "key_spec_index", NextKeySpec());
    if (has_token) WriteText(reply_, "token", argument.token);
    if (!note.since.empty()) WriteText(reply_, "since", note.since);
    if (flagged) WriteFlags(argument);
    if (!nested) return;
    reply_.Bulk("arguments");
    reply_.Array(argument.arguments.size());
    for (const SyntaxArgument& inner : argument.arguments) Write(inner);
  }

 private:
  // Each note is taken once: two arguments with the same word can have a note each.
  ArgumentNote TakeNote(const SyntaxArgument& argument) {
    const std::string_view word = argument.token.empty() ? argument.name : argument.token;
    const auto found = std::find_if(notes_.begin(), notes_.end(),
                                    [&](const ArgumentNote& note) { return note.word == word; });
    if (found == notes_.end()) return ArgumentNote({});
    const ArgumentNote note = *found;
    notes_.erase(found);
    return note;
  }

  int64_t NextKeySpec() noexcept {
    const size_t spec = keys_++;
    return static_cast<int64_t>(spec < key_specs_ ? spec : std::max<size_t>(key_specs_, 1) - 1);
  }

  void WriteFlags(const SyntaxArgument& argument) {
    std::vector<std::string_view> flags;
    if (argument.optional) flags.emplace_back("optional");
    if (argument.multiple) flags.emplace_back("multiple");
    if (argument.multiple_token) flags.emplace_back("multiple_token");
    reply_.Bulk("flags");
    WriteSimpleSet(reply_, flags);
  }

  resp::Writer& reply_;
  const size_t key_specs_;
  const bool forms_keys_;
  std::vector<ArgumentNote> notes_;
  size_t keys_ = 0;
};

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
  const bool movable = HasMovableKeys(command);
  WriteSimpleSet(reply, CommandTable::FlagNames(command.flags | (movable ? uint32_t{kMovableKeys} : 0U)));
  WriteKeyRange(reply, command);
  const std::vector<std::string_view> categories = CommandTable::AclNames(row.acl);
  reply.Set(categories.size());
  for (const std::string_view category : categories) reply.Simple("@" + std::string(category));
  const std::vector<std::string_view> tips = SplitWords(command.tips);
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
  const std::pair<std::string_view, std::string_view> replacement[] = {
      {"deprecated_since", command.deprecated_since}, {"replaced_by", command.replaced_by}};
  const auto is_told = [](const auto& text) { return !text.second.empty(); };
  reply.Map(size_t{3} + (command.complexity.empty() ? 0 : 1) + (command.doc_flags.empty() ? 0 : 1) +
            static_cast<size_t>(std::count_if(std::begin(replacement), std::end(replacement), is_told)) +
            (arguments.empty() ? 0 : 1) + (row.subcommands.empty() ? 0 : 1));
  WriteText(reply, "summary", command.summary);
  WriteText(reply, "since", command.since);
  WriteText(reply, "group", row.group);
  if (!command.complexity.empty()) WriteText(reply, "complexity", command.complexity);
  if (!command.doc_flags.empty()) {
    reply.Bulk("doc_flags");
    WriteSimpleSet(reply, {command.doc_flags});
  }
  for (const auto& [name, text] : replacement) {
    if (!text.empty()) WriteText(reply, name, text);
  }
  if (!arguments.empty()) {
    reply.Bulk("arguments");
    reply.Array(arguments.size());
    ArgumentWriter writer(reply, command);
    for (const SyntaxArgument& argument : arguments) writer.Write(argument);
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

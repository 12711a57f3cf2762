#include "exec/docs/command_syntax.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text/ascii.h"

namespace mayfly {
namespace {

using Sequence = std::vector<SyntaxArgument>;
constexpr std::string_view kEmpty = "\"\"";
constexpr std::string_view kRepeat = "...";

bool IsSign(char c) noexcept { return c == '[' || c == ']' || c == '<' || c == '>' || c == '|'; }

std::vector<std::string_view> SplitSyntax(std::string_view text) {
  std::vector<std::string_view> words;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = at + 1;
    if (text[at] == ' ') {
      at = end;
      continue;
    }
    if (!IsSign(text[at])) {
      while (end < text.size() && text[end] != ' ' && !IsSign(text[end])) ++end;
    }
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

bool IsToken(std::string_view word) noexcept { return std::none_of(word.begin(), word.end(), IsLower); }

template <size_t kCount>
bool IsOneOf(std::string_view name, const std::string_view (&names)[kCount]) noexcept {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

ArgumentType TypeOfValue(std::string_view name) noexcept {
  constexpr std::string_view kKeys[] = {"key",    "key1",        "key2",    "newkey",
                                        "source", "destination", "destkey", "sourcekey"};
  constexpr std::string_view kIntegers[] = {"seconds",      "milliseconds",
                                            "cursor",       "count",
                                            "index",        "offset",
                                            "increment",    "decrement",
                                            "numkeys",      "start",
                                            "end",          "stop",
                                            "db",           "destination-db",
                                            "index1",       "index2",
                                            "client-id",    "length",
                                            "protover",     "samples",
                                            "version",      "numreplicas",
                                            "numlocal",     "maxage",
                                            "timeout",      "integer",
                                            "bit",          "min-match-len",
                                            "limit",        "entries-added",
                                            "rank",         "num-matches",
                                            "len",          "weight",
                                            "window",       "slot",
                                            "start-slot",   "end-slot",
                                            "port",         "cluster_bus_port",
                                            "config-epoch", "bits",
                                            "ttl",          "frequency",
                                            "entries-read", "ms"};
  constexpr std::string_view kDoubles[] = {"score",    "float",  "min-score", "max-score", "longitude",
                                           "latitude", "radius", "width",     "height",    "timeout-seconds"};
  if (IsOneOf(name, kKeys)) return ArgumentType::kKey;
  if (IsOneOf(name, kIntegers)) return ArgumentType::kInteger;
  if (IsOneOf(name, kDoubles)) return ArgumentType::kDouble;
  if (name.ends_with("-ms")) return ArgumentType::kInteger;
  if (name == "pattern") return ArgumentType::kPattern;
  if (name.substr(0, 9) == "unix-time") return ArgumentType::kUnixTime;
  return ArgumentType::kString;
}

bool IsPureToken(const SyntaxArgument& argument) noexcept {
  return argument.type == ArgumentType::kPureToken;
}

// True for a value that may belong to the token before.
bool IsBareValue(const SyntaxArgument& argument) noexcept {
  return !IsPureToken(argument) && argument.token.empty() && !argument.optional;
}

SyntaxArgument Block(Sequence arguments) {
  SyntaxArgument block;
  block.type = ArgumentType::kBlock;
  for (const SyntaxArgument& argument : arguments)
    block.name += (block.name.empty() ? "" : "_") + argument.name;
  block.arguments = std::move(arguments);
  return block;
}

// Joins each token to the value after the token; a token before a bracket of several values makes a block.
Sequence BindTokens(Sequence items, bool in_brackets) {
  const auto is_bare = [](const SyntaxArgument& item) { return IsBareValue(item); };
  if (in_brackets && items.size() > 2 && IsPureToken(items[0]) &&
      std::all_of(items.begin() + 1, items.end(), is_bare)) {
    SyntaxArgument block = Block(Sequence(items.begin() + 1, items.end()));
    block.name = items[0].name;
    block.token = items[0].token;
    return {std::move(block)};
  }
  Sequence bound;
  for (SyntaxArgument& item : items) {
    if (!bound.empty() && IsPureToken(bound.back()) && !bound.back().optional && IsBareValue(item)) {
      if (item.type == ArgumentType::kOneOf) item.name = bound.back().name;
      item.token = std::move(bound.back().token);
      bound.back() = std::move(item);
    } else {
      bound.push_back(std::move(item));
    }
  }
  return bound;
}

std::string ChoiceName(const Sequence& choices) {
  if (std::all_of(choices.begin(), choices.end(), IsPureToken)) return "condition";
  const auto is_comparison = [](const SyntaxArgument& choice) { return choice.name.substr(0, 2) == "if"; };
  if (std::any_of(choices.begin(), choices.end(), is_comparison)) return "condition";
  const auto is_expiry = [](const SyntaxArgument& choice) { return choice.name == "seconds"; };
  return std::any_of(choices.begin(), choices.end(), is_expiry) ? "expiration" : "option";
}

class SyntaxParser {
 public:
  explicit SyntaxParser(std::string_view text) : words_(SplitSyntax(text)) {}

  std::optional<Sequence> Run() {
    std::optional<Sequence> items = ParseSequence(false);
    if (!items || at_ != words_.size()) return std::nullopt;
    return BindTokens(std::move(*items), false);
  }

 private:
  bool AtEndOf(bool in_brackets) const noexcept {
    if (at_ == words_.size()) return true;
    const std::string_view word = words_[at_];
    return word == "]" || word == ">" || (in_brackets && word == "|");
  }

  static SyntaxArgument Word(std::string_view word) {
    SyntaxArgument argument;
    if (word == kEmpty) {
      argument.name = "empty_string";
      argument.type = ArgumentType::kPureToken;
      return argument;
    }
    argument.name = LowerCase(word);
    argument.type = IsToken(word) ? ArgumentType::kPureToken : TypeOfValue(word);
    if (IsToken(word)) argument.token = word;
    return argument;
  }

  // Parses up to the end sign. Tokens are not bound yet: "[EX seconds ...]" can be compared.
  std::optional<Sequence> ParseSequence(bool in_brackets) {
    Sequence items;
    while (!AtEndOf(in_brackets)) {
      const std::string_view word = words_[at_++];
      if (word == "[") {
        if (!ParseOptional(items)) return std::nullopt;
      } else if (word == "<") {
        std::optional<SyntaxArgument> group = ParseGroup(">");
        if (!group) return std::nullopt;
        items.push_back(std::move(*group));
      } else if (word == kRepeat) {
        if (items.empty()) return std::nullopt;
        items.back().multiple = true;
        items.back().multiple_token = !items.back().token.empty();
      } else if (word == "|") {
        if (items.empty() || at_ == words_.size() || IsSign(words_[at_][0])) return std::nullopt;
        JoinChoice(items, Word(words_[at_++]));
      } else {
        items.push_back(Word(word));
      }
    }
    return items;
  }

  // Joins "ON|OFF" outside of brackets.
  static void JoinChoice(Sequence& items, SyntaxArgument choice) {
    SyntaxArgument& last = items.back();
    if (last.type != ArgumentType::kOneOf) {
      SyntaxArgument one_of;
      one_of.type = ArgumentType::kOneOf;
      one_of.arguments.push_back(std::move(last));
      last = std::move(one_of);
    }
    last.arguments.push_back(std::move(choice));
    last.name = ChoiceName(last.arguments);
  }

  // After a "[": either a repetition of the arguments before the bracket ("key value [key value ...]"), or new arguments.
  bool ParseOptional(Sequence& items) {
    const size_t inside = at_;
    if (FoldRepeat(items)) return true;
    at_ = inside;
    std::optional<SyntaxArgument> group = ParseGroup("]");
    if (!group) return false;
    group->optional = true;
    items.push_back(std::move(*group));
    return true;
  }

  bool FoldRepeat(Sequence& items) {
    std::optional<Sequence> again = ParseSequence(true);
    if (!again || again->empty() || !again->back().multiple || again->size() > items.size()) return false;
    if (at_ == words_.size() || words_[at_] != "]") return false;
    const auto same = [](const SyntaxArgument& a, const SyntaxArgument& b) { return a.name == b.name; };
    const auto first = items.end() - static_cast<std::ptrdiff_t>(again->size());
    if (!std::equal(first, items.end(), again->begin(), same)) return false;
    ++at_;
    if (again->size() > 1) {
      SyntaxArgument block = Block(BindTokens(Sequence(first, items.end()), false));
      items.erase(first, items.end());
      items.push_back(std::move(block));
    }
    items.back().multiple = true;
    return true;
  }

  // Parses the alternatives up to `closing`, as one argument.
  std::optional<SyntaxArgument> ParseGroup(std::string_view closing) {
    Sequence choices;
    for (;;) {
      std::optional<Sequence> items = ParseSequence(true);
      if (!items || items->empty() || at_ == words_.size()) return std::nullopt;
      Sequence bound = BindTokens(std::move(*items), true);
      choices.push_back(bound.size() == 1 ? std::move(bound[0]) : Block(std::move(bound)));
      const std::string_view sign = words_[at_++];
      if (sign == closing) break;
      if (sign != "|") return std::nullopt;
    }
    if (choices.size() == 1) return std::move(choices[0]);
    SyntaxArgument one_of;
    one_of.type = ArgumentType::kOneOf;
    one_of.name = ChoiceName(choices);
    one_of.arguments = std::move(choices);
    return one_of;
  }

  std::vector<std::string_view> words_;
  size_t at_ = 0;
};

}  // namespace

std::string_view NameOf(ArgumentType type) noexcept {
  switch (type) {
    case ArgumentType::kString:
      return "string";
    case ArgumentType::kInteger:
      return "integer";
    case ArgumentType::kDouble:
      return "double";
    case ArgumentType::kKey:
      return "key";
    case ArgumentType::kPattern:
      return "pattern";
    case ArgumentType::kUnixTime:
      return "unix-time";
    case ArgumentType::kPureToken:
      return "pure-token";
    case ArgumentType::kOneOf:
      return "oneof";
    case ArgumentType::kBlock:
      return "block";
  }
  return "string";
}

std::optional<std::vector<SyntaxArgument>> ParseSyntax(std::string_view syntax) {
  return SyntaxParser(syntax).Run();
}

}  // namespace mayfly

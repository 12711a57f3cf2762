#include "differential/syntax_walker.h"

#include <algorithm>

namespace mayfly::testing {
namespace {

constexpr size_t kMostRepeats = 5;

// Options that begin with a word of their own may stand in any order.
bool IsMovable(const SyntaxArgument& argument) {
  if (!argument.optional) return false;
  if (argument.type != ArgumentType::kOneOf) return !argument.token.empty();
  return std::all_of(argument.arguments.begin(), argument.arguments.end(),
                     [](const SyntaxArgument& choice) { return !choice.token.empty(); });
}

}  // namespace

std::vector<DrawnWord> SyntaxWalker::Walk(const RowSyntax& syntax, std::string_view wanted) {
  row_ = syntax.row->full_name;
  values_.SetGroup(syntax.row->group);
  Out out;
  DrawAll(syntax.arguments, wanted, out);
  return out;
}

std::vector<DrawnWord> SyntaxWalker::WalkOne(const RowSyntax& syntax) {
  row_ = syntax.row->full_name;
  values_.SetGroup(syntax.row->group);
  Out out;
  if (syntax.arguments.empty()) return out;
  std::vector<const SyntaxArgument*> options;
  for (const SyntaxArgument& argument : syntax.arguments) {
    if (argument.optional) options.push_back(&argument);
  }
  DrawOne(options.empty() ? dice_.Any(syntax.arguments) : *dice_.Any(options), "", out);
  return out;
}

void SyntaxWalker::DrawAll(const std::vector<SyntaxArgument>& arguments, std::string_view wanted, Out& out) {
  for (size_t i = 0; i < arguments.size();) {
    std::vector<const SyntaxArgument*> options;
    for (; i < arguments.size() && IsMovable(arguments[i]); ++i) options.push_back(&arguments[i]);
    if (!options.empty()) {
      DrawOptions(options, wanted, out);
      continue;
    }
    const SyntaxArgument& argument = arguments[i++];
    const bool needed = !argument.optional || (!wanted.empty() && Holds(argument, wanted));
    if (needed || dice_.OneIn(2)) DrawOne(argument, wanted, out);
  }
}

void SyntaxWalker::DrawOptions(const std::vector<const SyntaxArgument*>& options, std::string_view wanted,
                               Out& out) {
  std::vector<const SyntaxArgument*> chosen;
  for (const SyntaxArgument* option : options) {
    const bool needed = !wanted.empty() && Holds(*option, wanted);
    if (needed || dice_.Below(5) < 2) chosen.push_back(option);
  }
  for (size_t i = chosen.size(); i > 1; --i) std::swap(chosen[i - 1], chosen[dice_.Below(i)]);
  for (const SyntaxArgument* option : chosen) DrawOne(*option, wanted, out);
}

void SyntaxWalker::DrawOne(const SyntaxArgument& argument, std::string_view wanted, Out& out) {
  DrawOnce(argument, wanted, out);
  if (!argument.multiple || dice_.OneIn(3)) return;
  for (size_t more = dice_.Below(kMostRepeats); more > 0; --more) DrawOnce(argument, "", out);
}

void SyntaxWalker::DrawOnce(const SyntaxArgument& argument, std::string_view wanted, Out& out) {
  if (!argument.token.empty()) out.push_back({argument.token, &argument, true});
  if (argument.type == ArgumentType::kPureToken) return;
  if (argument.type == ArgumentType::kOneOf) {
    std::vector<const SyntaxArgument*> choices;
    for (const SyntaxArgument& choice : argument.arguments) {
      if (wanted.empty() || Holds(choice, wanted)) choices.push_back(&choice);
    }
    if (choices.empty()) {
      for (const SyntaxArgument& choice : argument.arguments) choices.push_back(&choice);
    }
    return DrawOne(*dice_.Any(choices), wanted, out);
  }
  std::vector<std::string> values = values_.Tame(row_, argument);
  if (values.empty()) return DrawAll(argument.arguments, wanted, out);
  for (std::string& value : values) out.push_back({std::move(value), &argument, false});
}

}  // namespace mayfly::testing

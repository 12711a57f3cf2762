#include "config/apply.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "config/nearest.h"
#include "config/values.h"
#include "config/words.h"

namespace mayfly::config {

std::vector<std::string> WordsOf(const Option& option, const Directive& directive) {
  const std::vector<std::string>& words = directive.words;
  const bool splits = option.Has(kMultiWord) && words.size() == 1 && !words[0].empty();
  return splits ? SplitAtSpaces(words[0]) : words;
}

namespace {

// True for a line of a file that is a name without a value. As in Redis, such a line of some options is an empty value, or
// has an error of its own.
bool LacksValue(const Option& option, const Directive& directive) {
  if (!directive.in_file || !directive.words.empty()) return false;
  constexpr std::string_view kMayStandAlone[] = {
      "bind", "client-output-buffer-limit", "latency-tracking-info-percentiles",
      "save", "shutdown-on-sigint",         "shutdown-on-sigterm"};
  return std::find(std::begin(kMayStandAlone), std::end(kMayStandAlone), option.name) ==
         std::end(kMayStandAlone);
}

}  // namespace

Problem ApplyDirective(const Directive& directive, Settings& settings, const Option*& option,
                       std::string& foreign_text) {
  option = FindOption(directive.name);
  if (option == nullptr)
    return directive.place + ": unknown option '" + Printable(directive.name) + "'" +
           DidYouMean(directive.name);
  if (option->Has(kMultiWord) && LacksValue(*option, directive))
    return directive.Blame() + ": wrong number of arguments";
  if (Problem problem = ReadValue(*option, WordsOf(*option, directive), settings, foreign_text))
    return directive.Blame() + ": " + *problem;
  return std::nullopt;
}

bool IsRefused(const Option& option, const std::string& value) {
  return option.Has(kRefused) && value != option.default_text;
}

std::string Refusal(const Option& option, const std::string& value) {
  std::string text(option.name);
  if (!option.Has(kSecret)) text.append(" ").append(Printable(value));
  return text.append(" is refused: ").append(option.doc);
}

}  // namespace mayfly::config

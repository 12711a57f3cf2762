#include "config/sources/conf_rewrite.h"

#include <algorithm>
#include <optional>

#include "base/text/ascii.h"
#include "config/sources/conf_file.h"
#include "config/values.h"
#include "config/words.h"

namespace mayfly::config {
namespace {

constexpr std::string_view kHeading = "# Written by CONFIG REWRITE";

std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The first word, in lower case; empty for a comment or an empty line.
std::string NameOf(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos || line[begin] == '#') return {};
  const std::optional<std::vector<std::string>> words = SplitWords(line.substr(begin));
  return words && !words->empty() ? LowerCase(words->front()) : std::string();
}

bool Names(const std::string& line, const Option& option) {
  const std::string name = NameOf(line);
  return !name.empty() && FindOption(name) == &option;
}

std::string InQuotesUnlessPlain(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return c > ' ' && c <= '~' && c != '"' && c != '\'' && c != '\\' && c != '#';
  });
  return plain ? word : QuoteWord(word);
}

// Replaces the last line that names the option and removes the earlier lines. If an include after the last line would
// override the new line, the last line is removed as well. Returns true if a line was replaced.
bool PutInPlace(std::vector<std::string>& lines, const ConfLine& line) {
  bool put = false;
  bool overridden = false;
  for (auto at = lines.rbegin(); at != lines.rend();) {
    overridden |= line.included && NameOf(*at) == "include";
    if (!Names(*at, *line.option)) {
      ++at;
    } else if (!put && !overridden && !line.text.empty()) {
      *at++ = line.text;
      put = true;
    } else {
      at = std::make_reverse_iterator(lines.erase(std::next(at).base()));
    }
  }
  return put;
}

}  // namespace

std::string LineOf(const Option& option, const Settings& settings,
                   const std::map<const Option*, std::string>& foreign) {
  const auto found = foreign.find(&option);
  std::string value = found != foreign.end() ? found->second : FormatValue(option, settings);
  // Auto or a percentage is written as set, not as the resulting bytes on this machine.
  const MaxMemory& maxmemory = settings.maxmemory;
  if (option.name == "maxmemory" && maxmemory.request == MaxMemory::Request::kPercent)
    value = std::to_string(maxmemory.amount) + "%";
  if (option.name == "maxmemory" && maxmemory.request == MaxMemory::Request::kAuto) value = "auto";
  const bool several = option.Has(kMultiWord) && !value.empty();
  std::string line(option.name);
  for (const std::string& word : several ? SplitAtSpaces(value) : std::vector<std::string>{value})
    line.append(" ").append(InQuotesUnlessPlain(word));
  return line;
}

std::string RewriteConf(std::string_view text, std::vector<ConfLine> changes) {
  const std::string_view mark = text.starts_with(kByteOrderMark) ? kByteOrderMark : "";
  text.remove_prefix(mark.size());
  std::vector<std::string> lines = LinesOf(text);
  std::sort(changes.begin(), changes.end(),
            [](const ConfLine& a, const ConfLine& b) { return a.option->name < b.option->name; });
  for (const ConfLine& change : changes) {
    if (PutInPlace(lines, change) || change.text.empty()) continue;
    if (std::find(lines.begin(), lines.end(), kHeading) == lines.end()) {
      if (!lines.empty() && !lines.back().empty()) lines.emplace_back();
      lines.emplace_back(kHeading);
    }
    lines.push_back(change.text);
  }
  std::string rewritten(mark);
  for (const std::string& line : lines) rewritten.append(line).append("\n");
  return rewritten;
}

}  // namespace mayfly::config

#include "config/environment.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "config/option.h"
#include "config/words.h"

namespace mayfly::config {
namespace {

constexpr std::string_view kPrefix = "MAYFLY_";
constexpr std::string_view kFileSuffix = "_FILE";
constexpr std::string_view kBlanks = " \t\r\n\v\f";

const Option* FindVariable(std::string_view name) {
  std::string option_name(name);
  std::replace(option_name.begin(), option_name.end(), '_', '-');
  const Option* option = FindOption(option_name);
  // MAYFLY_USER is more likely somebody's user name than an ACL rule.
  const bool no_setting = option != nullptr && option->Has(kNoConfig) &&
                          (option->name == "user" || std::holds_alternative<Foreign>(option->target));
  return no_setting ? nullptr : option;
}

bool IsServiceAddress(std::string_view name, std::string_view value) {
  if (!name.ends_with("PORT")) return false;
  return value.starts_with("tcp://") || value.starts_with("udp://") || value.starts_with("sctp://");
}

std::vector<std::string> WordsOf(const Option& option, const std::string& value) {
  if (!option.Has(kMultiWord)) return {value};
  return SplitWords(value).value_or(std::vector<std::string>{value});
}

// A file without a value is an error: most likely a secret was not filled in, and an empty password would let
// everybody in. Whoever wants the empty value writes MAYFLY_<NAME>= instead. So are several lines: they would be one
// password, with line ends in it that nobody can type.
Problem ReadValueFile(const std::string& path, const Files& files, std::string& value) {
  std::string text;
  if (Problem problem = files.read(path, text)) return problem;
  if (text.find_first_not_of(kBlanks) == std::string::npos) return Printable(path) + ": holds no value";
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  if (text.find('\n') != std::string::npos) return Printable(path) + ": holds more than one line";
  value = std::move(text);
  return std::nullopt;
}

}  // namespace

Problem ReadEnvironment(std::span<const std::string> variables, const Files& files,
                        std::vector<Directive>& directives, std::vector<std::string>& warnings) {
  std::string ignored;
  std::set<std::pair<const Option*, bool>> seen;  // true: the value came from a file
  for (const std::string& variable : variables) {
    if (!variable.starts_with(kPrefix)) continue;
    const size_t equals = std::min(variable.find('='), variable.size());
    const std::string full_name = variable.substr(0, equals);
    std::string_view name = std::string_view(full_name).substr(kPrefix.size());
    std::string value = variable.substr(std::min(equals + 1, variable.size()));
    const Option* option = IsServiceAddress(name, value) ? nullptr : FindVariable(name);
    bool by_file = false;
    if (option == nullptr && name.ends_with(kFileSuffix)) {
      option = FindVariable(name.substr(0, name.size() - kFileSuffix.size()));
      by_file = option != nullptr;
    }
    if (option == nullptr) {
      ignored += (ignored.empty() ? "" : ", ") + Printable(full_name);
      continue;
    }
    if (by_file) {
      const std::string path = std::move(value);
      if (Problem problem = ReadValueFile(path, files, value)) return full_name + ": " + *problem;
    }
    seen.emplace(option, by_file);
    if (seen.contains({option, !by_file})) return full_name + ": given both as a value and as a file";
    directives.push_back({full_name, false, std::string(option->name), WordsOf(*option, value)});
  }
  if (!ignored.empty())
    warnings.push_back("environment variables that set no option are ignored: " + ignored);
  return std::nullopt;
}

}  // namespace mayfly::config

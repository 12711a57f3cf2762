#include "config/sources/environment.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/text/ascii.h"
#include "config/nearest.h"
#include "config/option.h"
#include "config/words.h"

namespace mayfly::config {
namespace {

constexpr std::string_view kPrefix = "MAYFLY_";
constexpr std::string_view kFileSuffix = "_FILE";
constexpr std::string_view kWhitespace = " \t\r\n\v\f";

std::string OptionName(std::string_view name) {
  std::string option_name(name);
  std::replace(option_name.begin(), option_name.end(), '_', '-');
  return option_name;
}

// MAYFLY_USER is more likely somebody's user name than an ACL rule.
bool HasVariable(const Option& option) {
  return !option.Has(kNoConfig) || (option.name != "user" && !std::holds_alternative<Foreign>(option.target));
}

const Option* FindVariable(std::string_view name) {
  const Option* option = FindOption(OptionName(name));
  return option != nullptr && HasVariable(*option) ? option : nullptr;
}

bool IsServiceAddress(std::string_view name, std::string_view value) {
  if (!name.ends_with("PORT")) return false;
  return value.starts_with("tcp://") || value.starts_with("udp://") || value.starts_with("sctp://");
}

// Returns true for the variables that Kubernetes sets for a Service, such as mayfly-auth.
bool IsOfService(std::string_view name, std::string_view value) {
  return IsServiceAddress(name, value) || name.find("SERVICE_HOST") != std::string_view::npos ||
         name.find("SERVICE_PORT") != std::string_view::npos || name.find("_TCP") != std::string_view::npos ||
         name.find("_UDP") != std::string_view::npos;
}

bool LooksSecret(std::string_view name) {
  const std::string upper = UpperCase(name);
  constexpr std::string_view kSigns[] = {"PASS", "TOKEN", "SECRET", "AUTH"};
  return std::any_of(std::begin(kSigns), std::end(kSigns),
                     [&](std::string_view sign) { return upper.find(sign) != std::string::npos; });
}

// The variable of the nearest option; empty if no option is near.
std::string NearestVariable(std::string_view name) {
  std::string variable = UpperCase(NearestOption(OptionName(name), HasVariable));
  std::replace(variable.begin(), variable.end(), '-', '_');
  return variable.empty() ? variable : std::string(kPrefix) + variable;
}

// For a variable that sets no option. A password under a wrong name would leave the server open.
Problem RefuseSecret(const std::string& full_name, std::string_view name, std::string_view value) {
  if (IsOfService(name, value)) return std::nullopt;
  const std::string nearest = NearestVariable(name);
  const Option* const option = FindOption(NearestOption(OptionName(name), HasVariable));
  if (!LooksSecret(name) && (option == nullptr || !option->Has(kSecret))) return std::nullopt;
  return Printable(full_name) + ": no option has this name, and it looks like a secret; " +
         (nearest.empty() ? "the password is MAYFLY_REQUIREPASS or MAYFLY_REQUIREPASS_FILE"
                          : "did you mean " + nearest + "?");
}

// The variables of Redis's and Valkey's images and charts. Redis itself does not read them, so they are no error.
bool IsPasswordForRedis(std::string_view name) {
  constexpr std::string_view kNames[] = {"REDIS_PASSWORD", "REDIS_PASSWORD_FILE", "VALKEY_PASSWORD",
                                         "VALKEY_PASSWORD_FILE"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

std::vector<std::string> WordsOf(const Option& option, const std::string& value) {
  if (!option.Has(kMultiWord)) return {value};
  return SplitWords(value).value_or(std::vector<std::string>{value});
}

// A file without a value is an error: most likely a secret was not filled in, and an empty password would let everybody in.
// The form for an empty value is MAYFLY_<NAME>= instead. Several lines are an error, too: they would be one password with
// line ends, and nobody can type line ends.
Problem ReadValueFile(const std::string& path, const Files& files, std::string& value) {
  std::string text;
  if (Problem problem = files.read(path, text)) return problem;
  if (text.find_first_not_of(kWhitespace) == std::string::npos) return Printable(path) + ": holds no value";
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
    const size_t equals = std::min(variable.find('='), variable.size());
    const std::string full_name = variable.substr(0, equals);
    if (IsPasswordForRedis(full_name))
      warnings.push_back(
          full_name + " is set, but not read: the password is MAYFLY_REQUIREPASS or MAYFLY_REQUIREPASS_FILE");
    if (!variable.starts_with(kPrefix)) continue;
    std::string_view name = std::string_view(full_name).substr(kPrefix.size());
    std::string value = variable.substr(std::min(equals + 1, variable.size()));
    const Option* option = IsServiceAddress(name, value) ? nullptr : FindVariable(name);
    bool by_file = false;
    std::string place = full_name;
    if (option == nullptr && name.ends_with(kFileSuffix)) {
      option = FindVariable(name.substr(0, name.size() - kFileSuffix.size()));
      by_file = option != nullptr;
    }
    if (option == nullptr) {
      if (Problem problem = RefuseSecret(full_name, name, value)) return problem;
      ignored += (ignored.empty() ? "" : ", ") + Printable(full_name);
      const std::string nearest = IsOfService(name, value) ? "" : NearestVariable(name);
      if (!nearest.empty()) ignored += " (did you mean " + nearest + "?)";
      continue;
    }
    if (by_file) {
      const std::string path = std::move(value);
      if (Problem problem = ReadValueFile(path, files, value)) return full_name + ": " + *problem;
      place += ": " + Printable(path);
    }
    seen.emplace(option, by_file);
    if (seen.contains({option, !by_file})) return full_name + ": given both as a value and as a file";
    directives.push_back({place, false, std::string(option->name), WordsOf(*option, value)});
  }
  if (!ignored.empty())
    warnings.push_back("environment variables that set no option are ignored: " + ignored);
  return std::nullopt;
}

}  // namespace mayfly::config

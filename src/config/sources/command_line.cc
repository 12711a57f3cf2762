#include "config/sources/command_line.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/text/ascii.h"
#include "config/nearest.h"
#include "config/option.h"
#include "config/sources/check.h"
#include "config/sources/completion.h"
#include "config/words.h"

namespace mayfly::config {
namespace {

constexpr const char* kVersionText = "Mayfly server v=" MAYFLY_VERSION;

constexpr Option kInclude = {
    "include", "", Foreign::kText, "", kNoConfig, 0, 0, "read another conf file first"};

bool IsFlag(const std::string& word) { return word.starts_with("--"); }

// `--completion SHELL` or `--completion=SHELL`, as the only flag: sets the answer, or the problem.
bool AnswersCompletion(std::span<const std::string> words, CommandLine& result, Problem& problem) {
  constexpr std::string_view kFlag = "--completion";
  if (words.empty() || !words[0].starts_with(kFlag)) return false;
  std::string shell = words[0].substr(kFlag.size());
  if (!shell.empty() && shell[0] != '=') return false;
  if (shell.empty())
    shell = words.size() > 1 ? words[1] : "";
  else
    shell.erase(0, 1);
  result.answer = CompletionFor(shell);
  if (!result.answer)
    problem = "--completion: there is none for '" + Printable(shell) + "', but for bash, zsh and fish";
  return true;
}

// The name in "--name=value" or "--name".
std::string NameOfFlag(const std::string& flag) {
  return flag.substr(std::min<size_t>(2, flag.size()), std::max<size_t>(2, flag.find('=')) - 2);
}

// A flag that takes no value.
bool IsQuestion(std::string_view flag) { return flag == "--help" || flag == "--version"; }

// Joins each flag and its words into one "--name=..."; SplitWords takes the value apart again. CLI11 alone would take a
// value like "-::1" for a flag, and would mix the words of a flag given twice.
std::vector<std::string> JoinFlags(std::span<const std::string> words) {
  std::vector<std::string> flags;
  for (size_t i = 0; i < words.size();) {
    const std::string& flag = words[i++];
    const size_t equals = flag.find('=');
    std::string joined =
        flag.substr(0, equals) + "= ";  // the space tells an empty value from a missing value
    if (equals != std::string::npos) joined += QuoteWord(flag.substr(equals + 1));
    bool has_value = equals != std::string::npos;
    for (; i < words.size() && !IsFlag(words[i]); ++i, has_value = true)
      joined.append(" ").append(QuoteWord(words[i]));
    flags.push_back(IsQuestion(flag) && !has_value ? flag : joined);
  }
  return flags;
}

// The flags known to CLI11: the flags on the command line, or, for --help, all flags with an effect here. Never all: CLI11
// compares each new flag with every other, and with Redis's 200 flags that would take longer than the rest of the start.
class Flags {
 public:
  Flags(CLI::App& app, const std::vector<std::string>& joined) {
    const bool help = std::find_if(joined.begin(), joined.end(), IsHelp) != joined.end();
    std::set<const Option*> used;
    bool include = help;
    for (const std::string& flag : joined) {
      const std::string name = LowerCase(NameOfFlag(flag));
      if (const Option* option = FindOption(name)) used.insert(option);
      include |= name == "include";
    }
    if (include) Add(app, kInclude);
    for (const Option& option : MayflyOptions()) {
      if (help || used.contains(&option)) Add(app, option);
    }
    for (const Option& option : RedisOptions()) {
      if (used.contains(&option)) Add(app, option);
    }
  }

  std::vector<Directive> Directives() const {
    std::vector<Directive> directives;
    for (const auto& [option, values] : flags_) {
      for (const std::string& value : values) {
        std::vector<std::string> words = SplitWords(value).value_or(std::vector<std::string>());
        directives.push_back(
            {"--" + std::string(option->name), false, std::string(option->name), std::move(words)});
      }
    }
    return directives;
  }

 private:
  static bool IsHelp(const std::string& flag) { return flag == "-h" || flag == "--help"; }

  void Add(CLI::App& app, const Option& option) {
    std::string names = "--" + std::string(option.name);
    if (!option.alias.empty()) names += ",--" + std::string(option.alias);
    flags_.emplace_back(&option, std::vector<std::string>());
    CLI::Option* flag = app.add_option(names, flags_.back().second, std::string(option.doc));
    flag->allow_extra_args(false)->take_all();
    flag->option_text(option.default_text.empty() ? "\"\"" : std::string(option.default_text));
  }

  // Each flag with its values from JoinFlags, a value for each time that the flag was given. A deque, because CLI11 keeps
  // the addresses of the values.
  std::deque<std::pair<const Option*, std::vector<std::string>>> flags_;
};

}  // namespace

std::string IfFlagIsMeant(const std::string& word) {
  if (word.find_first_of("./") != std::string::npos) return {};  // a path
  const bool is_option = FindOption(LowerCase(word)) != nullptr;
  return is_option ? ", did you mean '--" + LowerCase(word) + "'?" : DidYouMean(word, "--");
}

Problem ReadCommandLine(std::span<const std::string> words, CommandLine& result) {
  if (Problem problem; AnswersCompletion(words, result, problem)) return problem;
  std::vector<std::string> joined;
  if (!words.empty() && (words[0] == "-h" || words[0] == "-v")) {
    joined.push_back(words[0]);
    words = words.subspan(1);
  } else if (!words.empty() && !IsFlag(words[0])) {
    if (words[0].size() > 1 && words[0][0] == '-')
      return "unknown flag '" + Printable(words[0]) + "'" + IfFlagIsMeant(words[0].substr(1));
    result.conf_file = words[0];
    words = words.subspan(1);
  }
  if (!words.empty() && !IsFlag(words[0])) {
    std::string hint = IfFlagIsMeant(words[0]);  // as in `mayfly my.conf port 6380`
    if (hint.empty() && result.conf_file) hint = IfFlagIsMeant(*result.conf_file);  // `mayfly port 6380`
    return "unexpected argument '" + Printable(words[0]) + "'" + hint;
  }
  for (std::string& flag : JoinFlags(words)) {
    const std::string_view name = std::string_view(flag).substr(0, flag.find('='));
    if (IsQuestion(name) && name.size() != flag.size()) return std::string(name) + " takes no value";
    if (name == "--ping" || name == kCheckConfig.name || name == kCheckRdb.name)
      return std::string(name) + " stands before all other words";
    joined.push_back(std::move(flag));
  }

  CLI::App app("Mayfly, a cache that keeps time. The conf file has redis.conf syntax; - is standard input.",
               "mayfly [conf-file]");
  app.option_defaults()->ignore_case();
  app.set_help_flag("-h,--help", "print this and exit");
  app.set_version_flag("-v,--version", kVersionText, "print the version and exit");
  app.allow_extras();
  std::string shell;
  // Only for the help text: other code handles a command line with one of these words.
  std::string unread;
  app.add_option("--check-config", unread, "print every problem of a conf file and exit")
      ->option_text("FILE");
  app.add_option("--check-rdb", unread, "read a snapshot file, say what it has, and exit")
      ->option_text("FILE");
  bool ping = false;
  app.add_flag("--ping", ping,
               "ask the daemon that the other flags describe whether it serves: --ping --help");
  const CLI::Option* const completion =
      app.add_option("--completion", shell, "print a script for bash, zsh or fish and exit")
          ->option_text("SHELL");
  const Flags flags(app, joined);
  std::reverse(joined.begin(), joined.end());  // CLI11 takes flags from the back
  try {
    app.parse(std::move(joined));
  } catch (const CLI::CallForHelp&) {
    result.answer = app.help();
    return std::nullopt;
  } catch (const CLI::CallForVersion&) {
    result.answer = std::string(kVersionText) + "\n";
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return Printable(error.what());
  }
  if (completion->count() != 0) return "--completion takes no other flags beside it";
  if (const std::vector<std::string> unknown = app.remaining(); !unknown.empty()) {
    const std::string flag = unknown[0].substr(0, unknown[0].find('='));
    return "unknown flag '" + Printable(flag) + "'" + DidYouMean(NameOfFlag(flag), "--");
  }
  result.directives = flags.Directives();
  return std::nullopt;
}

}  // namespace mayfly::config

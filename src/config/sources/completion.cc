#include "config/sources/completion.h"

#include <span>

#include "config/option.h"
#include "config/values.h"

namespace mayfly::config {
namespace {

// Flags beside the options.
constexpr Option kOthers[] = {
    {"include", "", Foreign::kFileName, "", 0, 0, 0, "read another conf file first"},
    {"help", "", Foreign::kYesNo, "", 0, 0, 0, "print a help text and exit"},
    {"check-config", "", Foreign::kFileName, "", 0, 0, 0, "print every problem of a conf file and exit"},
    {"check-rdb", "", Foreign::kFileName, "", 0, 0, 0, "read a snapshot file, say what it has, and exit"},
    {"ping", "", Foreign::kYesNo, "", 0, 0, 0, "ask a daemon whether it serves, and exit"},
    {"version", "", Foreign::kYesNo, "", 0, 0, 0, "print the version and exit"},
    {"completion", "", Foreign::kChoice, "", 0, 0, 0, "print a script for a shell and exit", "bash zsh fish"},
};

std::string JoinedWords(const Option& option) {
  if (!option.choices.empty()) return std::string(option.choices);
  std::string joined;
  for (const std::string_view word : WordsFor(option)) joined.append(joined.empty() ? "" : " ").append(word);
  return joined;
}

template <typename Visit>
void ForEachFlag(Visit&& visit) {
  for (const Option& option : MayflyOptions()) visit(option);
  for (const Option& option : kOthers) visit(option);
}

// In single quotes, as read by all three shells: a quote in the text ends the quoted part and stands beside that part.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) c == '\'' ? quoted.append("'\\''") : quoted.append(1, c);
  return quoted + '\'';
}

std::string Bash() {
  std::string flags;
  std::string cases;
  ForEachFlag([&](const Option& option) {
    const std::string flag = "--" + std::string(option.name);
    flags.append(flags.empty() ? "" : " ").append(flag);
    if (const std::string words = JoinedWords(option); !words.empty())
      cases += "    " + flag + ") COMPREPLY=($(compgen -W " + Quoted(words) + " -- \"$word\")); return ;;\n";
  });
  return "# Completes the command line of mayfly in bash; made by mayfly --completion bash.\n"
         "_mayfly() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "  compopt +o default\n"
         "  case $before in\n" +
         cases +
         "  esac\n"
         "  if [[ $word == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W " +
         Quoted(flags) +
         " -- \"$word\"))\n"
         "  else\n"
         "    compopt -o default  # bash itself completes paths, also those with spaces\n"
         "  fi\n"
         "}\n"
         "complete -o default -F _mayfly mayfly\n";
}

// Escapes the characters with a special meaning to zsh's _arguments.
std::string ZshText(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string Zsh() {
  std::string script =
      "#compdef mayfly\n"
      "# Completes the command line of mayfly in zsh; made by mayfly --completion zsh.\n"
      "_arguments \\\n";
  ForEachFlag([&](const Option& option) {
    std::string flag = "*--" + std::string(option.name) + '[' + ZshText(option.doc) + ']';
    if (option.name != "help" && option.name != "version" && option.name != "ping") {
      const std::string words = JoinedWords(option);
      flag += ":value:" + (words.empty() ? "_files" : '(' + words + ')');
    }
    script += "  " + Quoted(flag) + " \\\n";
  });
  return script + "  '1:conf file:_files'\n";
}

std::string Fish() {
  std::string script = "# Completes the command line of mayfly in fish; made by mayfly --completion fish.\n";
  ForEachFlag([&](const Option& option) {
    script += "complete -c mayfly -l " + std::string(option.name);
    if (option.name != "help" && option.name != "version" && option.name != "ping") {
      const std::string words = JoinedWords(option);
      script += words.empty() ? " -r" : " -x -a " + Quoted(words);
    }
    script += " -d " + Quoted(option.doc) + '\n';
  });
  return script;
}

}  // namespace

std::optional<std::string> CompletionFor(std::string_view shell) {
  if (shell == "bash") return Bash();
  if (shell == "zsh") return Zsh();
  if (shell == "fish") return Fish();
  return std::nullopt;
}

}  // namespace mayfly::config

// Reads `mayfly [conf-file] [--name value ...]`.
//
// As in Redis, a first word without "--" names the conf file ("-" is standard input). Each later word belongs to the flag
// before it, up to the next word that begins with "--": `--bind -::1` and `--save ""` work. A value beginning with "--" is
// written `--name=value`. A flag given twice has the effect of two lines in a file: the later flag wins, or adds to the
// earlier flag. `--completion SHELL` is answered at once.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/directive.h"
#include "config/problem.h"

namespace mayfly::config {

struct CommandLine {
  std::optional<std::string> answer;  // of --help, --version or --completion: print the text and exit
  std::optional<std::string> conf_file;
  std::vector<Directive> directives;
};

// ", did you mean '--port'?" if a word in the place of the conf file is the name of an option, or nearly so; otherwise "".
std::string IfFlagIsMeant(const std::string& word);

// `words` do not contain the program's name. An include flag becomes one of the directives.
[[nodiscard]] Problem ReadCommandLine(std::span<const std::string> words, CommandLine& result);

}  // namespace mayfly::config

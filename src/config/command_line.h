// Reads `mayfly [conf-file] [--name value ...]`.
//
// As in Redis, a first word without "--" is the conf file ("-" is standard input), and every word up to the
// next one that begins with "--" belongs to the flag before it, so that `--bind -::1` and `--save ""` work. A
// value that itself begins with "--" is written `--name=value`. A flag that is given again wins, or adds, as
// its line would.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/directive.h"
#include "config/problem.h"

namespace mayfly::config {

struct CommandLine {
  std::optional<std::string> answer;  // --help or --version: print this and go
  std::optional<std::string> conf_file;
  std::vector<Directive> directives;
};

// `words` without the program's own name. An include flag is one of the directives.
[[nodiscard]] Problem ReadCommandLine(std::span<const std::string> words, CommandLine& result);

}  // namespace mayfly::config

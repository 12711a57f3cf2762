// mayfly --check-config FILE: reports every problem of a conf file and its includes, and starts nothing.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/problem.h"
#include "config/sources/files.h"

namespace mayfly::config {

// Whether `words`, the command line without the program's name, ask for it. Then `path` is the file, unless the
// problem says that there is none.
bool AsksForCheck(std::span<const std::string> words, std::string& path, Problem& problem);

// All problems for which a daemon with this file would not start, one line each: first lines that cannot be read at all,
// then the others in the order of the file. They begin with
// file and line, but for those that no line alone has. Variables of the environment are not looked at.
std::vector<std::string> ProblemsOf(const std::string& path, const Files& files);

}  // namespace mayfly::config

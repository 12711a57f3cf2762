// mayfly --check-config FILE: reports every problem of a conf file and its includes, and starts nothing.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/problem.h"
#include "config/sources/files.h"

namespace mayfly::config {

// Returns true if `words`, the command line without the program's name, are a call of --check-config. Then `path` is the
// file, unless `problem` reports a missing file.
bool AsksForCheck(std::span<const std::string> words, std::string& path, Problem& problem);

// All problems that would stop a daemon with this file, one line each: first unreadable lines, then the others in the order
// of the file. Each problem of a single line begins with file and line. Variables of the environment are ignored.
std::vector<std::string> ProblemsOf(const std::string& path, const Files& files);

}  // namespace mayfly::config

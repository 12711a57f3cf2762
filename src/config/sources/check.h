// mayfly --check-config FILE: reports every problem of a conf file and its includes, and starts nothing. The words of
// mayfly --check-rdb FILE (snapshot/file_check.h) are read here, too.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/problem.h"
#include "config/sources/files.h"

namespace mayfly::config {

struct CheckFlag {
  std::string_view name;
  std::string_view file;  // what kind of file
};
inline constexpr CheckFlag kCheckConfig{"--check-config", "conf file"};
inline constexpr CheckFlag kCheckRdb{"--check-rdb", "snapshot file"};

// Returns true if `words`, the command line without the program's name, are a call with this flag. Then `path` is the file,
// unless `problem` reports a missing file.
bool AsksForCheck(std::span<const std::string> words, const CheckFlag& flag, std::string& path,
                  Problem& problem);

// All problems that would stop a daemon with this file, one line each: first unreadable lines, then the others in the order
// of the file. Each problem of a single line begins with file and line. Variables of the environment are ignored.
std::vector<std::string> ProblemsOf(const std::string& path, const Files& files);

}  // namespace mayfly::config

// mayfly --check-config FILE: reports every problem of a conf file and its includes, and starts nothing. The words of
// mayfly --check-rdb FILE (snapshot/file_check.h) are read here, too.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/directive.h"
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

// The lines of a conf file and its includes, after a check of each line alone. Variables of the environment are ignored.
struct CheckedFile {
  // One line of text each: first unreadable lines, then the others in the order of the file, then what no single line is to
  // blame for. The problem of a line begins with file and line.
  std::vector<std::string> problems;
  std::vector<std::string> warnings;
  // The file without the lines of `problems`: Options::Load takes them, so that further checks find further problems.
  std::vector<Directive> sound;
};
CheckedFile CheckFile(const std::string& path, const Files& files);

}  // namespace mayfly::config

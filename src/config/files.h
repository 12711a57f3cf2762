// What the configuration reads from the file system and writes to it, behind a few functions, so that tests
// and the fuzzer bring files of their own.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/problem.h"

namespace mayfly::config {

struct Files {
  // Reads all of `path` into `text`; "-" is standard input. The problem's text begins with the path.
  std::function<Problem(const std::string& path, std::string& text)> read;
  // The same of a regular file alone, whose text is there a second time: a pipe, a socket or a device is
  // refused at once.
  std::function<Problem(const std::string& path, std::string& text)> read_again;
  // The existing paths that match a glob pattern, sorted.
  std::function<std::vector<std::string>(const std::string& pattern)> expand;
  // The absolute form of an existing directory's path in `absolute`. The problem's text begins with the path.
  std::function<Problem(const std::string& path, std::string& absolute)> directory;
  // The regular file that `path` leads to, links followed, holds `text` from now on, or, on a problem, what
  // it held before. Its owner, group and mode stay. The problem's text begins with the path.
  std::function<Problem(const std::string& path, const std::string& text)> write;
};

// The real ones. A file larger than kConfigBytesMax is refused, so that /dev/zero ends.
inline constexpr size_t kConfigBytesMax = 16 << 20;
Files SystemFiles();

}  // namespace mayfly::config

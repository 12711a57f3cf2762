// The file system as the configuration uses it. A few functions, so that tests and the fuzzer can bring files of their
// own.
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
  // The same for a regular file only: a pipe, a socket or a device cannot be read a second time, and is
  // refused at once.
  std::function<Problem(const std::string& path, std::string& text)> read_again;
  // The existing paths that match a glob pattern, sorted.
  std::function<std::vector<std::string>(const std::string& pattern)> expand;
  // Puts the absolute path of an existing directory into `absolute`. The problem's text begins with the path.
  std::function<Problem(const std::string& path, std::string& absolute)> directory;
  // Replaces the text of a regular file; if `path` is a link, that of the file which it leads to. Owner, group
  // and mode stay. On a problem the file keeps its old text. The problem's text begins with the path.
  std::function<Problem(const std::string& path, const std::string& text)> write;
  // The same, but if there is no such file, it is created, and only its owner may read it.
  std::function<Problem(const std::string& path, const std::string& text)> put = {};
};

// The real file system. A file larger than kConfigBytesMax is refused, so reading /dev/zero ends.
inline constexpr size_t kConfigBytesMax = 16 << 20;
Files SystemFiles();

}  // namespace mayfly::config

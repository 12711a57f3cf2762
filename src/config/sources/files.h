// The file system for the configuration. A few functions: tests and the fuzzer can bring files of their own.
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
  // Like `read`, for a regular file only: a pipe, a socket or a device cannot be read a second time, and is refused at once.
  std::function<Problem(const std::string& path, std::string& text)> read_again;
  // The existing paths that match a glob pattern, sorted.
  std::function<std::vector<std::string>(const std::string& pattern)> expand;
  // Puts the absolute path of an existing directory into `absolute`. The problem's text begins with the path.
  std::function<Problem(const std::string& path, std::string& absolute)> directory;
  // Replaces the text of a regular file; if `path` is a link, the text of the link's target. Owner, group and mode stay.
  // After a problem the file keeps its old text. The problem's text begins with the path.
  std::function<Problem(const std::string& path, const std::string& text)> write;
  // Like `write`, but creates a missing file; only the owner may read the created file.
  std::function<Problem(const std::string& path, const std::string& text)> put = {};
};

// The real file system. A file larger than kConfigBytesMax is refused, so reading /dev/zero ends.
inline constexpr size_t kConfigBytesMax = 16 << 20;
Files SystemFiles();

}  // namespace mayfly::config

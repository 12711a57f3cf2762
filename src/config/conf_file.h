// Reads a file of redis.conf syntax: `name value ...` lines, quotes, `#` lines, `include path` in place.
//
// CRLF ends and a leading byte order mark are accepted. As in Redis, a `#` begins a comment only as a line's
// first byte, a line may be as long as its file, an included path is relative to the working directory, and a
// pattern that matches nothing includes nothing.
#pragma once

#include <string>
#include <vector>

#include "config/directive.h"
#include "config/files.h"
#include "config/problem.h"

namespace mayfly::config {

inline constexpr size_t kIncludeDepthMax = 16;
inline constexpr size_t kIncludedFilesMax = 256;

class ConfFileReader {
 public:
  // `files` must outlive the reader.
  explicit ConfFileReader(const Files& files) : files_(files) {}

  // Appends what the file says to `directives`, in order. A problem is one line that begins with its place.
  [[nodiscard]] Problem Read(const std::string& path, std::vector<Directive>& directives);
  // The same for an include's pattern, which may name several files; `place` is where the include stands.
  [[nodiscard]] Problem Include(const std::string& place, const std::string& pattern,
                                std::vector<Directive>& directives);

 private:
  // `blame` begins the problem of a file that cannot be read: "", or the include that asked for it.
  Problem ReadFile(const std::string& blame, const std::string& path, std::vector<Directive>& directives);
  Problem ReadText(const std::string& path, std::string_view text, std::vector<Directive>& directives);
  Problem ReadLine(const std::string& place, std::string_view line, std::vector<Directive>& directives);

  const Files& files_;
  size_t depth_ = 0;
  size_t including_ = 0;  // include lines that we are within
  size_t files_read_ = 0;
};

}  // namespace mayfly::config

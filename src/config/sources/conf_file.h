// Reads a file in redis.conf syntax. The lines are `name value ...`, with quotes, `#` comment lines, and `include path`, a
// line that stands for the lines of the named file.
//
// CRLF line ends and a leading byte order mark are accepted. As in Redis, a `#` begins a comment only at the
// start of a line, a line may be as long as its file, an included path is relative to the working directory,
// and a pattern that matches no file includes nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/directive.h"
#include "config/problem.h"
#include "config/sources/files.h"

namespace mayfly::config {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
inline constexpr size_t kIncludeDepthMax = 16;
inline constexpr size_t kIncludedFilesMax = 256;

class ConfFileReader {
 public:
  // `files` must outlive the reader.
  explicit ConfFileReader(const Files& files) : files_(files) {}

  // From now on a line with a problem, or a file that cannot be included, is left out, and the problem is appended to
  // `problems`. `problems` must outlive the reader.
  void CollectProblems(std::vector<std::string>& problems) noexcept { problems_ = &problems; }

  // Appends the lines of the file to `directives`, in order. A problem is one line of text with the file and the line number
  // first.
  [[nodiscard]] Problem Read(const std::string& path, std::vector<Directive>& directives);
  // Like Read, for the pattern of an include, which may match several files; `place` is the place of the include.
  [[nodiscard]] Problem Include(const std::string& place, const std::string& pattern,
                                std::vector<Directive>& directives);

 private:
  // If the file cannot be read, the problem begins with `blame`: "", or the include that names the file.
  Problem ReadFile(const std::string& blame, const std::string& path, std::vector<Directive>& directives);
  Problem ReadText(const std::string& path, std::string_view text, std::vector<Directive>& directives);
  Problem ReadLine(const std::string& place, std::string_view line, std::vector<Directive>& directives);

  const Files& files_;
  std::vector<std::string>* problems_ = nullptr;  // null: the first problem ends the reading
  size_t depth_ = 0;
  size_t including_ = 0;  // include lines around the current line
  size_t files_read_ = 0;
};

}  // namespace mayfly::config

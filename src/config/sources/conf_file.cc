#include "config/sources/conf_file.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text/ascii.h"
#include "base/text/glob.h"
#include "config/words.h"

namespace mayfly::config {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view Trim(std::string_view line) noexcept {
  const size_t first = line.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

Problem ConfFileReader::Read(const std::string& path, std::vector<Directive>& directives) {
  return ReadFile("", path, directives);
}

Problem ConfFileReader::Include(const std::string& place, const std::string& pattern,
                                std::vector<Directive>& directives) {
  const std::string blame = place + ": include ";
  const std::vector<std::string> paths =
      HasGlobSyntax(pattern) ? files_.expand(pattern) : std::vector<std::string>{pattern};
  ++including_;
  Problem problem;
  for (size_t i = 0; i < paths.size() && !problem; ++i) problem = ReadFile(blame, paths[i], directives);
  --including_;
  return problem;
}

Problem ConfFileReader::ReadFile(const std::string& blame, const std::string& path,
                                 std::vector<Directive>& directives) {
  // Both limits stop a file that includes itself. If a pattern matches many such files, the limit of the depth alone would
  // allow far too many reads; hence the limit of the number of files.
  if (++files_read_ > kIncludedFilesMax || depth_ == kIncludeDepthMax)
    return blame + Printable(path) + ": too many includes; does a file include itself?";
  std::string text;
  if (Problem problem = files_.read(path, text)) return blame + *problem;
  ++depth_;
  Problem problem = ReadText(path == "-" ? "standard input" : path, text, directives);
  --depth_;
  return problem;
}

Problem ConfFileReader::ReadText(const std::string& path, std::string_view text,
                                 std::vector<Directive>& directives) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string place = Printable(path) + ":" + std::to_string(number);
    if (Problem problem = ReadLine(place, text.substr(0, end), directives)) {
      if (problems_ == nullptr) return problem;
      problems_->push_back(std::move(*problem));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

Problem ConfFileReader::ReadLine(const std::string& place, std::string_view line,
                                 std::vector<Directive>& directives) {
  if (line.find('\0') != std::string_view::npos) return place + ": a zero byte; is this a text file?";
  line = Trim(line);
  if (line.empty() || line[0] == '#') return std::nullopt;
  std::optional<std::vector<std::string>> words = SplitWords(line);
  if (!words) return place + ": unbalanced quotes";
  if (words->empty()) return std::nullopt;
  std::string name = LowerCase(words->front());
  words->erase(words->begin());
  if (name == "include") {
    if (words->size() != 1) return place + ": include: wrong number of arguments";
    return Include(place, words->front(), directives);
  }
  directives.push_back({place, true, std::move(name), std::move(*words), including_ != 0});
  return std::nullopt;
}

}  // namespace mayfly::config

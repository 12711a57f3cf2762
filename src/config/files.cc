#include "config/files.h"

#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "config/words.h"

namespace mayfly::config {
namespace {

constexpr size_t kChunkBytes = 64 << 10;

std::string Failed(const std::string& path, int error) {
  return Printable(path == "-" ? "standard input" : path) + ": " + std::generic_category().message(error);
}

Problem ReadAll(int fd, const std::string& path, std::string& text) {
  text.clear();
  for (;;) {
    const size_t before = text.size();
    if (before > kConfigBytesMax)
      return Printable(path) + ": larger than " + std::to_string(kConfigBytesMax) + " bytes";
    text.resize(before + kChunkBytes);
    const ssize_t got = ::read(fd, text.data() + before, kChunkBytes);
    text.resize(before + (got > 0 ? static_cast<size_t>(got) : 0));
    if (got == 0) return std::nullopt;
    if (got < 0 && errno != EINTR) return Failed(path, errno);
  }
}

Problem ReadPath(const std::string& path, std::string& text) {
  if (path == "-") return ReadAll(STDIN_FILENO, path, text);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Failed(path, errno);
  Problem problem = ReadAll(fd, path, text);
  ::close(fd);
  return problem;
}

std::vector<std::string> Expand(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return paths;
}

Problem AbsoluteDirectory(const std::string& path, std::string& absolute) {
  std::error_code error;
  const std::filesystem::path found = std::filesystem::canonical(path, error);
  if (error) return Failed(path, error.value());
  if (!std::filesystem::is_directory(found, error)) return Failed(path, ENOTDIR);
  absolute = found.string();
  return std::nullopt;
}

}  // namespace

Files SystemFiles() { return {ReadPath, Expand, AbsoluteDirectory}; }

}  // namespace mayfly::config

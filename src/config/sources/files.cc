#include "config/sources/files.h"

#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "config/words.h"

#include <sys/stat.h>

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

Problem CheckRegular(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return Failed(path, errno);
  if (!S_ISREG(found.st_mode)) return Printable(path) + ": is not a regular file";
  return std::nullopt;
}

Problem ReadRegular(const std::string& path, std::string& text) {
  if (Problem problem = CheckRegular(path)) return problem;
  return ReadPath(path, text);
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

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno != EINTR) return false;
    text.remove_prefix(put > 0 ? static_cast<size_t>(put) : 0);
  }
  return true;
}

// Gives the new file the owner, the group and the mode of the old file. The mode comes last, because a change of owner
// clears some bits of the mode.
bool TakeOver(const struct stat& old, int fd) {
  struct stat fresh{};
  if (::fstat(fd, &fresh) != 0) return false;
  const bool same = fresh.st_uid == old.st_uid && fresh.st_gid == old.st_gid;
  if (!same && ::fchown(fd, old.st_uid, old.st_gid) != 0) return false;
  return ::fchmod(fd, old.st_mode & 07777) == 0;
}

// Writes a new file and renames it to the old file's name when all text is on the disk. If the new file cannot have the
// owner and group of the old file, the old file stays: a rewrite must not change who may read the file. `old` is null
// without an old file.
Problem Replace(const std::string& path, const struct stat* old, const std::string& text) {
  std::string fresh = path + ".XXXXXX";
  const int fd = ::mkstemp(fresh.data());
  if (fd < 0) return Failed(path, errno);
  const bool written = WriteAll(fd, text);
  const bool taken_over = written && (old == nullptr || TakeOver(*old, fd));
  int error = taken_over && ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  if (error == 0 && ::rename(fresh.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return std::nullopt;
  ::unlink(fresh.c_str());
  if (written && !taken_over)
    return Printable(path) +
           ": its owner and group cannot be kept: " + std::generic_category().message(error);
  return Failed(path, error);
}

// A symbolic link stays, and the target of the link is replaced.
Problem WritePath(const std::string& path, const std::string& text) {
  if (Problem problem = CheckRegular(path)) return problem;
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  if (error) return Failed(path, error.value());
  struct stat old{};
  if (::stat(target.c_str(), &old) != 0) return Failed(path, errno);
  return Replace(target.string(), &old, text);
}

Problem PutPath(const std::string& path, const std::string& text) {
  struct stat found{};
  const bool missing = ::stat(path.c_str(), &found) != 0 && errno == ENOENT;
  return missing ? Replace(path, nullptr, text) : WritePath(path, text);
}

}  // namespace

Files SystemFiles() { return {ReadPath, ReadRegular, Expand, AbsoluteDirectory, WritePath, PutPath}; }

}  // namespace mayfly::config

#include "config/sources/files.h"

#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
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

// A new file beside `path`. It has no name while it is written, where the file system can do so, so that a killed process leaves
// nothing; otherwise, and at last for a moment, it has the one name `path` + kFreshEnding, which the next write takes over.
class FreshFile {
 public:
  static constexpr std::string_view kFreshEnding = ".rewriting";

  explicit FreshFile(const std::string& path) : path_(path), name_(path + std::string(kFreshEnding)) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
#ifdef O_TMPFILE
    if (::access("/proc/self/fd", X_OK) == 0)
      fd_ = ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kRights);
#endif
    if (fd_ < 0) OpenNamed();
  }
  FreshFile(const FreshFile&) = delete;
  FreshFile& operator=(const FreshFile&) = delete;
  ~FreshFile() {
    if (fd_ >= 0) ::close(fd_);
    if (named_) ::unlink(name_.c_str());
  }

  int fd() const noexcept { return fd_; }
  // Puts the file in the place of `path`. Returns an errno, or 0.
  int TakePlace() {
    if (!named_ && !Name()) return errno;
    named_ = true;
    if (::rename(name_.c_str(), path_.c_str()) != 0) return errno;
    named_ = false;
    return 0;
  }

 private:
  static constexpr mode_t kRights = S_IRUSR | S_IWUSR;

  void OpenNamed() {
    ::unlink(name_.c_str());  // of a killed process
    fd_ = ::open(name_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, kRights);
    named_ = fd_ >= 0;
  }
  bool Name() {
    const std::string itself = "/proc/self/fd/" + std::to_string(fd_);
    ::unlink(name_.c_str());
    return ::linkat(AT_FDCWD, itself.c_str(), AT_FDCWD, name_.c_str(), AT_SYMLINK_FOLLOW) == 0;
  }

  const std::string path_;
  const std::string name_;
  int fd_ = -1;
  bool named_ = false;
};

// Writes a new file and puts it in the place of the old one when all text is on the disk. If the new file cannot have the
// owner and group of the old file, the old file stays: a rewrite must not change who may read the file. `old` is null
// without an old file.
Problem Replace(const std::string& path, const struct stat* old, const std::string& text) {
  FreshFile fresh(path);
  if (fresh.fd() < 0) return Failed(path, errno);
  const bool written = WriteAll(fresh.fd(), text);
  const bool taken_over = written && (old == nullptr || TakeOver(*old, fresh.fd()));
  int error = taken_over && ::fsync(fresh.fd()) == 0 ? 0 : errno;
  if (error == 0) error = fresh.TakePlace();
  if (error == 0) return std::nullopt;
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

#include "snapshot/disk/disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <limits>
#include <optional>

#include "base/text/numbers.h"

#include <sys/stat.h>

namespace mayfly {
namespace {

int ErrorOf(int result) noexcept { return result < 0 ? errno : 0; }

// The rights are the umask's business, as with Redis's files.
constexpr mode_t kRights = 0666;

const std::string kTemporaryBegin = "temp-";
const std::string kTemporaryEnd = ".rdb";
constexpr size_t kRunBytes = 8;  // of the run's id, in a name

// Whether a name is that of a temporary file of a process that is no more. A process with this process's number, and the id of
// another run, was here before. Redis's names, which may begin with a time instead of a process's number, have no '-' there.
bool IsOfNobody(std::string_view name, std::string_view own) noexcept {
  const bool is_own = name.substr(0, name.find('.')) == own.substr(0, own.find('.'));
  if (is_own || !name.starts_with(kTemporaryBegin) || !name.ends_with(kTemporaryEnd)) return false;
  name.remove_prefix(kTemporaryBegin.size());
  const size_t end = name.find('-');
  if (end == std::string_view::npos) return false;
  const std::optional<int64_t> pid = ParseInteger(name.substr(0, end));
  if (!pid || *pid <= 0 || *pid > std::numeric_limits<pid_t>::max()) return false;
  return *pid == getpid() || (kill(static_cast<pid_t>(*pid), 0) != 0 && errno == ESRCH);
}

}  // namespace

std::string TemporaryName(std::string_view run_id, std::string_view use) {
  std::string name = kTemporaryBegin + std::to_string(getpid()) + '-';
  name.append(run_id.substr(0, kRunBytes));
  if (!use.empty()) name.append(".").append(use);
  return name + kTemporaryEnd;
}

std::string PathIn(std::string_view folder, std::string_view name) {
  std::string path(folder.empty() ? "." : folder);
  if (!path.ends_with('/')) path += '/';
  return path.append(name);
}

Disk& Disk::Real() noexcept {
  static Disk disk;  // without state
  return disk;
}

int Disk::Create(const std::string& path, int& file) {
  file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kRights);
  return ErrorOf(file);
}

bool Disk::Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

bool Disk::IsFile(const std::string& path) {
  struct stat facts{};
  return stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
}

int Disk::MayWriteInto(const std::string& folder) {
  return ErrorOf(access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK));
}

int Disk::OpenToRead(const std::string& path, int& file, uint64_t& bytes) {
  file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // does not wait for a FIFO's writer
  if (file < 0) return errno;
  struct stat facts{};
  int error = ErrorOf(fstat(file, &facts));
  if (error == 0 && S_ISDIR(facts.st_mode)) error = EISDIR;
  if (error == 0 && !S_ISREG(facts.st_mode)) error = EINVAL;
  if (error != 0) close(file);
  bytes = static_cast<uint64_t>(facts.st_size);
  return error;
}

int Disk::Write(int file, std::string_view bytes, size_t& count) {
  const ssize_t written = write(file, bytes.data(), bytes.size());
  count = written < 0 ? 0 : static_cast<size_t>(written);
  return written < 0 ? errno : 0;
}

int Disk::Read(int file, char* bytes, size_t most, size_t& count) {
  const ssize_t got = read(file, bytes, most);
  count = got < 0 ? 0 : static_cast<size_t>(got);
  return got < 0 ? errno : 0;
}

int Disk::Sync(int file) { return ErrorOf(fdatasync(file)); }

// A failure comes again at Sync.
void Disk::BeginSync(int file) noexcept {
#ifdef __linux__
  static_cast<void>(sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE));  // to the end of the file
#else
  static_cast<void>(file);
#endif
}

int Disk::Close(int file) { return ErrorOf(close(file)); }

int Disk::Rename(const std::string& from, const std::string& to) {
  return ErrorOf(rename(from.c_str(), to.c_str()));
}

int Disk::Link(const std::string& path, const std::string& second) {
  return ErrorOf(link(path.c_str(), second.c_str()));
}

bool Disk::AreSame(const std::string& path, const std::string& other) {
  struct stat one{};
  struct stat two{};
  return stat(path.c_str(), &one) == 0 && stat(other.c_str(), &two) == 0 && one.st_dev == two.st_dev &&
         one.st_ino == two.st_ino;
}

int Disk::SyncFolder(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return errno;
  const int error = ErrorOf(fsync(folder));
  close(folder);
  // Some file systems cannot do this, and need not.
  return error == EINVAL ? 0 : error;
}

int Disk::Remove(const std::string& path) { return ErrorOf(unlink(path.c_str())); }

size_t Disk::RemoveLeftovers(const std::string& folder, std::string_view own) noexcept {
  // Not std::filesystem's iterator, which ends the process when memory runs out.
  DIR* const names = opendir(folder.c_str());
  if (names == nullptr) return 0;
  size_t removed = 0;
  while (const dirent* const entry = readdir(names)) {
    if (IsOfNobody(entry->d_name, own) && unlinkat(dirfd(names), entry->d_name, 0) == 0) ++removed;
  }
  closedir(names);
  return removed;
}

}  // namespace mayfly

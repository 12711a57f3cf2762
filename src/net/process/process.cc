#include "net/process/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>

#include "net/socket/limits.h"

#include <sys/resource.h>

namespace mayfly::net {
namespace {

uint64_t RaiseLimit(uint64_t maxclients) noexcept {
  const rlim_t wanted = maxclients + kOwnFiles + kLingeringMax;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return maxclients;
  if (limit.rlim_cur >= wanted) return maxclients;
  rlimit raised{.rlim_cur = wanted, .rlim_max = std::max(limit.rlim_max, wanted)};
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) return maxclients;  // only root may exceed rlim_max
  raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return ClientsThatFit(limit.rlim_cur, maxclients);
}

// The kernel's table of descriptors doubles as clients come. For a process with threads each growth waits until all
// processors have let go of the old table, about ten milliseconds; the table therefore gets its full size at the start.
void GrowDescriptorTable(uint64_t size) noexcept {
  if (size == 0 || size > INT_MAX) return;
  const int highest = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, static_cast<int>(size - 1));
  if (highest >= 0) close(highest);
}

}  // namespace

bool OpenStandardStreams() noexcept {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // The kernel gives the lowest free number: this number, because all lower numbers are open.
    if (open("/dev/null", O_RDWR) != stream) return false;
  }
  return true;
}

[[gnu::noinline]] void ReserveStack() noexcept {
  constexpr size_t kStackBytes = 128 << 10;  // twice the stack of the deepest calls
  constexpr size_t kPageBytes = 4096;
  char pages[kStackBytes];
  volatile char* const byte = pages;  // otherwise gcc omits the writes
  for (size_t i = kStackBytes; i >= kPageBytes; i -= kPageBytes) byte[i - kPageBytes] = 0;
}

uint64_t RaiseFileLimit(uint64_t maxclients) noexcept {
  const uint64_t fits = RaiseLimit(maxclients);
  GrowDescriptorTable(fits);
  return fits;
}

uint64_t ClientsThatFit(uint64_t file_limit, uint64_t maxclients) noexcept {
  return file_limit > kReservedFiles ? std::min(file_limit - kReservedFiles, maxclients) : 0;
}

size_t LingeringThatFit(uint64_t file_limit, uint64_t maxclients) noexcept {
  const uint64_t taken = maxclients + kOwnFiles;
  return file_limit > taken ? static_cast<size_t>(std::min<uint64_t>(file_limit - taken, kLingeringMax)) : 0;
}

uint64_t LongestBacklog(const std::string& root) {
  uint64_t most = 0;
  std::ifstream(root + "/proc/sys/net/core/somaxconn") >> most;
  return most;
}

Log::Level LevelOf(config::LogLevel level) noexcept {
  switch (level) {
    case config::LogLevel::kDebug:
      return Log::Level::kDebug;
    case config::LogLevel::kVerbose:
      return Log::Level::kVerbose;
    case config::LogLevel::kNotice:
      return Log::Level::kNotice;
    case config::LogLevel::kWarning:
      return Log::Level::kWarning;
    case config::LogLevel::kNothing:
      return Log::Level::kNothing;
  }
  return Log::Level::kNotice;
}

unsigned FacilityOf(config::SyslogFacility facility) noexcept {
  constexpr unsigned kUser = 1;
  constexpr unsigned kLocal0 = 16;
  if (facility == config::SyslogFacility::kUser) return kUser;
  return kLocal0 + static_cast<unsigned>(facility) - static_cast<unsigned>(config::SyslogFacility::kLocal0);
}

config::Problem PidFile::Write() {
  if (path_.empty()) return std::nullopt;
  std::FILE* file = std::fopen(path_.c_str(), "w");
  if (file == nullptr) return "cannot write the pidfile " + path_ + ": " + std::strerror(errno);
  std::fprintf(file, "%d\n", getpid());
  std::fclose(file);
  written_ = true;
  return std::nullopt;
}

PidFile::~PidFile() {
  if (written_) unlink(path_.c_str());
}

config::Problem ChangeDirectory(const std::string& path) {
  if (chdir(path.c_str()) == 0) return std::nullopt;
  return "cannot change to the directory " + path + ": " + std::strerror(errno);
}

}  // namespace mayfly::net

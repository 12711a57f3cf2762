// Prepares the process with the operating system before the start of service.
#pragma once

#include <cstdint>
#include <string>

#include "base/log/log.h"
#include "config/problem.h"
#include "config/settings.h"

namespace mayfly::net {

// Opens /dev/null for each closed descriptor of 0 to 2. Otherwise a socket or the log would get such a number, although
// libraries write to these numbers and libuv refuses to close them. False if /dev/null is missing.
[[nodiscard]] bool OpenStandardStreams() noexcept;

// Grows the stack now to the size that the deepest call from here may need. The kernel would grow the stack later, but not
// for a process that has used up its addresses (ulimit -v) by then: such a process would end by a signal instead of refusing
// a request.
void ReserveStack() noexcept;

// Raises the limit of open files for `maxclients` and the reserved files. Returns the number of clients that really fit,
// less if the system refuses; 0: no client fits.
uint64_t RaiseFileLimit(uint64_t maxclients) noexcept;
// The number of clients, of `maxclients`, that fit into a limit of open files.
uint64_t ClientsThatFit(uint64_t file_limit, uint64_t maxclients) noexcept;
// The number of connections that may linger (limits.h) while `maxclients` clients are connected.
size_t LingeringThatFit(uint64_t file_limit, uint64_t maxclients) noexcept;

// The kernel's longest backlog of a listening socket (net.core.somaxconn), read below `root`; 0: unknown.
uint64_t LongestBacklog(const std::string& root = "");

Log::Level LevelOf(config::LogLevel level) noexcept;
// In the form for Syslog.
unsigned FacilityOf(config::SyslogFacility facility) noexcept;

// The file with the process id; removed at the end. An empty path means no file.
class PidFile {
 public:
  explicit PidFile(std::string path) : path_(std::move(path)) {}
  PidFile(const PidFile&) = delete;
  PidFile& operator=(const PidFile&) = delete;
  ~PidFile();

  [[nodiscard]] config::Problem Write();

 private:
  std::string path_;
  bool written_ = false;
};

[[nodiscard]] config::Problem ChangeDirectory(const std::string& path);

}  // namespace mayfly::net

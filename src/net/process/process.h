// Prepares the process with the operating system before the start of service.
#pragma once

#include <cstdint>
#include <string>

#include "base/log/log.h"
#include "config/problem.h"
#include "config/settings.h"

namespace mayfly::net {

// Opens /dev/null for each of the descriptors 0 to 2 that is closed. Otherwise a socket or the log would get
// one of these numbers, which libraries write to, and which libuv refuses to close. False when /dev/null is
// missing.
[[nodiscard]] bool OpenStandardStreams() noexcept;

// Grows the stack now by what the deepest call from here may need. The kernel would grow it later, but not for a process that
// has used up its addresses (ulimit -v) by then: it would end by a signal instead of refusing a request.
void ReserveStack() noexcept;

// Raises the limit of open files so that `maxclients` and the reserved ones fit. Returns how many clients
// really fit, which is less if the system refuses; 0: not even one.
uint64_t RaiseFileLimit(uint64_t maxclients) noexcept;
// How many of `maxclients` clients fit into a limit of open files.
uint64_t ClientsThatFit(uint64_t file_limit, uint64_t maxclients) noexcept;
// How many connections may linger (limits.h) while `maxclients` clients are connected.
size_t LingeringThatFit(uint64_t file_limit, uint64_t maxclients) noexcept;

// The longest backlog that the kernel allows a listening socket (net.core.somaxconn), read below `root`; 0: unknown.
uint64_t LongestBacklog(const std::string& root = "");

Log::Level LevelOf(config::LogLevel level) noexcept;
// As Syslog takes it.
unsigned FacilityOf(config::SyslogFacility facility) noexcept;

// The file that holds our process id; removed at the end. An empty path is no file.
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

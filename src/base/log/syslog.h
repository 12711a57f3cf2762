// Lines for the system's log, in the form of syslog(3) of the C library: one datagram each to /dev/log.
//
//   <134>Nov 21 01:23:45 mayfly[12345]: Ready to accept connections
//
// syslog(3) itself would wait for a system's log that hangs, and so would all clients. This class never waits: if the socket
// does not take a line at once, the line is lost. Nor does the class allocate memory. After a failure, for instance a
// restart of the system's log, the next line opens a new connection. Loop thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mayfly {

class Syslog {
 public:
  // As in RFC 5424.
  enum class Severity : uint8_t { kWarning = 4, kNotice = 5, kInfo = 6, kDebug = 7 };
  // Longer lines are cut.
  static constexpr size_t kLineBytes = 2048;

  // `facility` as in RFC 5424: 1 is user, 16 to 23 are local0 to local7. `path` is the socket of the system's log.
  Syslog(std::string ident, unsigned facility, std::string path = "/dev/log")
      : ident_(std::move(ident)), facility_(facility), path_(std::move(path)) {}
  Syslog(const Syslog&) = delete;
  Syslog& operator=(const Syslog&) = delete;
  ~Syslog();

  // Returns true if a process listens at `path` now.
  bool Reaches() noexcept { return Connect(); }
  // `text` is one line, without the line end.
  void Send(Severity severity, int64_t wall_ms, std::string_view text) noexcept;

 private:
  bool Connect() noexcept;
  void Disconnect() noexcept;

  const std::string ident_;
  const unsigned facility_;
  const std::string path_;
  int socket_ = -1;
};

}  // namespace mayfly

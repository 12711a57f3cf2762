// Lines for the system's log, as syslog(3) of the C library sends them: one datagram each to /dev/log.
//
//   <134>Nov 21 01:23:45 mayfly[12345]: Ready to accept connections
//
// syslog(3) itself would wait for a system's log that hangs, and all clients with it. This one never waits: a line
// that is not taken at once is lost. Nor does it allocate memory. A connection that fails, for instance since the
// system's log was started anew, is made again for the next line. Loop thread only.
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

  // Whether somebody listens there now.
  bool Reaches() noexcept { return Connect(); }
  // `text` is one line, without its end.
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

#include "base/log/syslog.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "base/time/clock.h"

#include <sys/socket.h>
#include <sys/un.h>

namespace mayfly {

Syslog::~Syslog() { Disconnect(); }

bool Syslog::Connect() noexcept {
  if (socket_ >= 0) return true;
  sockaddr_un address{};
  if (path_.size() >= sizeof address.sun_path) return false;
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, path_.size());
  socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_ < 0) return false;
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return true;
  Disconnect();
  return false;
}

void Syslog::Disconnect() noexcept {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
}

void Syslog::Send(Severity severity, int64_t wall_ms, std::string_view text) noexcept {
  constexpr unsigned kSeverities = 8;
  const auto seconds = static_cast<time_t>(wall_ms / kMsPerSecond);
  tm broken_down{};
  localtime_r(&seconds, &broken_down);
  std::array<char, 32> date{};
  strftime(date.data(), date.size(), "%b %e %H:%M:%S", &broken_down);
  std::array<char, kLineBytes> line;
  const int length =
      std::snprintf(line.data(), line.size(), "<%u>%s %s[%d]: %.*s",
                    facility_ * kSeverities + static_cast<unsigned>(severity), date.data(), ident_.c_str(),
                    getpid(), static_cast<int>(std::min(text.size(), kLineBytes)), text.data());
  if (length < 0) return;
  const size_t size = std::min(static_cast<size_t>(length), line.size() - 1);
  // If the present connection has lost its other end, a second try makes a new connection.
  for (int tries = 0; tries < 2 && Connect(); ++tries) {
    if (send(socket_, line.data(), size, MSG_NOSIGNAL) >= 0 || errno == EAGAIN || errno == ENOBUFS) return;
    Disconnect();
  }
}

}  // namespace mayfly

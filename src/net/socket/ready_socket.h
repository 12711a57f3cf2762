// Learns when child processes are ready, by systemd's protocol (net/process/service_manager.h). Each child sends READY=1 to
// the socket in its variable NOTIFY_SOCKET. The kernel tells the sender.
#pragma once

#include <string>

#include "config/problem.h"

#include <sys/types.h>

namespace mayfly::net {

class ReadySocket {
 public:
  ReadySocket() = default;
  ~ReadySocket();
  ReadySocket(const ReadySocket&) = delete;
  ReadySocket& operator=(const ReadySocket&) = delete;

  // Opens the socket, without a place in the file system.
  [[nodiscard]] config::Problem Open();
  // The value for NOTIFY_SOCKET; begins with '@'.
  const std::string& name() const noexcept { return name_; }
  // The descriptor to poll.
  int descriptor() const noexcept { return fd_; }
  // Takes the next datagram. Returns the sender's process id for READY=1, 0 for another text, -1 without a datagram.
  pid_t Take() noexcept;

 private:
  int fd_ = -1;
  std::string name_;
};

}  // namespace mayfly::net

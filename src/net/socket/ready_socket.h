// Learns when child processes are ready, by systemd's protocol (net/process/service_manager.h). Each sends READY=1 to the
// socket that its variable NOTIFY_SOCKET names. The kernel tells who has sent it.
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

  // Opens it, without a place in the file system.
  [[nodiscard]] config::Problem Open();
  // For NOTIFY_SOCKET; begins with '@'.
  const std::string& name() const noexcept { return name_; }
  // To be polled.
  int descriptor() const noexcept { return fd_; }
  // Takes the next datagram: who has sent it if it says READY=1, 0 if it says something else, -1 if there is none.
  pid_t Take() noexcept;

 private:
  int fd_ = -1;
  std::string name_;
};

}  // namespace mayfly::net

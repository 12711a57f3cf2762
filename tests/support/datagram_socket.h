// A unix socket that receives datagrams, as the service manager's and the system log's do.
#pragma once

#include <unistd.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

#include <sys/socket.h>
#include <sys/un.h>

namespace mayfly::testing {

class DatagramSocket {
 public:
  // At this path or, if it begins with '@', at this name in the kernel's own space.
  explicit DatagramSocket(const std::string& path)
      : path_(path), fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (path[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    if (bind(fd_, reinterpret_cast<sockaddr*>(&address), size) != 0)
      throw std::runtime_error("cannot bind " + path);
  }
  ~DatagramSocket() {
    close(fd_);
    if (path_[0] != '@') unlink(path_.c_str());
  }
  DatagramSocket(const DatagramSocket&) = delete;
  DatagramSocket& operator=(const DatagramSocket&) = delete;

  // The next datagram that has arrived; "" if there is none.
  std::string Take() const {
    std::array<char, 8192> bytes;
    const ssize_t size = recv(fd_, bytes.data(), bytes.size(), 0);
    return {bytes.data(), size > 0 ? static_cast<size_t>(size) : 0};
  }
  // Makes little room for datagrams that nobody has taken.
  void Narrow() const {
    const int least = 1;
    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &least, sizeof least);
  }

 private:
  const std::string path_;
  const int fd_;
};

}  // namespace mayfly::testing

#include "net/socket/ready_socket.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

#include <sys/socket.h>
#include <sys/un.h>

namespace mayfly::net {

ReadySocket::~ReadySocket() {
  if (fd_ >= 0) ::close(fd_);
}

config::Problem ReadySocket::Open() {
  const auto problem = [] {
    return "cannot make a socket for what the shards say: " + std::string(std::strerror(errno));
  };
  fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Without a name in bind, the kernel chooses a name.
  auto* const where = reinterpret_cast<sockaddr*>(&address);
  if (fd_ < 0 || ::bind(fd_, where, sizeof address.sun_family) != 0) return problem();
  const int on = 1;
  socklen_t size = sizeof address;
  if (::setsockopt(fd_, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
      ::getsockname(fd_, where, &size) != 0)
    return problem();
  name_.assign(address.sun_path, size - offsetof(sockaddr_un, sun_path));
  name_.at(0) = '@';
  return std::nullopt;
}

pid_t ReadySocket::Take() noexcept {
  std::array<char, 1024> text;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control;
  iovec piece{text.data(), text.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = ::recvmsg(fd_, &message, 0);
  if (size < 0) return -1;
  const std::string_view said(text.data(), static_cast<size_t>(size));
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_CREDENTIALS || !said.starts_with("READY=1")) return 0;
  ucred sender{};
  std::memcpy(&sender, CMSG_DATA(header), sizeof sender);
  return sender.pid;
}

}  // namespace mayfly::net

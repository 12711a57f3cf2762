#include "socket.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace mayfly::bench {
void Die(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

void DieOfErrno(const std::string& what) { Die(what + ": " + std::strerror(errno)); }

Socket::Socket(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (fd_ < 0) DieOfErrno("no socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) DieOfErrno("no connection");
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const linger reset{1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
}

Socket::Socket(const std::string& path) : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (fd_ < 0) DieOfErrno("no socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) Die("too long for a socket's path: " + path);
  path.copy(address.sun_path, path.size());
  if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    DieOfErrno("no connection to " + path);
}

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

Socket::Socket(Socket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), replies_(std::move(other.replies_)) {}

void Socket::SetNonBlocking() {
  if (fcntl(fd_, F_SETFL, O_NONBLOCK) != 0) DieOfErrno("fcntl");
}

size_t Socket::Write(std::string_view bytes) {
  size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t size = send(fd_, bytes.data() + written, bytes.size() - written, MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) break;
    if (size < 0) DieOfErrno("cannot write to the server");
    written += static_cast<size_t>(size);
  }
  return written;
}

size_t Socket::Receive(std::span<char> room) {
  for (;;) {
    const ssize_t size = recv(fd_, room.data(), room.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return 0;
    if (size < 0) DieOfErrno("cannot read from the server");
    if (size == 0) {
      Die(replies_.errors() > 0 ? replies_.first_error() : "the server closed the connection");
    }
    return static_cast<size_t>(size);
  }
}

bool Socket::Read(std::string* copy) {
  std::array<char, kReadBytes> buffer;
  const std::string_view bytes(buffer.data(), Receive(buffer));
  if (copy != nullptr) copy->append(bytes);
  replies_.Feed(bytes);
  return !bytes.empty();
}

void Socket::ReadUntil(uint64_t count) {
  while (replies_.count() < count) Read();
  if (replies_.errors() > 0) Die("error reply: " + replies_.first_error());
}

void Socket::Ask(std::string_view request) {
  const uint64_t before = replies_.count();
  Write(request);
  ReadUntil(before + 1);
}

}  // namespace mayfly::bench

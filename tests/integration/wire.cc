#include "integration/wire.h"

#include <netdb.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <utility>

#include "integration/daemon.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace mayfly {
namespace {

// Whether the socket becomes ready for `events` in time.
bool Ready(int socket, short events) {
  pollfd waiting{.fd = socket, .events = events, .revents = 0};
  return poll(&waiting, 1, kPatienceMs) == 1;
}

}  // namespace

Wire::Wire(Wire&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
Wire::~Wire() {
  if (socket_ >= 0) close(socket_);
}

Wire Wire::Tcp(uint16_t port, const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0)
    throw std::runtime_error("no address " + host);
  Wire wire(socket(found->ai_family, SOCK_STREAM, 0));
  const bool connected = connect(wire.socket_, found->ai_addr, found->ai_addrlen) == 0;
  freeaddrinfo(found);
  // Without this the kernel would wait to fill a packet.
  const int on = 1;
  setsockopt(wire.socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (!connected) throw std::runtime_error("cannot connect to " + host + ':' + std::to_string(port));
  return wire;
}

Wire Wire::Unix(const std::string& path) {
  Wire wire(socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (connect(wire.socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("cannot connect to " + path);
  return wire;
}

bool Wire::Send(std::string_view bytes) const {
  while (!bytes.empty()) {
    if (!Ready(socket_, POLLOUT)) return false;
    const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN) return false;
    if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

size_t Wire::SendSome(std::string_view bytes) const {
  const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  reset_ |= sent < 0 && errno == ECONNRESET;
  return sent > 0 ? static_cast<size_t>(sent) : 0;
}

void Wire::EndOutput() const { shutdown(socket_, SHUT_WR); }

std::string Wire::Read(size_t size) const {
  std::string bytes(size, '\0');
  size_t filled = 0;
  while (filled < size && Ready(socket_, POLLIN)) {
    const ssize_t got = recv(socket_, bytes.data() + filled, size - filled, 0);
    if (got <= 0) break;
    filled += static_cast<size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

Wire::End Wire::ReadSome(std::string& bytes, size_t most) const {
  const size_t before = bytes.size();
  bytes.resize(before + most);
  const ssize_t got = recv(socket_, bytes.data() + before, most, MSG_DONTWAIT);
  const int error = errno;
  bytes.resize(before + static_cast<size_t>(got > 0 ? got : 0));
  if (got > 0 || (got < 0 && error == EAGAIN)) return End::kNot;
  return got == 0 && !reset_ ? End::kClean : End::kReset;
}

std::string Wire::ReadToEnd() const {
  std::string bytes;
  std::array<char, 65536> some;
  while (Ready(socket_, POLLIN)) {
    const ssize_t got = recv(socket_, some.data(), some.size(), 0);
    if (got <= 0) return bytes;
    bytes.append(some.data(), static_cast<size_t>(got));
  }
  return bytes + "...";
}

std::string Wire::Ask(std::string_view request, std::string_view expected) const {
  Send(request);
  return Read(expected.size());
}

std::string Request(std::initializer_list<std::string_view> words) {
  std::string request = '*' + std::to_string(words.size()) + "\r\n";
  for (const std::string_view word : words)
    request.append("$").append(std::to_string(word.size())).append("\r\n").append(word).append("\r\n");
  return request;
}

}  // namespace mayfly

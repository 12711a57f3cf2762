// Many clients that connect at one moment: how long until each of them is answered.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "modes.h"
#include "socket.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace mayfly::bench {
namespace {

using std::chrono::steady_clock;

// A connection that is not waited for. Closing resets it, as Socket does.
int BeginToConnect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) DieOfErrno("no socket");
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const linger reset{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 && errno != EINPROGRESS)
    DieOfErrno("no connection");
  return fd;
}

class Crowd {
 public:
  explicit Crowd(const StormOptions& options) : options_(options), poll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (poll_ < 0) DieOfErrno("epoll");
  }
  ~Crowd() {
    for (const int fd : connections_) close(fd);
    close(poll_);
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  // Everybody connects, and sends a PING as soon as that has worked. Returns the milliseconds that each reply took.
  std::vector<double> Run() {
    const auto start = steady_clock::now();
    std::vector<double> answered_ms;
    const auto wanted = static_cast<size_t>(options_.connections);
    answered_ms.reserve(wanted);
    connections_.reserve(wanted);
    while (connections_.size() < wanted) {
      connections_.push_back(BeginToConnect(options_.port));
      Watch(connections_.back(), EPOLLOUT, EPOLL_CTL_ADD);
    }
    std::array<epoll_event, 256> events;
    while (answered_ms.size() < wanted) {
      const int count = epoll_wait(poll_, events.data(), events.size(), options_.give_up_ms);
      if (count <= 0)
        Die(std::to_string(wanted - answered_ms.size()) + " of " + std::to_string(wanted) +
            " clients were not answered");
      for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<size_t>(i)];
        if ((event.events & EPOLLOUT) != 0) {
          Ask(event.data.fd);
        } else {
          TakeReply(event.data.fd);
          answered_ms.push_back(
              std::chrono::duration<double, std::milli>(steady_clock::now() - start).count());
        }
      }
    }
    return answered_ms;
  }

 private:
  void Watch(int fd, uint32_t what, int how) const {
    epoll_event event{};
    event.events = what;
    event.data.fd = fd;
    if (epoll_ctl(poll_, how, fd, &event) != 0) DieOfErrno("epoll");
  }

  void Ask(int fd) const {
    constexpr std::string_view kPing = "*1\r\n$4\r\nPING\r\n";
    if (send(fd, kPing.data(), kPing.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(kPing.size()))
      DieOfErrno("cannot write to the server");
    Watch(fd, EPOLLIN, EPOLL_CTL_MOD);
  }

  void TakeReply(int fd) const {
    std::array<char, 256> bytes;
    const ssize_t size = recv(fd, bytes.data(), bytes.size(), 0);
    if (size < 0) DieOfErrno("cannot read from the server");
    const std::string reply(bytes.data(), static_cast<size_t>(size));
    if (reply != "+PONG\r\n") Die(reply.empty() ? "the server closed the connection" : "no PONG: " + reply);
    Watch(fd, 0, EPOLL_CTL_MOD);
  }

  const StormOptions options_;
  const int poll_;
  std::vector<int> connections_;
};

}  // namespace

void Storm(const StormOptions& options) {
  Crowd crowd(options);
  std::vector<double> answered_ms = crowd.Run();
  std::sort(answered_ms.begin(), answered_ms.end());
  std::printf("{\"connections\": %d, \"p50_ms\": %.3f, \"all_ms\": %.3f}\n", options.connections,
              answered_ms[answered_ms.size() / 2], answered_ms.back());
  std::fflush(stdout);
  std::array<char, 64> line;
  while (std::fgets(line.data(), line.size(), stdin) != nullptr) continue;
}

}  // namespace mayfly::bench

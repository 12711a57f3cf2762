// The sockets that wait for clients: TCP on several addresses, and a unix socket.
//
// Connections are taken by accept itself and not by uv_listen: when a process has no descriptors left, libuv
// closes everybody who waits without a word, or never comes back from its callback. Here new connections stay
// in the kernel's queue for a while, and a line in the log says so.
//
// Ownership: a Socket owns its descriptor; libuv lets go of its handle when the loop has turned once more.
// Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <uv.h>

#include "base/log.h"
#include "base/log_throttle.h"
#include "config/problem.h"
#include "config/settings.h"
#include "net/connection.h"
#include "net/limits.h"

#include <sys/socket.h>

namespace mayfly::net {

class Listeners {
 public:
  // Called with the descriptor of each new connection, which the callee owns.
  using Arrival = std::function<void(int descriptor, Connection::Kind kind)>;

  Listeners(uv_loop_t& loop, Log& log, Arrival arrival);
  Listeners(const Listeners&) = delete;
  Listeners& operator=(const Listeners&) = delete;
  ~Listeners();

  // Opens what the settings name. On a problem (one line for a person) some may be open: Close them.
  [[nodiscard]] config::Problem Open(const config::Settings& settings);
  // Takes the connections that wait in the kernel's queues, at most `most` of each.
  void TakeWaiting(size_t most);
  // The loop must turn once more before this dies.
  void Close();
  // "127.0.0.1:6379", "[::]:6379", "/run/mayfly.sock": where it listens.
  std::vector<std::string> names() const;

 private:
  struct Socket;
  struct Closer {
    void operator()(Socket* socket) const noexcept;
  };
  using OwnedSocket = std::unique_ptr<Socket, Closer>;

  config::Problem OpenHost(const config::BindAddress& address, uint16_t port, int backlog);
  config::Problem OpenUnix(const config::Settings& settings, int backlog);
  // Error codes of libuv's, 0 when well.
  int Start(Socket& socket, const sockaddr& address, socklen_t size, int backlog) noexcept;
  int Listen(Socket& socket, int backlog) noexcept;
  void Accept(const Socket& socket, size_t most);
  void Pause(int error);
  void GoOn();

  uv_loop_t& loop_;
  Log& log_;
  Arrival arrival_;
  std::vector<OwnedSocket> sockets_;
  uv_timer_t pause_;
  LogThrottle pauses_logged_{kPauseLogMs};
  bool closed_ = false;
};

}  // namespace mayfly::net

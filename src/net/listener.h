// The sockets that wait for clients: TCP on several addresses, and a unix socket.
//
// Ownership: each listener's handle lives until libuv has closed it; Close starts that. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <uv.h>

#include "base/log.h"
#include "config/problem.h"
#include "config/settings.h"
#include "net/connection.h"

#include <sys/socket.h>

namespace mayfly::net {

class Listeners {
 public:
  // Called for each connection that waits to be accepted.
  using Arrival = std::function<void(uv_stream_t& listener, Connection::Kind kind)>;

  Listeners(uv_loop_t& loop, Log& log, Arrival arrival)
      : loop_(loop), log_(log), arrival_(std::move(arrival)) {}
  Listeners(const Listeners&) = delete;
  Listeners& operator=(const Listeners&) = delete;

  // Opens what the settings name. On a problem (one line for a person) some may be open: Close them.
  [[nodiscard]] config::Problem Open(const config::Settings& settings);
  void Close();
  // "127.0.0.1:6379", "[::]:6379", "/run/mayfly.sock": what was opened.
  const std::vector<std::string>& names() const noexcept { return names_; }

 private:
  struct Socket {
    union {
      uv_handle_t handle;
      uv_stream_t stream;
      uv_tcp_t tcp;
      uv_pipe_t pipe;
    };
    Listeners* owner;
    Connection::Kind kind;
  };

  config::Problem OpenHost(const config::BindAddress& address, uint16_t port, int backlog);
  config::Problem OpenUnix(const config::Settings& settings, int backlog);
  // A libuv error code, 0 when well.
  int OpenTcp(const sockaddr& address, int backlog);
  int Listen(Socket& socket, int backlog);
  static void CloseSocket(Socket* socket);

  uv_loop_t& loop_;
  Log& log_;
  Arrival arrival_;
  std::vector<Socket*> sockets_;
  std::vector<std::string> names_;
};

}  // namespace mayfly::net

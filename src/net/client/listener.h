// The listening sockets: TCP addresses with a plain port and a TLS port, and a unix socket.
//
// Connections are taken by accept itself and not by uv_listen: when a process has no descriptors left, libuv
// closes everybody who waits without a word, or never comes back from its callback. Here new connections stay
// in the kernel's queue for a while, and a line in the log says so.
//
// Other TCP addresses while it listens (CONFIG SET port, tls-port and bind) take two steps: Prepare opens the new ones, and
// Commit closes the old ones, or Abandon the new ones. An address that is old and new keeps its socket. A new one
// that collides with an old one, such as 127.0.0.1:6379 with *:6379, can only be opened when that one is closed;
// Prepare tests first whether this machine has it, and Abandon opens the old one again. Whoever waits at a socket
// that is closed is accepted before.
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

#include "base/log/log.h"
#include "base/log/log_throttle.h"
#include "config/problem.h"
#include "config/settings.h"
#include "net/client/connection.h"
#include "net/client/service.h"
#include "net/socket/limits.h"

#include <sys/socket.h>

namespace mayfly::net {

class Listeners {
 public:
  // Called with the descriptor of each new connection, which the callee owns.
  using Arrival = std::function<void(int descriptor, Connection::Kind kind, const Service& service)>;

  // What the settings' addresses speak, each at a port of its own. Borrowed.
  struct Services {
    const Service& plain;
    const Service& tls;
  };
  Listeners(uv_loop_t& loop, Log& log, const Services& services, Arrival arrival);
  Listeners(const Listeners&) = delete;
  Listeners& operator=(const Listeners&) = delete;
  ~Listeners();

  // Opens what the settings name. On a problem (one line for a person) some may be open: Close them.
  [[nodiscard]] config::Problem Open(const config::Settings& settings);
  // Opens a TCP address beside those of the settings, for another service, which must outlive this. It stays as it is
  // whatever becomes of the settings. The problem is one line for a person.
  [[nodiscard]] config::Problem OpenFor(const Service& service, const config::BindAddress& address,
                                        uint16_t port, int backlog);
  // Opens the TCP addresses of these settings that are not open yet. A problem is one line for a person. In either
  // case Commit or Abandon has to follow before the loop polls.
  [[nodiscard]] config::Problem Prepare(const config::Settings& wanted);
  bool prepared() const noexcept { return change_ != nullptr; }
  // Without Prepare, these do nothing.
  void Commit() noexcept;
  void Abandon() noexcept;
  // To be called in each turn: hands over the connections that waited at sockets that Prepare and Commit closed.
  // False if there are none.
  bool HandOver() { return !taken_along_.empty() && HandOverAll(); }

  // Accepts the connections that wait in the kernel's queues, at most `most` of each.
  void TakeWaiting(size_t most);
  // Closes all but those of services of observers: the server stops.
  void Stop();
  // The loop must turn once more before this dies.
  void Close();
  // "127.0.0.1:6379", "[::]:6379 with TLS", "127.0.0.1:9121 for metrics", "/run/mayfly.sock": where it listens.
  std::vector<std::string> names() const;
  // Whether clients of other machines come to a port of the settings; `by_tls`: those of the TLS port count.
  bool ReachedByOthers(bool by_tls) const noexcept;

 private:
  struct Socket;
  struct Closer {
    void operator()(Socket* socket) const noexcept;
  };
  using OwnedSocket = std::unique_ptr<Socket, Closer>;

  struct Place;
  class Reservation;
  struct Change;

  // What the ports and the bind addresses of the settings come to on this machine, into `places`.
  config::Problem FindPlaces(const config::Settings& settings, std::vector<Place>& places) const;
  static config::Problem FindPlaces(const Service& service, const config::BindAddress& address, uint16_t port,
                                    std::vector<Place>& places);
  // Opens it, into `sockets`, or leaves it out if it may be missing.
  config::Problem OpenPlace(const Place& place, int backlog, std::vector<OwnedSocket>& sockets);
  // The problem with an error of libuv's; none if the place is to be left out.
  config::Problem ProblemOf(const Place& place, int error);
  bool Keep(const Place& place);
  bool Leaves(const Socket& socket) const noexcept;
  bool CollidesWithLeaving(const Place& place) const noexcept;
  config::Problem OpenColliding(const std::vector<Place>& places);
  void StepAside(const std::vector<Place>& places);
  config::Problem OpenUnix(const config::Settings& settings, int backlog);
  // Error codes of libuv's, 0 when well.
  int Start(Socket& socket, const sockaddr& address, socklen_t size, int backlog) noexcept;
  int Listen(Socket& socket, int backlog) noexcept;
  void Accept(const Socket& socket, size_t most);
  // Accepts whoever waits at a socket that is about to be closed; HandOver does the rest.
  void TakeAlong(const Socket& socket) noexcept;
  bool HandOverAll();
  void Pause(int error);
  void GoOn();

  uv_loop_t& loop_;
  Log& log_;
  const Services services_;
  Arrival arrival_;
  std::vector<OwnedSocket> sockets_;
  std::unique_ptr<Change> change_;  // between Prepare and Commit or Abandon
  struct TakenAlong {
    int descriptor;
    const Service* service;
  };
  std::vector<TakenAlong> taken_along_;  // accepted, not handed over yet
  uv_timer_t pause_;
  LogThrottle pauses_logged_{kPauseLogMs};
  bool stopped_ = false;
  bool closed_ = false;
};

// What Open would say of bind addresses that nobody knows. Opens nothing; may wait for a name server.
[[nodiscard]] config::Problem CheckAddresses(const config::Settings& settings);

}  // namespace mayfly::net

// The listening sockets: TCP addresses with a plain port and a TLS port, and a unix socket.
//
// Connections are taken by accept itself and not by uv_listen: when a process has no descriptors left, libuv silently closes
// all waiting connections, or never returns from its callback. Here new connections stay in the kernel's queue for a while,
// with a line in the log.
//
// A change of TCP addresses while listening (CONFIG SET port, tls-port and bind) takes two steps: Prepare opens the new
// addresses, and Commit closes the old addresses, or Abandon the new. An address in both settings keeps its socket. A new
// address that collides with an old one, such as 127.0.0.1:6379 with *:6379, can only be opened when the old is closed;
// Prepare tests first whether this machine has the new address, and Abandon opens the old again. Connections waiting at a
// socket are accepted before the socket is closed.
//
// Inherited sockets (net/process/inherited_sockets.h). A socket that a service manager has opened takes the place of a socket
// with the same address; one that has no such place is a problem at the start. It stays open as long as the daemon runs, since
// the manager keeps it open: a change of addresses that has no place for it is refused. Clients that connect while the daemon
// stops wait at an inherited socket for the next daemon.
//
// The end. Hold stops accepting, and clients wait in the kernel's queues: Continue accepts again. Stop closes the sockets.
//
// Ownership: a Socket owns its descriptor; libuv closes the handle within one more turn of the loop. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <uv.h>

#include "base/log/log.h"
#include "base/log/log_throttle.h"
#include "config/problem.h"
#include "config/settings.h"
#include "net/client/connection.h"
#include "net/client/service.h"
#include "net/process/inherited_sockets.h"
#include "net/socket/limits.h"

#include <sys/socket.h>

namespace mayfly::net {

class Listeners {
 public:
  // Called with the descriptor of each new connection; the callee owns the descriptor.
  using Arrival = std::function<void(int descriptor, Connection::Kind kind, const Service& service)>;

  // The services of the settings' addresses, each at a separate port. Borrowed.
  struct Services {
    const Service& plain;
    const Service& tls;
  };
  Listeners(uv_loop_t& loop, Log& log, const Services& services, Arrival arrival);
  Listeners(const Listeners&) = delete;
  Listeners& operator=(const Listeners&) = delete;
  ~Listeners();

  // Takes over sockets for Open and OpenFor.
  void Inherit(std::vector<InheritedSocket> sockets) { inherited_ = std::move(sockets); }
  // Called when everything is open: a problem for a socket without a place.
  [[nodiscard]] config::Problem CheckInherited() const;
  // Opens the addresses of the settings. After a problem (one line for a person) some may be open: Close them.
  [[nodiscard]] config::Problem Open(const config::Settings& settings);
  // Opens a TCP address beside the settings' addresses, for another service; the service must outlive this. A change of the
  // settings does not change this address. A problem is one line for a person.
  [[nodiscard]] config::Problem OpenFor(const Service& service, const config::BindAddress& address,
                                        uint16_t port, int backlog);
  // Opens the TCP addresses of these settings that are not open yet. A problem is one line for a person. In either case
  // Commit or Abandon has to follow before the loop polls.
  [[nodiscard]] config::Problem Prepare(const config::Settings& wanted);
  bool prepared() const noexcept { return change_ != nullptr; }
  // Without Prepare, Commit and Abandon do nothing.
  void Commit() noexcept;
  void Abandon() noexcept;
  // Called in each turn: hands over the connections that waited at sockets closed by Prepare and Commit. False if there are
  // none.
  bool HandOver() { return !taken_along_.empty() && HandOverAll(); }

  // Accepts the connections in the kernel's queues, at most `most` of each; none of inherited sockets.
  void TakeWaiting(size_t most);
  // No connection is accepted until Continue, but for scrapers. REQUIRES: no change is prepared.
  void Hold();
  void Continue();
  // Closes all sockets but the scrapers': the server stops.
  void Stop();
  // The loop must turn once more before this dies.
  void Close();
  // The listening addresses: "127.0.0.1:6379", "[::]:6379 with TLS", "127.0.0.1:9121 for metrics", "/run/mayfly.sock".
  std::vector<std::string> names() const;
  // True if clients of other machines can reach a port of the settings; `by_tls`: clients of the TLS port count.
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

  // Finds the addresses on this machine for the settings' ports and bind addresses, into `places`.
  config::Problem FindPlaces(const config::Settings& settings, std::vector<Place>& places) const;
  static config::Problem FindPlaces(const Service& service, const config::BindAddress& address, uint16_t port,
                                    std::vector<Place>& places);
  // Opens a place, into `sockets`, or omits a missing place if allowed.
  config::Problem OpenPlace(const Place& place, int backlog, std::vector<OwnedSocket>& sockets);
  // The problem for an error of libuv; none if the place may be omitted.
  config::Problem ProblemOf(const Place& place, int error);
  bool Keep(const Place& place);
  bool Leaves(const Socket& socket) const noexcept;
  bool CollidesWithLeaving(const Place& place) const noexcept;
  config::Problem OpenColliding(const std::vector<Place>& places);
  void StepAside(const std::vector<Place>& places);
  config::Problem OpenUnix(const config::Settings& settings, int backlog);
  // A problem for an inherited socket that also takes clients of a family which has none of these places.
  config::Problem CheckFamilies(const std::vector<Place>& places) const;
  // True if an inherited socket takes the place of this address, or has taken it. Adds the socket to `sockets`.
  bool TakeInherited(const Place& place, std::vector<OwnedSocket>& sockets, config::Problem& problem);
  bool TakeInheritedUnix(const std::string& path, config::Problem& problem);
  config::Problem Adopt(OwnedSocket socket, InheritedSocket& from, std::vector<OwnedSocket>& sockets);
  // Error codes of libuv, 0 on success.
  int Start(Socket& socket, const sockaddr& address, socklen_t size, int backlog) noexcept;
  int Listen(Socket& socket, int backlog) noexcept;
  void Accept(const Socket& socket, size_t most);
  // Accepts the connections waiting at a socket that is about to be closed; HandOver does the rest.
  void TakeAlong(const Socket& socket) noexcept;
  bool HandOverAll();
  void Pause(int error);
  void EndPause();

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
  std::vector<InheritedSocket> inherited_;  // without those that have a place
  bool held_ = false;
  bool stopped_ = false;
  bool closed_ = false;
};

// Returns Open's problem if there is nothing to listen on, or a line for each unknown address of bind. Opens nothing; may wait
// for a name server.
[[nodiscard]] config::Problem CheckAddresses(const config::Settings& settings);

}  // namespace mayfly::net

#include "net/client/listener.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "net/socket/address.h"
#include "net/socket/descriptor.h"

#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace mayfly::net {
namespace {

constexpr std::string_view kNowhere =
    "nothing to listen on: there is no usable bind address and port, and no unixsocket";

std::string CannotListen(const std::string& where, const std::string& why) {
  return "cannot listen on " + where + ": " + why;
}

// This machine has no such addresses at all, so "::" in the settings was no mistake.
bool LacksProtocol(int error) noexcept { return error == UV_EAFNOSUPPORT || error == UV_EPROTONOSUPPORT; }

// True if a server answers at the other end of a unix socket's file.
bool SomebodyListens(const sockaddr_un& address) noexcept {
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  const bool answers = connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(probe);
  return answers;
}

// Removes the socket left behind by a killed server. A problem is the reason for a failure.
config::Problem RemoveStale(const std::string& path, const sockaddr_un& address) {
  struct stat found{};
  if (lstat(path.c_str(), &found) != 0) return std::nullopt;
  if (!S_ISSOCK(found.st_mode)) return CannotListen(path, "the file exists and is no socket");
  if (SomebodyListens(address)) return CannotListen(path, uv_strerror(UV_EADDRINUSE));
  if (unlink(path.c_str()) != 0) return CannotListen(path, std::strerror(errno));
  return std::nullopt;
}

socklen_t SizeOf(const sockaddr_storage& address) noexcept {
  return address.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

// True if accept failed for one connection, and not for later connections.
bool ConcernsOneConnection(int error) noexcept {
  constexpr int kErrors[] = {EINTR,     ECONNABORTED, EPROTO,     EPERM,       ENETDOWN,
                             EHOSTDOWN, EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH, ENOPROTOOPT};
  for (const int one : kErrors) {
    if (error == one) return true;
  }
  return false;
}

// An IPv4 address written as an IPv6 address. REQUIRES: it is an IPv6 address.
bool IsMapped(const sockaddr_storage& address) noexcept {
  return IN6_IS_ADDR_V4MAPPED(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

// The IPv4 address that an IPv6 socket for both families also has: of every host, or of a mapped one.
sockaddr_storage WithBothFamilies(const sockaddr_storage& address) noexcept {
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  sockaddr_storage result{};
  if (!IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr) && !IsMapped(address)) return result;
  constexpr size_t kMappedAt = 12;  // ::ffff:a.b.c.d
  auto& v4 = reinterpret_cast<sockaddr_in&>(result);
  v4.sin_family = AF_INET;
  v4.sin_port = v6.sin6_port;
  std::memcpy(&v4.sin_addr, v6.sin6_addr.s6_addr + kMappedAt, sizeof v4.sin_addr);
  return result;
}

}  // namespace

// libuv keeps the address of `poll`, so a socket is never moved.
struct Listeners::Socket {
  uv_poll_t poll{};
  bool polled = false;  // libuv uses the handle
  int descriptor = -1;
  Listeners* owner = nullptr;
  const Service* service = nullptr;
  Connection::Kind kind = Connection::Kind::kTcp;
  std::string name;
  std::string file;            // of a unix socket; empty until the file exists
  sockaddr_storage address{};  // of a TCP socket
  bool inherited = false;
  bool both_families = false;  // an IPv6 socket that takes IPv4 clients, too

  bool ListensAt(const sockaddr_storage& where) const noexcept {
    return IsSame(address, where) || (both_families && IsSame(WithBothFamilies(address), where));
  }
  // Error codes of libuv, 0 on success.
  int Bind(const sockaddr& where, socklen_t size) noexcept;
  int Watch(uv_loop_t& loop) noexcept;
};

int Listeners::Socket::Bind(const sockaddr& where, socklen_t size) noexcept {
  descriptor = BindSocket(where, size);
  return descriptor >= 0 ? 0 : uv_translate_sys_error(errno);
}

int Listeners::Socket::Watch(uv_loop_t& loop) noexcept {
  if (!polled) {
    if (const int error = uv_poll_init(&loop, &poll, descriptor); error != 0) return error;
    polled = true;
    poll.data = this;
  }
  return uv_poll_start(&poll, UV_READABLE, [](uv_poll_t* handle, int, int) {
    const auto& socket = *static_cast<Socket*>(handle->data);
    socket.owner->Accept(socket, kAcceptsPerTurn);
  });
}

void Listeners::Closer::operator()(Socket* socket) const noexcept {
  if (!socket->file.empty()) unlink(socket->file.c_str());
  const int descriptor = socket->descriptor;
  if (socket->polled)
    uv_close(reinterpret_cast<uv_handle_t*>(&socket->poll),
             [](uv_handle_t* handle) { delete static_cast<Socket*>(handle->data); });
  else
    delete socket;
  if (descriptor >= 0) CloseDescriptor(descriptor);
}

// A TCP address of the settings, resolved.
struct Listeners::Place {
  const Service* service = nullptr;
  sockaddr_storage address{};
  bool may_be_missing = false;

  const sockaddr& where() const noexcept { return reinterpret_cast<const sockaddr&>(address); }
  socklen_t size() const noexcept { return SizeOf(address); }
};

// Tests whether this machine has an address, by binding another port of the address. Keeps the descriptor in reserve for the
// socket.
class Listeners::Reservation {
 public:
  explicit Reservation(const Place& place) noexcept {
    const sockaddr_storage any_port = WithoutPort(place.address);
    descriptor_ = BindSocket(reinterpret_cast<const sockaddr&>(any_port), place.size());
    if (descriptor_ < 0) error_ = uv_translate_sys_error(errno);
  }
  Reservation(Reservation&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), error_(other.error_) {}
  Reservation& operator=(Reservation&&) = delete;
  ~Reservation() { GiveBack(); }

  // An error code of libuv, 0 on success.
  int error() const noexcept { return error_; }
  void GiveBack() noexcept {
    if (descriptor_ >= 0) CloseDescriptor(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_ = -1;
  int error_ = 0;
};

// The result of Prepare.
struct Listeners::Change {
  int backlog = 0;
  std::vector<const Socket*> kept;  // of sockets_
  std::vector<OwnedSocket> opened;  // new sockets; has room for all of sockets_ as well
  std::vector<OwnedSocket> aside;   // closed old sockets in the way of new ones: Abandon opens these again
};

Listeners::Listeners(uv_loop_t& loop, Log& log, const Services& services, Arrival arrival)
    : loop_(loop), log_(log), services_(services), arrival_(std::move(arrival)) {
  uv_timer_init(&loop_, &pause_);
  pause_.data = this;
}

Listeners::~Listeners() = default;

// ---- opening and closing

config::Problem Listeners::Open(const config::Settings& settings) {
  const auto backlog = static_cast<int>(settings.tcp_backlog);
  std::vector<Place> places;
  if (config::Problem problem = FindPlaces(settings, places)) return problem;
  for (const Place& place : places) {
    if (config::Problem problem = OpenPlace(place, backlog, sockets_)) return problem;
  }
  if (config::Problem problem = CheckFamilies(places)) return problem;
  if (!settings.unixsocket.empty()) {
    if (config::Problem problem = OpenUnix(settings, backlog)) return problem;
  }
  if (sockets_.empty()) return std::string(kNowhere);
  return std::nullopt;
}

config::Problem Listeners::OpenFor(const Service& service, const config::BindAddress& address, uint16_t port,
                                   int backlog) {
  std::vector<Place> places;
  if (config::Problem problem = FindPlaces(service, address, port, places)) return problem;
  for (const Place& place : places) {
    if (config::Problem problem = OpenPlace(place, backlog, sockets_)) return problem;
  }
  return std::nullopt;
}

config::Problem Listeners::FindPlaces(const config::Settings& settings, std::vector<Place>& places) const {
  const std::pair<const Service*, int64_t> ports[] = {{&services_.plain, settings.port},
                                                      {&services_.tls, settings.tls_port}};
  for (const auto& [service, port] : ports) {
    if (port == 0) continue;
    for (const config::BindAddress& address : settings.bind) {
      if (config::Problem problem = FindPlaces(*service, address, static_cast<uint16_t>(port), places))
        return problem;
    }
  }
  return std::nullopt;
}

config::Problem Listeners::FindPlaces(const Service& service, const config::BindAddress& address,
                                      uint16_t port, std::vector<Place>& places) {
  std::string why;
  const std::vector<sockaddr_storage> found = ResolveHost(address.host, port, why);
  // As in Redis, a '-' excuses an address missing on this machine, but no unknown name.
  if (found.empty()) return CannotListen(address.host + ':' + std::to_string(port), why);
  for (const sockaddr_storage& one : found) {
    Place& place = places.emplace_back();
    place.service = &service;
    place.address = one;
    place.may_be_missing = address.may_be_missing;
  }
  return std::nullopt;
}

config::Problem Listeners::OpenPlace(const Place& place, int backlog, std::vector<OwnedSocket>& sockets) {
  config::Problem problem;
  if (TakeInherited(place, sockets, problem)) return problem;
  OwnedSocket socket(new Socket);
  socket->service = place.service;
  socket->name = FormatAddress(place.where());
  if (place.service == &services_.tls) socket->name += " with TLS";
  socket->address = place.address;
  const int error = Start(*socket, place.where(), place.size(), backlog);
  if (error != 0) return ProblemOf(place, error);
  sockets.push_back(std::move(socket));
  return std::nullopt;
}

bool Listeners::TakeInherited(const Place& place, std::vector<OwnedSocket>& sockets,
                              config::Problem& problem) {
  const auto takes = [&place](const OwnedSocket& socket) {
    return socket->inherited && socket->service == place.service && socket->ListensAt(place.address);
  };
  if (std::any_of(sockets.begin(), sockets.end(), takes)) return true;
  for (InheritedSocket& from : inherited_) {
    if (!from.path.empty()) continue;
    OwnedSocket socket(new Socket);
    socket->service = place.service;
    socket->address = from.address;
    socket->both_families = from.both_families;
    if (!socket->ListensAt(place.address)) continue;
    socket->name = FormatAddress(reinterpret_cast<const sockaddr&>(from.address));
    if (place.service == &services_.tls) socket->name += " with TLS";
    problem = Adopt(std::move(socket), from, sockets);
    return true;
  }
  return false;
}

config::Problem Listeners::CheckFamilies(const std::vector<Place>& places) const {
  for (const OwnedSocket& socket : sockets_) {
    if (!socket->both_families || IsMapped(socket->address)) continue;
    const sockaddr_storage other = WithBothFamilies(socket->address);
    if (other.ss_family != AF_INET) continue;  // not of every host
    const auto has = [&](const sockaddr_storage& address) {
      return std::any_of(places.begin(), places.end(),
                         [&](const Place& place) { return IsSame(place.address, address); });
    };
    if (!has(socket->address) || !has(other))
      return "the inherited socket " + socket->name +
             " (LISTEN_FDS) takes clients of IPv6 and IPv4, but bind does not name both (* -::*)";
  }
  return std::nullopt;
}

// The file is the service manager's, with its mode.
bool Listeners::TakeInheritedUnix(const std::string& path, config::Problem& problem) {
  for (InheritedSocket& from : inherited_) {
    if (from.path != path) continue;
    OwnedSocket socket(new Socket);
    socket->service = &services_.plain;
    socket->kind = Connection::Kind::kUnix;
    socket->name = path;
    problem = Adopt(std::move(socket), from, sockets_);
    return true;
  }
  return false;
}

// The service manager has chosen the backlog.
config::Problem Listeners::Adopt(OwnedSocket socket, InheritedSocket& from,
                                 std::vector<OwnedSocket>& sockets) {
  socket->owner = this;
  socket->inherited = true;
  socket->descriptor = from.descriptor;
  const std::string name = from.name();
  inherited_.erase(inherited_.begin() + (&from - inherited_.data()));
  if (const int error = socket->Watch(loop_); error != 0) return CannotListen(name, uv_strerror(error));
  sockets.push_back(std::move(socket));
  return std::nullopt;
}

config::Problem Listeners::CheckInherited() const {
  if (inherited_.empty()) return std::nullopt;
  return "the inherited socket " + inherited_.front().name() +
         " (LISTEN_FDS) has none of the addresses of bind, port, tls-port, unixsocket and the metrics port";
}

config::Problem Listeners::ProblemOf(const Place& place, int error) {
  std::string problem = CannotListen(FormatAddress(place.where()), uv_strerror(error));
  const bool missing = error == UV_EADDRNOTAVAIL && place.may_be_missing;
  if (!missing && !LacksProtocol(error)) return problem;
  log_.Verbose(problem);
  return std::nullopt;
}

config::Problem Listeners::OpenUnix(const config::Settings& settings, int backlog) {
  const std::string& path = settings.unixsocket;
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) return CannotListen(path, "the path is too long for a socket");
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  config::Problem inherited;
  if (TakeInheritedUnix(path, inherited)) return inherited;
  if (config::Problem problem = RemoveStale(path, address)) return problem;
  OwnedSocket socket(new Socket);
  socket->service = &services_.plain;
  socket->kind = Connection::Kind::kUnix;
  socket->name = path;
  int error = socket->Bind(reinterpret_cast<const sockaddr&>(address), sizeof address);
  if (error == 0) socket->file = path;
  const mode_t mode = settings.unixsocketperm.bits;
  if (error == 0 && mode != 0 && chmod(path.c_str(), mode) != 0) error = uv_translate_sys_error(errno);
  if (error == 0) error = Listen(*socket, backlog);
  if (error != 0) return CannotListen(path, uv_strerror(error));
  sockets_.push_back(std::move(socket));
  return std::nullopt;
}

int Listeners::Start(Socket& socket, const sockaddr& address, socklen_t size, int backlog) noexcept {
  const int error = socket.Bind(address, size);
  return error != 0 ? error : Listen(socket, backlog);
}

int Listeners::Listen(Socket& socket, int backlog) noexcept {
  socket.owner = this;
  if (!ListenOn(socket.descriptor, backlog)) return uv_translate_sys_error(errno);
  return socket.Watch(loop_);
}

void Listeners::Stop() {
  if (stopped_) return;
  stopped_ = true;
  Abandon();
  for (const TakenAlong& taken : std::exchange(taken_along_, {})) CloseDescriptor(taken.descriptor);
  std::erase_if(sockets_, [](const OwnedSocket& socket) { return socket->service->scrapers_max() == 0; });
}

void Listeners::Close() {
  if (closed_) return;
  Stop();
  closed_ = true;
  sockets_.clear();
  uv_close(reinterpret_cast<uv_handle_t*>(&pause_), nullptr);
}

std::vector<std::string> Listeners::names() const {
  std::vector<std::string> names;
  names.reserve(sockets_.size());
  for (const OwnedSocket& socket : sockets_)
    names.push_back(socket->name + (socket->service->scrapers_max() != 0 ? " for metrics" : ""));
  return names;
}

bool Listeners::ReachedByOthers(bool by_tls) const noexcept {
  return std::any_of(sockets_.begin(), sockets_.end(), [&](const OwnedSocket& socket) {
    const bool counts = socket->service == &services_.plain || (by_tls && socket->service == &services_.tls);
    return counts && socket->kind == Connection::Kind::kTcp &&
           !IsLoopback(reinterpret_cast<const sockaddr&>(socket->address));
  });
}

// ---- a change of addresses

config::Problem Listeners::Prepare(const config::Settings& wanted) {
  if (stopped_) return std::nullopt;
  change_ = std::make_unique<Change>();
  change_->backlog = static_cast<int>(wanted.tcp_backlog);
  std::vector<Place> places;
  if (config::Problem problem = FindPlaces(wanted, places)) return problem;
  if (config::Problem problem = CheckFamilies(places)) return problem;
  std::erase_if(places, [this](const Place& place) { return Keep(place); });
  for (const OwnedSocket& socket : sockets_) {
    if (socket->inherited && Leaves(*socket))
      return "the socket " + socket->name +
             " was inherited from the service manager (LISTEN_FDS), and stays: it can be changed there";
  }
  change_->opened.reserve(places.size() + sockets_.size());
  std::vector<Place> colliding;
  for (const Place& place : places) {
    if (CollidesWithLeaving(place)) {
      colliding.push_back(place);
    } else if (config::Problem problem = OpenPlace(place, change_->backlog, change_->opened)) {
      return problem;
    }
  }
  return OpenColliding(colliding);
}

// True if a socket already listens there; the socket is then kept.
bool Listeners::Keep(const Place& place) {
  for (const OwnedSocket& socket : sockets_) {
    const bool same = socket->service == place.service && socket->ListensAt(place.address);
    if (!same) continue;
    if (Leaves(*socket))
      change_->kept.push_back(socket.get());
    else if (!socket->both_families)
      continue;  // a second socket at one address is a problem
    return true;
  }
  return false;
}

// True if the socket listens on TCP by the settings, and is not kept.
bool Listeners::Leaves(const Socket& socket) const noexcept {
  const bool of_settings = socket.service == &services_.plain || socket.service == &services_.tls;
  if (socket.kind != Connection::Kind::kTcp || !of_settings) return false;
  const std::vector<const Socket*>& kept = change_->kept;
  return std::find(kept.begin(), kept.end(), &socket) == kept.end();
}

bool Listeners::CollidesWithLeaving(const Place& place) const noexcept {
  return std::any_of(sockets_.begin(), sockets_.end(), [&](const OwnedSocket& socket) {
    return Leaves(*socket) && Collide(socket->address, place.address);
  });
}

config::Problem Listeners::OpenColliding(const std::vector<Place>& places) {
  std::vector<Place> usable;
  std::vector<Reservation> reservations;
  for (const Place& place : places) {
    Reservation reservation(place);
    if (reservation.error() == 0) {
      usable.push_back(place);
      reservations.push_back(std::move(reservation));
    } else if (config::Problem problem = ProblemOf(place, reservation.error())) {
      return problem;
    }
  }
  StepAside(usable);
  for (size_t i = 0; i < usable.size(); ++i) {
    reservations[i].GiveBack();
    if (config::Problem problem = OpenPlace(usable[i], change_->backlog, change_->opened)) return problem;
  }
  return std::nullopt;
}

// Closes the sockets that collide with one of these places. Memory comes first: a failure must not lose a socket.
void Listeners::StepAside(const std::vector<Place>& places) {
  const auto in_the_way = [&](const OwnedSocket& socket) {
    return Leaves(*socket) && std::any_of(places.begin(), places.end(), [&](const Place& place) {
             return Collide(socket->address, place.address);
           });
  };
  std::vector<OwnedSocket> aside;
  for (const OwnedSocket& socket : sockets_) {
    if (!in_the_way(socket)) continue;
    OwnedSocket& again = aside.emplace_back(new Socket);
    again->service = socket->service;
    again->name = socket->name;
    again->address = socket->address;
  }
  change_->aside = std::move(aside);
  std::erase_if(sockets_, [&](const OwnedSocket& socket) {
    const bool closes = in_the_way(socket);
    if (closes) TakeAlong(*socket);
    return closes;
  });
}

void Listeners::Commit() noexcept {
  if (change_ == nullptr) return;
  std::vector<OwnedSocket>& next = change_->opened;
  for (const OwnedSocket& socket : next) log_.Notice("listening on ", socket->name);
  for (OwnedSocket& socket : sockets_) {
    if (Leaves(*socket)) {
      TakeAlong(*socket);
      log_.Notice("no longer listening on ", socket->name);
    } else {
      next.push_back(std::move(socket));  // Prepare has made room
    }
  }
  for (const OwnedSocket& socket : change_->aside) log_.Notice("no longer listening on ", socket->name);
  sockets_.swap(next);
  change_.reset();
  if (sockets_.empty())
    log_.Warning("listening nowhere now: only a client that is connected can change that");
}

void Listeners::Abandon() noexcept {
  if (change_ == nullptr) return;
  change_->opened.clear();
  for (OwnedSocket& socket : change_->aside) {
    const auto& where = reinterpret_cast<const sockaddr&>(socket->address);
    const int error = Start(*socket, where, SizeOf(socket->address), change_->backlog);
    if (error == 0)
      sockets_.push_back(std::move(socket));  // there is room: sockets_ had the socket before
    else
      log_.Warning("no longer listening on ", socket->name, ": ", uv_strerror(error));
  }
  change_.reset();
}

void Listeners::TakeAlong(const Socket& socket) noexcept {
  try {
    for (size_t most = static_cast<size_t>(change_->backlog) + 1; most != 0; --most) {
      taken_along_.push_back({-1, socket.service});
      const int descriptor = AcceptFrom(socket.descriptor);
      taken_along_.back().descriptor = descriptor;
      if (descriptor >= 0) continue;
      taken_along_.pop_back();
      if (!ConcernsOneConnection(errno)) return;
    }
  } catch (const std::bad_alloc&) {
    log_.Warning("out of memory: connections that wait at ", socket.name, " are closed");
  }
}

[[gnu::noinline, gnu::cold]] bool Listeners::HandOverAll() {
  for (const TakenAlong& taken : std::exchange(taken_along_, {}))
    arrival_(taken.descriptor, Connection::Kind::kTcp, *taken.service);
  return true;
}

// ---- arrivals

void Listeners::Accept(const Socket& socket, size_t most) {
  for (; most != 0; --most) {
    const int descriptor = AcceptFrom(socket.descriptor);
    if (descriptor >= 0) {
      arrival_(descriptor, socket.kind, *socket.service);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    } else if (!ConcernsOneConnection(errno)) {
      return Pause(uv_translate_sys_error(errno));
    }
  }
}

void Listeners::TakeWaiting(size_t most) {
  HandOver();
  for (const OwnedSocket& socket : sockets_) {
    if (!socket->inherited) Accept(*socket, most);
  }
}

void Listeners::Hold() {
  held_ = true;
  for (const OwnedSocket& socket : sockets_) {
    if (socket->service->scrapers_max() == 0) uv_poll_stop(&socket->poll);
  }
}

void Listeners::Continue() {
  held_ = false;
  for (const OwnedSocket& socket : sockets_) socket->Watch(loop_);
}

// There is no descriptor or memory for a connection: without a pause the loop would find the connection waiting again at
// once.
void Listeners::Pause(int error) {
  if (pauses_logged_.Note(uv_now(&loop_)) != 0)
    log_.Warning("cannot accept connections: ", uv_strerror(error), "; they wait until there is room");
  for (const OwnedSocket& socket : sockets_) uv_poll_stop(&socket->poll);
  uv_timer_start(
      &pause_, [](uv_timer_t* timer) { static_cast<Listeners*>(timer->data)->EndPause(); }, kPauseMs,
      /*repeat=*/0);
}

void Listeners::EndPause() {
  for (const OwnedSocket& socket : sockets_) {
    if (!held_ || socket->service->scrapers_max() != 0) socket->Watch(loop_);
  }
}

config::Problem CheckAddresses(const config::Settings& settings) {
  const bool has_place = !settings.bind.empty() && (settings.port != 0 || settings.tls_port != 0);
  if (!has_place && settings.unixsocket.empty() && settings.shards == 0) return std::string(kNowhere);
  std::string lines;
  for (const config::BindAddress& address : settings.bind) {
    std::string why;
    if (!ResolveHost(address.host, 0, why).empty()) continue;
    lines.append(lines.empty() ? "" : "\n").append(CannotListen(address.host, why));
  }
  if (lines.empty()) return std::nullopt;
  return lines;
}

}  // namespace mayfly::net

#include "net/listener.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "net/address.h"
#include "net/descriptor.h"

#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace mayfly::net {
namespace {

std::string CannotListen(const std::string& where, const std::string& why) {
  return "cannot listen on " + where + ": " + why;
}

// This machine has no such addresses at all, so writing "::" was no mistake.
bool LacksProtocol(int error) noexcept { return error == UV_EAFNOSUPPORT || error == UV_EPROTONOSUPPORT; }

// Whether somebody answers at the other end of a unix socket's file.
bool SomebodyListens(const sockaddr_un& address) noexcept {
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  const bool answers = connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(probe);
  return answers;
}

// Removes the socket that a server left behind when it was killed. The problem is why it cannot.
config::Problem RemoveStale(const std::string& path, const sockaddr_un& address) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) return std::nullopt;
  if (!S_ISSOCK(found.st_mode)) return CannotListen(path, "the file exists and is no socket");
  if (SomebodyListens(address)) return CannotListen(path, uv_strerror(UV_EADDRINUSE));
  if (unlink(path.c_str()) != 0) return CannotListen(path, std::strerror(errno));
  return std::nullopt;
}

// Accept failed for one connection, and not for those after it.
bool ConcernsOneConnection(int error) noexcept {
  constexpr int kErrors[] = {EINTR,     ECONNABORTED, EPROTO,     EPERM,       ENETDOWN,
                             EHOSTDOWN, EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH, ENOPROTOOPT};
  for (const int one : kErrors) {
    if (error == one) return true;
  }
  return false;
}

}  // namespace

// libuv keeps the address of `poll`, so a socket is never moved.
struct Listeners::Socket {
  uv_poll_t poll{};
  bool polled = false;  // the handle is libuv's
  int descriptor = -1;
  Listeners* owner = nullptr;
  Connection::Kind kind = Connection::Kind::kTcp;
  std::string name;
  std::string file;  // of a unix socket; empty until it is there

  // Error codes of libuv's, 0 when well.
  int Bind(const sockaddr& address, socklen_t size) noexcept;
  int Watch(uv_loop_t& loop) noexcept;
};

int Listeners::Socket::Bind(const sockaddr& address, socklen_t size) noexcept {
  descriptor = BindSocket(address, size);
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

Listeners::Listeners(uv_loop_t& loop, Log& log, Arrival arrival)
    : loop_(loop), log_(log), arrival_(std::move(arrival)) {
  uv_timer_init(&loop_, &pause_);
  pause_.data = this;
}

Listeners::~Listeners() = default;

// ---- opening and closing

config::Problem Listeners::Open(const config::Settings& settings) {
  const auto backlog = static_cast<int>(settings.tcp_backlog);
  if (settings.port != 0) {
    for (const config::BindAddress& address : settings.bind) {
      if (config::Problem problem = OpenHost(address, static_cast<uint16_t>(settings.port), backlog))
        return problem;
    }
  }
  if (!settings.unixsocket.empty()) {
    if (config::Problem problem = OpenUnix(settings, backlog)) return problem;
  }
  if (sockets_.empty())
    return "nothing to listen on: there is no usable bind address and port, and no unixsocket";
  return std::nullopt;
}

config::Problem Listeners::OpenHost(const config::BindAddress& address, uint16_t port, int backlog) {
  std::string why;
  const std::vector<sockaddr_storage> found = ResolveHost(address.host, port, why);
  if (found.empty()) {
    if (address.may_be_missing) return std::nullopt;
    return CannotListen(address.host + ':' + std::to_string(port), why);
  }
  for (const sockaddr_storage& one : found) {
    const auto& where = reinterpret_cast<const sockaddr&>(one);
    const socklen_t size = where.sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    OwnedSocket socket(new Socket);
    socket->name = FormatAddress(where);
    const int error = Start(*socket, where, size, backlog);
    if (error == 0) {
      sockets_.push_back(std::move(socket));
      continue;
    }
    const std::string problem = CannotListen(socket->name, uv_strerror(error));
    const bool missing = error == UV_EADDRNOTAVAIL && address.may_be_missing;
    if (!missing && !LacksProtocol(error)) return problem;
    log_.Verbose(problem);
  }
  return std::nullopt;
}

config::Problem Listeners::OpenUnix(const config::Settings& settings, int backlog) {
  const std::string& path = settings.unixsocket;
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) return CannotListen(path, "the path is too long for a socket");
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  if (config::Problem problem = RemoveStale(path, address)) return problem;
  OwnedSocket socket(new Socket);
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

void Listeners::Close() {
  if (closed_) return;
  closed_ = true;
  sockets_.clear();
  uv_close(reinterpret_cast<uv_handle_t*>(&pause_), nullptr);
}

std::vector<std::string> Listeners::names() const {
  std::vector<std::string> names;
  for (const OwnedSocket& socket : sockets_) names.push_back(socket->name);
  return names;
}

// ---- arrivals

void Listeners::Accept(const Socket& socket, size_t most) {
  for (; most != 0; --most) {
    const int descriptor = AcceptFrom(socket.descriptor);
    if (descriptor >= 0) {
      arrival_(descriptor, socket.kind);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    } else if (!ConcernsOneConnection(errno)) {
      return Pause(uv_translate_sys_error(errno));
    }
  }
}

void Listeners::TakeWaiting(size_t most) {
  for (const OwnedSocket& socket : sockets_) Accept(*socket, most);
}

// There is no descriptor or memory for a connection: without a pause the loop would find it waiting again at
// once.
void Listeners::Pause(int error) {
  if (pauses_logged_.Note(uv_now(&loop_)) != 0)
    log_.Warning("cannot accept connections: ", uv_strerror(error), "; they wait until there is room");
  for (const OwnedSocket& socket : sockets_) uv_poll_stop(&socket->poll);
  uv_timer_start(
      &pause_, [](uv_timer_t* timer) { static_cast<Listeners*>(timer->data)->GoOn(); }, kPauseMs,
      /*repeat=*/0);
}

void Listeners::GoOn() {
  for (const OwnedSocket& socket : sockets_) socket->Watch(loop_);
}

}  // namespace mayfly::net

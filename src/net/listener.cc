#include "net/listener.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "net/address.h"

#include <sys/stat.h>
#include <sys/un.h>

namespace mayfly::net {
namespace {

std::string CannotListen(const std::string& where, const std::string& why) {
  return "cannot listen on " + where + ": " + why;
}

// This machine cannot do such addresses at all, which is no mistake of whoever wrote "::".
bool LacksProtocol(int error) noexcept { return error == UV_EAFNOSUPPORT || error == UV_EPROTONOSUPPORT; }

// Whether somebody answers at the other end of a unix socket's file.
bool SomebodyListens(const sockaddr_un& address) noexcept {
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  const bool answers = connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(probe);
  return answers;
}

// Removes the socket that a server left behind when it was killed; tells why it cannot.
config::Problem RemoveStale(const std::string& path) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) return CannotListen(path, "the path is too long for a socket");
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) return std::nullopt;
  if (!S_ISSOCK(found.st_mode)) return CannotListen(path, "the file exists and is no socket");
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  if (SomebodyListens(address)) return CannotListen(path, uv_strerror(UV_EADDRINUSE));
  if (unlink(path.c_str()) != 0) return CannotListen(path, std::strerror(errno));
  return std::nullopt;
}

}  // namespace

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
    const int error = OpenTcp(where, backlog);
    if (error == 0) {
      names_.push_back(FormatAddress(where));
      continue;
    }
    const std::string problem = CannotListen(FormatAddress(where), uv_strerror(error));
    const bool missing = error == UV_EADDRNOTAVAIL && address.may_be_missing;
    if (!missing && !LacksProtocol(error)) return problem;
    log_.Verbose(problem);
  }
  return std::nullopt;
}

int Listeners::OpenTcp(const sockaddr& address, int backlog) {
  auto* const socket = new Socket;
  socket->kind = Connection::Kind::kTcp;
  // With the family given, libuv makes the socket at once.
  if (const int error = uv_tcp_init_ex(&loop_, &socket->tcp, address.sa_family); error != 0) {
    delete socket;
    return error;
  }
  const unsigned flags = address.sa_family == AF_INET6 ? UV_TCP_IPV6ONLY : 0;
  int error = uv_tcp_bind(&socket->tcp, &address, flags);
  if (error == 0) error = Listen(*socket, backlog);
  if (error == 0)
    sockets_.push_back(socket);
  else
    CloseSocket(socket);
  return error;
}

// Libuv says "permission denied" where the folder is missing, as Windows does.
int ReasonOf(int error, const std::string& path) noexcept {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  const bool missing = !folder.empty() && access(folder.c_str(), F_OK) != 0 && errno == ENOENT;
  return error == UV_EACCES && missing ? UV_ENOENT : error;
}

config::Problem Listeners::OpenUnix(const config::Settings& settings, int backlog) {
  const std::string& path = settings.unixsocket;
  if (config::Problem problem = RemoveStale(path)) return problem;
  auto* const socket = new Socket;
  socket->kind = Connection::Kind::kUnix;
  uv_pipe_init(&loop_, &socket->pipe, /*ipc=*/0);
  int error = uv_pipe_bind(&socket->pipe, path.c_str());
  if (error == 0 && settings.unixsocketperm.bits != 0 &&
      chmod(path.c_str(), settings.unixsocketperm.bits) != 0)
    error = uv_translate_sys_error(errno);
  if (error == 0) error = Listen(*socket, backlog);
  if (error != 0) {
    CloseSocket(socket);
    return CannotListen(path, uv_strerror(ReasonOf(error, path)));
  }
  sockets_.push_back(socket);
  names_.push_back(path);
  return std::nullopt;
}

int Listeners::Listen(Socket& socket, int backlog) {
  socket.owner = this;
  socket.handle.data = &socket;
  return uv_listen(&socket.stream, backlog, [](uv_stream_t* stream, int status) {
    auto* const listening = static_cast<Socket*>(stream->data);
    if (status == 0) listening->owner->arrival_(*stream, listening->kind);
  });
}

void Listeners::CloseSocket(Socket* socket) {
  socket->handle.data = socket;
  uv_close(&socket->handle, [](uv_handle_t* handle) { delete static_cast<Socket*>(handle->data); });
}

// Libuv removes the file of a unix socket.
void Listeners::Close() {
  for (Socket* socket : sockets_) CloseSocket(socket);
  sockets_.clear();
}

}  // namespace mayfly::net

#include "net/process/inherited_sockets.h"

#include <fcntl.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/text/numbers.h"
#include "config/words.h"
#include "net/socket/address.h"

#include <netinet/in.h>
#include <sys/un.h>

namespace mayfly::net {
namespace {

using config::Problem;

constexpr int kFirstDescriptor = 3;  // of the protocol
constexpr uint64_t kSocketsMax = 1024;

// Removes the variable. Its last value; nothing if it is not set.
std::optional<std::string> TakeVariable(std::vector<std::string>& environment, std::string_view name) {
  std::optional<std::string> value;
  std::erase_if(environment, [&](const std::string& variable) {
    if (variable.size() <= name.size() || !variable.starts_with(name) || variable[name.size()] != '=')
      return false;
    value = variable.substr(name.size() + 1);
    return true;
  });
  return value;
}

bool OptionOf(int descriptor, int level, int option, int& value) noexcept {
  socklen_t size = sizeof value;
  return getsockopt(descriptor, level, option, &value, &size) == 0;
}

bool ListensToStreams(int descriptor) noexcept {
  int type = 0;
  int listens = 0;
  return OptionOf(descriptor, SOL_SOCKET, SO_TYPE, type) && type == SOCK_STREAM &&
         OptionOf(descriptor, SOL_SOCKET, SO_ACCEPTCONN, listens) && listens != 0;
}

// The other calls of this process neither wait for this socket nor hand it on.
bool Tame(int descriptor) noexcept {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0 &&
         fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0;
}

// False if the socket is of another kind.
bool ReadAddress(InheritedSocket& socket) {
  socklen_t size = sizeof socket.address;
  if (getsockname(socket.descriptor, reinterpret_cast<sockaddr*>(&socket.address), &size) != 0) return false;
  if (socket.address.ss_family == AF_INET) return true;
  if (socket.address.ss_family == AF_INET6) {
    int one_family = 1;
    socket.both_families =
        OptionOf(socket.descriptor, IPPROTO_IPV6, IPV6_V6ONLY, one_family) && one_family == 0;
    return true;
  }
  constexpr size_t kPathAt = offsetof(sockaddr_un, sun_path);
  if (socket.address.ss_family != AF_UNIX || size <= kPathAt) return false;
  const char* const path = reinterpret_cast<const sockaddr_un&>(socket.address).sun_path;
  socket.path.assign(path, strnlen(path, size - kPathAt));  // empty for a name in the kernel's own space
  return !socket.path.empty();
}

}  // namespace

std::string InheritedSocket::name() const {
  return path.empty() ? FormatAddress(reinterpret_cast<const sockaddr&>(address)) : path;
}

Problem TakeInheritedSockets(std::vector<std::string>& environment, pid_t pid,
                             std::vector<InheritedSocket>& sockets) {
  const std::optional<std::string> count_text = TakeVariable(environment, "LISTEN_FDS");
  const std::optional<std::string> whom = TakeVariable(environment, "LISTEN_PID");
  static_cast<void>(TakeVariable(environment, "LISTEN_FDNAMES"));
  // As in systemd's library: without the number of this process the variables are those of another.
  if (!count_text || !whom || ParseUnsigned(*whom) != static_cast<uint64_t>(pid)) return std::nullopt;
  const std::optional<uint64_t> count = ParseUnsigned(*count_text);
  if (!count || *count > kSocketsMax)
    return "LISTEN_FDS is " + config::Printable(*count_text) +
           ", but has to be the number of inherited sockets, at most " + std::to_string(kSocketsMax);
  for (uint64_t i = 0; i < *count; ++i) {
    InheritedSocket socket;
    socket.descriptor = kFirstDescriptor + static_cast<int>(i);
    if (!ListensToStreams(socket.descriptor) || !ReadAddress(socket))
      return "the inherited descriptor " + std::to_string(socket.descriptor) +
             " (LISTEN_FDS) is no listening socket of TCP, and none with a path";
    if (!Tame(socket.descriptor))
      return "cannot use the inherited descriptor " + std::to_string(socket.descriptor) +
             " (LISTEN_FDS): " + std::strerror(errno);
    sockets.push_back(std::move(socket));
  }
  return std::nullopt;
}

}  // namespace mayfly::net

#include "net/socket/descriptor.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstddef>

#include "net/socket/limits.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/un.h>

#ifdef __linux__
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#endif

namespace mayfly::net {

// ---- listening

int BindSocket(const sockaddr& address, socklen_t size) noexcept {
  const int fd = socket(address.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const int on = 1;
  // A port may be bound again while connections of the last server linger in the kernel.
  if (address.sa_family != AF_UNIX) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.sa_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (bind(fd, &address, size) == 0) return fd;
  const int reason = errno;
  close(fd);
  errno = reason;
  return -1;
}

bool ListenOn(int fd, int backlog) noexcept { return listen(fd, backlog) == 0; }

int AcceptFrom(int fd) noexcept { return accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC); }

void CloseDescriptor(int fd) noexcept { close(fd); }

uint64_t FileLimit() noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : UINT64_MAX;
}

// ---- connections

bool EndOutput(int fd) noexcept { return shutdown(fd, SHUT_WR) == 0; }

bool HasInput(int fd) noexcept {
  int waiting = 0;
  return ioctl(fd, FIONREAD, &waiting) == 0 && waiting > 0;
}

ssize_t ReadFrom(int fd, std::span<char> room) noexcept {
  return recv(fd, room.data(), room.size(), MSG_DONTWAIT);
}

namespace {

// On Linux the plain system calls: the functions of glibc first look whether somebody wants to end the calling thread, at the
// cost of 30 instructions. Nobody does that here.
ssize_t WriteOne(int fd, const OutputPiece& piece) noexcept {
#ifdef __linux__
  return syscall(SYS_write, fd, piece.data, piece.size);
#else
  return write(fd, piece.data, piece.size);
#endif
}

ssize_t WriteSeveral(int fd, std::span<const OutputPiece> pieces) noexcept {
  std::array<iovec, kPiecesPerWrite> parts;
  assert(pieces.size() <= parts.size());
  const auto part = [](const OutputPiece& piece) {
    return iovec{.iov_base = const_cast<char*>(piece.data), .iov_len = piece.size};
  };
  std::transform(pieces.begin(), pieces.end(), parts.begin(), part);
  return writev(fd, parts.data(), static_cast<int>(pieces.size()));
}

}  // namespace

ssize_t WriteTo(int fd, std::span<const OutputPiece> pieces) noexcept {
  for (;;) {
    const ssize_t size = pieces.size() == 1 ? WriteOne(fd, pieces[0]) : WriteSeveral(fd, pieces);
    if (size >= 0) [[likely]]
      return size;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) return 0;
    if (errno != EINTR) return -1;
  }
}

bool PeerHasEnded(int fd) noexcept {
#ifdef POLLRDHUP
  constexpr short kEnds = POLLRDHUP | POLLHUP | POLLERR;
  pollfd one{.fd = fd, .events = kEnds, .revents = 0};
  return poll(&one, 1, /*timeout=*/0) > 0 && (one.revents & kEnds) != 0;
#else
  char byte = 0;  // an end after unread bytes stays unseen
  return recv(fd, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) == 0;
#endif
}

size_t UnacknowledgedBytes(int fd) noexcept {
  int bytes = 0;
#ifdef SIOCOUTQ
  if (ioctl(fd, SIOCOUTQ, &bytes) != 0) bytes = 0;
#endif
  return static_cast<size_t>(bytes);
}

void SetKeepAlive(int fd, const KeepAlive& keep_alive) noexcept {
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &keep_alive.idle_s, sizeof keep_alive.idle_s);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &keep_alive.interval_s, sizeof keep_alive.interval_s);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &keep_alive.probes, sizeof keep_alive.probes);
}

// ---- other processes

int SendDatagram(const std::string& path, std::string_view bytes, unsigned patience_s) noexcept {
  sockaddr_un address{};
  if (path.empty() || path.size() > sizeof address.sun_path) return EINVAL;
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  if (path[0] == '@') address.sun_path[0] = '\0';
  // The size gives the end of a name.
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  const timeval patience{.tv_sec = static_cast<time_t>(patience_s), .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const int flags = patience_s == 0 ? MSG_DONTWAIT : 0;
  const ssize_t sent =
      sendto(fd, bytes.data(), bytes.size(), flags, reinterpret_cast<const sockaddr*>(&address), size);
  const int error = sent < 0 ? errno : 0;
  close(fd);
  return error;
}

// ---- ends of connections

#ifdef __linux__

int OpenEndSet() noexcept { return epoll_create1(EPOLL_CLOEXEC); }

bool AddToEndSet(int set, int fd, void* owner) noexcept {
  epoll_event event{};
  event.events = EPOLLRDHUP | EPOLLONESHOT;  // also hang-ups and errors, always reported
  event.data.ptr = owner;
  return epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0;
}

void RemoveFromEndSet(int set, int fd) noexcept {
  epoll_event unused{};
  epoll_ctl(set, EPOLL_CTL_DEL, fd, &unused);
}

size_t TakeFromEndSet(int set, std::span<void*> owners) noexcept {
  std::array<epoll_event, 64> events;
  const size_t most = std::min(events.size(), owners.size());
  const int count = epoll_wait(set, events.data(), static_cast<int>(most), /*timeout=*/0);
  for (int i = 0; i < count; ++i) owners[static_cast<size_t>(i)] = events[static_cast<size_t>(i)].data.ptr;
  return static_cast<size_t>(std::max(count, 0));
}

#else

int OpenEndSet() noexcept { return -1; }
bool AddToEndSet(int, int, void*) noexcept { return false; }
void RemoveFromEndSet(int, int) noexcept {}
size_t TakeFromEndSet(int, std::span<void*>) noexcept { return 0; }

#endif

// ---- time

#ifdef __linux__

namespace {

bool Arm(int fd) noexcept {
  itimerspec far{};
  far.it_value.tv_sec = time_t{1} << 33;  // in the year 2242
  return timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &far, nullptr) == 0;
}

}  // namespace

int OpenStepTimer() noexcept {
  const int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
  if (fd < 0 || Arm(fd)) return fd;
  close(fd);
  return -1;
}

void RearmStepTimer(int fd) noexcept {
  uint64_t expirations = 0;
  // Fails with ECANCELED: the sign of a step.
  static_cast<void>(!read(fd, &expirations, sizeof expirations));
  Arm(fd);
}

#else

int OpenStepTimer() noexcept { return -1; }
void RearmStepTimer(int) noexcept {}

#endif

}  // namespace mayfly::net

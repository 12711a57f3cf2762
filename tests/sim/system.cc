// The system calls of net/socket/descriptor.h and the cycle counter, on a simulated machine. A program that links these
// does not take those of the archives.
#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time/tsc.h"
#include "net/socket/descriptor.h"
#include "sim/world.h"

namespace mayfly {

#if defined(MAYFLY_REPLACEABLE_CYCLES)
uint64_t ReadCycles() noexcept { return sim::World::Current().Look(); }
#elif !defined(MAYFLY_COUNTED_CYCLES)
#error "a simulation needs a tree with tests or a training: the cycle counter is its own"
#endif

namespace net {
namespace {

using sim::World;

// As system calls report errors.
int Result(int value) noexcept {
  if (value >= 0) return value;
  errno = -value;
  return -1;
}

// The open connection with this descriptor; using any other is a mistake.
std::shared_ptr<sim::Link> LinkOf(int fd) {
  std::shared_ptr<sim::Link> link = World::Current().FindLink(fd);
  if (link == nullptr)
    World::Current().FailLater("a descriptor is used that is not open: " + std::to_string(fd));
  return link;
}

}  // namespace

int BindSocket(const sockaddr& address, socklen_t size) noexcept {
  return Result(World::Current().Bind(address, size));
}

bool ListenOn(int fd, int backlog) noexcept {
  return Result(World::Current().Listen(fd, static_cast<size_t>(backlog))) == 0;
}

int AcceptFrom(int fd) noexcept { return Result(World::Current().Accept(fd)); }

void CloseDescriptor(int fd) noexcept { World::Current().CloseFile(fd); }

uint64_t FileLimit() noexcept { return UINT64_MAX; }

bool EndOutput(int fd) noexcept {
  const auto link = LinkOf(fd);
  return link != nullptr && link->EndOutput();
}

bool HasInput(int fd) noexcept {
  const auto link = LinkOf(fd);
  return link != nullptr && link->has_input();
}

ssize_t ReadFrom(int fd, std::span<char> room) noexcept {
  const auto link = LinkOf(fd);
  const ssize_t size = link != nullptr ? link->Read(room.data(), room.size()) : ssize_t{UV_EBADF};
  if (size >= 0) return size;
  errno = static_cast<int>(-size);
  return -1;
}

ssize_t WriteTo(int fd, std::span<const OutputPiece> pieces) noexcept {
  const auto link = LinkOf(fd);
  std::vector<uv_buf_t> parts;
  for (const OutputPiece& piece : pieces)
    parts.push_back(uv_buf_init(const_cast<char*>(piece.data), static_cast<unsigned>(piece.size)));
  const ssize_t size = link != nullptr ? link->Write(parts, World::Current().turns()) : ssize_t{UV_EBADF};
  if (size == UV_EAGAIN) return 0;
  if (size >= 0) return size;
  errno = static_cast<int>(-size);
  return -1;
}

bool PeerHasEnded(int fd) noexcept {
  const auto link = LinkOf(fd);
  return link == nullptr || link->peer_ended();
}

int OpenEndSet() noexcept { return World::Current().OpenEndSet(); }

bool AddToEndSet(int set, int fd, void* owner) noexcept {
  const bool added = World::Current().end_set(set).emplace(fd, owner).second;
  if (!added) World::Current().FailLater("a descriptor is watched already: " + std::to_string(fd));
  return added;
}

void RemoveFromEndSet(int set, int fd) noexcept {
  if (World::Current().end_set(set).erase(fd) == 0)
    World::Current().FailLater("a descriptor is not watched: " + std::to_string(fd));
}

size_t TakeFromEndSet(int set, std::span<void*> owners) noexcept {
  size_t count = 0;
  for (auto& [fd, owner] : World::Current().end_set(set)) {
    if (count == owners.size()) break;
    if (owner != nullptr && PeerHasEnded(fd)) owners[count++] = std::exchange(owner, nullptr);
  }
  return count;
}

size_t UnacknowledgedBytes(int fd) noexcept {
  const auto link = LinkOf(fd);
  return link != nullptr ? link->unread_by_peer() : 0;
}

void SetKeepAlive(int fd, const KeepAlive& keep_alive) noexcept {
  const auto link = LinkOf(fd);
  if (link == nullptr) return;
  link->keep_alive = {
      .idle_s = keep_alive.idle_s, .interval_s = keep_alive.interval_s, .probes = keep_alive.probes};
}

int SendDatagram(const std::string& path, std::string_view bytes, unsigned) noexcept {
  World::Current().datagrams().push_back(path + ": " + std::string(bytes));
  return 0;
}

int OpenStepTimer() noexcept { return World::Current().has_step_timer() ? sim::kStepTimerFd : -1; }

void RearmStepTimer(int) noexcept { World::Current().wall_stepped() = false; }

}  // namespace net
}  // namespace mayfly

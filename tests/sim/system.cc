// The system calls of net/descriptor.h and the cycle counter, on a simulated machine. A program that links these
// does not take those of the archives.
#include <cerrno>

#include "base/tsc.h"
#include "net/descriptor.h"
#include "sim/world.h"

namespace mayfly {

#if !defined(MAYFLY_REPLACEABLE_CYCLES)
#error "a simulation needs a tree with tests: the cycle counter is its own"
#endif

uint64_t ReadCycles() noexcept { return sim::World::Current().Look(); }

namespace net {
namespace {

using sim::World;

// As system calls report errors.
int Result(int value) noexcept {
  if (value >= 0) return value;
  errno = -value;
  return -1;
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

bool EndOutput(int fd) noexcept { return World::Current().LinkOf(fd).EndOutput(); }

bool HasInput(int fd) noexcept { return World::Current().LinkOf(fd).has_input(); }

size_t UnacknowledgedBytes(int fd) noexcept { return World::Current().LinkOf(fd).unread_by_peer(); }

void SetKeepAlive(int fd, const KeepAlive& keep_alive) noexcept {
  World::Current().LinkOf(fd).keep_alive = {
      .idle_s = keep_alive.idle_s, .interval_s = keep_alive.interval_s, .probes = keep_alive.probes};
}

int OpenStepTimer() noexcept { return World::Current().has_step_timer() ? sim::kStepTimerFd : -1; }

void RearmStepTimer(int) noexcept { World::Current().wall_stepped() = false; }

}  // namespace net
}  // namespace mayfly

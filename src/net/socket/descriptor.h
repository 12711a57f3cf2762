// System calls on descriptors without a function in libuv.
//
// Together with <uv.h> this is all through which src/net reaches the network and the kernel's timers while it
// serves: a test that simulates both defines these functions itself, beside libuv's. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <sys/socket.h>
#include <sys/types.h>

namespace mayfly::net {

// ---- listening; -1 or false, and errno, if it fails

// A socket that is bound to this address. It does not block. The caller closes it.
int BindSocket(const sockaddr& address, socklen_t size) noexcept;
bool ListenOn(int fd, int backlog) noexcept;
// The next connection that waits at a listening socket; it does not block either.
int AcceptFrom(int fd) noexcept;
void CloseDescriptor(int fd) noexcept;
// How many descriptors this process may have; UINT64_MAX if that cannot be read.
uint64_t FileLimit() noexcept;

// ---- connections

// Ends our direction of a connection: the peer reads an end after what was written. False if the connection
// is gone already.
bool EndOutput(int fd) noexcept;

// Whether bytes have arrived that nobody has read.
bool HasInput(int fd) noexcept;
// Reads what has arrived, without waiting. 0: the peer's end. -1, and errno, if it fails or nothing has arrived.
ssize_t ReadFrom(int fd, std::span<char> room) noexcept;
// Whether the peer has ended its direction of the connection, or the connection is broken, even if bytes from before are
// left to read.
bool PeerHasEnded(int fd) noexcept;

// A set of connections whose peers' ends are waited for: its descriptor is readable while TakeFromEndSet has something to
// return. -1 if the kernel has none. The caller closes it.
int OpenEndSet() noexcept;
// False if there is no room. `owner` is what TakeFromEndSet returns. REQUIRES: `fd` is not in the set.
bool AddToEndSet(int set, int fd, void* owner) noexcept;
// REQUIRES: `fd` is in the set.
void RemoveFromEndSet(int set, int fd) noexcept;
// Stores the owners of connections whose peers have ended, each once, and returns how many. They stay in the set.
size_t TakeFromEndSet(int set, std::span<void*> owners) noexcept;

// Bytes that were written to a TCP connection and that its peer has not acknowledged; 0 if the kernel does not
// say.
size_t UnacknowledgedBytes(int fd) noexcept;

// When the kernel looks whether a silent peer is still there.
struct KeepAlive {
  int idle_s;      // of silence before the first probe
  int interval_s;  // between probes
  int probes;      // that may stay without an answer
};
// A failure is ignored: the connection works without it.
void SetKeepAlive(int fd, const KeepAlive& keep_alive) noexcept;

// ---- other processes

// Sends one datagram to a unix socket: a path, or a name in the kernel's own space, which begins with '@'. Waits for room
// for `patience_s` at most. Returns 0, or a value of errno.
int SendDatagram(const std::string& path, std::string_view bytes, unsigned patience_s) noexcept;

// ---- time

// A timer that never expires, whose descriptor becomes readable when the wall clock is set or the machine
// wakes from a suspend. -1 if the kernel has none. The caller closes it.
int OpenStepTimer() noexcept;
// To be called when it became readable: waits for the next step.
void RearmStepTimer(int fd) noexcept;

}  // namespace mayfly::net

// System calls on descriptors without a function in libuv.
//
// While serving, src/net reaches the network and the kernel's timers only through these functions and <uv.h>: a test that
// simulates both defines these functions, beside libuv's. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/memory/output.h"

#include <sys/socket.h>
#include <sys/types.h>

namespace mayfly::net {

// ---- listening; -1 or false, and errno, if it fails

// A socket bound to this address. The socket does not block. The caller closes it.
int BindSocket(const sockaddr& address, socklen_t size) noexcept;
bool ListenOn(int fd, int backlog) noexcept;
// The next connection waiting at a listening socket; this socket does not block either.
int AcceptFrom(int fd) noexcept;
void CloseDescriptor(int fd) noexcept;
// The limit of descriptors of this process; UINT64_MAX if unreadable.
uint64_t FileLimit() noexcept;

// ---- connections

// Ends our direction of a connection: the peer reads an end after the written bytes. False if the connection is gone
// already.
bool EndOutput(int fd) noexcept;

// True if there are unread bytes.
bool HasInput(int fd) noexcept;
// Reads the bytes that have arrived, without waiting. 0: the peer's end. -1, and errno, on failure or without bytes.
ssize_t ReadFrom(int fd, std::span<char> room) noexcept;
// Writes as much of the pieces as the kernel takes without waiting, and returns the number of bytes; 0: nothing for now. -1, and
// errno, on failure. REQUIRES: the socket does not block; 1 to kPiecesPerWrite pieces, none empty.
ssize_t WriteTo(int fd, std::span<const OutputPiece> pieces) noexcept;
// True if the peer has ended its direction of the connection, or if the connection is broken, even with unread bytes from
// before.
bool PeerHasEnded(int fd) noexcept;

// A set of connections, to wait for the peers' ends: the set's descriptor is readable while TakeFromEndSet has an owner to
// return. -1 if the kernel has no such set. The caller closes the descriptor.
int OpenEndSet() noexcept;
// False if there is no room. TakeFromEndSet returns `owner`. REQUIRES: `fd` is not in the set.
bool AddToEndSet(int set, int fd, void* owner) noexcept;
// REQUIRES: `fd` is in the set.
void RemoveFromEndSet(int set, int fd) noexcept;
// Stores the owners of connections whose peers have ended, each once, and returns their number. The connections stay in the
// set.
size_t TakeFromEndSet(int set, std::span<void*> owners) noexcept;

// Bytes written to a TCP connection and not acknowledged by the peer; 0 if the kernel does not tell.
size_t UnacknowledgedBytes(int fd) noexcept;

// When the kernel probes a silent peer.
struct KeepAlive {
  int idle_s;      // of silence before the first probe
  int interval_s;  // between probes
  int probes;      // without an answer
};
// A failure is ignored: the connection works without keep-alive.
void SetKeepAlive(int fd, const KeepAlive& keep_alive) noexcept;

// ---- other processes

// Sends one datagram to a unix socket: a path, or a name in the kernel's own space, beginning with '@'. Waits for room for
// `patience_s` at most. Returns 0, or a value of errno.
int SendDatagram(const std::string& path, std::string_view bytes, unsigned patience_s) noexcept;

// ---- time

// A timer that never expires. Its descriptor becomes readable when the wall clock is set or the machine wakes from a
// suspend. -1 if the kernel has no such timer. The caller closes the descriptor.
int OpenStepTimer() noexcept;
// Called when the descriptor became readable: waits for the next step.
void RearmStepTimer(int fd) noexcept;

}  // namespace mayfly::net

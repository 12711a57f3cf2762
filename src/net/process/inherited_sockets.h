// The listening sockets that a service manager has opened for this process: systemd's socket activation.
//
// The manager keeps the sockets open, so that clients can connect while no daemon runs: they wait in the kernel's queue until
// the next daemon accepts. The protocol: the descriptors from 3 on are sockets, LISTEN_FDS is their number, and LISTEN_PID the
// process that they are for. LISTEN_FDNAMES names them; a socket is known by its address here, so the names are not read.
//
// systemd's own library is libsystemd; three variables are not worth another library loaded at each start.
#pragma once

#include <string>
#include <vector>

#include "config/problem.h"

#include <sys/socket.h>
#include <sys/types.h>

namespace mayfly::net {

struct InheritedSocket {
  int descriptor = -1;
  sockaddr_storage address{};  // of a TCP socket
  bool both_families = false;  // an IPv6 socket that takes IPv4 clients, too
  std::string path;            // of a unix socket; empty for TCP
  // The address as people write it, or the path.
  std::string name() const;
};

// Finds the sockets for the process `pid`, and takes the variables out of `environment`, so that no other process takes them
// for its own. The sockets do not block from then on, and are closed in programs that this process starts. A problem is one
// line for a person: the variables are wrong, or a descriptor is no listening stream socket of TCP or with a path.
[[nodiscard]] config::Problem TakeInheritedSockets(std::vector<std::string>& environment, pid_t pid,
                                                   std::vector<InheritedSocket>& sockets);

}  // namespace mayfly::net

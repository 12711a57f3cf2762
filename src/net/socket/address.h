// Socket addresses as people write them, and properties of addresses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

namespace mayfly::net {

// "127.0.0.1:6379", "[::1]:6379"; "?:0" for any other family.
std::string FormatAddress(const sockaddr& address);

// True for an address of this machine: 127.0.0.0/8, ::1, or 127.0.0.0/8 written as an IPv6 address.
bool IsLoopback(const sockaddr& address) noexcept;

// True if a socket that listens on one address keeps a second socket from listening on the other: family and port are equal,
// and the hosts are equal, or one host means all hosts.
bool Collide(const sockaddr_storage& one, const sockaddr_storage& other) noexcept;
// True if address and port are equal.
bool IsSame(const sockaddr_storage& one, const sockaddr_storage& other) noexcept;
// The address with port 0: any free port.
sockaddr_storage WithoutPort(const sockaddr_storage& address) noexcept;

// The addresses of `host`: a numeric address, a name, "*" for every IPv4 and "::*" for every IPv6 address. Empty, with the
// reason in `problem`, if there is none. May wait for a name server.
std::vector<sockaddr_storage> ResolveHost(const std::string& host, uint16_t port, std::string& problem);

}  // namespace mayfly::net

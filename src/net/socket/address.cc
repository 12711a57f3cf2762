#include "net/socket/address.h"

#include <netdb.h>

#include <array>
#include <cstddef>
#include <cstring>

#include <arpa/inet.h>

namespace mayfly::net {

std::string FormatAddress(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.sa_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return std::string(text.data()) + ':' + std::to_string(ntohs(v4.sin_port));
  }
  if (address.sa_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    return '[' + std::string(text.data()) + "]:" + std::to_string(ntohs(v6.sin6_port));
  }
  return "?:0";
}

bool IsLoopback(const sockaddr& address) noexcept {
  constexpr uint8_t kLoopbackNet = 127;
  if (address.sa_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    return (ntohl(v4.sin_addr.s_addr) >> 24) == kLoopbackNet;
  }
  if (address.sa_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    constexpr size_t kMappedAt = 12;  // ::ffff:a.b.c.d
    return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr) ||
           (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) && v6.sin6_addr.s6_addr[kMappedAt] == kLoopbackNet);
  }
  return false;
}

namespace {

// Compares addresses without port; for IPv6 with the interface, and without the flow label.
bool IsSameHost(const sockaddr_storage& one, const sockaddr_storage& other) noexcept {
  if (one.ss_family == AF_INET) {
    const auto& a = reinterpret_cast<const sockaddr_in&>(one);
    const auto& b = reinterpret_cast<const sockaddr_in&>(other);
    return a.sin_addr.s_addr == b.sin_addr.s_addr;
  }
  const auto& a = reinterpret_cast<const sockaddr_in6&>(one);
  const auto& b = reinterpret_cast<const sockaddr_in6&>(other);
  return IN6_ARE_ADDR_EQUAL(&a.sin6_addr, &b.sin6_addr) && a.sin6_scope_id == b.sin6_scope_id;
}

bool IsAnyHost(const sockaddr_storage& address) noexcept {
  if (address.ss_family == AF_INET)
    return reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr == htonl(INADDR_ANY);
  return IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

// In both families the port is at the same place.
static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));

bool HaveSamePort(const sockaddr_storage& one, const sockaddr_storage& other) noexcept {
  return one.ss_family == other.ss_family && reinterpret_cast<const sockaddr_in&>(one).sin_port ==
                                                 reinterpret_cast<const sockaddr_in&>(other).sin_port;
}

}  // namespace

bool Collide(const sockaddr_storage& one, const sockaddr_storage& other) noexcept {
  return HaveSamePort(one, other) && (IsSameHost(one, other) || IsAnyHost(one) || IsAnyHost(other));
}

bool IsSame(const sockaddr_storage& one, const sockaddr_storage& other) noexcept {
  return HaveSamePort(one, other) && IsSameHost(one, other);
}

sockaddr_storage WithoutPort(const sockaddr_storage& address) noexcept {
  sockaddr_storage result = address;
  reinterpret_cast<sockaddr_in&>(result).sin_port = 0;
  return result;
}

std::vector<sockaddr_storage> ResolveHost(const std::string& host, uint16_t port, std::string& problem) {
  std::string name = host;
  if (host == "*") name = "0.0.0.0";
  if (host == "::*") name = "::";
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(name.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    problem = gai_strerror(error);
    return {};
  }
  std::vector<sockaddr_storage> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    if (one->ai_family != AF_INET && one->ai_family != AF_INET6) continue;
    std::memcpy(&addresses.emplace_back(), one->ai_addr, one->ai_addrlen);
  }
  freeaddrinfo(found);
  if (addresses.empty()) problem = "no such address";
  return addresses;
}

}  // namespace mayfly::net

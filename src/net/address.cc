#include "net/address.h"

#include <netdb.h>

#include <array>
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

// A port that can be bound now, by trying random ones.
#include "support/free_port.h"

#include <unistd.h>

#include <mutex>
#include <random>
#include <set>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace mayfly {
namespace {

bool CanBeBound(uint16_t port) {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const bool bound = bind(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(probe);
  return bound;
}

}  // namespace

uint16_t FreePort() {
  constexpr int kTries = 1000;
  static std::mutex mutex;
  static std::set<uint16_t> given;
  static std::random_device random;
  const std::lock_guard<std::mutex> lock(mutex);
  std::uniform_int_distribution<int> ports(20000, 31999);
  for (int i = 0; i != kTries; ++i) {
    const auto port = static_cast<uint16_t>(ports(random));
    if (CanBeBound(port) && given.insert(port).second) return port;
  }
  throw std::runtime_error("no free port");
}

}  // namespace mayfly

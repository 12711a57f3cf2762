// Programs that run at the same time have ports of their own: a program takes a range of ports by binding the range's first
// port until it ends. Else two programs could find the same port free before either has started its daemon there.
#include "support/free_port.h"

#include <unistd.h>

#include <mutex>
#include <random>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace mayfly {
namespace {

constexpr int kFirstPort = 20000;
constexpr int kRanges = 48;
constexpr int kPortsOfRange = 250;

// The socket; -1 if somebody has the port.
int Bind(int port) {
  const int bound = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (bind(bound, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return bound;
  close(bound);
  return -1;
}

// The first port of a range that is this program's from now on.
int TakeRange() {
  static std::random_device random;
  const auto begin = static_cast<int>(random() % kRanges);
  for (int i = 0; i < kRanges; ++i) {
    const int first = kFirstPort + (begin + i) % kRanges * kPortsOfRange;
    if (Bind(first) >= 0) return first;  // bound until the program ends
  }
  throw std::runtime_error("no free range of ports");
}

}  // namespace

uint16_t FreePort() {
  static std::mutex mutex;
  static int next = 0;
  static int end = 0;
  const std::lock_guard<std::mutex> lock(mutex);
  for (;;) {
    if (next == end) {
      next = TakeRange() + 1;
      end = next + kPortsOfRange - 1;
    }
    const int port = next++;
    if (const int bound = Bind(port); bound >= 0) {
      close(bound);
      return static_cast<uint16_t>(port);
    }
  }
}

}  // namespace mayfly

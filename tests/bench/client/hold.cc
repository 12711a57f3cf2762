#include <array>
#include <cstdio>
#include <vector>

#include "modes.h"
#include "socket.h"

namespace mayfly::bench {

void Hold(const HoldOptions& options) {
  std::vector<Socket> held;
  held.reserve(static_cast<size_t>(options.connections));
  for (int i = 0; i < options.connections; ++i) {
    held.emplace_back(options.port);
    held.back().Ask("*1\r\n$4\r\nPING\r\n");
  }
  std::puts("ready");
  std::fflush(stdout);
  std::array<char, 64> line;
  while (std::fgets(line.data(), line.size(), stdin) != nullptr) continue;
  std::printf("{\"connections\": %d}\n", options.connections);
}

}  // namespace mayfly::bench

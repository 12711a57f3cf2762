// The time of the machine, which a redis-server beside us goes by.
#pragma once

#include <chrono>
#include <cstdint>

namespace mayfly::testing {

// Unix time.
inline int64_t RealMs() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
}

}  // namespace mayfly::testing

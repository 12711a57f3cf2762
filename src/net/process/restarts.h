// Decides when to restart an ended process: soon, and later after each quick end. Pure; the caller has the clock.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mayfly::net {

class Restarts {
 public:
  static constexpr uint64_t kFirstMs = 100;
  static constexpr uint64_t kLongestMs = 30'000;
  // A process that has run for this long has started well: the next wait is short again.
  static constexpr uint64_t kWellMs = 60'000;

  // The wait before the restart of a process that has run for `ran_ms`.
  uint64_t NextMs(uint64_t ran_ms) noexcept {
    if (ran_ms >= kWellMs) next_ms_ = kFirstMs;
    const uint64_t wait_ms = next_ms_;
    next_ms_ = std::min(2 * next_ms_, kLongestMs);
    return wait_ms;
  }

 private:
  uint64_t next_ms_ = kFirstMs;
};

}  // namespace mayfly::net

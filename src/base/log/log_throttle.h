// Limits how often a repeated event is logged. An event may happen a million times a second: the first is reported at once,
// the following events as a sum, once in each interval. Times are monotonic ms. Loop thread only.
#pragma once

#include <cassert>
#include <cstdint>
#include <utility>

namespace mayfly {

class LogThrottle {
 public:
  static constexpr uint64_t kNever = UINT64_MAX;

  // REQUIRES: interval_ms > 0.
  explicit LogThrottle(uint64_t interval_ms) noexcept : interval_ms_(interval_ms) { assert(interval_ms > 0); }

  // Counts an event. Returns the number of events to report now, this event included; 0: none.
  [[nodiscard]] uint64_t Note(uint64_t now_mono_ms) noexcept {
    ++unreported_;
    return Due(now_mono_ms);
  }
  // Returns the number of events to report now, without a further event; 0: none.
  [[nodiscard]] uint64_t Due(uint64_t now_mono_ms) noexcept {
    if (unreported_ == 0 || now_mono_ms < quiet_until_mono_ms_) return 0;
    quiet_until_mono_ms_ = now_mono_ms + interval_ms_;
    return std::exchange(unreported_, 0);
  }
  // The time at which Due has events to report; kNever: nothing to report.
  uint64_t NextReport() const noexcept { return unreported_ == 0 ? kNever : quiet_until_mono_ms_; }

 private:
  const uint64_t interval_ms_;
  uint64_t unreported_ = 0;
  uint64_t quiet_until_mono_ms_ = 0;  // no report before
};

}  // namespace mayfly

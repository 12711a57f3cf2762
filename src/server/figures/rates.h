// The current rates of counters, shown as INFO's instantaneous_* fields.
//
// The loop calls Sample with the running totals at each turn. Rates keeps one sample per kSpacingMs and stores the last
// kSamples. A rate is measured over at least kWindowMs, or longer if the loop slept, and is thus also right for a server
// that wakes only for work. Times are in monotonic ms. Loop thread only.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "server/figures/stats.h"

namespace mayfly {

class Rates {
 public:
  struct Totals {
    uint64_t commands = 0;
    uint64_t input_bytes = 0;
    uint64_t output_bytes = 0;
  };
  struct PerSecond {
    double commands = 0;
    double input_bytes = 0;
    double output_bytes = 0;
  };
  static constexpr uint64_t kSpacingMs = 100;
  static constexpr uint64_t kWindowMs = 1500;
  // A shorter interval counts as this long: the first request after a start must not look like a burst.
  static constexpr uint64_t kLeastMs = 1000;

  // REQUIRES: neither `now_mono_ms` nor a total is less than before (but see Reset).
  void Sample(uint64_t now_mono_ms, const Totals& totals) noexcept {
    assert(count_ == 0 || (now_mono_ms >= Newest().mono_ms && totals.commands >= Newest().totals.commands));
    assert(count_ == 0 || totals.input_bytes >= Newest().totals.input_bytes);
    assert(count_ == 0 || totals.output_bytes >= Newest().totals.output_bytes);
    if (count_ != 0 && now_mono_ms - Newest().mono_ms < kSpacingMs) return;
    samples_[count_++ % kSamples] = {now_mono_ms, totals};
  }
  PerSecond At(uint64_t now_mono_ms, const Totals& totals) const noexcept {
    const Point* from = nullptr;
    const size_t kept = count_ < kSamples ? count_ : kSamples;
    for (size_t back = 1; back <= kept; ++back) {
      from = &samples_[(count_ - back) % kSamples];
      if (now_mono_ms - from->mono_ms >= kWindowMs) break;
    }
    if (from == nullptr) return {};
    const double seconds = static_cast<double>(std::max(now_mono_ms - from->mono_ms, kLeastMs)) / 1000;
    return {static_cast<double>(totals.commands - from->totals.commands) / seconds,
            static_cast<double>(totals.input_bytes - from->totals.input_bytes) / seconds,
            static_cast<double>(totals.output_bytes - from->totals.output_bytes) / seconds};
  }
  // Call this when the totals start from zero again.
  void Reset() noexcept { count_ = 0; }

 private:
  static constexpr size_t kSamples = 16;
  static_assert(kSamples * kSpacingMs > kWindowMs);
  struct Point {
    uint64_t mono_ms = 0;
    Totals totals;
  };
  const Point& Newest() const noexcept { return samples_[(count_ - 1) % kSamples]; }

  std::array<Point, kSamples> samples_{};
  size_t count_ = 0;  // samples ever taken
};

inline Rates::Totals RateTotals(const Stats& stats) noexcept {
  return {stats.commands_processed, stats.net_input_bytes, stats.net_output_bytes};
}

}  // namespace mayfly

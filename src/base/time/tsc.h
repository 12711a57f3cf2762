// The cheapest way to measure a duration: the processor's time stamp counter.
//
// The counter is not a clock: it has no date and only measures durations (command statistics, time slices). Units: cycles,
// until CycleRate converts them to microseconds. Other processors use steady_clock.
#pragma once

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace mayfly {

inline uint64_t ReadProcessorCycles() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t cycles;
  asm volatile("mrs %0, cntvct_el0" : "=r"(cycles));
  return cycles;
#else
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

// In a tree with tests this function has a file of its own (cycles.cc). A test program that defines the function decides how
// long work takes, and can assert every bound in cycles.
#if defined(MAYFLY_REPLACEABLE_CYCLES)
uint64_t ReadCycles() noexcept;
#elif defined(MAYFLY_COUNTED_CYCLES)
// In the training each look is that much later than the last, on every machine. gcc finds the counts of a function for the daemon
// only if the function has the same edges in both: so this is never a call, and gcc may conclude as little as from the real counter.
inline uint64_t counted_cycles = 0;
[[gnu::always_inline]] inline uint64_t ReadCycles() noexcept {
  uint64_t cycles = counted_cycles += 700;
  asm volatile("" : "+r"(cycles));
  return cycles;
}
#else
inline uint64_t ReadCycles() noexcept { return ReadProcessorCycles(); }
#endif

// Cycles per microsecond, measured once at start against steady_clock.
class CycleRate {
 public:
  // Takes about kMeasureUs of real time.
  static CycleRate Measure() noexcept;
  explicit constexpr CycleRate(double cycles_per_us) noexcept : cycles_per_us_(cycles_per_us) {}

  uint64_t ToUs(uint64_t cycles) const noexcept {
    return static_cast<uint64_t>(static_cast<double>(cycles) / cycles_per_us_);
  }
  double cycles_per_us() const noexcept { return cycles_per_us_; }
  uint64_t ToCycles(uint64_t us) const noexcept {
    return static_cast<uint64_t>(static_cast<double>(us) * cycles_per_us_);
  }

 private:
  static constexpr int kMeasureUs = 2000;
  double cycles_per_us_;
};

}  // namespace mayfly

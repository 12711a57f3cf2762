#include "base/time/tsc.h"

namespace mayfly {

CycleRate CycleRate::Measure() noexcept {
  using Steady = std::chrono::steady_clock;
  const auto begin = Steady::now();
  const uint64_t first = ReadCycles();
  auto now = begin;
  while (now - begin < std::chrono::microseconds(kMeasureUs)) now = Steady::now();
  const uint64_t last = ReadCycles();
  const double us = std::chrono::duration<double, std::micro>(now - begin).count();
  return CycleRate(static_cast<double>(last - first) / us);
}

}  // namespace mayfly

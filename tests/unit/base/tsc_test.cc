#include "base/time/tsc.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "support/catch.h"

namespace mayfly {
namespace {

using Steady = std::chrono::steady_clock;

// A measurement is wrong if the thread is descheduled at the wrong moment. The median of several is not.
CycleRate MeasuredRate() {
  std::array<CycleRate, 9> rates = {CycleRate::Measure(), CycleRate::Measure(), CycleRate::Measure(),
                                    CycleRate::Measure(), CycleRate::Measure(), CycleRate::Measure(),
                                    CycleRate::Measure(), CycleRate::Measure(), CycleRate::Measure()};
  constexpr uint64_t kSecond = 1'000'000;
  std::sort(rates.begin(), rates.end(),
            [](const CycleRate& a, const CycleRate& b) { return a.ToCycles(kSecond) < b.ToCycles(kSecond); });
  return rates[rates.size() / 2];
}

TEST_CASE("the cycle counter rises and never runs backwards") {
  const uint64_t first = ReadCycles();
  uint64_t last = first;
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t now = ReadCycles();
    REQUIRE(now >= last);
    last = now;
  }
  CHECK(last > first);
}

TEST_CASE("a measured rate converts cycles to the elapsed time") {
  const CycleRate rate = MeasuredRate();
  const auto begin = Steady::now();
  const uint64_t first = ReadCycles();
  const auto inner_begin = Steady::now();
  auto inner_end = inner_begin;
  while (inner_end - inner_begin < std::chrono::milliseconds(5)) inner_end = Steady::now();
  const uint64_t last = ReadCycles();
  const auto end = Steady::now();

  const auto us = static_cast<int64_t>(rate.ToUs(last - first));
  using std::chrono::duration_cast;
  using std::chrono::microseconds;
  CHECK(us >= duration_cast<microseconds>(inner_end - inner_begin).count() * 9 / 10);
  CHECK(us <= duration_cast<microseconds>(end - begin).count() * 11 / 10);
}

TEST_CASE("microseconds convert to cycles and back") {
  const CycleRate rate(2500.0);
  CHECK(rate.ToCycles(4) == 10'000);
  CHECK(rate.ToUs(10'000) == 4);
  CHECK(rate.ToUs(9'999) == 3);
  // A counter of 24 MHz, as some arm64 machines have.
  const CycleRate slow(24.0);
  CHECK(slow.ToUs(slow.ToCycles(1'000'000)) == 1'000'000);
}

}  // namespace
}  // namespace mayfly

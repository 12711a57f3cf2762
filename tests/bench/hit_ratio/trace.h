// The sequences of keys that caches are compared on. Equal options give an equal trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mayfly::bench {

struct TraceOptions {
  // zipf:  popularity falls as 1 / rank^exponent over `keys` keys.
  // scan:  the same, and every kScanEvery requests a scan of kScanned of another million keys, in order.
  // shift: the same, but every kShiftEvery requests kShifted new keys become the most popular ones.
  std::string kind = "zipf";
  double exponent = 0.9;
  uint32_t keys = 1'000'000;
  uint64_t requests = 0;
  uint64_t seed = 1;
};

// For a million keys; other numbers of keys change these in proportion.
constexpr uint32_t kScanEvery = 100'000;
constexpr uint32_t kScanned = 50'000;
constexpr uint32_t kShiftEvery = 100'000;
constexpr uint32_t kShifted = 1000;

struct Trace {
  std::vector<uint32_t> requests;  // keys by number
  uint32_t keys = 0;               // all numbers are below it
};

Trace Draw(const TraceOptions& options);

}  // namespace mayfly::bench

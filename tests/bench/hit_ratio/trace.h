// The sequences of keys that caches are compared on. Equal options give an equal trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mayfly::bench {

struct TraceOptions {
  // zipf:  popularity falls as 1 / rank^exponent over `keys` keys.
  // scan:  the same, and after each kScanEvery requests kScanned keys of another million, one after the
  // other. shift: the same, but every kShiftEvery requests kShifted new keys become the most popular ones and
  // all
  //        others step down by as many ranks.
  std::string kind = "zipf";
  double exponent = 0.9;
  uint32_t keys = 1'000'000;
  uint64_t requests = 0;
  uint64_t seed = 1;
};

// What scan and shift do, at a million keys; in proportion with other numbers of keys.
constexpr uint32_t kScanEvery = 100'000;
constexpr uint32_t kScanned = 50'000;
constexpr uint32_t kShiftEvery = 100'000;
constexpr uint32_t kShifted = 1000;

struct Trace {
  std::vector<uint32_t> requests;  // keys by number
  uint32_t keys = 0;               // all numbers are below
};

Trace Draw(const TraceOptions& options);

}  // namespace mayfly::bench

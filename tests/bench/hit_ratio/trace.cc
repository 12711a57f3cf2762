#include "hit_ratio/trace.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "client/socket.h"

namespace mayfly::bench {
namespace {

// Ranks 0, 1, ... with a probability that falls as 1 / (rank + 1)^exponent. Does not use the standard
// library's distributions, since they may differ between machines.
class Zipf {
 public:
  Zipf(uint32_t count, double exponent, uint64_t seed) : random_(seed) {
    sums_.reserve(count);
    double sum = 0;
    for (uint32_t rank = 0; rank < count; ++rank) sums_.push_back(sum += std::pow(rank + 1.0, -exponent));
  }
  uint32_t Next() {
    constexpr double kUnit = 1.0 / (uint64_t{1} << 53);
    const double at = static_cast<double>(random_() >> 11) * kUnit * sums_.back();
    const auto found = std::upper_bound(sums_.begin(), sums_.end(), at) - sums_.begin();
    return static_cast<uint32_t>(std::min<std::ptrdiff_t>(found, std::ssize(sums_) - 1));
  }

 private:
  std::mt19937_64 random_;
  std::vector<double> sums_;
};

uint32_t Scaled(uint32_t figure, uint32_t keys) {
  return std::max(1U, static_cast<uint32_t>(uint64_t{figure} * keys / 1'000'000));
}

Trace Scan(const TraceOptions& options, Zipf& zipf) {
  Trace trace{.requests = {}, .keys = 2 * options.keys};
  const uint32_t every = Scaled(kScanEvery, options.keys);
  const uint32_t scanned = Scaled(kScanned, options.keys);
  uint32_t next = 0;
  while (trace.requests.size() < options.requests) {
    for (uint32_t i = 0; i < every; ++i) trace.requests.push_back(zipf.Next());
    for (uint32_t i = 0; i < scanned; ++i) {
      trace.requests.push_back(options.keys + next);
      next = (next + 1) % options.keys;
    }
  }
  trace.requests.resize(options.requests);
  return trace;
}

Trace Shift(const TraceOptions& options, Zipf& zipf) {
  const uint32_t every = Scaled(kShiftEvery, options.keys);
  const uint32_t shifted = Scaled(kShifted, options.keys);
  Trace trace;
  uint32_t newest = options.keys;
  for (uint64_t i = 0; i < options.requests; ++i) {
    if (i != 0 && i % every == 0) newest += shifted;
    trace.requests.push_back(newest - 1 - zipf.Next());
  }
  trace.keys = newest;
  return trace;
}

}  // namespace

Trace Draw(const TraceOptions& options) {
  Zipf zipf(options.keys, options.exponent, options.seed);
  if (options.kind == "scan") return Scan(options, zipf);
  if (options.kind == "shift") return Shift(options, zipf);
  if (options.kind != "zipf") Die("no trace is called " + options.kind);
  Trace trace{.requests = {}, .keys = options.keys};
  for (uint64_t i = 0; i < options.requests; ++i) trace.requests.push_back(zipf.Next());
  return trace;
}

}  // namespace mayfly::bench

#include "hit_ratio/trace.h"

#include <algorithm>

#include "client/socket.h"
#include "zipf.h"

namespace mayfly::bench {
namespace {

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

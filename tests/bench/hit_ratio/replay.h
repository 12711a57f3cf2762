// A trace against a cache, as an application uses one: ask for a key, and on a miss store it.
//
// Requests go in batches, since a pipeline is many times faster. That must not change what is counted: a key
// that is asked for again in the batch in which it was missed would have been stored meanwhile. So a batch is
// two rounds: all questions; then, in order, for each that was a miss, a store the first time, and the
// question once more where the key came again, whose answer counts. What is left of a difference to one
// request at a time is that a store may evict a key that the same batch asks for later. Offline caches are
// driven in the same way.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hit_ratio/trace.h"

namespace mayfly::bench {

struct Step {
  uint32_t key;
  bool store;
};

class Cache {
 public:
  virtual ~Cache() = default;
  // Takes the steps in order; `hits` gets as many elements, true where a question was answered.
  virtual void Run(std::span<const Step> steps, std::vector<bool>& hits) = 0;
};

struct ReplayOptions {
  uint64_t warm_up = 0;  // requests that are not counted
  size_t batch = 256;
};

struct Count {
  uint64_t hits = 0;
  uint64_t misses = 0;
};

// `after_batch` gets the number of requests done so far.
Count Replay(
    const Trace& trace, const ReplayOptions& options, Cache& cache,
    const std::function<void(uint64_t done)>& after_batch = [](uint64_t) {});

}  // namespace mayfly::bench

// Plays a trace against a cache, as an application uses one: it asks for a key and stores it on a miss.
//
// Requests are sent in batches, since a pipeline is many times faster. That must not change the counts: if a
// batch misses a key and asks for it again, the application would have stored it in between. So a batch has
// two rounds. The first asks for all keys. The second goes through the misses in order: the first miss of a
// key is a store, and for each further one the key is asked for again, and that answer counts. One difference
// to single requests is left: a store may evict a key that the same batch asks for later. The caches without
// a server are driven in the same way.
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
  // Takes the steps in order. `hits` gets an element for each: true if it asked for a key and got a value.
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

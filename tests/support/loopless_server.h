// All parts of a server without a loop, put together as main does it, by a clock that stands still until
// somebody moves it. Seeds are fixed, so that what it does repeats. Loop thread only.
#pragma once

#include <random>

#include "exec/executor.h"

namespace mayfly::testing {

class LooplessServer {
 public:
  static constexpr double kAnyCyclesPerUs = 1000;

  // The higher `cycles_per_us`, the more seldom the executor finds its reading of the clock stale.
  explicit LooplessServer(double cycles_per_us = kAnyCyclesPerUs);
  LooplessServer(const LooplessServer&) = delete;
  LooplessServer& operator=(const LooplessServer&) = delete;

  // Frees what is due by now and what was flushed, and lets those who wait run out of time: what the loop
  // does when its timer fires.
  void FreeDue();

  SteppedClock clock;
  config::Files files;
  config::Options options;
  Heap heap;
  Hasher hasher;
  ChangeHub changes;
  Databases databases;
  std::mt19937_64 random;
  Evictor evictor;
  Stats stats;
  MemoryMeter memory;
  Sessions sessions;
  ParkingLot parking;
  CommandTable commands;
  Server server;
  Executor executor;
  ChunkPool chunks;
};

}  // namespace mayfly::testing

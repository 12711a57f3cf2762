// All parts of a server without a loop, put together as in main. Its clock stands still until somebody moves
// it. Seeds are fixed, so that runs repeat exactly. Loop thread only.
#pragma once

#include <cstdint>

#include "base/memory/output.h"
#include "base/time/clock.h"
#include "config/sources/files.h"
#include "config/sources/options.h"
#include "exec/call/command_table.h"
#include "exec/parts.h"

namespace mayfly::testing {

// What the parts borrow.
struct StillSurroundings {
  StillSurroundings() : options(0, files) {}

  SteppedClock clock;
  config::Files files;
  config::Options options;
  CommandTable commands;
};

class LooplessServer : public StillSurroundings, public Parts {
 public:
  static constexpr double kAnyCyclesPerUs = 1000;
  static constexpr uint64_t kHashSeed = 20240229;

  // The higher `cycles_per_us`, the less often the executor reads the clock again. Tables are laid out by `hash_seed`.
  explicit LooplessServer(double cycles_per_us = kAnyCyclesPerUs, uint64_t hash_seed = kHashSeed);
  LooplessServer(const LooplessServer&) = delete;
  LooplessServer& operator=(const LooplessServer&) = delete;

  // A new client of this session, as the loop lets it in. Borrows the session until sessions.Remove.
  void Connect(Session& session);
  // What the loop does when its timer fires: frees what is due and what was flushed, and ends waits whose
  // time is over.
  void FreeDue();

  ChunkPool chunks;
};

}  // namespace mayfly::testing

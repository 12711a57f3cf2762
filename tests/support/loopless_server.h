// All parts of a server without a loop, put together as in main. Its clock stands still until somebody moves
// it. Seeds are fixed, so that runs repeat exactly. Loop thread only.
#pragma once

#include <random>

#include "base/clock.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/output.h"
#include "cache/databases.h"
#include "cache/eviction.h"
#include "config/options.h"
#include "exec/dispatch/command_table.h"
#include "exec/dispatch/executor.h"
#include "exec/dispatch/memory_meter.h"
#include "exec/dispatch/resident_guard.h"
#include "server/event_log.h"
#include "server/failed_logins.h"
#include "server/incidents.h"
#include "server/latency_monitor.h"
#include "server/leases.h"
#include "server/notifier.h"
#include "server/parking.h"
#include "server/pubsub.h"
#include "server/rates.h"
#include "server/sessions.h"
#include "server/sliced_work.h"
#include "server/slow_log.h"
#include "server/stats.h"
#include "server/tracking.h"
#include "server/watched_keys.h"

namespace mayfly::testing {

class LooplessServer {
 public:
  static constexpr double kAnyCyclesPerUs = 1000;

  // The higher `cycles_per_us`, the less often the executor reads the clock again.
  explicit LooplessServer(double cycles_per_us = kAnyCyclesPerUs);
  LooplessServer(const LooplessServer&) = delete;
  LooplessServer& operator=(const LooplessServer&) = delete;

  // A new client of this session, as the loop lets it in. Borrows the session until sessions.Remove.
  void Connect(Session& session);
  // What the loop does when its timer fires: frees what is due and what was flushed, and ends waits whose
  // time is over.
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
  ResidentGuard resident;
  Sessions sessions;
  ParkingLot parking;
  WatchedKeys watched_keys;
  PubSub pubsub;
  Notifier notifier;
  Tracking tracking;
  Leases leases;
  EventLog event_log;
  Rates rates;
  SlicedWork sliced_work;
  FailedLogins failed_logins;
  Incidents incidents;
  SlowLog slow_log;
  LatencyMonitor latency_monitor;
  CommandTable commands;
  Server server;
  Executor executor;
  ChunkPool chunks;
};

}  // namespace mayfly::testing

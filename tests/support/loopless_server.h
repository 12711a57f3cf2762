// All parts of a server without a loop, put together as in main. Its clock stands still until somebody moves
// it. Seeds are fixed, so that runs repeat exactly. Loop thread only.
#pragma once

#include <random>

#include "base/bits/hash.h"
#include "base/memory/heap.h"
#include "base/memory/output.h"
#include "base/time/clock.h"
#include "cache/evict/eviction.h"
#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "exec/call/command_table.h"
#include "exec/dispatch/executor.h"
#include "exec/memory/memory_meter.h"
#include "exec/memory/resident_guard.h"
#include "server/clients/failed_logins.h"
#include "server/clients/sessions.h"
#include "server/figures/incidents.h"
#include "server/figures/latency_monitor.h"
#include "server/figures/rates.h"
#include "server/figures/slow_log.h"
#include "server/figures/stats.h"
#include "server/sliced_work.h"
#include "server/waiting/leases.h"
#include "server/waiting/parking.h"
#include "server/watch/event_log.h"
#include "server/watch/notifier.h"
#include "server/watch/pubsub.h"
#include "server/watch/tracking.h"
#include "server/watch/watched_keys.h"

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

// All parts of a server except the loop, built in the order of their dependencies: for main, and for tests without a loop.
//
// A new part has a header, a source and one line here: the part itself registers at the hubs whatever other parts must do
// for it (server/hubs/hubs.h). Handlers reach a part by its name in Server; a part used only by its own commands is a
// LatePart. Loop thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "base/bits/hash.h"
#include "base/memory/heap.h"
#include "base/time/clock.h"
#include "base/time/tsc.h"
#include "cache/evict/eviction.h"
#include "cache/keyspace/databases.h"
#include "exec/call/command_table.h"
#include "exec/dispatch/executor.h"
#include "exec/memory/memory_meter.h"
#include "exec/memory/memory_watch.h"
#include "exec/memory/resident_guard.h"
#include "server/acl/acl_log.h"
#include "server/acl/users.h"
#include "server/clients/failed_logins.h"
#include "server/clients/sessions.h"
#include "server/figures/incidents.h"
#include "server/figures/latency_monitor.h"
#include "server/figures/link_figures.h"
#include "server/figures/process_memory.h"
#include "server/figures/rates.h"
#include "server/figures/replica_figures.h"
#include "server/figures/slow_log.h"
#include "server/figures/stats.h"
#include "server/hubs/hubs.h"
#include "server/server.h"
#include "server/sliced_work.h"
#include "server/waiting/leases.h"
#include "server/waiting/parking.h"
#include "server/watch/event_log.h"
#include "server/watch/notifier.h"
#include "server/watch/pubsub.h"
#include "server/watch/tracking.h"
#include "server/watch/watched_keys.h"

namespace mayfly {

// The parts' surroundings. Borrows all references and pointers.
struct Outside {
  Clock& clock;
  config::Options& options;
  CommandTable& commands;
  Hasher hasher;
  uint64_t random_seed;
  CycleRate cycle_rate;
  std::string run_id;
  // Of the daemon's source; zeros: of a program that is not the daemon.
  std::string build_id = "0000000000000000";
  Log* log = nullptr;                             // null: no log
  const MemoryLimitFiles* limit_files = nullptr;  // null: neither the process's memory nor its limit is read
};

struct Parts {
  explicit Parts(Outside&& from);
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  Hubs hubs;
  Users users;
  AclLog acl_log;
  Heap heap;
  const Hasher hasher;
  ChangeHub changes;
  std::mt19937_64 random;
  Databases databases;
  Evictor evictor;
  Stats stats;
  LinkFigures link;
  ReplicaFigures followers;
  MemoryMeter memory;
  std::optional<KernelMemory> kernel_memory;
  ResidentGuard resident;
  std::optional<MemoryWatch> memory_watch;
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
  Server server;
  Executor executor;

 private:
  const Accounts::Account names_;  // given by clients, to several parts
};

}  // namespace mayfly

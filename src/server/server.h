// The parts of a server for requests to work on. This header only declares the parts: a file includes the headers of the
// parts in use, and no others.
//
// Built by main (or a test); all other code borrows it. Loop thread only.
#pragma once

#include <memory>
#include <random>
#include <string>

#include "base/time/tsc.h"

namespace mayfly {

namespace config {
class Options;
}

class AclLog;
class Clock;
class Cluster;
class CommandTable;
class Databases;
class EventLog;
class Evictor;
class Executor;
class FailedLogins;
class Incidents;
class LatencyMonitor;
class Leases;
class Log;
class MemoryMeter;
class MemoryWatch;
class Notifier;
class Outgoing;
class ParkingLot;
class PubSub;
class Rates;
class ResidentGuard;
class Sessions;
class SlicedWork;
class SlowLog;
class Tracking;
class Users;
class WatchedKeys;
struct Hubs;
struct LinkFigures;
struct ReplicaFigures;
struct Stats;

// A part made by the first command in need of it. The maker knows the real type.
struct LatePart {
  LatePart() = default;
  LatePart(const LatePart&) = delete;
  LatePart& operator=(const LatePart&) = delete;
  virtual ~LatePart() = default;
};

struct Server {
  Hubs& hubs;
  Users& users;
  AclLog& acl_log;
  Clock& clock;
  config::Options& options;
  Databases& databases;
  Evictor& evictor;
  MemoryMeter& memory;
  ResidentGuard& resident;
  Sessions& sessions;
  ParkingLot& parking;
  WatchedKeys& watched_keys;
  PubSub& pubsub;
  Notifier& notifier;
  Tracking& tracking;
  Leases& leases;
  EventLog& event_log;
  Stats& stats;
  LinkFigures& link;  // to the master, if this server follows one
  ReplicaFigures& followers;
  Rates& rates;             // sampled whenever the loop turns
  SlicedWork& sliced_work;  // the loop runs a slice in each turn
  FailedLogins& failed_logins;
  Incidents& incidents;
  SlowLog& slow_log;
  LatencyMonitor& latency_monitor;
  const CommandTable& commands;
  CycleRate cycle_rate;
  std::mt19937_64& random;
  std::string run_id;               // 40 hex digits, drawn at start
  std::string build_id;             // 16 hex digits, of the source
  int stop_signal = 0;              // the signal that stops the loop; 0: none
  bool shutdown_requested = false;  // the loop stops at the end of the turn
  bool waits_to_stop = false;       // it will, after a wait for replicas and file (replication/stop_wait.h)
  Executor* executor = nullptr;     // set by the executor itself
  uint32_t modes = 0;               // the Modes of every client
  Log* log = nullptr;               // null: no log
  Cluster* cluster = nullptr;       // null: this server belongs to no cluster
  Outgoing* outgoing = nullptr;     // null: there is no loop, and no connection to other servers
  Outgoing* outgoing_by_tls = nullptr;             // likewise, by TLS
  MemoryWatch* memory_watch = nullptr;             // null: maxmemory follows no change of the memory
  std::unique_ptr<LatePart> snapshots = nullptr;   // made at the start (src/snapshot)
  std::unique_ptr<LatePart> migrations = nullptr;  // made by the first MIGRATE (src/snapshot)
  std::unique_ptr<LatePart> master_link =
      nullptr;  // made by the first master that is followed (src/replication)
  std::unique_ptr<LatePart> replicas = nullptr;  // made at the start (src/replication)
  std::unique_ptr<LatePart> failover = nullptr;  // made by the first FAILOVER (src/replication)
  std::unique_ptr<LatePart> stop_wait =
      nullptr;  // made by the first stop that waits for replicas (src/replication)
  std::unique_ptr<LatePart> scripts = nullptr;   // made by the first script (src/script)
  std::unique_ptr<LatePart> ttl_walk = nullptr;  // made by the first INFO ttlhist (exec/info/ttl_walk.h)

  // A script has been running for too long. The script goes on in slices, and meanwhile no key may go away.
  bool Busy() const noexcept;
};

}  // namespace mayfly

#include "support/loopless_server.h"

#include <string>

namespace mayfly::testing {
namespace {

constexpr uint64_t kHashSeed = 20240229;
constexpr uint64_t kRandomSeed = 7;
constexpr size_t kSlice = 1000;

}  // namespace

LooplessServer::LooplessServer(double cycles_per_us)
    : options(0, files),
      hasher(kHashSeed),
      databases(heap, hasher, changes, static_cast<unsigned>(options.settings().databases), clock.Read()),
      random(kRandomSeed),
      evictor(databases, random),
      memory(databases, stats),
      resident(nullptr, 0),
      parking(changes, stats, hasher, clock.Read().mono_ms),
      watched_keys(changes, clock, stats, hasher),
      pubsub(sessions, stats, hasher),
      notifier(changes, pubsub),
      tracking(changes, sessions, hasher),
      leases(changes, parking.keys(), hasher, random, clock.Read().mono_ms),
      event_log(changes, parking, clock),
      server{.clock = clock,
             .options = options,
             .databases = databases,
             .evictor = evictor,
             .memory = memory,
             .resident = resident,
             .sessions = sessions,
             .parking = parking,
             .watched_keys = watched_keys,
             .pubsub = pubsub,
             .notifier = notifier,
             .tracking = tracking,
             .leases = leases,
             .event_log = event_log,
             .stats = stats,
             .rates = rates,
             .sliced_work = sliced_work,
             .failed_logins = failed_logins,
             .incidents = incidents,
             .slow_log = slow_log,
             .latency_monitor = latency_monitor,
             .commands = commands,
             .cycle_rate = CycleRate(cycles_per_us),
             .random = random,
             .run_id = std::string(40, '0')},
      executor(server) {}

void LooplessServer::Connect(Session& session) {
  session.LogIn(server.users.Newcomer());
  sessions.Add(session);
}

void LooplessServer::FreeDue() {
  const Now now = executor.RefreshNow();
  while (databases.Advance(now, kSlice)) {
  }
  while (databases.FreeSome(kSlice)) {
  }
  while (event_log.FreeSome(kSlice)) {
  }
  while (tracking.FreeSome(kSlice)) {
  }
  parking.Advance(now.mono_ms);
  leases.Advance(now.mono_ms);
  server.failed_logins.Advance(now.mono_ms, server.log);
  server.incidents.Advance(now.mono_ms, server.log);
}

}  // namespace mayfly::testing

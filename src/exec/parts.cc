#include "exec/parts.h"

#include <utility>

#include "config/sources/options.h"

namespace mayfly {

Parts::Parts(Outside&& from)
    : hasher(from.hasher),
      random(from.random_seed),
      databases(heap, hasher, changes, static_cast<unsigned>(from.options.settings().databases),
                from.clock.Read()),
      evictor(databases, random),
      memory(databases, stats, hubs.accounts),
      kernel_memory(from.limit_files != nullptr ? std::optional<KernelMemory>(std::in_place, heap)
                                                : std::nullopt),
      resident(kernel_memory ? &*kernel_memory : nullptr, kernel_memory ? from.options.memory_bytes() : 0),
      parking(hubs, changes, stats, hasher, from.clock.Read().mono_ms),
      watched_keys(changes, from.clock, stats, hasher),
      pubsub(hubs.client_ends, sessions, stats.name_bytes, hasher),
      notifier(changes, pubsub),
      tracking(hubs.accounts, hubs.client_ends, changes, sessions, hasher),
      leases(hubs.alarms, hubs.accounts, hubs.client_ends, changes, parking.keys(), hasher, random,
             from.clock.Read().mono_ms),
      event_log(hubs.alarms, changes, parking, from.clock),
      failed_logins(hubs.alarms),
      incidents(hubs.alarms),
      server{.hubs = hubs,
             .users = users,
             .acl_log = acl_log,
             .clock = from.clock,
             .options = from.options,
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
             .link = link,
             .followers = followers,
             .rates = rates,
             .sliced_work = sliced_work,
             .failed_logins = failed_logins,
             .incidents = incidents,
             .slow_log = slow_log,
             .latency_monitor = latency_monitor,
             .commands = from.commands,
             .cycle_rate = from.cycle_rate,
             .random = random,
             .run_id = std::move(from.run_id),
             .build_id = std::move(from.build_id),
             .log = from.log},
      executor(server),
      names_(hubs.accounts, stats.name_bytes) {
  stats.started_mono_ms = from.clock.Read().mono_ms;
  if (from.limit_files == nullptr) return;
  memory_watch.emplace(*from.limit_files, from.options, resident, from.log, from.clock.Read().mono_ms);
  server.memory_watch = &*memory_watch;
}

}  // namespace mayfly

#include "exec/memory/memory_gate.h"

#include <algorithm>

#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "exec/memory/resident_guard.h"
#include "server/figures/latency_monitor.h"
#include "server/figures/link_figures.h"
#include "server/figures/stats.h"

namespace mayfly {

bool MemoryGate::RefusesWrites() const noexcept {
  return server_.link.follows() && server_.options.settings().replica_read_only;
}

bool MemoryGate::IgnoresLimits() const noexcept {
  return server_.link.follows() && server_.options.settings().replica_ignore_maxmemory;
}

// A replica's ceiling of 0 makes every write take the way on which refusals are found.
void MemoryGate::SetCeiling() noexcept {
  if (RefusesWrites()) [[unlikely]] {
    ceiling_ = 0;
    return;
  }
  const uint64_t maxmemory = Limits().maxmemory_bytes;
  if (maxmemory == 0)
    ceiling_ = UINT64_MAX;
  else
    ceiling_ = server_.memory.All() <= maxmemory ? maxmemory : server_.memory.AllWith(maxmemory);
}

// Every turn of the loop calls Calm: the test must be cheap.
bool MemoryGate::Calm() noexcept {
  if (IgnoresLimits()) [[unlikely]]
    return true;
  const uint64_t limit = server_.resident.Allowed(server_.options.settings().maxmemory.bytes);
  if (maxkeys_ != 0 || short_of_room_ || server_.resident.Due(server_.databases.heap().ChurnedBytes()))
    return false;
  if (limit == 0) return true;
  const uint64_t all = server_.memory.All();
  return server_.stats.arriving_bytes == 0 && settled_.bytes == limit &&
         (all <= limit || all <= server_.memory.AllWith(limit));
}

bool MemoryGate::MakeRoom(bool only_if_room, Now now) {
  SetCeiling();
  if (server_.memory.All() <= ceiling_) [[likely]]
    return true;
  if (RefusesWrites()) return false;
  return MakeRoomForCommand(now) != Evictor::Outcome::kNothingToEvict || !only_if_room;
}

EvictionLimits MemoryGate::Limits() const noexcept {
  const config::Settings& settings = server_.options.settings();
  if (IgnoresLimits()) return {.policy = settings.maxmemory_policy};
  return {.maxmemory_bytes = server_.resident.Allowed(settings.maxmemory.bytes),
          .maxkeys = static_cast<uint64_t>(settings.maxkeys),
          .policy = settings.maxmemory_policy,
          .samples = static_cast<size_t>(settings.maxmemory_samples)};
}

Evictor::Outcome MemoryGate::MakeRoomForCommand(Now now) noexcept {
  return Evict(kEvictionsPerCommand, now, OwedByCommand());
}

Evictor::Outcome MemoryGate::Evict(size_t budget, Now now, const EvictionOwed& owed) noexcept {
  const bool timed = server_.latency_monitor.threshold_ms() != 0;
  const uint64_t began = timed ? ReadCycles() : 0;
  const uint64_t churned = server_.databases.heap().ChurnedBytes();
  if (server_.resident.Due(churned)) [[unlikely]]
    server_.resident.Look(churned, server_.memory.All(), server_.options.settings().maxmemory.bytes);
  const Evictor::Outcome outcome =
      server_.evictor.Run(Limits(), now, budget, [this] { return server_.memory.Data(); }, owed);
  short_of_room_ = outcome == Evictor::Outcome::kMore;
  Rebase();
  if (timed) {
    const uint64_t ms = server_.cycle_rate.ToUs(ReadCycles() - began) / kUsPerMs;
    server_.latency_monitor.Note(LatencyMonitor::kEviction, ms, now.wall_ms / kMsPerSecond);
  }
  return outcome;
}

EvictionOwed MemoryGate::OwedByCommand() const noexcept {
  const uint64_t settled = settled_.bytes + server_.stats.arriving_bytes;
  const uint64_t data = server_.memory.Data();
  if (!server_.resident.pressed() || data <= settled) return {settled, settled_.keys};
  return {settled - std::min(settled, (data - settled) * (kPressedFactor - 1)), settled_.keys};
}

void MemoryGate::Rebase() noexcept {
  const EvictionLimits limits = Limits();
  maxkeys_ = limits.maxkeys;
  if (limits.maxmemory_bytes != 0) {
    const uint64_t arriving = server_.stats.arriving_bytes;
    const uint64_t bytes = std::max(limits.maxmemory_bytes, server_.memory.Data());
    settled_.bytes = bytes - std::min(arriving, bytes);
  }
  if (limits.maxkeys != 0) settled_.keys = std::max<uint64_t>(limits.maxkeys, server_.databases.total_keys());
}

}  // namespace mayfly

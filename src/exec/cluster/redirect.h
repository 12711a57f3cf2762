// Finds the daemon of a cluster for a call, by the slots of the call's keys. In the words and the order of Redis: see
// Refusal::kElsewhere. Loop thread only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "exec/call/command_table.h"
#include "server/clients/session.h"
#include "server/cluster/cluster.h"
#include "server/server.h"

namespace mayfly {

struct Direction {
  static constexpr int kNoSlot = -1;

  Elsewhere why = Elsewhere::kHere;
  int slot = kNoSlot;  // of the call's keys; kNoSlot: no keys
};

// Shard channels count as keys. For EXEC, the keys are the keys of all queued calls. REQUIRES: the server belongs to a cluster
// that is not emulated.
Direction DirectionOf(Server& server, const Session& session, const TableRow& row,
                      std::span<const std::string_view> call);
// The same for a call outside a session's queue: for a script. `reads_replica`: the client has said READONLY.
Direction DirectionOf(Server& server, bool reads_replica, const TableRow& row,
                      std::span<const std::string_view> call);

// True if a request runs here by the slots of its keys. Mostly tests a single key.
inline bool RunsHere(Server& server, const Session& session, const TableRow& row,
                     std::span<const std::string_view> call) {
  const Cluster& cluster = *server.cluster;
  if (row.names_one_key && row.first_key < call.size()) [[likely]] {
    const uint16_t slot = SlotOf(call[row.first_key]);
    if (cluster.Serves(slot)) [[likely]]
      return true;
    if (session.Has(Mode::kReadsReplica) && row.only_reads && cluster.ServesAtReplica(slot)) return true;
  }
  return DirectionOf(server, session, row, call).why == Elsewhere::kHere;
}

// The error. REQUIRES: direction.why is not kHere.
std::string RedirectText(const Cluster& cluster, const Session& session, const Direction& direction);

}  // namespace mayfly

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

namespace mayfly {

struct Direction {
  static constexpr int kNoSlot = -1;

  Elsewhere why = Elsewhere::kHere;
  int slot = kNoSlot;  // of its keys; kNoSlot: it names none
};

// Shard channels count as keys. For EXEC it is about the keys of all that is queued. REQUIRES: not emulated.
Direction DirectionOf(const Cluster& cluster, const Session& session, const TableRow& row,
                      std::span<const std::string_view> call);
// The same for a call that no session has queued: of a script.
Direction DirectionOf(const Cluster& cluster, const TableRow& row, std::span<const std::string_view> call);

// Whether a request runs here, and nothing but its keys' slots could keep it from that. Mostly one key is looked at.
inline bool RunsHere(const Cluster& cluster, const Session& session, const TableRow& row,
                     std::span<const std::string_view> call) {
  if (row.names_one_key && row.first_key < call.size() && cluster.Serves(SlotOf(call[row.first_key])))
      [[likely]]
    return true;
  return DirectionOf(cluster, session, row, call).why == Elsewhere::kHere;
}

// The error. REQUIRES: direction.why is not kHere.
std::string RedirectText(const Cluster& cluster, const Session& session, const Direction& direction);

}  // namespace mayfly

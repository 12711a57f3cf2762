#include "exec/cluster/redirect.h"

#include <cassert>

#include "exec/call/call_flags.h"
#include "exec/call/command_keys.h"
#include "server/clients/transaction.h"

namespace mayfly {
namespace {

// What the call does, and whether replicas of the slot's node may run it.
struct Purpose {
  Cluster::Use use;
  bool at_replica;
};

// Finds the common slot of the keys of one call or several calls.
class SlotFinder {
 public:
  explicit SlotFinder(const Cluster& cluster) noexcept : cluster_(cluster) {}

  void Add(const Command& command, std::span<const std::string_view> call) {
    const auto add = [this](std::string_view text) { Add(text); };
    if ((command.keys.use & kKeyNone) != 0) return ForEachChannel(command, call, add);
    const int slot = slot_;
    const Elsewhere why = why_;
    if (ForEachKey(command, call, [&](const FoundKey& key) { add(key.text); })) return;
    slot_ = slot;  // as in Redis, a call with a wrong number of keys has no slot: the handler refuses it
    why_ = why;
  }
  // `purpose`: returns the Purpose. Mostly nobody has to know it.
  template <typename Fn>
  Direction For(Fn&& purpose) const noexcept {
    if (slot_ == Direction::kNoSlot) return {};
    if (why_ != Elsewhere::kHere) return {why_, slot_};
    const auto slot = static_cast<uint16_t>(slot_);
    if (cluster_.Serves(slot)) return {Elsewhere::kHere, slot_};
    const Purpose is = purpose();
    return {cluster_.PlaceOf(slot, is.use, is.at_replica), slot_};
  }

 private:
  void Add(std::string_view key) noexcept {
    const uint16_t slot = SlotOf(key);
    if (slot_ == Direction::kNoSlot) {
      slot_ = slot;
      if (cluster_.map().OwnerOf(slot) == ClusterMap::kNobody) why_ = Elsewhere::kUnserved;
    } else if (slot != slot_ && why_ == Elsewhere::kHere) {
      why_ = Elsewhere::kCrossSlot;
    }
  }

  const Cluster& cluster_;
  int slot_ = Direction::kNoSlot;
  Elsewhere why_ = Elsewhere::kHere;
};

// A message to a shard channel goes from the master to the replicas, so replicas do not take it from clients.
Purpose PurposeOf(const Command& command, uint32_t flags, bool reads_replica) noexcept {
  if ((command.keys.use & kKeyNone) != 0) return {Cluster::Use::kShardChannels, (flags & kMayReplicate) == 0};
  if ((flags & kWrite) != 0) return {Cluster::Use::kWrites, false};
  return {Cluster::Use::kReads, reads_replica};
}

}  // namespace

Direction DirectionOf(Server& server, bool reads_replica, const TableRow& row,
                      std::span<const std::string_view> call) {
  assert(!server.cluster->emulated());
  SlotFinder finder(*server.cluster);
  finder.Add(*row.command, call);
  // The first line of a script says whether it writes.
  return finder.For(
      [&] { return PurposeOf(*row.command, CallFlags::IfReadable(server, row, call), reads_replica); });
}

Direction DirectionOf(Server& server, const Session& session, const TableRow& row,
                      std::span<const std::string_view> call) {
  const bool reads_replica = session.Has(Mode::kReadsReplica);
  const bool runs_queue = (row.command->flags & kRunsQueue) != 0 && session.Has(Mode::kTransaction);
  if (!runs_queue) return DirectionOf(server, reads_replica, row, call);
  SlotFinder finder(*server.cluster);
  for (const Transaction::Queued& queued : session.transaction->queued)
    finder.Add(*queued.row->command, queued.arguments.all());
  return finder.For([&] { return PurposeOf(*row.command, session.transaction->flags, reads_replica); });
}

std::string RedirectText(const Cluster& cluster, const Session& session, const Direction& direction) {
  switch (direction.why) {
    case Elsewhere::kUnserved:
      return "CLUSTERDOWN Hash slot not served";
    case Elsewhere::kCrossSlot:
      return "CROSSSLOT Keys in request don't hash to the same slot";
    case Elsewhere::kDown:
      return "CLUSTERDOWN The cluster is down";
    case Elsewhere::kDownReadOnly:
      return "CLUSTERDOWN The cluster is down and only accepts read commands";
    case Elsewhere::kMoved:
    case Elsewhere::kHere:
      break;
  }
  assert(direction.why == Elsewhere::kMoved);
  const ClusterMap& map = cluster.map();
  const ClusterNode& owner = map.nodes()[map.OwnerOf(static_cast<uint16_t>(direction.slot))];
  const Endpoint endpoint = cluster.EndpointOf(owner, session);
  return "MOVED " + std::to_string(direction.slot) + ' ' +
         std::string(cluster.PreferredHost(endpoint).value_or("")) + ':' + std::to_string(endpoint.port);
}

}  // namespace mayfly

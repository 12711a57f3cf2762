#include "exec/cluster/redirect.h"

#include <cassert>

#include "exec/call/command_keys.h"
#include "server/clients/transaction.h"

namespace mayfly {
namespace {

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
  Direction For(Cluster::Use use) const noexcept {
    if (slot_ == Direction::kNoSlot) return {};
    if (why_ != Elsewhere::kHere) return {why_, slot_};
    return {cluster_.PlaceOf(static_cast<uint16_t>(slot_), use), slot_};
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

Cluster::Use UseOf(const Command& command, uint32_t flags) noexcept {
  if ((command.keys.use & kKeyNone) != 0) return Cluster::Use::kShardChannels;
  return (flags & kWrite) != 0 ? Cluster::Use::kWrites : Cluster::Use::kReads;
}

}  // namespace

Direction DirectionOf(const Cluster& cluster, const TableRow& row, std::span<const std::string_view> call) {
  assert(!cluster.emulated());
  SlotFinder finder(cluster);
  finder.Add(*row.command, call);
  return finder.For(UseOf(*row.command, row.command->flags));
}

Direction DirectionOf(const Cluster& cluster, const Session& session, const TableRow& row,
                      std::span<const std::string_view> call) {
  const bool runs_queue = (row.command->flags & kRunsQueue) != 0 && session.Has(Mode::kTransaction);
  if (!runs_queue) return DirectionOf(cluster, row, call);
  SlotFinder finder(cluster);
  for (const Transaction::Queued& queued : session.transaction->queued)
    finder.Add(*queued.row->command, queued.arguments.all());
  return finder.For(UseOf(*row.command, session.transaction->flags));
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

// CLUSTER, ASKING, READONLY, READWRITE: the slots and roles of each daemon, for cluster clients. Without a cluster all answer
// that cluster support is disabled. In a cluster, commands that would change the map answer that the map is written in a file
// (server/cluster/cluster_map.h).
#include "server/cluster/cluster.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "exec/cluster/slot_walk.h"
#include "exec/dispatch/context.h"
#include "exec/docs/command_help.h"
#include "server/figures/link_figures.h"
#include "server/figures/replica_figures.h"

namespace mayfly::cluster_commands {
namespace {

// redis-cli and others compare this text as a whole.
constexpr std::string_view kNoCluster = "ERR This instance has cluster support disabled";
constexpr std::string_view kFixedMap =
    "ERR The slots and roles of this cluster are written in a file: change cluster-config-file, and have "
    "the nodes read it again";

// The handlers below run only with a cluster.
template <Handler handler>
void InCluster(Context& ctx, Args& args) {
  if (ctx.server.cluster == nullptr) return ctx.Fail(kNoCluster);
  handler(ctx, args);
}

const ClusterMap& MapOf(const Context& ctx) { return ctx.server.cluster->map(); }

Endpoint EndpointOf(const Context& ctx, const ClusterNode& node) {
  return ctx.server.cluster->EndpointOf(node, ctx.session);
}

// ---- the map, in Redis's forms

void ReplyText(Context& ctx, std::string_view name, std::string_view value) {
  ctx.reply.Bulk(name);
  ctx.reply.Bulk(value);
}

void ReplySlotNode(Context& ctx, const ClusterNode& node) {
  const Endpoint endpoint = EndpointOf(ctx, node);
  const std::optional<std::string_view> host = ctx.server.cluster->PreferredHost(endpoint);
  ctx.reply.Array(4);
  host ? ctx.reply.Bulk(*host) : ctx.reply.Null();
  ctx.reply.Integer(endpoint.port);
  ctx.reply.Bulk(node.id);
  // Further names of the node.
  const config::EndpointType preferred = ctx.server.cluster->preferred();
  const bool with_ip = preferred != config::EndpointType::kIp;
  const bool with_hostname = preferred != config::EndpointType::kHostname && !endpoint.hostname.empty();
  ctx.reply.Map((with_ip ? 1 : 0) + (with_hostname ? 1 : 0));
  if (with_ip) ReplyText(ctx, "ip", endpoint.address);
  if (with_hostname) ReplyText(ctx, "hostname", endpoint.hostname);
}

// How a node is, as far as this node knows.
constexpr std::string_view kOnline = "online";

struct Condition {
  std::string_view health = kOnline;
  int64_t offset = 0;  // of the master's stream
};

// The replica of this node, a master.
Condition ConditionOfReplica(const ReplicaFigures& figures, const ClusterNode& replica) {
  for (const ReplicaFigures::Line& line : figures.lines) {
    if (line.port == replica.port && SameIgnoringCase(line.address, replica.host))
      return {line.online ? kOnline : "loading", line.offset};
  }
  return {"fail", 0};
}

// Nodes do not talk to each other, but a replica and its master do.
Condition ConditionOf(const Context& ctx, const ClusterNode& node) {
  const ClusterMap& map = MapOf(ctx);
  const bool has_keys = ctx.server.cluster->has_master_keys();
  if (&node == map.master()) return {kOnline, has_keys ? ctx.server.link.offset : 0};
  if (&node != &map.self())
    return node.is_replica() && &map.nodes()[node.master] == &map.self()
               ? ConditionOfReplica(ctx.server.followers, node)
               : Condition{};
  if (!node.is_replica()) return {kOnline, ctx.server.followers.offset};
  return has_keys ? Condition{kOnline, ctx.server.link.offset} : Condition{"loading", 0};
}

// As in Redis, without replicas that are known to have no keys to read.
void Slots(Context& ctx, Args&) {
  struct Stretch {
    SlotRange range;
    const ClusterNode* node;
  };
  std::vector<Stretch> stretches;
  for (const ClusterNode& node : MapOf(ctx).nodes()) {
    for (const SlotRange& range : node.slots) stretches.push_back({range, &node});
  }
  std::sort(stretches.begin(), stretches.end(),
            [](const Stretch& a, const Stretch& b) { return a.range.first < b.range.first; });
  ctx.reply.Array(stretches.size());
  for (const Stretch& stretch : stretches) {
    std::vector<const ClusterNode*> replicas;
    for (const ClusterMap::NodeIndex index : stretch.node->replicas) {
      const ClusterNode& replica = MapOf(ctx).nodes()[index];
      if (ConditionOf(ctx, replica).health == kOnline) replicas.push_back(&replica);
    }
    ctx.reply.Array(3 + replicas.size());
    ctx.reply.Integer(stretch.range.first);
    ctx.reply.Integer(stretch.range.last);
    ReplySlotNode(ctx, *stretch.node);
    for (const ClusterNode* const replica : replicas) ReplySlotNode(ctx, *replica);
  }
}

void ReplyShardNode(Context& ctx, const ClusterNode& node) {
  const Condition condition = ConditionOf(ctx, node);
  const Endpoint endpoint = EndpointOf(ctx, node);
  const uint16_t tls_port = ctx.server.cluster->TlsPortOf(node);
  ctx.reply.Map(7 + (tls_port != 0 ? 1 : 0) + (endpoint.hostname.empty() ? 0 : 1));
  ReplyText(ctx, "id", node.id);
  ctx.reply.Bulk("port");
  ctx.reply.Integer(node.port != 0 ? node.port : endpoint.port);
  if (tls_port != 0) {
    ctx.reply.Bulk("tls-port");
    ctx.reply.Integer(tls_port);
  }
  ReplyText(ctx, "ip", endpoint.address);
  ReplyText(ctx, "endpoint", ctx.server.cluster->PreferredHost(endpoint).value_or(""));
  if (!endpoint.hostname.empty()) ReplyText(ctx, "hostname", endpoint.hostname);
  ReplyText(ctx, "role", node.is_replica() ? "replica" : "master");
  ctx.reply.Bulk("replication-offset");
  ctx.reply.Integer(condition.offset);
  ReplyText(ctx, "health", condition.health);
}

void Shards(Context& ctx, Args&) {
  const std::vector<ClusterNode>& nodes = MapOf(ctx).nodes();
  ctx.reply.Array(nodes.size() - static_cast<size_t>(std::ranges::count_if(nodes, &ClusterNode::is_replica)));
  for (const ClusterNode& node : nodes) {
    if (node.is_replica()) continue;
    ctx.reply.Map(2);
    ctx.reply.Bulk("slots");
    ctx.reply.Array(2 * node.slots.size());
    for (const SlotRange& range : node.slots) {
      ctx.reply.Integer(range.first);
      ctx.reply.Integer(range.last);
    }
    ctx.reply.Bulk("nodes");
    ctx.reply.Array(1 + node.replicas.size());
    ReplyShardNode(ctx, node);
    for (const ClusterMap::NodeIndex replica : node.replicas) ReplyShardNode(ctx, nodes[replica]);
  }
}

// The epoch of a master is its place in the file, and a replica has its master's.
size_t EpochOf(const ClusterMap& map, const ClusterNode& node) {
  const auto index = static_cast<ClusterMap::NodeIndex>(&node - map.nodes().data());
  return map.ShardOf(index) + size_t{1};
}

// A line of CLUSTER NODES, without its end. Mayfly has no cluster bus: the bus port is 0, and nodes send no pings.
std::string LineOf(const Context& ctx, const ClusterNode& node) {
  const ClusterMap& map = MapOf(ctx);
  const Endpoint endpoint = EndpointOf(ctx, node);
  std::string text;
  text.append(node.id).append(" ").append(endpoint.address).append(":");
  text += std::to_string(endpoint.port) + "@0";
  if (!endpoint.hostname.empty()) text.append(",").append(endpoint.hostname);
  text += &node == &map.self() ? " myself," : " ";
  text += node.is_replica() ? "slave " + map.nodes()[node.master].id : "master -";
  text += " 0 0 " + std::to_string(EpochOf(map, node)) + " connected";
  for (const SlotRange& range : node.slots) {
    text += ' ' + std::to_string(range.first);
    if (range.last != range.first) text += '-' + std::to_string(range.last);
  }
  return text;
}

void Nodes(Context& ctx, Args&) {
  std::string text;
  for (const ClusterNode& node : MapOf(ctx).nodes()) text += LineOf(ctx, node) + '\n';
  ctx.reply.Verbatim("txt", text);
}

void Info(Context& ctx, Args&) {
  const ClusterMap& map = MapOf(ctx);
  const auto has_slots = [](const ClusterNode& node) { return !node.slots.empty(); };
  const std::vector<ClusterNode>& nodes = map.nodes();
  std::string text;
  const auto line = [&](std::string_view name, size_t value) {
    text.append(name).append(":").append(std::to_string(value)).append("\r\n");
  };
  text.append("cluster_state:").append(ctx.server.cluster->down() ? "fail" : "ok").append("\r\n");
  line("cluster_slots_assigned", map.slots_assigned());
  line("cluster_slots_ok", map.slots_assigned());
  line("cluster_slots_pfail", 0);
  line("cluster_slots_fail", 0);
  line("cluster_known_nodes", nodes.size());
  line("cluster_size", static_cast<size_t>(std::count_if(nodes.begin(), nodes.end(), has_slots)));
  line("cluster_current_epoch", nodes.size());
  line("cluster_my_epoch", EpochOf(map, map.self()));
  line("cluster_stats_messages_sent", 0);
  line("cluster_stats_messages_received", 0);
  line("total_cluster_links_buffer_limit_exceeded", 0);
  ctx.reply.Verbatim("txt", text);
}

void MyId(Context& ctx, Args&) { ctx.reply.Bulk(MapOf(ctx).self().id); }

// A shard has the name of its master.
void MyShardId(Context& ctx, Args&) {
  const ClusterMap& map = MapOf(ctx);
  ctx.reply.Bulk(map.nodes()[map.ShardOf(map.self_index())].id);
}

// ---- keys and their slots

void KeySlot(Context& ctx, Args& args) { ctx.reply.Integer(SlotOf(args[2])); }

void CountKeysInSlot(Context& ctx, Args& args) {
  const std::optional<int64_t> slot = ParseInteger(args[2]);
  if (!slot) return ctx.Fail(errors::kNotInteger);
  if (*slot < 0 || *slot >= static_cast<int64_t>(kSlots)) return ctx.Fail("ERR Invalid slot");
  ctx.reply.Integer(ctx.server.cluster->counts().KeysIn(static_cast<uint16_t>(*slot)));
}

// A key may have gone since the walk has found it.
void ReplyFound(Context& ctx, const SlotWalk& walk) {
  if (walk.failed()) return ctx.Fail(errors::kOutOfMemory);
  size_t count = 0;
  resp::Deferred array = ctx.reply.Defer();
  for (const std::string& name : walk.names()) {
    if (!ctx.keyspace.Holds(name, ctx.now)) continue;
    ++count;
    ctx.reply.Bulk(name);
  }
  array.Array(count);
}

// An operator who unblocks the client ends the walk: the client gets the keys so far, or the error.
void GetKeysInSlot(Context& ctx, Args& args) {
  if (ctx.wake() == WakeReason::kUnblocked) return ctx.Fail("UNBLOCKED client unblocked via CLIENT UNBLOCK");
  if (ctx.resumed != nullptr) return ReplyFound(ctx, static_cast<const SlotWalk&>(*ctx.resumed->work));
  const std::optional<int64_t> slot = ParseInteger(args[2]);
  const std::optional<int64_t> most = ParseInteger(args[3]);
  if (!slot || !most) return ctx.Fail(errors::kNotInteger);
  if (*slot < 0 || *slot >= static_cast<int64_t>(kSlots) || *most < 0)
    return ctx.Fail("ERR Invalid slot or number of keys");
  auto walk = std::make_unique<SlotWalk>(ctx.server, ctx.session, static_cast<uint16_t>(*slot),
                                         static_cast<uint64_t>(*most));
  if (walk->Some(ctx.now, ctx.MayPark() ? SlotWalk::kAtOnce : SIZE_MAX)) return ReplyFound(ctx, *walk);
  walk->ContinueInSlices();
  std::unique_ptr<PendingWork> work = std::move(walk);
  ctx.Await(args, ParkingLot::kForever, work);
}

// ---- fixed answers

// Returns false after an error reply.
bool KnowsNode(Context& ctx, std::string_view id) {
  if (MapOf(ctx).FindById(id) != nullptr) return true;
  ctx.Fail("ERR Unknown node " + std::string(errors::Repeated(id, 128)));
  return false;
}

void Replicas(Context& ctx, Args& args) {
  if (!KnowsNode(ctx, args[2])) return;
  const ClusterNode& node = *MapOf(ctx).FindById(args[2]);
  if (node.is_replica()) return ctx.Fail("ERR The specified node is not a master");
  ctx.reply.Array(node.replicas.size());
  for (const ClusterMap::NodeIndex replica : node.replicas)
    ctx.reply.Bulk(LineOf(ctx, MapOf(ctx).nodes()[replica]));
}
void FailureReports(Context& ctx, Args& args) {
  if (KnowsNode(ctx, args[2])) ctx.reply.Integer(0);
}
void ChangeNode(Context& ctx, Args& args) {
  if (KnowsNode(ctx, args[2])) ctx.Fail(kFixedMap);
}
void ChangeMap(Context& ctx, Args&) { ctx.Fail(kFixedMap); }
void Failover(Context& ctx, Args& args) {
  if (args.Left() > 1) return ctx.Fail(errors::WrongSubcommand("CLUSTER", args[1]));
  if (!args.Done() && !SameIgnoringCase(args[2], "force") && !SameIgnoringCase(args[2], "takeover"))
    return ctx.Fail(errors::kSyntax);
  ctx.Fail(MapOf(ctx).master() == nullptr ? "ERR You should send CLUSTER FAILOVER to a replica" : kFixedMap);
}
void Links(Context& ctx, Args&) { ctx.reply.EmptyArray(); }
void AnswerOk(Context& ctx, Args&) { ctx.reply.Ok(); }

template <bool reads>
void SetReadsReplica(Context& ctx, Args&) {
  ctx.session.Put(Mode::kReadsReplica, reads);
  ctx.reply.Ok();
}

// ---- the rows

constexpr uint32_t kChanges = kAdmin | kStale | kNoAsyncLoading;
constexpr std::string_view kChanging = "nondeterministic_output";
constexpr std::string_view kRefusedSummary =
    "Is refused: the slots, nodes and roles of a cluster are written in a file.";

constexpr Command Answer(std::string_view name, int arity, Handler handler, std::string_view summary,
                         std::string_view syntax = {}, uint32_t flags = kStale,
                         std::string_view tips = kChanging, std::string_view since = "3.0.0") {
  return {.name = name,
          .arity = arity,
          .flags = flags,
          .handler = handler,
          .since = since,
          .complexity = "O(1)",
          .summary = summary,
          .syntax = syntax,
          .tips = tips};
}

// The row of a subcommand that would change the cluster.
constexpr Command Refused(std::string_view name, int arity, std::string_view syntax = {},
                          std::string_view since = "3.0.0", uint32_t flags = kChanges,
                          Handler handler = InCluster<ChangeMap>) {
  return Answer(name, arity, handler, kRefusedSummary, syntax, flags, {}, since);
}

constexpr Command Noted(Command row, std::string_view argument_notes) {
  row.argument_notes = argument_notes;
  return row;
}

constexpr Command Costly(Command row, std::string_view complexity) {
  row.complexity = complexity;
  return row;
}

constexpr Command Deprecated(Command row, std::string_view since, std::string_view successor) {
  row.doc_flags = "deprecated";
  row.deprecated_since = since;
  row.replaced_by = successor;
  return row;
}

constexpr std::string_view kPerNode = "O(N), N being the number of nodes";

constexpr Command kClusterRows[] = {
    Refused("addslots", -3, "slot [slot ...]"),
    Refused("addslotsrange", -4, "start-slot end-slot [start-slot end-slot ...]", "7.0.0"),
    {.name = "bumpepoch",
     .arity = 2,
     .flags = kChanges,
     .handler = InCluster<ChangeMap>,
     .since = "3.0.0",
     .complexity = "O(1)",
     .summary = kRefusedSummary,
     .tips = kChanging},
    Answer("count-failure-reports", 3, InCluster<FailureReports>, "Answers 0: nodes do not watch each other.",
           "node-id", kAdmin | kStale),
    Answer("countkeysinslot", 3, InCluster<CountKeysInSlot>, "Counts the keys of a slot that are here.",
           "slot", kStale, {}),
    Refused("delslots", -3, "slot [slot ...]"),
    Refused("delslotsrange", -4, "start-slot end-slot [start-slot end-slot ...]", "7.0.0"),
    Noted(Refused("failover", -2, "[FORCE | TAKEOVER]", "3.0.0", kChanges, InCluster<Failover>),
          "condition=options"),
    Refused("flushslots", 2),
    Refused("forget", 3, "node-id", "3.0.0", kChanges, InCluster<ChangeNode>),
    Costly(
        Answer("getkeysinslot", 4, InCluster<GetKeysInSlot>, "Lists keys of a slot that are here.",
               "slot count"),
        "O(N), N being the number of all keys, in slices while others are served; O(1) if the slot has none"),
    {.name = "help",
     .arity = 2,
     .flags = kLoading | kStale,
     .handler = InCluster<ReplyHelp>,
     .since = "5.0.0",
     .complexity = "O(1)",
     .summary = "Lists the subcommands."},
    Answer("info", 2, InCluster<Info>, "Describes the state of the cluster."),
    Costly(Answer("keyslot", 3, InCluster<KeySlot>, "Answers the slot of a key.", "key", kStale, {}),
           "O(N), N being the length of the key"),
    Answer("links", 2, InCluster<Links>, "Answers an empty list: nodes do not talk to each other.", {},
           kStale, kChanging, "7.0.0"),
    Noted(Refused("meet", -4, "ip port [cluster_bus_port]"), "cluster_bus_port@4.0.0"),
    Answer("myid", 2, InCluster<MyId>, "Answers the id of this node.", {}, kStale, {}),
    Answer("myshardid", 2, InCluster<MyShardId>, "Answers the id of this node's shard: that of its master.",
           {}, kStale, kChanging, "7.2.0"),
    Costly(Answer("nodes", 2, InCluster<Nodes>, "Lists the nodes with their slots, a line for each."),
           kPerNode),
    Costly(Answer("replicas", 3, InCluster<Replicas>, "Lists the replicas of a node, a line for each.",
                  "node-id", kAdmin | kStale, kChanging, "5.0.0"),
           kPerNode),
    Refused("replicate", 3, "node-id", "3.0.0", kChanges, InCluster<ChangeNode>),
    Noted(Refused("reset", -2, "[HARD | SOFT]", "3.0.0", kAdmin | kStale | kNoScript), "condition=hard_soft"),
    Answer("saveconfig", 2, InCluster<AnswerOk>, "Answers OK: the cluster is written in a file already.", {},
           kChanges, {}),
    Refused("set-config-epoch", 3, "config-epoch"),
    Noted(Refused("setslot", -4, "slot <IMPORTING node-id | MIGRATING node-id | NODE node-id | STABLE>"),
          "option=subcommand"),
    Costly(Answer("shards", 2, InCluster<Shards>, "Lists the masters with their slots and replicas.", {},
                  kStale, kChanging, "7.0.0"),
           kPerNode),
    Deprecated(Costly(Answer("slaves", 3, InCluster<Replicas>, "The same as CLUSTER REPLICAS.", "node-id",
                             kAdmin | kStale),
                      kPerNode),
               "5.0.0", "`CLUSTER REPLICAS`"),
    Deprecated(
        Costly(Answer("slots", 2, InCluster<Slots>, "Lists ranges of slots with their masters and replicas."),
               kPerNode),
        "7.0.0", "`CLUSTER SHARDS`"),
};

constexpr Command kRows[] = {
    {.name = "asking",
     .arity = 1,
     .flags = kFast,
     .acl = kAclConnection,
     .handler = InCluster<AnswerOk>,
     .since = "3.0.0",
     .complexity = "O(1)",
     .summary = "Answers OK in a cluster, without effect: no slot is on its way to another node."},
    {.name = "cluster",
     .arity = -2,
     .since = "3.0.0",
     .complexity = "that of the subcommand",
     .summary = "Describes the cluster that this daemon is a part of.",
     .subcommands = kClusterRows},
    {.name = "readonly",
     .arity = 1,
     .flags = kLoading | kStale | kFast,
     .acl = kAclConnection,
     .handler = InCluster<SetReadsReplica<true>>,
     .since = "3.0.0",
     .complexity = "O(1)",
     .summary = "Lets a replica in a cluster answer this client's reads."},
    {.name = "readwrite",
     .arity = 1,
     .flags = kLoading | kStale | kFast,
     .acl = kAclConnection,
     .handler = InCluster<SetReadsReplica<false>>,
     .since = "3.0.0",
     .complexity = "O(1)",
     .summary = "Ends the effect of READONLY."},
};

const CommandFamily kFamily("cluster", kRows);

}  // namespace
}  // namespace mayfly::cluster_commands

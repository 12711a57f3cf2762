// REPLICAOF makes this server follow a master, or none; ROLE tells which. WAIT and WAITAOF are answers of a server without
// replicas: Mayfly never has replicas, so no client waits. REPLCONF, SYNC and PSYNC send a snapshot to a client that asks for
// nothing more: redis-cli --rdb.
#include <algorithm>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "base/text/ascii.h"
#include "base/text/numbers.h"
#include "config/sources/options.h"
#include "config/words.h"
#include "exec/dispatch/context.h"
#include "replication/master_link.h"
#include "server/figures/link_figures.h"
#include "server/waiting/parking.h"
#include "snapshot/snapshots.h"
#include "snapshot/sync_wishes.h"

namespace mayfly::replication_commands {
namespace {

// Checks a timeout in ms. Returns false after an error reply. As in Redis since 7.2, a timeout is refused too if its end
// does not fit into 64 bits.
bool CheckTimeout(Context& ctx, std::string_view text) {
  const std::optional<int64_t> timeout_ms = ParseInteger(text);
  if (!timeout_ms) return ctx.Fail("ERR timeout is not an integer or out of range"), false;
  if (*timeout_ms < 0) return ctx.Fail("ERR timeout is negative"), false;
  if (*timeout_ms > std::numeric_limits<int64_t>::max() - ctx.now.wall_ms)
    return ctx.Fail("ERR timeout is out of range"), false;
  return true;
}

// Redis waits for replicas that may still connect. No replica connects to Mayfly, so the final answer comes at once.
void Wait(Context& ctx, Args& args) {
  if (!ParseInteger(args[1])) return ctx.Fail(errors::kNotInteger);
  if (!CheckTimeout(ctx, args[2])) return;
  ctx.reply.Integer(0);
}

void WaitAof(Context& ctx, Args& args) {
  const std::optional<int64_t> local = ParseInteger(args[1]);
  if (!local) return ctx.Fail(errors::kNotInteger);
  if (*local < 0 || *local > 1) return ctx.Fail("ERR value is out of range, value must between 0 and 1");
  const std::optional<int64_t> replicas = ParseInteger(args[2]);
  if (!replicas || *replicas < 0) return ctx.Fail("ERR value is out of range, must be positive");
  if (!CheckTimeout(ctx, args[3])) return;
  if (*local == 1)
    return ctx.Fail("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.");
  ctx.reply.Array(2);
  ctx.reply.Integer(0);
  ctx.reply.Integer(0);
}

// "NO ONE" makes this server a master with the keys that it has.
void ReplicaOf(Context& ctx, Args& args) {
  if (ctx.server.cluster != nullptr) return ctx.Fail("ERR REPLICAOF not allowed in cluster mode.");
  const LinkFigures& link = ctx.server.link;
  if (EqualsIgnoringCase(args[1], "NO") && EqualsIgnoringCase(args[2], "ONE")) {
    MasterLink::Of(ctx.server).FollowNone(ctx.now);
    ctx.server.options.FollowMaster({});
    return ctx.reply.Ok();
  }
  const std::optional<int64_t> port = ParseInteger(args[2]);
  if (!port) return ctx.Fail(errors::kNotInteger);
  const bool is_word =
      std::all_of(args[1].begin(), args[1].end(), [](char c) { return c > ' ' && c <= '~'; });
  if (!is_word || args[1].empty()) return ctx.Fail("ERR Invalid master host");
  if (*port < 0 || *port > std::numeric_limits<uint16_t>::max()) return ctx.Fail("ERR Invalid master port");
  const config::MasterAddress master{.host = std::string(args[1]), .port = static_cast<uint16_t>(*port)};
  if (link.follows() && SameIgnoringCase(link.host, master.host) && link.port == master.port)
    return ctx.reply.Simple("OK Already connected to specified master");
  MasterLink::Of(ctx.server).Follow(master, ctx.now);
  ctx.server.options.FollowMaster(master);
  ctx.reply.Ok();
}

std::string_view RoleStateOf(LinkFigures::State state) noexcept {
  switch (state) {
    case LinkFigures::State::kNone:
    case LinkFigures::State::kConnect:
      return "connect";
    case LinkFigures::State::kConnecting:
      return "connecting";
    case LinkFigures::State::kHandshake:
      return "handshake";
    case LinkFigures::State::kTransfer:
    case LinkFigures::State::kLoading:
      return "sync";
    case LinkFigures::State::kConnected:
      break;
  }
  return "connected";
}

void Role(Context& ctx, Args&) {
  const LinkFigures& link = ctx.server.link;
  if (!link.follows()) {
    constexpr int64_t kReplicatedBytes = 0;
    ctx.reply.Array(3);
    ctx.reply.Bulk("master");
    ctx.reply.Integer(kReplicatedBytes);
    return ctx.reply.EmptyArray();
  }
  ctx.reply.Array(5);
  ctx.reply.Bulk("slave");
  ctx.reply.Bulk(link.host);
  ctx.reply.Integer(link.port);
  ctx.reply.Bulk(RoleStateOf(link.state));
  ctx.reply.Integer(link.up() ? link.offset : -1);
}

// Returns false after an error reply.
bool SetRdbOnly(Context& ctx, std::string_view text, SyncWish& wish) {
  const std::optional<int64_t> number = ParseInteger(text);
  if (!number) return ctx.Fail(errors::kNotInteger), false;
  if (*number < 0 || *number > 1)
    return ctx.Fail("ERR value is out of range, value must between 0 and 1"), false;
  wish.rdb_only = *number == 1;
  return true;
}

// The words name the parts that are wanted; Redis knows "functions" alone. Returns false after an error reply.
bool SetFilter(Context& ctx, std::string_view text, SyncWish& wish) {
  const std::optional<std::vector<std::string>> words = config::SplitWords(text);
  if (!words) return ctx.Fail("ERR Missing rdb-filter-only values"), false;
  wish.parts = {.keys = false, .functions = false};
  for (const std::string& word : *words) {
    if (!SameIgnoringCase(word, "functions"))
      return ctx.Fail("ERR Unsupported rdb-filter-only option: " + std::string(errors::Repeated(word))),
             false;
    wish.parts.functions = true;
  }
  return true;
}

// REPLCONF [option value ...]. The options of replicas are unknown.
void ReplConf(Context& ctx, Args& args) {
  if (args.Left() % 2 != 0) return ctx.Fail(errors::kSyntax);
  SyncWish& wish = Snapshots::Of(ctx.server).wishes().Of(ctx.session);
  while (!args.Done()) {
    if (args.Accept("CAPA", 1)) {
      args.Next();  // the snapshot comes with a mark at its end in any case
    } else if (args.Accept("RDB-ONLY", 1)) {
      if (!SetRdbOnly(ctx, args.Next(), wish)) return;
    } else if (args.Accept("RDB-FILTER-ONLY", 1)) {
      if (!SetFilter(ctx, args.Next(), wish)) return;
    } else {
      return ctx.Fail("ERR Unrecognized REPLCONF option: " + std::string(errors::Repeated(args.Peek())));
    }
  }
  ctx.reply.Ok();
}

// SYNC, and PSYNC id offset. The client is parked until it has the snapshot, and is closed then.
template <bool kPartial>
void Sync(Context& ctx, Args& args) {
  Snapshots& snapshots = Snapshots::Of(ctx.server);
  if (ctx.resumed != nullptr) {  // CLIENT UNBLOCK
    if (snapshots.IsSentTo(ctx.session)) ctx.Park(args, ParkingLot::kForever);
    return;
  }
  const SyncWish& wish = snapshots.wishes().Of(ctx.session);
  if (!wish.rdb_only)
    return ctx.Fail("ERR Replication is not supported: SYNC sends a snapshot after REPLCONF rdb-only 1");
  if (snapshots.saving()) return ctx.Fail("ERR Background save already in progress");
  const std::string greeting = kPartial ? "+FULLRESYNC " + ctx.server.run_id + " 0\r\n" : "";
  if (const std::string_view problem = snapshots.SendSoon(ctx.session, greeting, wish.parts, ctx.now);
      !problem.empty())
    return ctx.Fail("ERR " + std::string(problem));
  try {
    ctx.Park(args, ParkingLot::kForever);
  } catch (const std::bad_alloc&) {
    snapshots.Cancel();
    throw;
  }
}

constexpr std::string_view kWaitTips = "request_policy:all_shards response_policy:agg_min";

// Flags as in 7.4: scripts may call both commands, because neither waits in a script.
constexpr Command kWaitRows[] = {
    {.name = "wait",
     .arity = 3,
     .flags = kBlocking,
     .acl = kAclConnection,
     .handler = Wait,
     .since = "3.0.0",
     .complexity = "O(1)",
     .summary = "Answers how many replicas have all writes: 0, at once.",
     .syntax = "numreplicas timeout",
     .tips = kWaitTips},
    {.name = "waitaof",
     .arity = 4,
     .flags = kBlocking,
     .acl = kAclConnection,
     .handler = WaitAof,
     .since = "7.2.0",
     .complexity = "O(1)",
     .summary =
         "Answers how many append-only files, local and of replicas, have all writes: 0 and 0, at once.",
     .syntax = "numlocal numreplicas timeout",
     .tips = kWaitTips},
};
const CommandFamily kWaitFamily("generic", kWaitRows);

constexpr Command kRows[] = {
    {.name = "psync",
     .arity = -3,
     .flags = kAdmin | kNoScript | kNoAsyncLoading | kNoMulti,
     .handler = Sync<true>,
     .since = "2.8.0",
     .complexity = "O(N) with the number of keys, in slices",
     .summary = "As SYNC, with another line before the snapshot.",
     .syntax = "replicationid offset"},
    {.name = "replconf",
     .arity = -1,
     .flags = kAdmin | kNoScript | kLoading | kStale | kAllowBusy,
     .handler = ReplConf,
     .since = "3.0.0",
     .complexity = "O(1)",
     .summary =
         "Says what the next SYNC is to send: RDB-ONLY 1, and RDB-FILTER-ONLY with \"functions\" or \"\".",
     .doc_flags = "syscmd",
     .notes = "Options of replicas are unknown."},
    {.name = "replicaof",
     .arity = 3,
     .flags = kAdmin | kNoScript | kNoAsyncLoading | kStale,
     .handler = ReplicaOf,
     .since = "5.0.0",
     .complexity = "O(1); all keys of the master are received and loaded in slices",
     .summary =
         "Makes this server follow a master, or none, which makes it a master with the keys that it has.",
     .syntax = "<host port | NO ONE>"},
    {.name = "role",
     .arity = 1,
     .flags = kNoScript | kLoading | kStale | kFast,
     .acl = kAclAdmin | kAclDangerous,
     .handler = Role,
     .since = "2.8.12",
     .complexity = "O(1)",
     .summary =
         "Shows the role of this server in replication: a master, or the replica of one, and how far it is."},
    {.name = "slaveof",
     .arity = 3,
     .flags = kAdmin | kNoScript | kNoAsyncLoading | kStale,
     .handler = ReplicaOf,
     .since = "1.0.0",
     .complexity = "O(1); all keys of the master are received and loaded in slices",
     .summary = "An older name of REPLICAOF.",
     .syntax = "<host port | NO ONE>",
     .doc_flags = "deprecated",
     .deprecated_since = "5.0.0",
     .replaced_by = "`REPLICAOF`"},
    {.name = "sync",
     .arity = 1,
     .flags = kAdmin | kNoScript | kNoAsyncLoading | kNoMulti,
     .handler = Sync<false>,
     .since = "1.0.0",
     .complexity = "O(N) with the number of keys, in slices",
     .summary = "Sends a snapshot of all keys and functions to a client that has asked for it by REPLCONF "
                "RDB-ONLY 1.",
     .notes =
         "For redis-cli --rdb and --functions-rdb. There is no replication: other clients get an error."},
};
const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly::replication_commands

// REPLICAOF makes this server follow a master, or none; ROLE tells which. REPLCONF, SYNC and PSYNC are what replicas send, and
// redis-cli --rdb, which asks for a snapshot alone. WAIT and WAITAOF wait until replicas have what was written.
#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "base/text/ascii.h"
#include "base/text/numbers.h"
#include "config/sources/options.h"
#include "config/words.h"
#include "exec/dispatch/context.h"
#include "replication/failover.h"
#include "replication/handshake.h"
#include "replication/master_link.h"
#include "replication/replica_wait.h"
#include "replication/replicas.h"
#include "server/figures/link_figures.h"
#include "server/figures/replica_figures.h"
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

// Answers with the number of replicas, for WAITAOF after that of local files.
void TellReached(Context& ctx, bool durable, size_t reached) {
  if (durable) {
    ctx.reply.Array(2);
    ctx.reply.Integer(0);
  }
  ctx.reply.Integer(static_cast<int64_t>(reached));
}

// Waits until that many replicas have every change so far.
void AwaitReplicas(Context& ctx, const Args& args, int64_t wanted, std::string_view timeout, bool durable) {
  Replicas& replicas = Replicas::Of(ctx.server);
  const bool may_wait = ctx.MayPark();
  int64_t place = may_wait ? replicas.PlaceOfNow(ctx.now) : replicas.PlaceAfterThis();
  if (may_wait && !replicas.IsComplete()) place = ReplicaWait::kNotYet;
  const ReplicaWait::Terms terms{
      .place = place, .replicas = static_cast<size_t>(std::max(wanted, int64_t{0})), .durable = durable};
  std::unique_ptr<PendingWork> work = std::make_unique<ReplicaWait>(replicas, ctx.session, terms);
  const size_t reached = static_cast<ReplicaWait&>(*work).Reached();
  if (reached >= terms.replicas || !may_wait) return TellReached(ctx, durable, reached);
  replicas.AskToConfirm();
  const auto timeout_ms = static_cast<uint64_t>(ParseInteger(timeout).value_or(0));
  ctx.Await(args, timeout_ms == 0 ? ParkingLot::kForever : ctx.now.mono_ms + timeout_ms, work);
}

// The number is reached, or the time is over.
void EndWait(Context& ctx, const Args& args, bool durable) {
  if (ctx.wake() == WakeReason::kUnblocked) return ctx.Fail("UNBLOCKED client unblocked via CLIENT UNBLOCK");
  std::unique_ptr<PendingWork>& work = ctx.resumed->work;
  const auto& wait = static_cast<ReplicaWait&>(*work);
  const size_t reached = wait.Reached();
  if (ctx.wake() == WakeReason::kReady && reached < wait.terms().replicas)  // one of them has left
    return ctx.Await(args, ctx.resumed->deadline_mono_ms, work);
  TellReached(ctx, durable, reached);
}

bool CheckIsMaster(Context& ctx, std::string_view command) {
  if (!ctx.server.link.follows()) return true;
  ctx.Fail("ERR " + std::string(command) +
           " cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is "
           "configured to be writable (which is not the default) writes to replicas are just local and are "
           "not propagated.");
  return false;
}

void Wait(Context& ctx, Args& args) {
  if (ctx.resumed != nullptr) return EndWait(ctx, args, /*durable=*/false);
  if (!CheckIsMaster(ctx, "WAIT")) return;
  const std::optional<int64_t> wanted = ParseInteger(args[1]);
  if (!wanted) return ctx.Fail(errors::kNotInteger);
  if (!CheckTimeout(ctx, args[2])) return;
  AwaitReplicas(ctx, args, *wanted, args[2], /*durable=*/false);
}

void WaitAof(Context& ctx, Args& args) {
  if (ctx.resumed != nullptr) return EndWait(ctx, args, /*durable=*/true);
  const std::optional<int64_t> local = ParseInteger(args[1]);
  if (!local) return ctx.Fail(errors::kNotInteger);
  if (*local < 0 || *local > 1) return ctx.Fail("ERR value is out of range, value must between 0 and 1");
  const std::optional<int64_t> replicas = ParseInteger(args[2]);
  if (!replicas || *replicas < 0) return ctx.Fail("ERR value is out of range, must be positive");
  if (!CheckTimeout(ctx, args[3])) return;
  if (!CheckIsMaster(ctx, "WAITAOF")) return;
  if (*local == 1)
    return ctx.Fail("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.");
  AwaitReplicas(ctx, args, *replicas, args[3], /*durable=*/true);
}

// True for a word that CONFIG REWRITE can write as a host.
bool IsHost(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

// "NO ONE" makes this server a master with the keys that it has.
void ReplicaOf(Context& ctx, Args& args) {
  if (ctx.server.cluster != nullptr) return ctx.Fail("ERR REPLICAOF not allowed in cluster mode.");
  if (Failover::Runs(ctx.server)) return ctx.Fail("ERR REPLICAOF not allowed while failing over.");
  const LinkFigures& link = ctx.server.link;
  if (EqualsIgnoringCase(args[1], "NO") && EqualsIgnoringCase(args[2], "ONE")) {
    MasterLink::Of(ctx.server).FollowNone(ctx.now);
    ctx.server.options.FollowMaster({});
    return ctx.reply.Ok();
  }
  const std::optional<int64_t> port = ParseInteger(args[2]);
  if (!port) return ctx.Fail(errors::kNotInteger);
  if (!IsHost(args[1])) return ctx.Fail("ERR Invalid master host");
  if (*port < 0 || *port > std::numeric_limits<uint16_t>::max()) return ctx.Fail("ERR Invalid master port");
  const config::MasterAddress master{.host = std::string(args[1]), .port = static_cast<uint16_t>(*port)};
  if (link.follows() && SameIgnoringCase(link.host, master.host) && link.port == master.port) {
    MasterLink::Of(ctx.server).TryNow(ctx.now);
    return ctx.reply.Simple("OK Already connected to specified master");
  }
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

// Those that get the stream.
void TellReplicas(Context& ctx, std::span<const ReplicaFigures::Line> lines) {
  ctx.reply.Array(static_cast<size_t>(std::ranges::count_if(lines, &ReplicaFigures::Line::online)));
  for (const ReplicaFigures::Line& line : lines) {
    if (!line.online) continue;
    ctx.reply.Array(3);
    ctx.reply.Bulk(line.address);
    ctx.reply.Bulk(std::to_string(line.port));
    ctx.reply.Bulk(std::to_string(line.offset));
  }
}

void Role(Context& ctx, Args&) {
  const LinkFigures& link = ctx.server.link;
  if (!link.follows()) {
    const ReplicaFigures& figures = ctx.server.followers;
    ctx.reply.Array(3);
    ctx.reply.Bulk("master");
    ctx.reply.Integer(figures.offset);
    return TellReplicas(ctx, figures.lines);
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

// What the replica has of the stream. There is no answer.
void Confirm(Context& ctx, Args& args) {
  const std::optional<int64_t> place = ParseInteger(args.Next());
  const bool has_file = args.Accept("FACK", 1);
  const std::optional<int64_t> durable = has_file ? ParseInteger(args.Next()) : -1;
  Replicas* const replicas = Replicas::IfMade(ctx.server);
  if (place && durable && replicas != nullptr) replicas->Confirm(ctx.session, *place, *durable, ctx.now);
}

// Returns false after an error reply.
bool SetPort(Context& ctx, std::string_view text, SyncWish& wish) {
  const std::optional<int64_t> port = ParseInteger(text);
  if (!port || *port < 0 || *port > std::numeric_limits<uint16_t>::max())
    return ctx.Fail(errors::kNotInteger), false;
  wish.listening_port = static_cast<uint16_t>(*port);
  return true;
}

// Returns false after an error reply.
bool SetAddress(Context& ctx, std::string_view text, SyncWish& wish) {
  constexpr size_t kMostBytes = 1024;
  if (text.size() > kMostBytes)
    return ctx.Fail("ERR REPLCONF ip-address provided by replica instance is too long: " +
                    std::to_string(text.size()) + " bytes"),
           false;
  if (!IsHost(text))
    return ctx.Fail("ERR REPLCONF ip-address provided by replica instance is no address"), false;
  wish.address = text;
  return true;
}

// REPLCONF [option value ...]
void ReplConf(Context& ctx, Args& args) {
  if (args.Left() % 2 != 0) return ctx.Fail(errors::kSyntax);
  SyncWish& wish = Snapshots::Of(ctx.server).wishes().Of(ctx.session);
  bool is_mayfly = false;
  while (!args.Done()) {
    if (args.Accept("ACK", 1)) return Confirm(ctx, args);
    if (args.Accept("GETACK", 1)) return;  // of a master; this server has told its own master already
    if (args.Accept("CAPA", 1)) {
      const std::string_view what = args.Next();
      wish.takes_marks = wish.takes_marks || EqualsIgnoringCase(what, "EOF");
      wish.takes_history = wish.takes_history || EqualsIgnoringCase(what, "PSYNC2");
      if (EqualsIgnoringCase(what, "MAYFLY")) wish.is_mayfly = is_mayfly = true;
      wish.takes_cutoffs = wish.takes_cutoffs || EqualsIgnoringCase(what, "CUTOFFS");
    } else if (args.Accept("LISTENING-PORT", 1)) {
      if (!SetPort(ctx, args.Next(), wish)) return;
    } else if (args.Accept("IP-ADDRESS", 1)) {
      if (!SetAddress(ctx, args.Next(), wish)) return;
    } else if (args.Accept("VERSION", 1)) {
      args.Next();
    } else if (args.Accept("RDB-ONLY", 1)) {
      if (!SetRdbOnly(ctx, args.Next(), wish)) return;
    } else if (args.Accept("RDB-FILTER-ONLY", 1)) {
      if (!SetFilter(ctx, args.Next(), wish)) return;
    } else {
      return ctx.Fail("ERR Unrecognized REPLCONF option: " + std::string(errors::Repeated(args.Peek())));
    }
  }
  if (is_mayfly) return ctx.reply.Simple(kMayflyAnswer.substr(1));  // so do I
  ctx.reply.Ok();
}

// For redis-cli --rdb: the client is parked until it has the snapshot, and is closed then.
void SendSnapshot(Context& ctx, const Args& args, const SyncWish& wish, bool partial) {
  Snapshots& snapshots = Snapshots::Of(ctx.server);
  if (snapshots.saving()) return ctx.Fail("ERR Background save already in progress");
  const StreamTerms terms{.greeting = partial ? "+FULLRESYNC " + ctx.server.run_id + " 0\r\n" : "",
                          .parts = wish.parts};
  if (const std::string_view problem = snapshots.SendSoon(ctx.session, terms, ctx.now); !problem.empty())
    return ctx.Fail("ERR " + std::string(problem));
  try {
    ctx.Park(args, ParkingLot::kForever);
  } catch (const std::bad_alloc&) {
    static_cast<void>(snapshots.Cancel());
    throw;
  }
}

// True if the replica gets the part of the stream that it lacks. `first` is the number of the first byte, from 1 on.
bool Continue(Context& ctx, const SyncWish& wish, std::string_view history, std::string_view first) {
  const std::optional<int64_t> number = ParseInteger(first);
  Replicas& replicas = Replicas::Of(ctx.server);
  if (history == "?" || !number || *number < 1) return false;
  if (!replicas.Continue(ctx.session, wish, history, *number - 1, ctx.now)) return false;
  const std::string_view name = replicas.history();
  ctx.reply.Simple(wish.takes_history ? "CONTINUE " + std::string(name) : "CONTINUE");
  return true;
}

// PSYNC history first-byte FAILOVER: the master asks this replica to take its place. Returns false after an error reply.
bool TakeOver(Context& ctx, std::string_view history) {
  if (!ctx.server.link.follows()) return ctx.Fail("ERR PSYNC FAILOVER can't be sent to a master."), false;
  if (history != Replicas::Of(ctx.server).history())
    return ctx.Fail("ERR PSYNC FAILOVER replid must match my replid."), false;
  MasterLink::Of(ctx.server).FollowNone(ctx.now);
  ctx.server.options.FollowMaster({});
  return true;
}

// SYNC, and PSYNC history first-byte. A replica is parked until it has the snapshot.
template <bool kPartial>
void Sync(Context& ctx, Args& args) {
  Replicas& replicas = Replicas::Of(ctx.server);
  if (ctx.resumed != nullptr) {  // the snapshot is sent, or CLIENT UNBLOCK
    if (Snapshots::Of(ctx.server).IsSentTo(ctx.session) || replicas.IsAwaited(ctx.session))
      ctx.Park(args, ParkingLot::kForever);
    return;
  }
  if (ctx.session.Has(Mode::kReplica)) return;
  if (kPartial && args.size() > 3 && EqualsIgnoringCase(args[3], "FAILOVER") && !TakeOver(ctx, args[1]))
    return;
  const SyncWish& wish = Snapshots::Of(ctx.server).wishes().Of(ctx.session);
  if (wish.rdb_only) return SendSnapshot(ctx, args, wish, kPartial);
  if (ctx.server.link.follows() && !ctx.server.link.up())
    return ctx.Fail("NOMASTERLINK Can't SYNC while not connected with my master");
  if (kPartial && Continue(ctx, wish, args[1], args[2])) return;
  if (!wish.takes_marks)
    return ctx.Fail("ERR a snapshot has a mark at its end, and no length: REPLCONF CAPA EOF comes first");
  replicas.SendAll(ctx.session, wish, kPartial, ctx.now);
  ctx.Park(args, ParkingLot::kForever);
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
     .summary = "Waits until that many replicas have all writes so far, and answers their number.",
     .syntax = "numreplicas timeout",
     .tips = kWaitTips},
    {.name = "waitaof",
     .arity = 4,
     .flags = kBlocking,
     .acl = kAclConnection,
     .handler = WaitAof,
     .since = "7.2.0",
     .complexity = "O(1)",
     .summary = "Waits until the append-only files of that many replicas have all writes so far, and answers "
                "their number.",
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
     .summary = "As SYNC, or sends only what the replica has missed of the stream.",
     .syntax = "replicationid offset"},
    {.name = "replconf",
     .arity = -1,
     .flags = kAdmin | kNoScript | kLoading | kStale | kAllowBusy,
     .handler = ReplConf,
     .since = "3.0.0",
     .complexity = "O(1)",
     .summary = "Sets the name and the position of a replica, and the form of the next SYNC.",
     .doc_flags = "syscmd"},
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
     .summary =
         "Makes the client a replica: sends a snapshot of all keys and functions, and then all changes.",
     .notes = "After REPLCONF RDB-ONLY 1, as redis-cli --rdb sends it, the snapshot alone."},
};
const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly::replication_commands

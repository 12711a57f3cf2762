// FAILOVER: a planned handover to a replica (replication/failover.h).
#include "replication/failover.h"

#include <limits>
#include <utility>

#include "base/text/numbers.h"
#include "exec/dispatch/context.h"
#include "replication/replicas.h"
#include "server/figures/link_figures.h"

namespace mayfly::failover_commands {
namespace {

// Returns false after an error reply.
bool ReadFailover(Context& ctx, Args& args, Failover::Terms& terms, bool& aborts) {
  while (!args.Done()) {
    if (!terms.timeout_ms && args.Accept("TIMEOUT", 1)) {
      const std::optional<int64_t> timeout_ms = args.NextInteger();
      if (!timeout_ms) return ctx.Fail(errors::kNotInteger), false;
      if (*timeout_ms <= 0) return ctx.Fail("ERR FAILOVER timeout must be greater than 0"), false;
      terms.timeout_ms = static_cast<uint64_t>(*timeout_ms);
    } else if (args.size() == 2 && args.Accept("ABORT")) {
      aborts = true;
    } else if (!terms.target && args.Accept("TO", 2)) {
      config::MasterAddress& target = terms.target.emplace();
      target.host = args.Next();
      const std::optional<int64_t> port = args.NextInteger();
      if (!port) return ctx.Fail(errors::kNotInteger), false;
      const bool is_port = *port > 0 && *port <= std::numeric_limits<uint16_t>::max();
      target.port = is_port ? static_cast<uint16_t>(*port) : 0;  // no replica has it
    } else if (!terms.force && args.Accept("FORCE")) {
      terms.force = true;
    } else {
      return ctx.Fail(errors::kSyntax), false;
    }
  }
  return true;
}

// FAILOVER [TO host port [FORCE]] [ABORT] [TIMEOUT ms]
void RunFailover(Context& ctx, Args& args) {
  if (ctx.server.cluster != nullptr) return ctx.Fail("ERR FAILOVER not allowed in cluster mode.");
  Failover::Terms terms;
  bool aborts = false;
  if (!ReadFailover(ctx, args, terms, aborts)) return;
  const bool running = Failover::Runs(ctx.server);
  if (aborts) {
    if (!running) return ctx.Fail("ERR No failover in progress.");
    Failover::Of(ctx.server).Abort(ctx.now);
    return ctx.reply.Ok();
  }
  if (running) return ctx.Fail("ERR FAILOVER already in progress.");
  if (ctx.server.waits_to_stop) return ctx.Fail("ERR FAILOVER is not possible while the server stops.");
  if (ctx.server.link.follows()) return ctx.Fail("ERR FAILOVER is not valid when server is a replica.");
  Replicas& replicas = Replicas::Of(ctx.server);
  if (!replicas.any()) return ctx.Fail("ERR FAILOVER requires connected replicas.");
  if (terms.force && (!terms.target || terms.timeout_ms == 0))
    return ctx.Fail("ERR FAILOVER with force option requires both a timeout and target HOST and IP.");
  if (terms.target && !replicas.Has(*terms.target))
    return ctx.Fail("ERR FAILOVER target HOST and PORT is not a replica.");
  if (terms.target && !replicas.IsOnline(*terms.target))
    return ctx.Fail("ERR FAILOVER target replica is not online.");
  Failover::Of(ctx.server).Begin(std::move(terms), ctx.now);
  ctx.reply.Ok();
}

constexpr Command kRows[] = {
    {.name = "failover",
     .arity = -1,
     .flags = kAdmin | kNoScript | kStale,
     .handler = RunFailover,
     .since = "6.2.0",
     .complexity = "O(1); writers wait until a replica has all changes",
     .summary = "Hands over to a replica that has everything: the two servers change roles.",
     .syntax = "[TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]"},
};
const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly::failover_commands

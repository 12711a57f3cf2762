// MONITOR: shows every call to the requesting client.
#include "exec/dispatch/context.h"
#include "exec/dispatch/executor.h"
#include "exec/observe/monitors.h"

namespace mayfly::monitor_commands {
namespace {

// A second MONITOR gets no reply.
void Monitor(Context& ctx, Args&) {
  if (!ctx.MayPark()) return ctx.Fail("ERR MONITOR isn't allowed for DENY BLOCKING client");
  if (ctx.session.Has(Mode::kMonitor)) return;
  ctx.server.executor->monitors().Add(ctx.session);
  ctx.reply.Ok();
}

constexpr Command kRows[] = {
    {.name = "monitor",
     .arity = 1,
     .flags = kAdmin | kNoScript | kLoading | kStale | kEndsBatch | kEndsTurn,
     .handler = Monitor,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Shows every call from now on, until RESET or QUIT.",
     .notes = "While anybody monitors, requests run one by one, which takes more processor time."},
};

const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly::monitor_commands

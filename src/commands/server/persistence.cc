// SAVE and BGSAVE: snapshots by command.
#include "exec/dispatch/context.h"
#include "replication/stop_wait.h"
#include "server/server.h"
#include "snapshot/snapshots.h"

namespace mayfly::persistence_commands {
namespace {

// Everybody waits, as in Redis.
void Save(Context& ctx, Args&) {
  Snapshots& snapshots = Snapshots::Of(ctx.server);
  if (snapshots.saving()) return ctx.Fail("ERR Background save already in progress");
  if (const std::string problem = snapshots.SaveNow(ctx.now); !problem.empty())
    return ctx.Fail("ERR " + problem);
  ctx.reply.Ok();
}

// Returns false if the file takes its place already. Without its file a stop is given up.
bool Cancel(Server& server, Snapshots& snapshots) {
  if (!snapshots.Cancel()) return false;
  StopWait* const stop = StopWait::IfMade(server);
  if (stop != nullptr && stop->saves()) stop->Abort();
  return true;
}

// SCHEDULE makes no difference: nothing else writes files that a save would have to wait for.
void BgSave(Context& ctx, Args& args) {
  Snapshots& snapshots = Snapshots::Of(ctx.server);
  const bool cancel = args.Accept("CANCEL");
  if (!cancel) static_cast<void>(args.Accept("SCHEDULE"));
  if (!args.Done()) return ctx.Fail(errors::kSyntax);
  if (cancel) {
    if (!snapshots.saving() || snapshots.cancelling() || !Cancel(ctx.server, snapshots))
      return ctx.Fail("ERR Background saving is currently not in progress or scheduled");
    return ctx.reply.Simple("Background saving cancelled");
  }
  if (snapshots.cancelling()) {
    snapshots.Schedule();
    return ctx.reply.Simple("Background saving scheduled");
  }
  if (snapshots.saving()) return ctx.Fail("ERR Background save already in progress");
  if (ctx.origin == Origin::kTransaction) {  // the file has all of a transaction, or nothing
    snapshots.Schedule();
    return ctx.reply.Simple("Background saving scheduled");
  }
  if (const std::string_view problem = snapshots.SaveSoon(ctx.now); !problem.empty())
    return ctx.Fail("ERR " + std::string(problem));
  ctx.reply.Simple("Background saving started");
}

constexpr Command kRows[] = {
    {.name = "bgsave",
     .arity = -1,
     .flags = kAdmin | kNoScript | kNoAsyncLoading,
     .handler = BgSave,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Begins to save all keys to the snapshot file, while clients are served.",
     .syntax = "[SCHEDULE | CANCEL]",
     .argument_notes = "SCHEDULE@3.2.2",
     .notes = "Nothing forks: the save works in slices, on the keys as they are now."},
    {.name = "save",
     .arity = 1,
     .flags = kAdmin | kNoScript | kNoMulti | kNoAsyncLoading,
     .handler = Save,
     .since = "1.0.0",
     .complexity = "O(N) with the number of keys",
     .summary = "Saves all keys to the snapshot file, while everybody waits."},
};

const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly::persistence_commands

// INFO, TIME, SHUTDOWN and kin: state, clock and end of the server.
#include <memory>

#include "base/log/log.h"
#include "base/time/clock.h"
#include "config/sources/options.h"
#include "exec/dispatch/context.h"
#include "exec/info/info_sections.h"
#include "replication/replication_start.h"
#include "replication/stop_wait.h"
#include "server/figures/stats.h"
#include "server/waiting/parking.h"
#include "snapshot/snapshots.h"

namespace mayfly::server_commands {
namespace {

void Info(Context& ctx, Args& args) {
  ctx.reply.Verbatim("txt", InfoReport(ctx.server, ctx.now, args.Rest()));
}

void Time(Context& ctx, Args&) {
  constexpr int64_t kUsPerSecond = 1'000'000;
  const int64_t wall_us = ctx.server.clock.ReadWallUs();
  ctx.reply.Array(2);
  ctx.reply.BulkInteger(wall_us / kUsPerSecond);
  ctx.reply.BulkInteger(wall_us % kUsPerSecond);
}

void LastSave(Context& ctx, Args&) { ctx.reply.Integer(ctx.server.stats.LastSaveS(ctx.now)); }

constexpr const char* kNotStopping = "ERR Errors trying to SHUTDOWN. Check logs.";

// Saves if the words say so. True: the server stops.
bool StopAtOnce(Server& server, const config::ShutdownFlags& words) {
  if (!IsReadyToStop(server) && !Snapshots::Of(server).ReadyToStop(words)) return false;
  server.shutdown_requested = true;
  server.parking.HoldWriters(true);  // what arrived meanwhile would be answered, and be missing in the file
  return true;
}

// A stop without the file does not wait for the file of another request's stop.
bool MayAwaitStop(const Context& ctx, const config::ShutdownFlags& words) {
  const StopWait* const wait = StopWait::IfMade(ctx.server);
  const bool is_hasty = words.now || (words.nosave && wait != nullptr && wait->saves());
  return !is_hasty && ctx.MayPark() &&
         (StopWait::Runs(ctx.server) || StopWait::IsNeeded(ctx.server, words, ctx.now));
}

// The client waits, with the server, until the server stops or goes on. It may leave: the server stops all the same.
void AwaitStop(Context& ctx, const Args& args, const config::ShutdownFlags& words) {
  Server& server = ctx.server;
  StopWait& wait = StopWait::Of(server);
  const auto stop = [&server] { server.shutdown_requested = true; };
  if (StopWait::Runs(server))
    wait.Join(words);
  else
    wait.Begin(words, {.stop = stop, .given_up = {}, .turns = {}}, ctx.now);
  std::unique_ptr<PendingWork> work = std::make_unique<StopWait::Client>(wait, ctx.session);
  ctx.Await(args, ParkingLot::kForever, work);
}

void EndAwaitStop(Context& ctx) {
  if (StopWait::Runs(ctx.server)) return ctx.Fail("UNBLOCKED client unblocked via CLIENT UNBLOCK");
  if (!StopWait::Of(ctx.server).over()) return ctx.Fail(kNotStopping);
  ctx.session.Set(Mode::kDropped);
}

void AbortStop(Context& ctx) {
  if (!StopWait::Runs(ctx.server) || ctx.server.shutdown_requested)
    return ctx.Fail("ERR No shutdown in progress.");
  StopWait::Of(ctx.server).Abort();
  ctx.reply.Ok();
}

// A successful shutdown gets no reply: the connection ends.
void Shutdown(Context& ctx, Args& args) {
  if (ctx.resumed != nullptr) return EndAwaitStop(ctx);
  config::ShutdownFlags words;
  bool abort = false;
  while (!args.Done()) {
    if (args.Accept("SAVE")) {
      words.save = true;
    } else if (args.Accept("NOSAVE")) {
      words.nosave = true;
    } else if (args.Accept("FORCE")) {
      words.force = true;
    } else if (args.Accept("ABORT")) {
      abort = true;
    } else if (args.Accept("NOW")) {
      words.now = true;
    } else {
      return ctx.Fail(errors::kSyntax);
    }
  }
  if ((abort && words != config::ShutdownFlags()) || (words.save && words.nosave))
    return ctx.Fail(errors::kSyntax);
  if (abort) return AbortStop(ctx);
  Server& server = ctx.server;
  if (server.log != nullptr) server.log->Notice("a client asked for shutdown");
  if (MayAwaitStop(ctx, words)) return AwaitStop(ctx, args, words);
  if (!StopAtOnce(server, words)) return ctx.Fail(kNotStopping);
  ctx.session.Set(Mode::kDropped);
}

constexpr Command kRows[] = {
    {.name = "info",
     .arity = -1,
     .flags = kLoading | kStale,
     .acl = kAclDangerous,
     .handler = Info,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Shows figures about the server, by section.",
     .syntax = "[section [section ...]]",
     .tips = "nondeterministic_output request_policy:all_shards response_policy:special",
     .notes = "Adds the sections expiry, namespaces, ttlhist and unknowncommands; fields without a meaning "
              "for Mayfly are omitted."},
    {.name = "lastsave",
     .arity = 1,
     .flags = kLoading | kStale | kFast,
     .acl = kAclAdmin | kAclDangerous,
     .handler = LastSave,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Answers with the Unix time of the last snapshot, or of the start.",
     .tips = "nondeterministic_output"},
    {.name = "shutdown",
     .arity = -1,
     .flags = kAdmin | kNoScript | kLoading | kStale | kNoMulti | kAllowBusy,
     .handler = Shutdown,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Ends the server.",
     .syntax = "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]",
     .argument_notes = "condition=nosave_save NOW@7.0.0 FORCE@7.0.0 ABORT@7.0.0",
     .notes =
         "Without a word it saves if there are save points; readers are served meanwhile, and writers wait. "
         "After a failed save it ends only with FORCE. NOW does not wait for replicas, and saves while "
         "nobody is served, also if another client's SHUTDOWN is under way."},
    {.name = "time",
     .arity = 1,
     .flags = kLoading | kStale | kFast,
     .handler = Time,
     .since = "2.6.0",
     .complexity = "O(1)",
     .summary = "Answers with the Unix time as seconds and microseconds.",
     .tips = "nondeterministic_output"},
};

const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly::server_commands

// LATENCY: slow events of the server, and the durations of commands.
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "base/time/histogram.h"
#include "config/sources/options.h"
#include "exec/dispatch/context.h"
#include "exec/docs/command_docs.h"
#include "exec/docs/command_help.h"
#include "exec/info/latency_buckets.h"
#include "exec/info/latency_graph.h"
#include "exec/info/latency_report.h"
#include "server/figures/latency_monitor.h"

namespace mayfly::latency_commands {
namespace {

int64_t WallSeconds(Now now) noexcept { return now.wall_ms / kMsPerSecond; }

void LatencyDoctor(Context& ctx, Args&) {
  ctx.reply.Verbatim(
      "txt", LatencyReport(ctx.server.latency_monitor, ctx.server.options.settings(), WallSeconds(ctx.now)));
}

void LatencyGraphOf(Context& ctx, Args& args) {
  const std::string_view name = args.Next();
  const LatencyMonitor::Events& events = ctx.server.latency_monitor.events();
  const auto found = events.find(name);
  if (found == events.end())
    return ctx.Fail("ERR No samples available for event '" + std::string(errors::Repeated(name)) + "'");
  ctx.reply.Verbatim("txt", LatencyGraph(found->first, found->second, WallSeconds(ctx.now)));
}

void LatencyHistory(Context& ctx, Args& args) {
  const LatencyMonitor::Events& events = ctx.server.latency_monitor.events();
  const auto found = events.find(args.Next());
  if (found == events.end()) return ctx.reply.EmptyArray();
  ctx.reply.Array(found->second.samples().size());
  for (const LatencySample& sample : found->second.samples()) {
    ctx.reply.Array(2);
    ctx.reply.Integer(sample.wall_s);
    ctx.reply.Integer(static_cast<int64_t>(sample.ms));
  }
}

void LatencyLatest(Context& ctx, Args&) {
  const LatencyMonitor::Events& events = ctx.server.latency_monitor.events();
  ctx.reply.Array(events.size());
  for (const auto& [name, event] : events) {
    ctx.reply.Array(4);
    ctx.reply.Bulk(name);
    ctx.reply.Integer(event.samples().back().wall_s);
    ctx.reply.Integer(static_cast<int64_t>(event.samples().back().ms));
    ctx.reply.Integer(static_cast<int64_t>(event.max_ms()));
  }
}

void LatencyReset(Context& ctx, Args& args) {
  LatencyMonitor& monitor = ctx.server.latency_monitor;
  size_t forgotten = args.Done() ? monitor.ForgetAll() : 0;
  while (!args.Done()) forgotten += monitor.Forget(args.Next());
  ctx.reply.Integer(static_cast<int64_t>(forgotten));
}

// ---- histograms

// Returns false, and writes nothing, for a command without calls.
bool ReplyHistogram(Context& ctx, const TableRow& row) {
  if (row.latency == nullptr || row.latency->total() == 0) return false;
  ctx.reply.Bulk(row.full_name);
  ctx.reply.Map(2);
  ctx.reply.Bulk("calls");
  ctx.reply.Integer(static_cast<int64_t>(row.latency->total()));
  ctx.reply.Bulk("histogram_usec");
  const std::vector<LatencyBucket> buckets = LatencyBucketsOf(*row.latency, ctx.server.cycle_rate);
  ctx.reply.Map(buckets.size());
  for (const LatencyBucket& bucket : buckets) {
    ctx.reply.Integer(bucket.us);
    ctx.reply.Integer(static_cast<int64_t>(bucket.calls));
  }
  return true;
}

// Replies with the histograms of the named commands and their subcommands, or of all commands. Unknown names are left out.
void LatencyHistogram(Context& ctx, Args& args) {
  resp::Deferred map = ctx.reply.Defer();
  size_t commands = 0;
  const auto add = [&](const TableRow& row) {
    commands += ReplyHistogram(ctx, row) ? 1 : 0;
    for (const TableRow* sub : row.subcommands) commands += ReplyHistogram(ctx, *sub) ? 1 : 0;
  };
  if (args.Done()) {
    for (const TableRow* row : ctx.server.commands.rows()) add(*row);
  }
  while (!args.Done()) {
    if (const TableRow* const row = FindByFullName(ctx.server.commands, args.Next())) add(*row);
  }
  map.Map(commands);
}

// ---- rows

constexpr uint32_t kFlags = kAdmin | kNoScript | kLoading | kStale;
constexpr std::string_view kFigureTips =
    "nondeterministic_output request_policy:all_nodes response_policy:special";

constexpr Command kLatencyRows[] = {
    {.name = "doctor",
     .arity = 2,
     .flags = kFlags,
     .handler = LatencyDoctor,
     .since = "2.8.13",
     .complexity = "O(1)",
     .summary = "Says in words what held the server up, and what helps.",
     .tips = kFigureTips},
    {.name = "graph",
     .arity = 3,
     .flags = kFlags,
     .handler = LatencyGraphOf,
     .since = "2.8.13",
     .complexity = "O(1)",
     .summary = "Draws the samples of an event.",
     .syntax = "event",
     .tips = kFigureTips},
    HelpRow("2.8.13"),
    {.name = "histogram",
     .arity = -2,
     .flags = kFlags,
     .handler = LatencyHistogram,
     .since = "7.0.0",
     .complexity = "O(N) where N is the number of commands shown",
     .summary = "Shows how many calls of each command took how long.",
     .syntax = "[command [command ...]]",
     .tips = kFigureTips,
     .notes = "A time counts as up to an eighth longer than it was."},
    {.name = "history",
     .arity = 3,
     .flags = kFlags,
     .handler = LatencyHistory,
     .since = "2.8.13",
     .complexity = "O(1)",
     .summary = "Shows the samples of an event.",
     .syntax = "event",
     .tips = kFigureTips},
    {.name = "latest",
     .arity = 2,
     .flags = kFlags,
     .handler = LatencyLatest,
     .since = "2.8.13",
     .complexity = "O(1)",
     .summary = "Shows the latest and the longest sample of each event.",
     .tips = kFigureTips},
    {.name = "reset",
     .arity = -2,
     .flags = kFlags,
     .handler = LatencyReset,
     .since = "2.8.13",
     .complexity = "O(1)",
     .summary = "Forgets the samples of some events, or of all.",
     .syntax = "[event [event ...]]",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
};

constexpr Command kRows[] = {
    {.name = "latency",
     .arity = -2,
     .since = "2.8.13",
     .complexity = "Depends on subcommand.",
     .summary = "What held the server up, and how long commands take.",
     .subcommands = kLatencyRows},
};

const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly::latency_commands

// SLOWLOG: the slow calls.
#include <algorithm>
#include <optional>
#include <string>

#include "exec/dispatch/context.h"
#include "exec/docs/command_help.h"
#include "server/figures/slow_log.h"

namespace mayfly::slowlog_commands {
namespace {

constexpr int64_t kAll = -1;
constexpr int64_t kUsualCount = 10;

void ReplyCall(resp::Writer& reply, const SlowCall& call) {
  reply.Array(6);
  reply.Integer(static_cast<int64_t>(call.id));
  reply.Integer(call.wall_s);
  reply.Integer(static_cast<int64_t>(call.us));
  reply.Array(call.arguments.size());
  for (const std::string& argument : call.arguments) reply.Bulk(argument);
  reply.Bulk(call.peer);
  reply.Bulk(call.name);
}

void SlowLogGet(Context& ctx, Args& args) {
  std::optional<int64_t> count = kUsualCount;
  if (!args.Done()) {
    count = args.NextInteger();
    if (!args.Done())
      return ctx.Fail("ERR unknown subcommand or wrong number of arguments for '" +
                      std::string(errors::Repeated(args[1])) + "'. Try SLOWLOG HELP.");
    if (!count || *count < kAll) return ctx.Fail("ERR count should be greater than or equal to -1");
  }
  const auto& calls = ctx.server.slow_log.newest_first();
  const size_t shown = *count == kAll ? calls.size() : std::min(calls.size(), static_cast<size_t>(*count));
  ctx.reply.Array(shown);
  for (size_t i = 0; i < shown; ++i) ReplyCall(ctx.reply, calls[i]);
}

void SlowLogLen(Context& ctx, Args&) {
  ctx.reply.Integer(static_cast<int64_t>(ctx.server.slow_log.newest_first().size()));
}

void SlowLogReset(Context& ctx, Args&) {
  ctx.server.slow_log.Reset();
  ctx.reply.Ok();
}

constexpr uint32_t kFlags = kAdmin | kLoading | kStale;

constexpr Command kSlowLogRows[] = {
    {.name = "get",
     .arity = -2,
     .flags = kFlags,
     .handler = SlowLogGet,
     .since = "2.2.12",
     .complexity = "O(N) where N is the number of entries shown",
     .summary = "Shows the newest entries of the slow log.",
     .syntax = "[count]",
     .tips = "request_policy:all_nodes nondeterministic_output",
     .notes =
         "A call of an O(1) command that was slow among others of its kind is not logged, since nobody knows "
         "which one it was; for a second from then on each call is timed alone."},
    HelpRow("6.2.0"),
    {.name = "len",
     .arity = 2,
     .flags = kFlags,
     .handler = SlowLogLen,
     .since = "2.2.12",
     .complexity = "O(1)",
     .summary = "Answers how many entries the slow log has.",
     .tips = "request_policy:all_nodes response_policy:agg_sum nondeterministic_output"},
    {.name = "reset",
     .arity = 2,
     .flags = kFlags,
     .handler = SlowLogReset,
     .since = "2.2.12",
     .complexity = "O(N) where N is the number of entries",
     .summary = "Empties the slow log.",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
};

constexpr Command kRows[] = {
    {.name = "slowlog",
     .arity = -2,
     .since = "2.2.12",
     .complexity = "Depends on subcommand.",
     .summary = "The calls that took long.",
     .subcommands = kSlowLogRows},
};

const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly::slowlog_commands

// The commands for a whole database: how big it is, and away with it.
#include "exec/context.h"

namespace mayfly {
namespace {

void DbSize(Context& ctx, Args&) { ctx.reply.Integer(static_cast<int64_t>(ctx.keyspace.size())); }

// Both words are accepted and mean the same: a database is exchanged at once and freed in slices.
bool ReadFlushOption(Context& ctx, Args& args) {
  if (!args.Accept("ASYNC")) args.Accept("SYNC");
  if (args.Done()) return true;
  ctx.Fail(errors::kSyntax);
  return false;
}

void FlushDb(Context& ctx, Args& args) {
  if (!ReadFlushOption(ctx, args)) return;
  ctx.server.databases.Flush(ctx.session.db, ctx.now);
  ctx.reply.Ok();
}

void FlushAll(Context& ctx, Args& args) {
  if (!ReadFlushOption(ctx, args)) return;
  ctx.server.databases.FlushAll(ctx.now);
  ctx.reply.Ok();
}

constexpr std::string_view kFlushTips = "request_policy:all_shards response_policy:all_succeeded";

constexpr Command kRows[] = {
    {.name = "dbsize",
     .arity = 1,
     .flags = kReadOnly | kFast,
     .acl = kAclKeyspace,
     .handler = DbSize,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Answers how many keys the selected database has.",
     .tips = "request_policy:all_shards response_policy:agg_sum"},
    {.name = "flushdb",
     .arity = -1,
     .flags = kWrite,
     .acl = kAclKeyspace | kAclDangerous,
     .handler = FlushDb,
     .since = "1.0.0",
     .complexity = "O(1); the memory is freed afterwards, in slices",
     .summary = "Removes all keys of the selected database.",
     .syntax = "[ASYNC | SYNC]",
     .tips = kFlushTips},
    {.name = "flushall",
     .arity = -1,
     .flags = kWrite,
     .acl = kAclKeyspace | kAclDangerous,
     .handler = FlushAll,
     .since = "1.0.0",
     .complexity = "O(N) where N is the number of databases; the memory is freed afterwards, in slices",
     .summary = "Removes all keys of all databases.",
     .syntax = "[ASYNC | SYNC]",
     .tips = kFlushTips},
};
const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly

// DBSIZE, FLUSHALL, NSFLUSH, SWAPDB and kin: size, emptying and exchange of a whole database or namespace.
#include <algorithm>
#include <string_view>

#include "cache/keyspace/databases.h"
#include "exec/dispatch/context.h"
#include "replication/replicas.h"
#include "server/waiting/leases.h"
#include "snapshot/snapshots.h"

namespace mayfly::flush_commands {
namespace {

void DbSize(Context& ctx, Args&) { ctx.reply.Integer(static_cast<int64_t>(ctx.keyspace.size())); }

// Both words mean the same: a database is exchanged at once and freed in slices.
bool ReadFlushOption(Context& ctx, Args& args) {
  if (!args.Accept("ASYNC")) args.Accept("SYNC");
  if (args.Done()) return true;
  ctx.Fail(errors::kSyntax);
  return false;
}

// Also of an empty database, for which a flush is no change: leases end, and keys that are still to come from a file do not come.
void NoteFlushed(Server& server, unsigned database) noexcept {
  server.leases.EndAllOf(database);
  if (Snapshots* const snapshots = Snapshots::IfMade(server))
    snapshots->NoteFlushed(server.databases.At(database));
}

void FlushDb(Context& ctx, Args& args) {
  if (!ReadFlushOption(ctx, args)) return;
  ctx.server.databases.Flush(ctx.session.db, ctx.now);
  NoteFlushed(ctx.server, ctx.session.db);
  ctx.reply.Ok();
}

void FlushAll(Context& ctx, Args& args) {
  if (!ReadFlushOption(ctx, args)) return;
  ctx.server.databases.FlushAll(ctx.now);
  for (unsigned i = 0; i < ctx.server.databases.count(); ++i) NoteFlushed(ctx.server, i);
  if (Snapshots* const snapshots = Snapshots::IfMade(ctx.server)) snapshots->NoteAllFlushed(ctx.now);
  // Replicas have been told to empty each database. They also take the keys out of their files.
  constexpr std::string_view kFlushAll[] = {"FLUSHALL", "ASYNC"};
  Replicas::Forward(ctx.server, 0, kFlushAll);
  ctx.reply.Ok();
}

void NsFlush(Context& ctx, Args& args) {
  const Namespaces& namespaces = ctx.server.databases.namespaces();
  const Namespace* const space = namespaces.Find(args.Next());
  if (space == nullptr) return ctx.Fail("ERR no such namespace");
  if (Snapshots* const snapshots = Snapshots::IfMade(ctx.server)) snapshots->NoteNamespaceFlushed(*space);
  ctx.server.leases.EndIf([&](unsigned db, std::string_view name) {
    if (!name.starts_with(space->prefix())) return false;
    const Keyspace& keyspace = ctx.server.databases.At(db);
    const Entry* const entry = keyspace.LookAt(name, ctx.now);
    return entry != nullptr ? keyspace.owners().Of(*entry).space == space : namespaces.Covers(*space, name);
  });
  ctx.reply.Integer(static_cast<int64_t>(ctx.server.databases.FlushNamespace(*space)));
}

// For any wrong number the error names which of the two numbers is wrong, as in Redis.
bool ReadSwapped(Context& ctx, std::string_view text, std::string_view error, int64_t& index) {
  const bool read = ParseInteger(text, index) && index >= INT32_MIN && index <= INT32_MAX;
  if (!read) ctx.Fail(error);
  return read;
}

void SwapDb(Context& ctx, Args& args) {
  if (ctx.server.cluster != nullptr) return ctx.Fail("ERR SWAPDB is not allowed in cluster mode");
  int64_t first = 0;
  int64_t second = 0;
  if (!ReadSwapped(ctx, args[1], "ERR invalid first DB index", first)) return;
  if (!ReadSwapped(ctx, args[2], "ERR invalid second DB index", second)) return;
  const int64_t count = ctx.server.databases.count();
  if (std::min(first, second) < 0 || std::max(first, second) >= count)
    return ctx.Fail(errors::kNoSuchDatabase);
  ctx.server.databases.Swap(static_cast<unsigned>(first), static_cast<unsigned>(second));
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
     .argument_notes = "condition=async ASYNC@4.0.0 SYNC@6.2.0",
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
     .argument_notes = "condition=async ASYNC@4.0.0 SYNC@6.2.0",
     .tips = kFlushTips},
    {.name = "nsflush",
     .arity = 2,
     .flags = kWrite,
     .acl = kAclKeyspace | kAclDangerous,
     .handler = NsFlush,
     .since = "0.1.0",
     .complexity = "O(N) where N is the number of databases; the memory is freed afterwards, in slices",
     .summary = "Removes all keys of a namespace, in all databases, and answers how many there were.",
     .syntax = "namespace",
     .tips = "request_policy:all_shards response_policy:agg_sum",
     .notes = "A command of Mayfly."},
    {.name = "swapdb",
     .arity = 3,
     .flags = kWrite | kFast,
     .acl = kAclKeyspace | kAclDangerous,
     .handler = SwapDb,
     .since = "4.0.0",
     .complexity = "O(1)",
     .summary = "Exchanges two databases, for every client at once.",
     .syntax = "index1 index2"},
};
const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly::flush_commands

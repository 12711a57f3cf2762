// WAIT, WAITAOF and ROLE: answers of a server without replicas. Clients send these commands to a server with replicas.
// Mayfly never has replicas, so no client waits.
#include <limits>

#include "exec/dispatch/context.h"
#include "exec/info/identity.h"

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

void Role(Context& ctx, Args&) {
  constexpr int64_t kReplicatedBytes = 0;
  ctx.reply.Array(3);
  ctx.reply.Bulk(kServerRole);
  ctx.reply.Integer(kReplicatedBytes);
  ctx.reply.EmptyArray();
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
    {.name = "role",
     .arity = 1,
     .flags = kNoScript | kLoading | kStale | kFast,
     .acl = kAclAdmin | kAclDangerous,
     .handler = Role,
     .since = "2.8.12",
     .complexity = "O(1)",
     .summary = "Shows the role of this server in replication: a master without replicas."},
};
const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly::replication_commands

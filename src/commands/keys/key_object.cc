// OBJECT: encoding, idle time and access frequency of a value.
#include <string>

#include "cache/keyspace/databases.h"
#include "cache/owners/lfu.h"
#include "exec/call/value_type.h"
#include "exec/dispatch/context.h"
#include "exec/docs/command_help.h"

namespace mayfly::key_object_commands {
namespace {

constexpr std::string_view kTakesTime =
    " Please note that when switching between policies at runtime LRU and LFU data will take some time to "
    "adjust.";

bool TracksFrequency(const Context& ctx) {
  return ctx.server.databases.access_effect() == AccessEffect::kFrequency;
}

void ObjectEncoding(Context& ctx, Args& args) {
  const Entry* entry = ctx.LookUntold(ctx.KeyAt(args, 2));
  if (entry == nullptr) return ctx.reply.Null();
  ctx.reply.Bulk(EncodingName(*entry));
}

void ObjectIdleTime(Context& ctx, Args& args) {
  const Entry* entry = ctx.LookUntold(ctx.KeyAt(args, 2));
  if (entry == nullptr) return ctx.reply.Null();
  if (TracksFrequency(ctx)) {
    return ctx.Fail("ERR An LFU maxmemory policy is selected, idle time not tracked." +
                    std::string(kTakesTime));
  }
  ctx.reply.Integer(static_cast<int64_t>(IdleSeconds(*entry, ctx.now)));
}

void ObjectFreq(Context& ctx, Args& args) {
  const Entry* entry = ctx.LookUntold(ctx.KeyAt(args, 2));
  if (entry == nullptr) return ctx.reply.Null();
  if (!TracksFrequency(ctx)) {
    return ctx.Fail("ERR An LFU maxmemory policy is not selected, access frequency not tracked." +
                    std::string(kTakesTime));
  }
  ctx.reply.Integer(LfuCount(entry->stamp(), ctx.now.mono_ms, ctx.server.databases.lfu_rules()));
}

// Keys do not share values: each value has one reference, as in a Redis with an LRU or LFU policy.
void ObjectRefCount(Context& ctx, Args& args) {
  const Entry* entry = ctx.LookUntold(ctx.KeyAt(args, 2));
  if (entry == nullptr) return ctx.reply.Null();
  ctx.reply.Integer(1);
}

constexpr Command kSubcommands[] = {
    {.name = "encoding",
     .arity = 3,
     .flags = kReadOnly | kUntouched,
     .keys = {2, 2, 1, kKeyRO},
     .acl = kAclKeyspace,
     .handler = ObjectEncoding,
     .since = "2.2.3",
     .complexity = "O(1)",
     .summary = "Answers how the value of a key is stored.",
     .syntax = "key",
     .tips = "nondeterministic_output"},
    {.name = "freq",
     .arity = 3,
     .flags = kReadOnly | kUntouched,
     .keys = {2, 2, 1, kKeyRO},
     .acl = kAclKeyspace,
     .handler = ObjectFreq,
     .since = "4.0.0",
     .complexity = "O(1)",
     .summary = "Answers how often a key is accessed, as the logarithm that the LFU policies use.",
     .syntax = "key",
     .tips = "nondeterministic_output"},
    HelpRow("6.2.0", kAclKeyspace),
    {.name = "idletime",
     .arity = 3,
     .flags = kReadOnly | kUntouched,
     .keys = {2, 2, 1, kKeyRO},
     .acl = kAclKeyspace,
     .handler = ObjectIdleTime,
     .since = "2.2.3",
     .complexity = "O(1)",
     .summary = "Answers how many seconds ago a key was last accessed.",
     .syntax = "key",
     .tips = "nondeterministic_output"},
    {.name = "refcount",
     .arity = 3,
     .flags = kReadOnly | kUntouched,
     .keys = {2, 2, 1, kKeyRO},
     .acl = kAclKeyspace,
     .handler = ObjectRefCount,
     .since = "2.2.3",
     .complexity = "O(1)",
     .summary = "Answers how many references the value of a key has: 1.",
     .syntax = "key",
     .tips = "nondeterministic_output"},
};

constexpr Command kRows[] = {
    {.name = "object",
     .arity = -2,
     .since = "2.2.3",
     .complexity = "Depends on subcommand.",
     .summary = "A container for commands about how a value is stored.",
     .subcommands = kSubcommands},
};
const CommandFamily kFamily("generic", kRows);

}  // namespace
}  // namespace mayfly::key_object_commands

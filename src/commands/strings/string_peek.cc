// PEEK, GETTTL and MGETTTL: read strings without a trace, or with the remaining TTL. Redis does not have these
// commands.
#include "exec/values/string_access.h"

namespace mayfly::string_peek_commands {
namespace {

constexpr int64_t kNoKey = -2;
constexpr int64_t kNoExpiry = -1;

// Leaves no trace: neither in the order of use, nor in keyspace_hits and keyspace_misses, nor by an event.
void Peek(Context& ctx, Args& args) {
  const Entry* const entry = ctx.keyspace.Peek(ctx.KeyAt(args, 1), ctx.now);
  if (entry == nullptr) return ctx.reply.Null();
  if (RequireString(ctx, *entry)) ReplyString(ctx, *entry);
}

// Replies with a pair: the value, and the time to live in the form of PTTL. Null: no string.
void ReplyWithTtl(Context& ctx, const Entry* entry) {
  ctx.reply.Array(2);
  if (entry == nullptr) {
    ctx.reply.Null();
    return ctx.reply.Integer(kNoKey);
  }
  ReplyString(ctx, *entry);
  ctx.reply.Integer(entry->expires() ? ShownTtlMs(*entry, ctx.now) : kNoExpiry);
}

void GetTtl(Context& ctx, Args& args) {
  const Entry* const entry = ReadString(ctx, ctx.KeyAt(args, 1), [&] { ReplyWithTtl(ctx, nullptr); });
  if (entry != nullptr) ReplyWithTtl(ctx, entry);
}

// A key of another type is answered like an absent one, as MGET does.
void MGetTtl(Context& ctx, Args& args) {
  ctx.reply.Array(args.size() - 1);
  for (size_t i = 1; i < args.size(); ++i) {
    const Entry* const entry = ctx.Read(ctx.KeyAt(args, i));
    ReplyWithTtl(ctx, entry != nullptr && IsString(*entry) ? entry : nullptr);
  }
}

constexpr Command kRows[] = {
    {.name = "getttl",
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = {1, 1, 1, kKeyRO | kKeyAccess},
     .acl = kAclString,
     .handler = GetTtl,
     .since = "0.1.0",
     .complexity = "O(1)",
     .summary = "Answers with the string value of a key, and how many milliseconds the key has left.",
     .syntax = "key",
     .tips = "nondeterministic_output",
     .notes = "A command of Mayfly."},
    {.name = "mgetttl",
     .arity = -2,
     .flags = kReadOnly | kFast,
     .keys = {1, -1, 1, kKeyRO | kKeyAccess},
     .acl = kAclString,
     .handler = MGetTtl,
     .since = "0.1.0",
     .complexity = "O(N) where N is the number of keys",
     .summary =
         "Answers with the string values of several keys, each with the milliseconds that its key has left.",
     .syntax = "key [key ...]",
     .tips = "nondeterministic_output request_policy:multi_shard",
     .notes = "A command of Mayfly. A key of another type is answered like an absent one."},
    {.name = "peek",
     .arity = 2,
     .flags = kReadOnly | kFast | kUntouched,
     .keys = {1, 1, 1, kKeyRO | kKeyAccess},
     .acl = kAclString,
     .handler = Peek,
     .since = "0.1.0",
     .complexity = "O(1)",
     .summary = "Answers with the string value of a key, which does not count as an access.",
     .syntax = "key",
     .notes = "A command of Mayfly."},
};
const CommandFamily kFamily("string", kRows);

}  // namespace
}  // namespace mayfly::string_peek_commands

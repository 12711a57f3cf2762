// DEL, EXISTS, TYPE and kin: keys of any type.
#include "exec/call/value_type.h"
#include "exec/dispatch/context.h"

namespace mayfly::key_commands {
namespace {

void Del(Context& ctx, Args& args) {
  int64_t deleted = 0;
  for (size_t i = 1; i < args.size(); ++i) {
    if (ctx.keyspace.Delete(ctx.KeyAt(args, i), ctx.now)) ++deleted;
  }
  ctx.reply.Integer(deleted);
}

// A key named twice counts twice.
void Exists(Context& ctx, Args& args) {
  int64_t found = 0;
  for (size_t i = 1; i < args.size(); ++i) {
    if (ctx.Look(ctx.KeyAt(args, i)) != nullptr) ++found;
  }
  ctx.reply.Integer(found);
}

void Touch(Context& ctx, Args& args) {
  int64_t found = 0;
  for (size_t i = 1; i < args.size(); ++i) {
    if (ctx.Read(ctx.KeyAt(args, i)) != nullptr) ++found;
  }
  ctx.reply.Integer(found);
}

void Type(Context& ctx, Args& args) {
  const Entry* entry = ctx.Look(ctx.KeyAt(args, 1));
  ctx.reply.Simple(entry != nullptr ? TypeName(*entry) : "none");
}

constexpr std::string_view kSumTips = "request_policy:multi_shard response_policy:agg_sum";

constexpr Command kRows[] = {
    {.name = "del",
     .arity = -2,
     .flags = kWrite,
     .keys = {1, -1, 1, kKeyRM | kKeyDelete},
     .acl = kAclKeyspace,
     .handler = Del,
     .since = "1.0.0",
     .complexity = "O(N) where N is the number of keys",
     .summary = "Deletes keys and answers how many there were.",
     .syntax = "key [key ...]",
     .tips = kSumTips},
    {.name = "unlink",
     .arity = -2,
     .flags = kWrite | kFast,
     .keys = {1, -1, 1, kKeyRM | kKeyDelete},
     .acl = kAclKeyspace,
     .handler = Del,
     .since = "4.0.0",
     .complexity = "O(N) where N is the number of keys",
     .summary = "Deletes keys and answers how many there were.",
     .syntax = "key [key ...]",
     .tips = kSumTips},
    {.name = "exists",
     .arity = -2,
     .flags = kReadOnly | kFast | kUntouched,
     .keys = {1, -1, 1, kKeyRO},
     .acl = kAclKeyspace,
     .handler = Exists,
     .since = "1.0.0",
     .complexity = "O(N) where N is the number of keys",
     .summary = "Answers how many of these keys exist.",
     .syntax = "key [key ...]",
     .tips = kSumTips},
    {.name = "touch",
     .arity = -2,
     .flags = kReadOnly | kFast | kTouches,
     .keys = {1, -1, 1, kKeyRO},
     .acl = kAclKeyspace,
     .handler = Touch,
     .since = "3.2.1",
     .complexity = "O(N) where N is the number of keys",
     .summary = "Counts as an access of keys, and answers how many there were.",
     .syntax = "key [key ...]",
     .tips = kSumTips},
    {.name = "type",
     .arity = 2,
     .flags = kReadOnly | kFast | kUntouched,
     .keys = {1, 1, 1, kKeyRO},
     .acl = kAclKeyspace,
     .handler = Type,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Answers with the type of a key's value.",
     .syntax = "key"},
};
const CommandFamily kFamily("generic", kRows);

}  // namespace
}  // namespace mayfly::key_commands

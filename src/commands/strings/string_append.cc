// APPEND: adds to the end of a string.
#include "exec/values/string_edit.h"

namespace mayfly::string_append_commands {
namespace {

constexpr Event kAppend{"append"};

void Append(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  const std::string_view addition = args[2];
  Entry* existing = ctx.keyspace.Find(key, ctx.now);
  if (existing == nullptr) {
    ctx.keyspace.Put(key, nullptr, StringFrom(args, 2), Expiry::Never(), ctx.now, kAppend);
    return ctx.reply.Integer(static_cast<int64_t>(addition.size()));
  }
  if (!RequireString(ctx, *existing)) return;
  const size_t old = existing->TextLength();
  if (!RequireStringSize(ctx, old, addition.size())) return;
  const size_t size = old + addition.size();
  const Effect effect{.command = "APPEND", .arguments = args.all().subspan(2)};
  EditString(ctx, key, existing, {old, size}, kAppend.With(effect), [&](char* bytes) {
    addition.copy(bytes + old, addition.size());
    return true;
  });
  ctx.reply.Integer(static_cast<int64_t>(size));
}

constexpr Command kRows[] = {
    {.name = "append",
     .arity = 3,
     .flags = kWrite | kDenyOom | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyInsert},
     .acl = kAclString,
     .handler = Append,
     .since = "2.0.0",
     .complexity = "O(N) where N is the length of the new value",
     .summary = "Adds bytes to the end of a string value; creates the key if it is absent.",
     .syntax = "key value"},
};
const CommandFamily kFamily("string", kRows);

}  // namespace
}  // namespace mayfly::string_append_commands

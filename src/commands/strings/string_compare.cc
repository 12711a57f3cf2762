// DIGEST, DELEX and DELIFEQ: digest of a string, and deletion of a key with a given value.
#include "base/bits/digest.h"
#include "exec/values/value_condition.h"
#include "snapshot/snapshots.h"

namespace mayfly::string_compare_commands {
namespace {

void DigestCommand(Context& ctx, Args& args) {
  const Entry* const entry = ReadString(ctx, ctx.KeyAt(args, 1), [&] { ctx.reply.Null(); });
  if (entry == nullptr) return;
  char digits[kMaxIntegerText];
  const Digest digest = DigestOf(TextOf(*entry, digits));
  ctx.reply.Bulk({digest.data(), digest.size()});
}

// As in Redis, an absent key is answered before the condition is read, and a key of another type before the word of the
// condition is read.
void DelEx(Context& ctx, Args& args) {
  const bool conditional = args.size() == 4;
  if (!conditional && args.size() != 2) return ctx.Fail(errors::WrongArity(ctx.row.full_name));
  const Key key = ctx.KeyAt(args, 1);
  Entry* entry = ctx.keyspace.Find(key, ctx.now);
  if (entry == nullptr) {
    if (!conditional) Snapshots::NoteGone(ctx.server, ctx.keyspace, key.text);
    return ctx.reply.Integer(0);
  }
  if (conditional) {
    if (!IsString(*entry)) return ctx.Fail("ERR Key should be of string type if conditions are specified");
    args.Skip(1);
    const uint64_t word = WordOf(args.Next());
    ValueCondition condition;
    if (!condition.Take(word, args))
      return ctx.Fail("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE");
    if (!condition.RequireDigest(ctx)) return;
    if (!condition.Holds(entry)) return ctx.reply.Integer(0);
  }
  ctx.keyspace.Remove(key, *entry, ChangeReason::kDeleted);
  ctx.reply.Integer(1);
}

void DelIfEq(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  Entry* entry = ctx.keyspace.Find(key, ctx.now);
  if (entry == nullptr) return ctx.reply.Integer(0);
  if (!RequireString(ctx, *entry)) return;
  char digits[kMaxIntegerText];
  if (TextOf(*entry, digits) != args[2]) return ctx.reply.Integer(0);
  ctx.keyspace.Remove(key, *entry, ChangeReason::kDeleted);
  ctx.reply.Integer(1);
}

// The reply tells if the condition holds, and so discloses the value.
uint16_t KeyUseOfDelEx(std::span<const std::string_view> call) {
  return kKeyRW | kKeyDelete | (call.size() > 2 ? kKeyAccess : 0);
}

constexpr Command kRows[] = {
    {.name = "digest",
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = {1, 1, 1, kKeyRO | kKeyAccess},
     .acl = kAclString,
     .handler = DigestCommand,
     .since = "8.4.0",
     .complexity = "O(N) where N is the length of the value",
     .summary = "Answers with the XXH3 digest of a string value in hexadecimal digits.",
     .syntax = "key"},
    {.name = "delex",
     .arity = -2,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyAccess | kKeyDelete | kKeyVariableFlags,
              "ACCESS due to the optional condition"},
     .key_use = KeyUseOfDelEx,
     .acl = kAclString,
     .handler = DelEx,
     .since = "8.4.0",
     .complexity = "O(N) where N is the length of the value",
     .summary = "Deletes a key; with a condition, only if its value or its digest equals, or does not equal, "
                "a given one.",
     .syntax = "key [IFEQ ifeq-value | IFNE ifne-value | IFDEQ ifdeq-digest | IFDNE ifdne-digest]"},
    {.name = "delifeq",
     .arity = 3,
     .flags = kWrite,
     .keys = {1, 1, 1, kKeyRM | kKeyAccess | kKeyDelete},
     .acl = kAclString,
     .handler = DelIfEq,
     .since = "9.0.0",
     .complexity = "O(N) where N is the length of the value",
     .summary = "Deletes a key if its string value is a given one.",
     .syntax = "key value",
     .notes = "A command of Valkey."},
};
const CommandFamily kFamily("string", kRows);

}  // namespace
}  // namespace mayfly::string_compare_commands

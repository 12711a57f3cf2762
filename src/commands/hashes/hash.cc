// HSET, HGET, HDEL and kin: single fields of hashes.
#include "exec/values/hash_access.h"

namespace mayfly::hash_commands {
namespace {

constexpr Event kSetField{"hset"};
constexpr Event kDeleteField{"hdel"};

// Answers with the error if a field lacks its value. The pairs follow the key.
bool RequirePairs(Context& ctx, const Args& args) {
  if (args.size() % 2 == 0) return true;
  ctx.Fail(errors::WrongArity(ctx.row.full_name));
  return false;
}

void HSet(Context& ctx, Args& args) {
  if (!RequirePairs(ctx, args)) return;
  const Key key = ctx.KeyAt(args, 1);
  Typed<HashValue> found;
  if (!FindHash(ctx, key, found)) return;
  const size_t added = SetFields(ctx, key, found, args.all().subspan(2), false, kSetField);
  ctx.reply.Integer(static_cast<int64_t>(added));
}

void HMSet(Context& ctx, Args& args) {
  if (!RequirePairs(ctx, args)) return;
  const Key key = ctx.KeyAt(args, 1);
  Typed<HashValue> found;
  if (!FindHash(ctx, key, found)) return;
  SetFields(ctx, key, found, args.all().subspan(2), false, kSetField);
  ctx.reply.Ok();
}

void HSetNx(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  Typed<HashValue> found;
  if (!FindHash(ctx, key, found)) return;
  if (found.value != nullptr && found.value->Has(args[2])) return ctx.reply.Integer(0);
  SetFields(ctx, key, found, args.all().subspan(2), false, kSetField);
  ctx.reply.Integer(1);
}

void ReplyValue(Context& ctx, const HashValue* hash, std::string_view field) {
  char room[HashValue::kRoom];
  const std::optional<std::string_view> value = hash != nullptr ? hash->Get(field, room) : std::nullopt;
  value ? ctx.reply.Bulk(*value) : ctx.reply.Null();
}

void HGet(Context& ctx, Args& args) {
  HashValue* hash = nullptr;
  if (ReadHash(ctx, ctx.KeyAt(args, 1), hash)) ReplyValue(ctx, hash, args[2]);
}

void HMGet(Context& ctx, Args& args) {
  HashValue* hash = nullptr;
  if (!ReadHash(ctx, ctx.KeyAt(args, 1), hash)) return;
  args.Skip(1);
  ctx.reply.Array(args.Left());
  while (!args.Done()) ReplyValue(ctx, hash, args.Next());
}

void HExists(Context& ctx, Args& args) {
  HashValue* hash = nullptr;
  if (!ReadHash(ctx, ctx.KeyAt(args, 1), hash)) return;
  ctx.reply.Integer(hash != nullptr && hash->Has(args[2]) ? 1 : 0);
}

void HStrLen(Context& ctx, Args& args) {
  HashValue* hash = nullptr;
  if (!ReadHash(ctx, ctx.KeyAt(args, 1), hash)) return;
  char room[HashValue::kRoom];
  const std::optional<std::string_view> value = hash != nullptr ? hash->Get(args[2], room) : std::nullopt;
  ctx.reply.Integer(value ? static_cast<int64_t>(value->size()) : 0);
}

void HLen(Context& ctx, Args& args) {
  HashValue* hash = nullptr;
  if (!ReadHash(ctx, ctx.KeyAt(args, 1), hash)) return;
  ctx.reply.Integer(hash != nullptr ? static_cast<int64_t>(hash->Live()) : 0);
}

void HDel(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  Typed<HashValue> found;
  if (!FindHash(ctx, key, found)) return;
  if (found.entry == nullptr) return ctx.reply.Integer(0);
  args.Skip(1);
  int64_t removed = 0;
  const Effect effect{.command = "HDEL", .arguments = args.all().subspan(2)};
  const Event event = kDeleteField.With(effect);
  ctx.keyspace.EditRich<HashValue>(key, *found.entry, ctx.now, event, [&](HashValue& hash) {
    while (!args.Done()) removed += hash.Remove(args.Next()) ? 1 : 0;
    return removed != 0;
  });
  ctx.reply.Integer(removed);
}

constexpr KeySpec kUpdated = {1, 1, 1, kKeyRW | kKeyUpdate};
constexpr KeySpec kRead = {1, 1, 1, kKeyRO | kKeyAccess};
constexpr KeySpec kLooked = {1, 1, 1, kKeyRO};

constexpr Command kRows[] = {
    {.name = "hset",
     .arity = -4,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kUpdated,
     .acl = kAclHash,
     .handler = HSet,
     .since = "2.0.0",
     .complexity = "O(N) where N is the number of fields",
     .summary = "Sets fields of a hash, which is made if there is none; answers how many are new.",
     .syntax = "key field value [field value ...]",
     .notes = "4.0.0 lets it set several fields."},
    {.name = "hmset",
     .arity = -4,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kUpdated,
     .acl = kAclHash,
     .handler = HMSet,
     .since = "2.0.0",
     .complexity = "O(N) where N is the number of fields",
     .summary = "Sets fields of a hash.",
     .syntax = "key field value [field value ...]",
     .doc_flags = "deprecated",
     .deprecated_since = "4.0.0",
     .replaced_by = "`HSET` with several fields"},
    {.name = "hsetnx",
     .arity = 4,
     .flags = kWrite | kDenyOom | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyInsert},
     .acl = kAclHash,
     .handler = HSetNx,
     .since = "2.0.0",
     .complexity = "O(1)",
     .summary = "Sets a field of a hash if it is not there.",
     .syntax = "key field value"},
    {.name = "hget",
     .arity = 3,
     .flags = kReadOnly | kFast,
     .keys = kRead,
     .acl = kAclHash,
     .handler = HGet,
     .since = "2.0.0",
     .complexity = "O(1)",
     .summary = "Answers with the value of a hash's field.",
     .syntax = "key field"},
    {.name = "hmget",
     .arity = -3,
     .flags = kReadOnly | kFast,
     .keys = kRead,
     .acl = kAclHash,
     .handler = HMGet,
     .since = "2.0.0",
     .complexity = "O(N) where N is the number of fields",
     .summary = "Answers with the values of several fields of a hash.",
     .syntax = "key field [field ...]"},
    {.name = "hexists",
     .arity = 3,
     .flags = kReadOnly | kFast,
     .keys = kLooked,
     .acl = kAclHash,
     .handler = HExists,
     .since = "2.0.0",
     .complexity = "O(1)",
     .summary = "Tells whether a hash has a field.",
     .syntax = "key field"},
    {.name = "hstrlen",
     .arity = 3,
     .flags = kReadOnly | kFast,
     .keys = kLooked,
     .acl = kAclHash,
     .handler = HStrLen,
     .since = "3.2.0",
     .complexity = "O(1)",
     .summary = "Answers how long the value of a hash's field is.",
     .syntax = "key field"},
    {.name = "hlen",
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = kLooked,
     .acl = kAclHash,
     .handler = HLen,
     .since = "2.0.0",
     .complexity = "O(1)",
     .summary = "Answers how many fields a hash has.",
     .syntax = "key"},
    {.name = "hdel",
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyDelete},
     .acl = kAclHash,
     .handler = HDel,
     .since = "2.0.0",
     .complexity = "O(N) where N is the number of fields",
     .summary = "Deletes fields of a hash, and the hash with its last field.",
     .syntax = "key field [field ...]",
     .notes = "2.4.0 lets it delete several fields."},
};
const CommandFamily kFamily("hash", kRows);

}  // namespace
}  // namespace mayfly::hash_commands

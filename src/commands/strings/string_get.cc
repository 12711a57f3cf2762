// GET, MGET, GETDEL, GETEX and kin: read strings. GETDEL also deletes the key, and GETEX changes its expiry.
#include "exec/arguments/expire_options.h"
#include "exec/arguments/ttl_words.h"
#include "exec/values/string_access.h"
#include "snapshot/snapshots.h"

namespace mayfly::string_get_commands {
namespace {

void Get(Context& ctx, Args& args) {
  const Entry* const entry = ctx.Read(ctx.KeyAt(args, 1));
  if (entry == nullptr) [[unlikely]]
    return ctx.reply.Null();
  // A single comparison for nearly every GET: a text in its entry is a string.
  if (entry->encoding() <= Encoding::kEdited) [[likely]]
    return ctx.reply.Bulk(entry->stored());
  if (RequireString(ctx, *entry)) ReplyString(ctx, *entry);
}

// A key of another type is answered like an absent one, as in Redis.
void MGet(Context& ctx, Args& args) {
  ctx.reply.Array(args.size() - 1);
  for (size_t i = 1; i < args.size(); ++i) {
    const Entry* entry = ctx.Read(ctx.KeyAt(args, i));
    if (entry == nullptr || !IsString(*entry)) {
      ctx.reply.Null();
    } else {
      ReplyString(ctx, *entry);
    }
  }
}

void StrLen(Context& ctx, Args& args) {
  const Entry* const entry = ReadString(ctx, ctx.KeyAt(args, 1), [&] { ctx.reply.Integer(0); });
  if (entry != nullptr) ctx.reply.Integer(static_cast<int64_t>(entry->TextLength()));
}

void GetDel(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  Entry* const entry = ReadString(ctx, key, [&] {
    Snapshots::NoteGone(ctx.server, ctx.keyspace, key.text);
    ctx.reply.Null();
  });
  if (entry == nullptr) return;
  ReplyString(ctx, *entry);
  ctx.keyspace.Remove(key, *entry, ChangeReason::kDeleted);
}

struct GetExOptions {
  bool persist = false;
  ExpireOption expire;
  TtlWords ttl;
};

// On a mistake returns false; options.ttl.problem() has the error.
bool ReadGetExOptions(Args& args, GetExOptions& options) {
  while (!args.Done()) {
    const uint64_t word = WordOf(args.Next());
    if (word == WordOf("PERSIST")) {
      options.persist = true;
    } else if (!options.expire.Take(word, args) && !options.ttl.Take(word, args)) {
      return false;
    }
    if (options.persist && options.expire.given()) return false;
  }
  return options.ttl.Fits(options.expire);
}

void GetEx(Context& ctx, Args& args) {
  GetExOptions options;
  const Key key = ctx.KeyAt(args, 1);
  args.Skip(1);
  if (!ReadGetExOptions(args, options)) return ctx.Fail(options.ttl.problem());
  Entry* const entry = ReadString(ctx, key, [&] {
    if (options.expire.IsPast(ctx.now)) Snapshots::NoteGone(ctx.server, ctx.keyspace, key.text);
    ctx.reply.Null();
  });
  if (entry == nullptr) return;
  std::optional<Expiry> expiry;
  EntryTerms slide;
  if (options.expire.given()) {
    if (!options.expire.Resolve(ctx, expiry.emplace())) return;
    if (options.ttl.given() && !options.ttl.Resolve(ctx, options.expire.unit(), *expiry, slide)) return;
  } else if (options.persist && entry->expires()) {
    expiry = Expiry::Never();
  }
  // Obeying throws if the key must have a TTL: call Obeying before the value is answered.
  if (expiry && expiry->kind == Expiry::Kind::kNever)
    expiry = ctx.keyspace.lifetimes().Obeying(key.text, *expiry, ctx.now);
  ReplyString(ctx, *entry);
  if (!expiry) return;
  // A task whose time is over is due, and goes into its stream.
  if (expiry->Reached(ctx.now) && !entry->task() && ctx.RemovesOverdue())
    return ctx.keyspace.Remove(key, *entry, ChangeReason::kDeleted);
  ctx.keyspace.SetExpiry(key, *entry, *expiry, ctx.now, slide);
}

constexpr Command kRows[] = {
    {.name = "get",
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = {1, 1, 1, kKeyRO | kKeyAccess},
     .acl = kAclString,
     .handler = Get,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Answers with the string value of a key.",
     .syntax = "key"},
    {.name = "mget",
     .arity = -2,
     .flags = kReadOnly | kFast,
     .keys = {1, -1, 1, kKeyRO | kKeyAccess},
     .acl = kAclString,
     .handler = MGet,
     .since = "1.0.0",
     .complexity = "O(N) where N is the number of keys",
     .summary = "Answers with the string values of several keys.",
     .syntax = "key [key ...]",
     .tips = "request_policy:multi_shard"},
    {.name = "strlen",
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = {1, 1, 1, kKeyRO},
     .acl = kAclString,
     .handler = StrLen,
     .since = "2.2.0",
     .complexity = "O(1)",
     .summary = "Answers with the length of a string value in bytes.",
     .syntax = "key"},
    {.name = "getdel",
     .arity = 2,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyAccess | kKeyDelete},
     .acl = kAclString,
     .handler = GetDel,
     .since = "6.2.0",
     .complexity = "O(1)",
     .summary = "Answers with the string value of a key and deletes the key.",
     .syntax = "key"},
    {.name = "getex",
     .arity = -2,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyAccess | kKeyUpdate, "RW and UPDATE because it changes the TTL"},
     .acl = kAclString,
     .handler = GetEx,
     .since = "6.2.0",
     .complexity = "O(1)",
     .summary = "Answers with the string value of a key and changes or removes its expiry.",
     .syntax = "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | "
               "PERSIST] [JITTER percent] [SLIDE [MAX max]]",
     .argument_notes = "JITTER@0.1.0 SLIDE@0.1.0"},
};
const CommandFamily kFamily("string", kRows);

}  // namespace
}  // namespace mayfly::string_get_commands

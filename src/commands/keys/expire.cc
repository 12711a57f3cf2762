// EXPIRE, TTL, PERSIST and kin: set, remove and show the expiry of keys.
//
// Deadlines on both clocks are computed as Unix time in ms, to keep Redis's rules for overflow exactly.
#include <algorithm>
#include <optional>

#include "exec/arguments/expire_condition.h"
#include "exec/arguments/expire_options.h"
#include "exec/arguments/tag_words.h"
#include "exec/arguments/task_words.h"
#include "exec/arguments/ttl_words.h"
#include "snapshot/snapshots.h"

namespace mayfly::expire_commands {
namespace {

struct ExpireWords {
  ExpireConditions conditions;
  TtlWords ttl;
  TaskWords task;
};

// JITTER and SLIDE need a relative time. Returns false after an error reply.
bool ReadOptions(Context& ctx, Args& args, TimeBase base, ExpireWords& words) {
  auto& [conditions, ttl, task] = words;
  while (!args.Done()) {
    if (conditions.Take(args)) continue;
    const std::string_view name = args.Next();
    const uint64_t word = WordOf(name);
    if (word == WordOf("INTO")) {
      if (const std::string_view error = task.Take(args); !error.empty()) return ctx.Fail(error), false;
      continue;
    }
    if (base == TimeBase::kEpoch || (word != WordOf("JITTER") && word != WordOf("SLIDE")))
      return ctx.Fail("ERR Unsupported option " + std::string(errors::Repeated(name))), false;
    if (!ttl.Take(word, args)) return ctx.Fail(ttl.problem()), false;
  }
  if (conditions.if_none && (conditions.if_some || conditions.if_greater || conditions.if_less)) {
    ctx.Fail("ERR NX and XX, GT or LT options at the same time are not compatible");
    return false;
  }
  if (conditions.if_greater && conditions.if_less) {
    ctx.Fail("ERR GT and LT options at the same time are not compatible");
    return false;
  }
  return true;
}

void ExpireWith(Context& ctx, Args& args, TimeUnit unit, TimeBase base) {
  const Key key = ctx.KeyAt(args, 1);
  ExpireWords words;
  const auto& [conditions, ttl, task] = words;
  args.Skip(2);
  if (!ReadOptions(ctx, args, base, words)) return;
  int64_t number = 0;
  if (!ParseInteger(args[2], number)) return ctx.Fail(errors::kNotInteger);
  int64_t ms = 0;
  const int64_t base_ms = base == TimeBase::kNow ? ctx.now.wall_ms : 0;
  int64_t unix_ms = 0;
  if (!ToMilliseconds(number, unit, ms) || __builtin_add_overflow(ms, base_ms, &unix_ms)) {
    return ctx.Fail(errors::InvalidExpireTime(ctx.row.full_name));
  }
  // Errors of JITTER and SLIDE come before the look-up of the key. A time in the past, which removes the key below, is no
  // error of JITTER or SLIDE.
  Expiry expiry = base == TimeBase::kNow
                      ? Expiry::In(static_cast<uint64_t>(std::max<int64_t>(ms, 1)), ctx.now)
                      : Expiry::At(std::max<int64_t>(unix_ms, 0));
  EntryTerms slide;
  if (ttl.given() && !ttl.Resolve(ctx, unit, expiry, slide)) return;
  if (task.given() && !task.Permit(ctx, args, key.text)) return;

  Entry* entry = ctx.keyspace.Find(key, ctx.now);
  const bool over = ms < 0 || unix_ms <= ctx.now.wall_ms;
  if (entry == nullptr) {
    if (over && !conditions.any() && !task.given()) Snapshots::NoteGone(ctx.server, ctx.keyspace, key.text);
    return ctx.reply.Integer(0);
  }
  std::optional<int64_t> current_unix_ms;
  if (entry->expires()) current_unix_ms = UnixDeadlineMs(*entry, ctx.now);
  if (!conditions.Allow(current_unix_ms, unix_ms)) return ctx.reply.Integer(0);
  if (task.given() && !entry->task() && entry->tags() == EntryExtra::kMostTags) return ctx.Fail(kTooManyTags);
  // A task whose time is over is due, and goes into its stream.
  if (over && !entry->task() && !task.given() && ctx.RemovesOverdue()) {
    ctx.keyspace.Remove(key, *entry, ChangeReason::kDeleted);
  } else {
    if (over) expiry = Expiry::At(std::max<int64_t>(unix_ms, 0));
    ctx.keyspace.SetExpiry(key, *entry, expiry, ctx.now, slide, task.tag());
  }
  ctx.reply.Integer(1);
}

void Expire(Context& ctx, Args& args) { ExpireWith(ctx, args, TimeUnit::kSeconds, TimeBase::kNow); }
void PExpire(Context& ctx, Args& args) { ExpireWith(ctx, args, TimeUnit::kMilliseconds, TimeBase::kNow); }
void ExpireAt(Context& ctx, Args& args) { ExpireWith(ctx, args, TimeUnit::kSeconds, TimeBase::kEpoch); }
void PExpireAt(Context& ctx, Args& args) { ExpireWith(ctx, args, TimeUnit::kMilliseconds, TimeBase::kEpoch); }

void Persist(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  Entry* entry = ctx.keyspace.Find(key, ctx.now);
  const bool expires = entry != nullptr && entry->expires();
  if (expires) ctx.keyspace.SetExpiry(key, *entry, Expiry::Never(), ctx.now);
  ctx.reply.Integer(expires ? 1 : 0);
}

void ReplyTime(Context& ctx, Args& args, TimeUnit unit, TimeBase base) {
  constexpr int64_t kNoKey = -2;
  constexpr int64_t kNoExpiry = -1;
  const Entry* entry = ctx.Look(ctx.KeyAt(args, 1));
  if (entry == nullptr) return ctx.reply.Integer(kNoKey);
  if (!entry->expires()) return ctx.reply.Integer(kNoExpiry);
  const int64_t ms = base == TimeBase::kNow ? ShownTtlMs(*entry, ctx.now) : UnixDeadlineMs(*entry, ctx.now);
  if (unit == TimeUnit::kMilliseconds) return ctx.reply.Integer(ms);
  ctx.reply.Integer(ms / 1000 + (ms % 1000 >= 500 ? 1 : 0));
}

void Ttl(Context& ctx, Args& args) { ReplyTime(ctx, args, TimeUnit::kSeconds, TimeBase::kNow); }
void PTtl(Context& ctx, Args& args) { ReplyTime(ctx, args, TimeUnit::kMilliseconds, TimeBase::kNow); }
void ExpireTime(Context& ctx, Args& args) { ReplyTime(ctx, args, TimeUnit::kSeconds, TimeBase::kEpoch); }
void PExpireTime(Context& ctx, Args& args) {
  ReplyTime(ctx, args, TimeUnit::kMilliseconds, TimeBase::kEpoch);
}

constexpr KeySpec kChanged = {1, 1, 1, kKeyRW | kKeyUpdate};
constexpr KeySpec kRead = {1, 1, 1, kKeyRO | kKeyAccess};
constexpr std::string_view kConditionsCame = "7.0.0 added the options NX, XX, GT and LT.";

constexpr Command kRows[] = {
    {.name = "expire",
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = kChanged,
     .acl = kAclKeyspace,
     .handler = Expire,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Lets a key expire after some seconds.",
     .syntax = "key seconds [NX | XX | GT | LT] [JITTER percent] [SLIDE [MAX max]] [INTO stream [MAXLEN "
               "threshold]]",
     .argument_notes = "condition@7.0.0 JITTER@0.1.0 SLIDE@0.1.0 INTO@0.2.0",
     .notes = kConditionsCame},
    {.name = "pexpire",
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = kChanged,
     .acl = kAclKeyspace,
     .handler = PExpire,
     .since = "2.6.0",
     .complexity = "O(1)",
     .summary = "Lets a key expire after some milliseconds.",
     .syntax = "key milliseconds [NX | XX | GT | LT] [JITTER percent] [SLIDE [MAX max]] [INTO stream [MAXLEN "
               "threshold]]",
     .argument_notes = "condition@7.0.0 JITTER@0.1.0 SLIDE@0.1.0 INTO@0.2.0",
     .notes = kConditionsCame},
    {.name = "expireat",
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = kChanged,
     .acl = kAclKeyspace,
     .handler = ExpireAt,
     .since = "1.2.0",
     .complexity = "O(1)",
     .summary = "Lets a key expire at a Unix time in seconds.",
     .syntax = "key unix-time-seconds [NX | XX | GT | LT] [INTO stream [MAXLEN threshold]]",
     .argument_notes = "condition@7.0.0 INTO@0.2.0",
     .notes = kConditionsCame},
    {.name = "pexpireat",
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = kChanged,
     .acl = kAclKeyspace,
     .handler = PExpireAt,
     .since = "2.6.0",
     .complexity = "O(1)",
     .summary = "Lets a key expire at a Unix time in milliseconds.",
     .syntax = "key unix-time-milliseconds [NX | XX | GT | LT] [INTO stream [MAXLEN threshold]]",
     .argument_notes = "condition@7.0.0 INTO@0.2.0",
     .notes = kConditionsCame},
    {.name = "persist",
     .arity = 2,
     .flags = kWrite | kFast,
     .keys = kChanged,
     .acl = kAclKeyspace,
     .handler = Persist,
     .since = "2.2.0",
     .complexity = "O(1)",
     .summary = "Removes a key's expiry.",
     .syntax = "key"},
    {.name = "ttl",
     .arity = 2,
     .flags = kReadOnly | kFast | kUntouched,
     .keys = kRead,
     .acl = kAclKeyspace,
     .handler = Ttl,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Answers how many seconds a key has left.",
     .syntax = "key",
     .tips = "nondeterministic_output"},
    {.name = "pttl",
     .arity = 2,
     .flags = kReadOnly | kFast | kUntouched,
     .keys = kRead,
     .acl = kAclKeyspace,
     .handler = PTtl,
     .since = "2.6.0",
     .complexity = "O(1)",
     .summary = "Answers how many milliseconds a key has left.",
     .syntax = "key",
     .tips = "nondeterministic_output"},
    {.name = "expiretime",
     .arity = 2,
     .flags = kReadOnly | kFast | kUntouched,
     .keys = kRead,
     .acl = kAclKeyspace,
     .handler = ExpireTime,
     .since = "7.0.0",
     .complexity = "O(1)",
     .summary = "Answers the Unix time in seconds at which a key expires.",
     .syntax = "key"},
    {.name = "pexpiretime",
     .arity = 2,
     .flags = kReadOnly | kFast | kUntouched,
     .keys = kRead,
     .acl = kAclKeyspace,
     .handler = PExpireTime,
     .since = "7.0.0",
     .complexity = "O(1)",
     .summary = "Answers the Unix time in milliseconds at which a key expires.",
     .syntax = "key"},
};
const CommandFamily kFamily("generic", kRows);

}  // namespace
}  // namespace mayfly::expire_commands

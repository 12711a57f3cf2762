// The commands that set, remove and show the deadlines of a hash's fields: HEXPIRE, HPERSIST, HTTL and kin.
#include <algorithm>
#include <vector>

#include "exec/values/expire_condition.h"
#include "exec/values/field_time.h"

namespace mayfly {
namespace {

// What is answered for each field.
constexpr int8_t kNoField = -2;
constexpr int8_t kNoDeadline = -1;
constexpr int8_t kConditionFailed = 0;
constexpr int8_t kDone = 1;
constexpr int8_t kDeleted = 2;  // the deadline is over already

void ReplyAll(Context& ctx, std::span<const int8_t> results) {
  ctx.reply.Array(results.size());
  for (const int8_t result : results) ctx.reply.Integer(result);
}

void HExpireWith(Context& ctx, Args& args, TimeUnit unit, TimeBase base) {
  const Key key = ctx.KeyAt(args, 1);
  Typed<HashValue> found;
  if (!FindHash(ctx, key, found)) return;
  FieldTime time;
  if (!ReadFieldTime(ctx, args[2], unit, base, time)) return;
  args.Skip(2);
  ExpireConditions condition;
  condition.Take(args);
  const auto fields = ReadFields(ctx, args, "ERR Parameter `numFields` should be greater than 0");
  if (!fields) return;

  std::vector<int8_t> results(fields->size(), kNoField);
  const auto has = [&](std::string_view field) { return found.value->Has(field); };
  if (found.entry == nullptr || std::none_of(fields->begin(), fields->end(), has))
    return ReplyAll(ctx, results);
  const bool past = time.Past(ctx.now);
  if (!past) found.entry = RoomForDeadlines(ctx, key, *found.entry);
  EditFields(ctx, key, *found.entry, {past ? "hdel" : "hexpire"}, [&](HashValue& hash, bool& changed) {
    for (size_t i = 0; i < fields->size(); ++i) {
      const std::string_view field = (*fields)[i];
      if (!hash.Has(field)) continue;
      results[i] = kConditionFailed;
      const Expiry current = hash.DeadlineOf(field);
      std::optional<int64_t> current_unix_ms;
      if (current.kind != Expiry::Kind::kNever) current_unix_ms = UnixMsOf(current, ctx.now);
      if (!condition.Allow(current_unix_ms, time.unix_ms)) continue;
      past ? static_cast<void>(hash.Remove(field)) : hash.SetDeadline(field, time.expiry, ctx.now);
      results[i] = past ? kDeleted : kDone;
      changed = true;
    }
  });
  ReplyAll(ctx, results);
}

void HExpire(Context& ctx, Args& args) { HExpireWith(ctx, args, TimeUnit::kSeconds, TimeBase::kNow); }
void HPExpire(Context& ctx, Args& args) { HExpireWith(ctx, args, TimeUnit::kMilliseconds, TimeBase::kNow); }
void HExpireAt(Context& ctx, Args& args) { HExpireWith(ctx, args, TimeUnit::kSeconds, TimeBase::kEpoch); }
void HPExpireAt(Context& ctx, Args& args) {
  HExpireWith(ctx, args, TimeUnit::kMilliseconds, TimeBase::kEpoch);
}

void HPersist(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  Typed<HashValue> found;
  if (!FindHash(ctx, key, found)) return;
  args.Skip(1);
  const auto fields = ReadFields(ctx, args);
  if (!fields) return;
  std::vector<int8_t> results(fields->size(), kNoField);
  if (found.entry == nullptr) return ReplyAll(ctx, results);
  EditFields(ctx, key, *found.entry, {"hpersist"}, [&](HashValue& hash, bool& changed) {
    for (size_t i = 0; i < fields->size(); ++i) {
      if (!hash.Has((*fields)[i])) continue;
      const bool cleared = hash.ClearDeadline((*fields)[i]);
      results[i] = cleared ? kDone : kNoDeadline;
      changed = changed || cleared;
    }
  });
  ReplyAll(ctx, results);
}

// Seconds are rounded up: a field that is still there has at least one.
void ReplyTimes(Context& ctx, Args& args, TimeUnit unit, TimeBase base) {
  HashValue* hash = nullptr;
  if (!ReadHash(ctx, ctx.KeyAt(args, 1), hash)) return;
  args.Skip(1);
  const auto fields = ReadFields(ctx, args);
  if (!fields) return;
  ctx.reply.Array(fields->size());
  for (const std::string_view field : *fields) {
    if (hash == nullptr || !hash->Has(field)) {
      ctx.reply.Integer(kNoField);
      continue;
    }
    const Expiry deadline = hash->DeadlineOf(field);
    if (deadline.kind == Expiry::Kind::kNever) {
      ctx.reply.Integer(kNoDeadline);
      continue;
    }
    const int64_t ms = UnixMsOf(deadline, ctx.now) - (base == TimeBase::kNow ? ctx.now.wall_ms : 0);
    ctx.reply.Integer(unit == TimeUnit::kSeconds ? (ms + kMsPerSecond - 1) / kMsPerSecond : ms);
  }
}

void HTtl(Context& ctx, Args& args) { ReplyTimes(ctx, args, TimeUnit::kSeconds, TimeBase::kNow); }
void HPTtl(Context& ctx, Args& args) { ReplyTimes(ctx, args, TimeUnit::kMilliseconds, TimeBase::kNow); }
void HExpireTime(Context& ctx, Args& args) { ReplyTimes(ctx, args, TimeUnit::kSeconds, TimeBase::kEpoch); }
void HPExpireTime(Context& ctx, Args& args) {
  ReplyTimes(ctx, args, TimeUnit::kMilliseconds, TimeBase::kEpoch);
}

constexpr KeySpec kUpdated = {1, 1, 1, kKeyRW | kKeyUpdate};
constexpr KeySpec kRead = {1, 1, 1, kKeyRO | kKeyAccess};
constexpr std::string_view kFieldNumber = "O(N) where N is the number of fields";
constexpr std::string_view kTimeTip = "nondeterministic_output";
constexpr std::string_view kFieldsNote = "FIELDS=fields";

constexpr Command kRows[] = {
    {.name = "hexpire",
     .arity = -6,
     .flags = kWrite | kFast,
     .keys = kUpdated,
     .acl = kAclHash,
     .handler = HExpire,
     .since = "7.4.0",
     .complexity = kFieldNumber,
     .summary = "Lets fields of a hash expire after some seconds.",
     .syntax = "key seconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
     .argument_notes = kFieldsNote},
    {.name = "hpexpire",
     .arity = -6,
     .flags = kWrite | kFast,
     .keys = kUpdated,
     .acl = kAclHash,
     .handler = HPExpire,
     .since = "7.4.0",
     .complexity = kFieldNumber,
     .summary = "Lets fields of a hash expire after some milliseconds.",
     .syntax = "key milliseconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
     .argument_notes = kFieldsNote},
    {.name = "hexpireat",
     .arity = -6,
     .flags = kWrite | kFast,
     .keys = kUpdated,
     .acl = kAclHash,
     .handler = HExpireAt,
     .since = "7.4.0",
     .complexity = kFieldNumber,
     .summary = "Lets fields of a hash expire at a Unix time in seconds.",
     .syntax = "key unix-time-seconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
     .argument_notes = kFieldsNote},
    {.name = "hpexpireat",
     .arity = -6,
     .flags = kWrite | kFast,
     .keys = kUpdated,
     .acl = kAclHash,
     .handler = HPExpireAt,
     .since = "7.4.0",
     .complexity = kFieldNumber,
     .summary = "Lets fields of a hash expire at a Unix time in milliseconds.",
     .syntax = "key unix-time-milliseconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
     .argument_notes = kFieldsNote},
    {.name = "hpersist",
     .arity = -5,
     .flags = kWrite | kFast,
     .keys = kUpdated,
     .acl = kAclHash,
     .handler = HPersist,
     .since = "7.4.0",
     .complexity = kFieldNumber,
     .summary = "Removes the expiry of fields of a hash.",
     .syntax = "key FIELDS numfields field [field ...]",
     .argument_notes = kFieldsNote},
    {.name = "httl",
     .arity = -5,
     .flags = kReadOnly | kFast,
     .keys = kRead,
     .acl = kAclHash,
     .handler = HTtl,
     .since = "7.4.0",
     .complexity = kFieldNumber,
     .summary = "Answers how many seconds fields of a hash have left.",
     .syntax = "key FIELDS numfields field [field ...]",
     .argument_notes = kFieldsNote,
     .tips = kTimeTip},
    {.name = "hpttl",
     .arity = -5,
     .flags = kReadOnly | kFast,
     .keys = kRead,
     .acl = kAclHash,
     .handler = HPTtl,
     .since = "7.4.0",
     .complexity = kFieldNumber,
     .summary = "Answers how many milliseconds fields of a hash have left.",
     .syntax = "key FIELDS numfields field [field ...]",
     .argument_notes = kFieldsNote,
     .tips = kTimeTip},
    {.name = "hexpiretime",
     .arity = -5,
     .flags = kReadOnly | kFast,
     .keys = kRead,
     .acl = kAclHash,
     .handler = HExpireTime,
     .since = "7.4.0",
     .complexity = kFieldNumber,
     .summary = "Answers the Unix times in seconds at which fields of a hash expire.",
     .syntax = "key FIELDS numfields field [field ...]",
     .argument_notes = kFieldsNote},
    {.name = "hpexpiretime",
     .arity = -5,
     .flags = kReadOnly | kFast,
     .keys = kRead,
     .acl = kAclHash,
     .handler = HPExpireTime,
     .since = "7.4.0",
     .complexity = kFieldNumber,
     .summary = "Answers the Unix times in milliseconds at which fields of a hash expire.",
     .syntax = "key FIELDS numfields field [field ...]",
     .argument_notes = kFieldsNote},
};
const CommandFamily kFamily("hash", kRows);

}  // namespace
}  // namespace mayfly

// SET, and the older commands for special cases of SET.
#include <algorithm>
#include <iterator>
#include <utility>

#include "cache/tags/task_name.h"
#include "exec/arguments/expire_options.h"
#include "exec/arguments/tag_words.h"
#include "exec/arguments/task_words.h"
#include "exec/arguments/ttl_words.h"
#include "exec/values/lease_token.h"
#include "exec/values/string_access.h"
#include "exec/values/value_condition.h"
#include "server/waiting/leases.h"

namespace mayfly::string_set_commands {
namespace {

// Kept apart from the code of most SETs: for values that may be numbers, and for big values. The key comes by value: so a
// caller need not keep the key in memory.
[[gnu::noinline]] void StoreAny(Context& ctx, const Args& args, size_t value, Key key, Entry* existing,
                                Expiry expiry, const Event& event) {
  ctx.keyspace.Put(key, existing, StringFrom(args, value), expiry, ctx.now, event);
}

// Gives the key the value in argument `value`.
[[gnu::always_inline]] inline void Store(Context& ctx, const Args& args, size_t value, const Key& key,
                                         Entry* existing, Expiry expiry, const Event& event) {
  if (args.HasBlocks() || !StringValue::IsPlain(args[value])) [[unlikely]]
    return StoreAny(ctx, args, value, key, existing, expiry, event);
  ctx.keyspace.PutText(key, existing, args[value], expiry, ctx.now, event);
}

constexpr std::string_view kStaleTask = "ERR a value that goes INTO a stream has no STALE window";

struct SetOptions {
  bool if_absent = false;
  bool if_present = false;
  bool get = false;
  bool keep_ttl = false;
  ExpireOption expire;
  TtlWords ttl;
  ValueCondition condition;
  std::optional<std::string_view> lease;  // IFLEASE: the token
  std::optional<std::string_view> stale;  // STALE: the window, in the unit of `expire`
  TagWords tags;
  TaskWords task;
};

// Takes the word after an option of Mayfly. Returns the error; empty without an error.
std::string_view TakeWord(Args& args, std::optional<std::string_view>& into, std::string_view missing,
                          std::string_view twice) {
  if (into) return twice;
  if (args.Done()) return missing;
  into = args.Next();
  return {};
}

// Returns the error; empty without an error. Redis's own words get Redis's error; for Mayfly's words the error names the
// expected argument.
std::string_view ReadSetOptions(Args& args, SetOptions& options) {
  while (!args.Done()) {
    std::string_view error;
    switch (const uint64_t word = WordOf(args.Next())) {
      case WordOf("NX"):
        options.if_absent = true;
        break;
      case WordOf("XX"):
        options.if_present = true;
        break;
      case WordOf("GET"):
        options.get = true;
        break;
      case WordOf("KEEPTTL"):
        options.keep_ttl = true;
        break;
      case WordOf("IFLEASE"):
        error = TakeWord(args, options.lease, "ERR IFLEASE is followed by the token that TAKE has answered",
                         "ERR IFLEASE is given twice");
        break;
      case WordOf("STALE"):
        error = TakeWord(args, options.stale, "ERR STALE is followed by a time, in the unit of the TTL",
                         "ERR STALE is given twice");
        break;
      case WordOf("TAGS"):
        error = options.tags.Take(args);
        break;
      case WordOf("INTO"):
        error = options.task.Take(args);
        break;
      default:
        if (!options.expire.Take(word, args) && !options.ttl.Take(word, args) &&
            !options.condition.Take(word, args))
          error = options.ttl.problem();
    }
    if (!error.empty()) return error;
    if ((options.if_absent && options.if_present) || (options.keep_ttl && options.expire.given()))
      return errors::kSyntax;
  }
  if (!options.ttl.Fits(options.expire)) return options.ttl.problem();
  // A window follows a deadline.
  if (options.stale && !options.expire.given() && !options.keep_ttl)
    return "ERR STALE needs a TTL: EX, PX, EXAT, PXAT or KEEPTTL";
  if (options.task.given() && !options.expire.given()) return "ERR INTO needs a TTL: EX, PX, EXAT or PXAT";
  if (options.task.given() && options.stale) return kStaleTask;
  return options.condition.given() && (options.if_absent || options.if_present) ? errors::kSyntax
                                                                                : std::string_view();
}

// Reads the time for which the value stays stale after its deadline. Returns false after an error reply.
bool ReadWindow(Context& ctx, const SetOptions& options, uint64_t& stale_ms) {
  if (!options.stale) return true;
  int64_t number = 0;
  int64_t ms = 0;
  if (!ParseInteger(*options.stale, number)) return ctx.Fail(errors::kNotInteger), false;
  if (!ToMilliseconds(number, options.expire.unit(), ms) || ms <= 0) return RefuseExpireTime(ctx), false;
  stale_ms = static_cast<uint64_t>(ms);
  return true;
}

// Returns true if the lease for computing the value is still good. An invalidation of one of the value's tags since the
// grant ends the lease: the data behind the value has changed, and a client must compute the value again.
bool HoldsLease(const Context& ctx, const Key& key, std::string_view text, const TagWords& tags) {
  Leases& leases = ctx.server.leases;
  const std::optional<uint64_t> token = ParseLeaseToken(text);
  const Lease* const lease = token ? leases.Held(ctx.session.db, key.text, *token) : nullptr;
  if (lease == nullptr) return false;
  const auto invalidated = [&](std::string_view tag) {
    return leases.invalidations().AnySince(lease->invalidations, ctx.session.db, tag);
  };
  if (std::none_of(tags.names().begin(), tags.names().end(), invalidated)) return true;
  leases.Revoke(*lease);
  return false;
}

// The tags of the new value: the named tags, or with KEEPTTL the tags of the key; and the task's.
TagHold TagsFor(Context& ctx, const SetOptions& options, const Entry* existing) {
  Tags& tags = ctx.keyspace.tags();
  const bool keeps = options.keep_ttl && existing != nullptr;
  std::string task = options.task.tag();
  if (keeps && existing->task()) task = TaskTagOf(tags.TargetOf(*existing));
  TagHold hold;
  if (options.tags.given())
    hold = tags.Hold(options.tags.names());
  else if (keeps)
    hold = tags.HoldThoseOf(*existing);
  const std::string_view name = task;
  return name.empty() ? std::move(hold) : tags.Hold({&name, 1}, std::move(hold));
}

void SetWithOptions(Context& ctx, Args& args) {
  SetOptions options;
  const Key key = ctx.KeyAt(args, 1);
  args.Skip(2);
  if (const std::string_view error = ReadSetOptions(args, options); !error.empty()) return ctx.Fail(error);
  if (const std::string_view error = ErrorOfTags(options.tags.names()); !error.empty())
    return ctx.Fail(error);
  if (options.task.given() && options.tags.names().size() == EntryExtra::kMostTags)
    return ctx.Fail(kTooManyTags);
  if (options.task.given() && !options.task.Permit(ctx, args, key.text)) return;
  if (options.stale && ctx.keyspace.lifetimes().IsTaskByRules(key.text)) return ctx.Fail(kStaleTask);
  Expiry expiry = Expiry::Never();
  if (options.expire.given() && !options.expire.Resolve(ctx, expiry)) return;
  EntryTerms terms;
  if (options.ttl.given() && !options.ttl.Resolve(ctx, options.expire.unit(), expiry, terms)) return;
  if (!ReadWindow(ctx, options, terms.stale_ms)) return;

  Entry* existing = options.get ? ctx.Read(key) : ctx.keyspace.Peek(key, ctx.now);
  const bool conditional = options.condition.given();
  if (existing != nullptr && (options.get || conditional) && !RequireString(ctx, *existing)) return;
  if (existing != nullptr && conditional && !options.condition.RequireDigest(ctx)) return;
  bool refused = existing != nullptr ? options.if_absent : options.if_present;
  if (conditional) refused = !options.condition.Holds(existing);
  refused = refused || (options.lease && !HoldsLease(ctx, key, *options.lease, options.tags));
  const bool stays_task = !refused && options.keep_ttl && existing != nullptr && existing->task();
  if (stays_task && options.tags.names().size() == EntryExtra::kMostTags) return ctx.Fail(kTooManyTags);
  if (!refused) {
    if (options.keep_ttl && existing != nullptr) {
      expiry = existing->deadline();
      const uint64_t stale_ms = options.stale ? terms.stale_ms : existing->stale_ms();
      terms = existing->terms();
      terms.stale_ms = stale_ms;
    }
    // Obeying throws if the key must have a TTL: call Obeying before the old value is answered.
    if (expiry.kind == Expiry::Kind::kNever)
      expiry = ctx.keyspace.lifetimes().Obeying(key.text, expiry, ctx.now);
  }
  if (options.get) {
    if (existing == nullptr) {
      ctx.reply.Null();
    } else {
      ReplyString(ctx, *existing);
    }
  }
  if (!refused) {
    const Event& event = options.expire.given() ? events::kSetWithExpiry : events::kSet;
    TagHold tags = TagsFor(ctx, options, existing);
    if (!terms.any() && tags.empty()) {
      StoreAny(ctx, args, 2, key, existing, expiry, event);
    } else {
      ctx.keyspace.PutOnTerms(key, existing, StringFrom(args, 2), expiry, terms, ctx.now, event,
                              std::move(tags));
    }
  } else if (existing != nullptr) {
    ctx.keyspace.Touch(*existing, ctx.now);  // an access, as in Redis
  }
  if (options.get) return;
  if (refused) return ctx.reply.Null();
  ctx.reply.Ok();
}

// The value in argument `value` and a time to live in argument `ttl`, with no other option.
[[gnu::always_inline]] inline void SetFor(Context& ctx, Args& args, size_t value, size_t ttl, TimeUnit unit) {
  Expiry expiry;
  if (!ReadExpiry(ctx, args[ttl], unit, TimeBase::kNow, expiry)) return;
  const Key key = ctx.KeyAt(args, 1);
  Entry* existing = ctx.keyspace.Peek(key, ctx.now);
  Store(ctx, args, value, key, existing, expiry, events::kSetWithExpiry);
  ctx.reply.Ok();
}

void SetEx(Context& ctx, Args& args) { SetFor(ctx, args, 3, 2, TimeUnit::kSeconds); }
void PSetEx(Context& ctx, Args& args) { SetFor(ctx, args, 3, 2, TimeUnit::kMilliseconds); }

void Set(Context& ctx, Args& args) {
  // Nearly every SET has no option, or a time to live alone.
  if (args.size() > 3) {
    const uint64_t option = args.size() == 5 ? WordOf(args[3]) : 0;
    if (option == WordOf("EX")) return SetFor(ctx, args, 2, 4, TimeUnit::kSeconds);
    if (option == WordOf("PX")) return SetFor(ctx, args, 2, 4, TimeUnit::kMilliseconds);
    return SetWithOptions(ctx, args);
  }
  const Key key = ctx.KeyAt(args, 1);
  Entry* existing = ctx.keyspace.Peek(key, ctx.now);
  Store(ctx, args, 2, key, existing, Expiry::Never(), events::kSet);
  ctx.reply.Ok();
}

void SetNx(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  const bool absent = ctx.keyspace.Find(key, ctx.now) == nullptr;
  if (absent) ctx.keyspace.Put(key, nullptr, StringFrom(args, 2), Expiry::Never(), ctx.now);
  ctx.reply.Integer(absent ? 1 : 0);
}

// The old value must be a string: it is the reply.
void GetSet(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  Entry* existing = ctx.Read(key);
  if (existing != nullptr && !RequireString(ctx, *existing)) return;
  // Obeying throws if the key must have a TTL: call Obeying before the old value is answered.
  const Expiry expiry = ctx.keyspace.lifetimes().Obeying(key.text, Expiry::Never(), ctx.now);
  existing == nullptr ? ctx.reply.Null() : ReplyString(ctx, *existing);
  ctx.keyspace.Put(key, existing, StringFrom(args, 2), expiry, ctx.now);
}

// GET reads the old value, and the reply discloses the result of a condition on the old value. As in Redis, the word counts
// at any place after the value.
uint16_t KeyUseOfSet(std::span<const std::string_view> call) {
  constexpr std::string_view kReading[] = {"GET", "IFEQ", "IFNE", "IFDEQ", "IFDNE"};
  const bool reads = std::any_of(call.begin() + 3, call.end(), [&](std::string_view word) {
    return std::any_of(std::begin(kReading), std::end(kReading),
                       [word](std::string_view one) { return EqualsIgnoringCase(word, one); });
  });
  return reads ? kKeyRW | kKeyAccess | kKeyUpdate : kKeyOW | kKeyUpdate;
}

constexpr Command kRows[] = {
    {.name = "set",
     .arity = -3,
     .flags = kWrite | kDenyOom,
     .keys = {1, 1, 1, kKeyRW | kKeyAccess | kKeyUpdate | kKeyVariableFlags,
              "RW and ACCESS due to the optional `GET` argument"},
     .key_use = KeyUseOfSet,
     .acl = kAclString,
     .handler = Set,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Gives a key a string value, whatever it held before, and an expiry if one is given.",
     .syntax =
         "key value [NX | XX | IFEQ ifeq-value | IFNE ifne-value | IFDEQ ifdeq-digest | "
         "IFDNE ifdne-digest] [GET] [IFLEASE token] [EX seconds | PX milliseconds | EXAT unix-time-seconds | "
         "PXAT unix-time-milliseconds | KEEPTTL] [JITTER percent] [SLIDE [MAX max]] [STALE window] [TAGS "
         "numtags tag [tag ...]] [INTO stream [MAXLEN threshold]]",
     .argument_notes =
         "condition@2.6.12 IFEQ@8.4.0 IFNE@8.4.0 IFDEQ@8.4.0 IFDNE@8.4.0 GET@6.2.0 IFLEASE@0.1.0 EX@2.6.12 "
         "PX@2.6.12 EXAT@6.2.0 PXAT@6.2.0 KEEPTTL@6.0.0 JITTER@0.1.0 SLIDE@0.1.0 STALE@0.1.0 TAGS@0.1.0 "
         "INTO@0.2.0"},
    {.name = "setex",
     .arity = 4,
     .flags = kWrite | kDenyOom,
     .keys = {1, 1, 1, kKeyOW | kKeyUpdate},
     .acl = kAclString,
     .handler = SetEx,
     .since = "2.0.0",
     .complexity = "O(1)",
     .summary = "Gives a key a string value that expires after some seconds.",
     .syntax = "key seconds value",
     .doc_flags = "deprecated",
     .deprecated_since = "2.6.12",
     .replaced_by = "`SET` with `EX`"},
    {.name = "psetex",
     .arity = 4,
     .flags = kWrite | kDenyOom,
     .keys = {1, 1, 1, kKeyOW | kKeyUpdate},
     .acl = kAclString,
     .handler = PSetEx,
     .since = "2.6.0",
     .complexity = "O(1)",
     .summary = "Gives a key a string value that expires after some milliseconds.",
     .syntax = "key milliseconds value",
     .doc_flags = "deprecated",
     .deprecated_since = "2.6.12",
     .replaced_by = "`SET` with `PX`"},
    {.name = "setnx",
     .arity = 3,
     .flags = kWrite | kDenyOom | kFast,
     .keys = {1, 1, 1, kKeyOW | kKeyInsert},
     .acl = kAclString,
     .handler = SetNx,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Gives a key a string value unless the key exists.",
     .syntax = "key value",
     .doc_flags = "deprecated",
     .deprecated_since = "2.6.12",
     .replaced_by = "`SET` with `NX`"},
    {.name = "getset",
     .arity = 3,
     .flags = kWrite | kDenyOom | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyAccess | kKeyUpdate},
     .acl = kAclString,
     .handler = GetSet,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Gives a key a string value and answers with the old one.",
     .syntax = "key value",
     .doc_flags = "deprecated",
     .deprecated_since = "6.2.0",
     .replaced_by = "`SET` with `GET`"},
};
const CommandFamily kFamily("string", kRows);

}  // namespace
}  // namespace mayfly::string_set_commands

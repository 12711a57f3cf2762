// HGETEX, HSETEX and HGETDEL of Redis 8: read or set fields with their deadlines, or read and delete fields.
#include <optional>
#include <unordered_set>

#include "cache/keyspace/databases.h"
#include "exec/arguments/word.h"
#include "exec/values/field_time.h"
#include "exec/values/member_effect.h"

namespace mayfly::hash_ex_commands {
namespace {

constexpr Event kSetField{"hset"};
constexpr Event kExpireField{"hexpire"};
constexpr Event kDeleteField{"hdel"};
constexpr Event kPersistField{"hpersist"};

using Fields = std::span<const std::string_view>;

// Finds fields named before in the same request; a few fields are compared one by one.
class NamedBefore {
 public:
  NamedBefore(Fields fields, const Keyspace& keyspace) : fields_(fields), names_(0, Hash{keyspace}) {
    if (fields.size() > kFew) names_.reserve(fields.size());
  }
  // Call once for each field in turn. Returns true if the field was named before.
  bool Next() {
    const std::string_view field = fields_[at_++];
    if (fields_.size() > kFew) return !names_.insert(field).second;
    const Fields before = fields_.first(at_ - 1);
    return std::find(before.begin(), before.end(), field) != before.end();
  }

 private:
  static constexpr size_t kFew = 16;
  // The keyed hash of the keyspace: clients choose the names.
  struct Hash {
    const Keyspace& keyspace;
    size_t operator()(std::string_view name) const noexcept { return keyspace.HashOf(name); }
  };

  Fields fields_;
  size_t at_ = 0;
  std::unordered_set<std::string_view, Hash> names_;
};

// Answers with the fields' values; `hash` may be null. If `deleted`, a field named again has no value the second time.
void ReplyValues(Context& ctx, const HashValue* hash, Fields fields, bool deleted) {
  char room[HashValue::kRoom];
  std::optional<NamedBefore> named;
  if (deleted) named.emplace(fields, ctx.keyspace);
  ctx.reply.Array(fields.size());
  for (const std::string_view field : fields) {
    const bool gone = deleted && named->Next();
    const auto value = hash != nullptr && !gone ? hash->Get(field, room) : std::nullopt;
    value ? ctx.reply.Bulk(*value) : ctx.reply.Null();
  }
}

void DeleteFields(Context& ctx, const Key& key, Entry& entry, Fields fields) {
  const Effect effect{.command = "HDEL", .arguments = fields};
  ctx.keyspace.EditRich<HashValue>(key, entry, ctx.now, kDeleteField.With(effect), [&](HashValue& hash) {
    bool changed = false;
    for (const std::string_view field : fields) changed = hash.Remove(field) || changed;
    return changed;
  });
}

// Sets the deadlines of the existing fields. A deadline in the past deletes the fields.
void SetDeadlines(Context& ctx, const Key& key, Entry& entry, Fields fields, size_t stride,
                  const FieldTime& time) {
  const bool past = time.Past(ctx.now) && ctx.RemovesOverdue();
  Entry* const roomy = past ? &entry : RoomForDeadlines(ctx, key, entry);
  MemberEffect effect(ctx.server.databases.changes().WantsEffects(), ValueType::kHash);
  Event event;
  bool changed = false;
  EditValue<HashValue>(
      ctx, key, *roomy,
      [&](HashValue& hash) {
        for (size_t i = 0; i < fields.size(); i += stride) {
          if (!hash.Has(fields[i])) continue;
          past ? static_cast<void>(hash.Remove(fields[i]))
               : hash.SetDeadline(fields[i], time.expiry, ctx.now);
          effect.Add(fields[i]);
          changed = true;
        }
      },
      [&]() -> const Event* {
        if (!changed) return nullptr;
        event =
            past ? effect.TellRemoved(kDeleteField) : effect.TellDeadline(kExpireField, time.expiry, ctx.now);
        return &event;
      });
}

void HGetDel(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  Typed<HashValue> found;
  if (!FindHash(ctx, key, found)) return;
  args.Skip(1);
  const auto fields = ReadFields(ctx, args);
  if (!fields) return;
  ReplyValues(ctx, found.value, *fields, true);
  if (found.entry != nullptr) DeleteFields(ctx, key, *found.entry, *fields);
}

// The unit and base of the time after this word; nullopt for any other word.
std::optional<std::pair<TimeUnit, TimeBase>> TimeWord(std::string_view word) noexcept {
  switch (WordOf(word)) {
    case WordOf("EX"):
      return std::pair(TimeUnit::kSeconds, TimeBase::kNow);
    case WordOf("PX"):
      return std::pair(TimeUnit::kMilliseconds, TimeBase::kNow);
    case WordOf("EXAT"):
      return std::pair(TimeUnit::kSeconds, TimeBase::kEpoch);
    case WordOf("PXAT"):
      return std::pair(TimeUnit::kMilliseconds, TimeBase::kEpoch);
    default:
      return std::nullopt;
  }
}

void HGetEx(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  Typed<HashValue> found;
  if (!FindHash(ctx, key, found)) return;
  args.Skip(1);
  std::optional<FieldTime> time;
  bool persist = false;
  if (const auto word = TimeWord(args.Peek())) {
    args.Skip(1);
    if (!ReadFieldTime(ctx, args.Next(), word->first, word->second, time.emplace())) return;
  } else {
    persist = args.Accept("PERSIST");
  }
  const auto fields = ReadFields(ctx, args);
  if (!fields) return;

  ReplyValues(ctx, found.value, *fields, time && time->Past(ctx.now));
  const auto has = [&](std::string_view field) { return found.value->Has(field); };
  if (found.entry == nullptr || std::none_of(fields->begin(), fields->end(), has)) return;
  if (time) return SetDeadlines(ctx, key, *found.entry, *fields, 1, *time);
  if (!persist) return;
  MemberEffect effect(ctx.server.databases.changes().WantsEffects(), ValueType::kHash);
  Event event;
  bool changed = false;
  EditValue<HashValue>(
      ctx, key, *found.entry,
      [&](HashValue& hash) {
        for (const std::string_view field : *fields) {
          if (!hash.Has(field) || !hash.ClearDeadline(field)) continue;
          effect.Add(field);
          changed = true;
        }
      },
      [&]() -> const Event* {
        if (!changed) return nullptr;
        event = effect.TellPersisted(kPersistField);
        return &event;
      });
}

// ---- HSETEX

struct SetOptions {
  bool if_none = false;  // FNX: none of the fields may exist
  bool if_all = false;   // FXX: all of the fields must exist
  bool keep = false;     // KEEPTTL
  std::optional<FieldTime> time;
  Fields pairs;
};

// Reads the arguments after FIELDS. Returns false after an error reply.
bool ReadPairs(Context& ctx, Args& args, SetOptions& options) {
  constexpr size_t kNumberAndPair = 3;
  if (args.Left() < kNumberAndPair) return ctx.Fail(errors::WrongArity(ctx.row.full_name)), false;
  const std::optional<int64_t> count = args.NextInteger();
  if (!count || *count < 1 || *count > INT32_MAX) return ctx.Fail("ERR invalid number of fields"), false;
  if (args.Left() != 2 * static_cast<uint64_t>(*count))
    return ctx.Fail(errors::WrongArity(ctx.row.full_name)), false;
  options.pairs = args.Rest();
  return true;
}

// Reads a time, or KEEPTTL without a time. Returns false after an error reply.
bool ReadTime(Context& ctx, Args& args, SetOptions& options) {
  const auto word = TimeWord(args.Next());
  if (options.time || options.keep) {
    ctx.Fail("ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified");
    return false;
  }
  if (!word) {
    options.keep = true;
    return true;
  }
  if (args.Done()) return ctx.Fail("ERR missing expire time"), false;
  return ReadFieldTime(ctx, args.Next(), word->first, word->second, options.time.emplace());
}

bool ReadSetOptions(Context& ctx, Args& args, SetOptions& options) {
  while (!args.Done()) {
    if (args.Accept("FIELDS")) return ReadPairs(ctx, args, options);
    if (TimeWord(args.Peek()) || EqualsIgnoringCase(args.Peek(), "KEEPTTL")) {
      if (!ReadTime(ctx, args, options)) return false;
      continue;
    }
    const bool all = EqualsIgnoringCase(args.Peek(), "FXX");
    if (!all && !EqualsIgnoringCase(args.Peek(), "FNX")) {
      ctx.Fail("ERR unknown argument: " + std::string(errors::Repeated(args.Next())));
      return false;
    }
    args.Skip(1);
    if (options.if_all || options.if_none)
      return ctx.Fail("ERR Only one of FXX or FNX arguments can be specified"), false;
    (all ? options.if_all : options.if_none) = true;
  }
  return ctx.Fail(errors::WrongArity(ctx.row.full_name)), false;
}

bool Allows(const SetOptions& options, const HashValue* hash) noexcept {
  if (!options.if_all && !options.if_none) return true;
  for (size_t i = 0; i < options.pairs.size(); i += 2) {
    const bool there = hash != nullptr && hash->Has(options.pairs[i]);
    if (there != options.if_all) return false;
  }
  return true;
}

void HSetEx(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  args.Skip(1);
  SetOptions options;
  if (!ReadSetOptions(ctx, args, options)) return;
  Typed<HashValue> found;
  if (!FindHash(ctx, key, found)) return;
  if (!Allows(options, found.value)) return ctx.reply.Integer(0);
  SetFields(ctx, key, found, options.pairs, options.keep || options.time, kSetField);
  if (options.time) {
    ContinueAfterChange(ctx, [&] {
      SetDeadlines(ctx, key, *ctx.keyspace.Peek(key, ctx.now), options.pairs, 2, *options.time);
    });
  }
  ctx.reply.Integer(1);
}

constexpr std::string_view kFieldNumber = "O(N) where N is the number of fields";

constexpr Command kRows[] = {
    {.name = "hgetex",
     .arity = -5,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyAccess | kKeyUpdate, "RW and UPDATE because it changes the TTL"},
     .acl = kAclHash,
     .handler = HGetEx,
     .since = "8.0.0",
     .complexity = kFieldNumber,
     .summary = "Answers with the values of a hash's fields, and changes when they expire.",
     .syntax = "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | "
               "PERSIST] FIELDS numfields field [field ...]",
     .argument_notes = "option=expiration FIELDS=fields"},
    {.name = "hsetex",
     .arity = -6,
     .flags = kWrite | kDenyOom | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyUpdate},
     .acl = kAclHash,
     .handler = HSetEx,
     .since = "8.0.0",
     .complexity = kFieldNumber,
     .summary = "Sets fields of a hash, and when they expire.",
     .syntax = "key [FNX | FXX] [EX seconds | PX milliseconds | EXAT unix-time-seconds | "
               "PXAT unix-time-milliseconds | KEEPTTL] FIELDS numfields field value [field value ...]",
     .argument_notes = "option=expiration FIELDS=fields field_value=data"},
    {.name = "hgetdel",
     .arity = -5,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyAccess | kKeyDelete},
     .acl = kAclHash,
     .handler = HGetDel,
     .since = "8.0.0",
     .complexity = kFieldNumber,
     .summary = "Answers with the values of a hash's fields, and deletes them.",
     .syntax = "key FIELDS numfields field [field ...]",
     .argument_notes = "FIELDS=fields"},
};
const CommandFamily kFamily("hash", kRows);

}  // namespace
}  // namespace mayfly::hash_ex_commands

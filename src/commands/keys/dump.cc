// DUMP and RESTORE: a value as the bytes of the RDB format, to move a key to another server.
//
// What travels is the value, with the deadlines of a hash's fields. The key's deadline travels as the TTL of RESTORE. Tags,
// sliding deadlines, windows of stale values, and deadlines of a set's or a sorted set's members do not travel.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/log/log.h"
#include "cache/keyspace/adopter.h"
#include "cache/keyspace/databases.h"
#include "cache/owners/lfu.h"
#include "config/sources/options.h"
#include "config/words.h"
#include "exec/dispatch/context.h"
#include "exec/values/timed_access.h"
#include "snapshot/dump_payload.h"
#include "snapshot/format/dump_footer.h"
#include "snapshot/format/types.h"
#include "snapshot/snapshots.h"
#include "snapshot/value_limits.h"
#include "snapshot/values/value_in.h"

namespace mayfly::dump_commands {
namespace {

constexpr std::string_view kBadPayload = "ERR Bad data format";

void Dump(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  const Entry* const entry = DropDueMembers(ctx, key, ctx.Read(key));
  const std::string payload = entry != nullptr ? DumpPayloadOf(*entry, ctx.now) : std::string();
  payload.empty() ? ctx.reply.Null() : ctx.reply.Bulk(payload);
}

struct RestoreOptions {
  bool replace = false;
  bool absolute = false;
  std::optional<int64_t> idle_s;
  std::optional<int64_t> frequency;
};

// Returns false after an error reply.
bool ReadRestoreOptions(Context& ctx, Args& args, RestoreOptions& options) {
  while (!args.Done()) {
    if (args.Accept("REPLACE")) {
      options.replace = true;
    } else if (args.Accept("ABSTTL")) {
      options.absolute = true;
    } else if (!options.frequency && args.Accept("IDLETIME", 1)) {
      options.idle_s = args.NextInteger();
      if (!options.idle_s) return ctx.Fail(errors::kNotInteger), false;
      if (*options.idle_s < 0) return ctx.Fail("ERR Invalid IDLETIME value, must be >= 0"), false;
    } else if (!options.idle_s && args.Accept("FREQ", 1)) {
      options.frequency = args.NextInteger();
      if (!options.frequency) return ctx.Fail(errors::kNotInteger), false;
      if (*options.frequency < 0 || *options.frequency > int64_t{kLfuCountMax})
        return ctx.Fail("ERR Invalid FREQ value, must be >= 0 and <= 255"), false;
    } else {
      return ctx.Fail(errors::kSyntax), false;
    }
  }
  return true;
}

// Reads the whole value. Returns kDone or kExpired, or another status if there is no value in the payload.
rdb::ValueStatus ReadValue(Context& ctx, const rdb::DumpPayload& payload, rdb::In& in, rdb::ValueIn& reader) {
  uint8_t type = 0;
  if (in.Byte(type) != rdb::ReadStatus::kOk) return rdb::ValueStatus::kBad;
  const bool valkey = payload.version >= rdb::version::kValkey9;
  if (!reader.Begin(type, {.home = ctx.keyspace.home(), .now = ctx.now, .valkey = valkey}))
    return rdb::ValueStatus::kBad;
  size_t budget = SIZE_MAX;
  const rdb::ValueStatus status = reader.Some(in, budget);
  return in.rest().empty() ? status : rdb::ValueStatus::kBad;
}

// Reads the TTL in ms. Nothing after an error reply, for a negative TTL too, and for a TTL whose end is no Unix time. Redis lets
// such a time wrap, and may remove the key that RESTORE was to replace.
std::optional<int64_t> ReadTtl(Context& ctx, std::string_view text, bool absolute) {
  const std::optional<int64_t> ttl = ParseInteger(text);
  if (!ttl) return ctx.Fail(errors::kNotInteger), std::nullopt;
  if (*ttl < 0) return ctx.Fail("ERR Invalid TTL value, must be >= 0"), std::nullopt;
  if (!absolute && *ttl > INT64_MAX - ctx.now.wall_ms)
    return ctx.Fail(errors::InvalidExpireTime(ctx.row.full_name)), std::nullopt;
  return ttl;
}

// The deadline of the key, or nothing if the deadline is over and that matters. Draws no jitter a second
// time: the TTL is what another key has left. REQUIRES: ReadTtl has read `ttl`.
std::optional<Expiry> DeadlineOf(int64_t ttl, bool absolute, const Context& ctx) noexcept {
  const Now now = ctx.now;
  if (ttl == 0) return Expiry::Never();
  const int64_t unix_ms = absolute ? ttl : ttl + now.wall_ms;
  if (unix_ms <= now.wall_ms && ctx.RemovesOverdue()) return std::nullopt;
  Expiry deadline = absolute ? Expiry::At(ttl) : Expiry::In(static_cast<uint64_t>(ttl), now);
  deadline.stage = Expiry::Stage::kJittered;
  return deadline;
}

// Gives the entry the access history of the options, or that of a new key. As in Redis, the policy decides which option
// counts.
void SetHistory(Context& ctx, const RestoreOptions& options, Entry& entry) noexcept {
  const uint64_t now_ms = ctx.now.mono_ms;
  if (ctx.server.databases.access_effect() == AccessEffect::kFrequency) {
    const auto count = static_cast<uint32_t>(options.frequency.value_or(kLfuCountStart));
    return entry.set_stamp(Entry::CountedStamp(count, now_ms));
  }
  if (!options.idle_s) return;
  constexpr uint64_t kLongestIdleS = Entry::kTimeMask * Entry::kStampMs / kMsPerSecond;
  const uint64_t idle_ms = std::min(static_cast<uint64_t>(*options.idle_s), kLongestIdleS) * kMsPerSecond;
  // Stamps wrap: the access may lie before the machine's start.
  const auto idle_steps = static_cast<uint32_t>(idle_ms / Entry::kStampMs);
  Adopter(ctx.keyspace).SetLastUse(entry, (Entry::StampOf(now_ms) - idle_steps) & Entry::kTimeMask, ctx.now);
}

void Restore(Context& ctx, Args& args) {
  RestoreOptions options;
  args.Skip(3);
  if (!ReadRestoreOptions(ctx, args, options)) return;
  const Key key = ctx.KeyAt(args, 1);
  Entry* existing = ctx.keyspace.Peek(key, ctx.now);
  if (existing != nullptr && !options.replace) return ctx.Fail("BUSYKEY Target key name already exists.");
  const std::optional<int64_t> ttl = ReadTtl(ctx, args[2], options.absolute);
  if (!ttl) return;
  const std::optional<rdb::DumpPayload> payload = rdb::OpenDumpPayload(args[3]);
  if (!payload) return ctx.Fail(rdb::kBadDumpFooter);

  rdb::In in(payload->value);
  rdb::ValueIn reader(ValueLimitsOf(ctx.server.options.settings()));
  const rdb::ValueStatus status = ReadValue(ctx, *payload, in, reader);
  if (status != rdb::ValueStatus::kDone && status != rdb::ValueStatus::kExpired) return ctx.Fail(kBadPayload);
  if (reader.wrong_length() && ctx.server.log != nullptr)
    ctx.server.log->Warning("RESTORE of ", config::Printable(key.text),
                            ": the stream says a wrong length, and has its true length now");
  const std::optional<Expiry> deadline = DeadlineOf(*ttl, options.absolute, ctx);
  if (!deadline || status == rdb::ValueStatus::kExpired) {
    if (existing != nullptr)
      ctx.keyspace.Remove(key, *existing, ChangeReason::kDeleted);
    else
      Snapshots::NoteGone(ctx.server, ctx.keyspace, key.text);
    return ctx.reply.Ok();
  }
  Entry* const entry =
      reader.is_string()
          ? ctx.keyspace.Put(key, existing, reader.TakeString(), *deadline, ctx.now, events::kRestore)
          : ctx.keyspace.PutRich(key, existing, reader.TakeRich(), *deadline, ctx.now, events::kRestore);
  SetHistory(ctx, options, *entry);
  ctx.reply.Ok();
}

constexpr Command kRows[] = {
    {.name = "dump",
     .arity = 2,
     .flags = kReadOnly,
     .keys = {1, 1, 1, kKeyRO | kKeyAccess},
     .acl = kAclKeyspace,
     .handler = Dump,
     .since = "2.6.0",
     .complexity = "O(N) with the size of the value",
     .summary = "Answers with the value of a key as bytes for RESTORE, of this server or another one.",
     .syntax = "key",
     .tips = "nondeterministic_output",
     .notes = "The bytes say the oldest format that carries the value, so that old servers read most values. "
              "Deadlines of "
              "a set's or a sorted set's members, tags, SLIDE and STALE are not in them."},
    {.name = "restore",
     .arity = -4,
     .flags = kWrite | kDenyOom,
     .keys = {1, 1, 1, kKeyOW | kKeyUpdate},
     .acl = kAclKeyspace | kAclDangerous,
     .handler = Restore,
     .since = "2.6.0",
     .complexity = "O(N) with the size of the value, for a sorted set O(N*log(N))",
     .summary = "Creates a key from the bytes that DUMP has answered, with a TTL in ms; 0: none.",
     .syntax = "key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]",
     .argument_notes = "REPLACE@3.0.0 ABSTTL@5.0.0 IDLETIME@5.0.0 FREQ@5.0.0",
     .notes = "Reads what Redis up to 8.4 and Valkey up to 9 have dumped, and of newer ones what has a known "
              "type; no modules."},
};
const CommandFamily kFamily("generic", kRows);

constexpr Command kServerRows[] = {
    {.name = "restore-asking",
     .arity = -4,
     .flags = kWrite | kDenyOom | kAsking,
     .keys = {1, 1, 1, kKeyOW | kKeyUpdate},
     .acl = kAclKeyspace | kAclDangerous,
     .handler = Restore,
     .since = "3.0.0",
     .complexity = "that of RESTORE",
     .summary = "Is RESTORE, as MIGRATE of a server in cluster mode sends it.",
     .syntax = "key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]",
     .argument_notes = "REPLACE@3.0.0 ABSTTL@5.0.0 IDLETIME@5.0.0 FREQ@5.0.0",
     .doc_flags = "syscmd"},
};
const CommandFamily kServerFamily("server", kServerRows);

}  // namespace
}  // namespace mayfly::dump_commands

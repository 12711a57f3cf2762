// EXPIREMEMBER, EXPIREMEMBERAT and PEXPIREMEMBERAT of KeyDB, FIELDTTL of Dragonfly: the expiry of a member of a hash, set or sorted
// set.
#include <optional>

#include "cache/types/set_value.h"
#include "cache/types/sorted_set_value.h"
#include "exec/call/value_type.h"
#include "exec/values/field_time.h"
#include "exec/values/timed_set.h"

namespace mayfly::member_expire_commands {
namespace {

// ---- the three types alike

bool Has(const HashValue& hash, std::string_view member) noexcept { return hash.Has(member); }
bool Has(const SetValue& set, std::string_view member) noexcept { return set.Contains(member); }
bool Has(const SortedSetValue& set, std::string_view member) noexcept {
  return static_cast<bool>(set.Find(member));
}

// REQUIRES for the functions below: the member exists.
Expiry DeadlineOf(const HashValue& hash, std::string_view member) noexcept { return hash.DeadlineOf(member); }
Expiry DeadlineOf(const SetValue& set, std::string_view member) noexcept { return set.DeadlineOf(member); }
Expiry DeadlineOf(const SortedSetValue& set, std::string_view member) noexcept {
  return set.DeadlineOf(set.Find(member));
}

void Remove(HashValue& hash, std::string_view member) noexcept { hash.Remove(member); }
void Remove(SetValue& set, std::string_view member) noexcept { set.Remove(member); }
void Remove(SortedSetValue& set, std::string_view member) noexcept { set.Remove(set.Find(member)); }

void SetDeadline(Context& ctx, HashValue& hash, std::string_view member, Expiry deadline) {
  hash.SetDeadline(member, deadline, ctx.now);
}
void SetDeadline(Context& ctx, SetValue& set, std::string_view member, Expiry deadline) {
  set.AddUntil(member, deadline, false, ctx.keyspace.home(), ctx.now);
}
void SetDeadline(Context& ctx, SortedSetValue& set, std::string_view member, Expiry deadline) {
  set.SetDeadline(set.Find(member), member, deadline, ctx.keyspace.home(), ctx.now);
}

struct MemberEvents {
  Event expire;
  Event remove;
};
constexpr MemberEvents EventsOf(ValueType type) noexcept {
  if (type == ValueType::kSet) return {kSetMemberExpires, {"srem"}};
  if (type == ValueType::kSortedSet) return {{"zexpire"}, {"zrem"}};
  return {{"hexpire"}, {"hdel"}};
}

// Calls fn(T&) with the value of the entry, or answers with an error for another type.
template <typename Fn>
void WithMembers(Context& ctx, Entry& entry, Fn&& fn) {
  switch (TypeOf(entry)) {
    case ValueType::kHash:
      return fn(static_cast<HashValue&>(*entry.rich()));
    case ValueType::kSet:
      return fn(static_cast<SetValue&>(*entry.rich()));
    case ValueType::kSortedSet:
      return fn(static_cast<SortedSetValue&>(*entry.rich()));
    default:
      return ctx.Fail(errors::kWrongType);
  }
}

// ---- EXPIREMEMBER

// Returns false after an error reply.
bool ReadDelay(Context& ctx, Args& args, int64_t& ms) {
  const std::optional<int64_t> number = args.NextInteger();
  if (!number) return ctx.Fail(errors::kNotInteger), false;
  if (args.Left() > 1) return ctx.Fail("ERR Invalid number of arguments"), false;
  TimeUnit unit = TimeUnit::kSeconds;
  if (args.Accept("MS")) {
    unit = TimeUnit::kMilliseconds;
  } else if (!args.Done() && !args.Accept("S")) {
    return ctx.Fail("ERR Invalid unit arg"), false;
  }
  if (ToMilliseconds(*number, unit, ms) && ms <= kFarthestFieldMs - ctx.now.wall_ms) return true;
  return RefuseExpireTime(ctx), false;
}

// Never: the deadline is over, and the member goes.
template <typename T>
void ExpireOne(Context& ctx, const Key& key, Entry& entry, std::string_view member, Expiry deadline) {
  constexpr MemberEvents kEvents = EventsOf(T::kType);
  const bool past = deadline.kind == Expiry::Kind::kNever;
  Entry& roomy = past ? entry : *ctx.keyspace.RoomForOwnTime(key, entry, ctx.now);
  MemberEffect effect(ctx.server.databases.changes().WantsEffects(), T::kType);
  effect.Add(member);
  const Event event =
      past ? effect.TellRemoved(kEvents.remove) : effect.TellDeadline(kEvents.expire, deadline, ctx.now);
  ctx.keyspace.EditRich<T>(key, roomy, ctx.now, event, [&](T& value) {
    past ? Remove(value, member) : SetDeadline(ctx, value, member, deadline);
    return true;
  });
}

void ExpireFound(Context& ctx, const Key& key, std::string_view member, Expiry deadline) {
  Entry* const entry = DropDueMembers(ctx, key, ctx.keyspace.Find(key, ctx.now));
  if (entry == nullptr) return ctx.reply.Integer(0);
  WithMembers(ctx, *entry, [&]<typename T>(T& value) {
    if (!Has(value, member)) return ctx.reply.Integer(0);
    ExpireOne<T>(ctx, key, *entry, member, deadline);
    ctx.reply.Integer(1);
  });
}

// A delay of 0 or less removes the member.
void ExpireMember(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  const std::string_view member = args[2];
  args.Skip(2);
  int64_t ms = 0;
  if (!ReadDelay(ctx, args, ms)) return;
  ExpireFound(ctx, key, member, ms > 0 ? Expiry::In(static_cast<uint64_t>(ms), ctx.now) : Expiry::Never());
}

// A time that is over removes the member.
void ExpireAt(Context& ctx, Args& args, TimeUnit unit) {
  FieldTime time;
  if (!ReadFieldTime(ctx, args[3], unit, TimeBase::kEpoch, time)) return;
  const bool past = time.Past(ctx.now) && ctx.RemovesOverdue();
  ExpireFound(ctx, ctx.KeyAt(args, 1), args[2], past ? Expiry::Never() : time.expiry);
}
void ExpireMemberAt(Context& ctx, Args& args) { ExpireAt(ctx, args, TimeUnit::kSeconds); }
void PExpireMemberAt(Context& ctx, Args& args) { ExpireAt(ctx, args, TimeUnit::kMilliseconds); }

// ---- FIELDTTL

// Seconds are rounded up: a live member has at least 1.
void FieldTtl(Context& ctx, Args& args) {
  constexpr int64_t kNoDeadline = -1;
  constexpr int64_t kNoKey = -2;
  constexpr int64_t kNoMember = -3;
  const Key key = ctx.KeyAt(args, 1);
  Entry* const entry = DropDueMembers(ctx, key, ctx.Read(key));
  if (entry == nullptr) return ctx.reply.Integer(kNoKey);
  WithMembers(ctx, *entry, [&](const auto& value) {
    if (!Has(value, args[2])) return ctx.reply.Integer(kNoMember);
    const Expiry deadline = DeadlineOf(value, args[2]);
    if (deadline.kind == Expiry::Kind::kNever) return ctx.reply.Integer(kNoDeadline);
    const int64_t ms = UnixMsOf(deadline, ctx.now) - ctx.now.wall_ms;
    ctx.reply.Integer((ms + kMsPerSecond - 1) / kMsPerSecond);
  });
}

constexpr std::string_view kMemberOrder = "O(log(N)) where N is the number of members with a TTL";

constexpr Command kRows[] = {
    {.name = "expiremember",
     .arity = -4,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyUpdate},
     .acl = kAclKeyspace,
     .handler = ExpireMember,
     .since = "0.1.0",
     .complexity = kMemberOrder,
     .summary = "Lets a member of a hash, a set or a sorted set expire after some seconds or milliseconds.",
     .syntax = "key member delay [S | MS]",
     .notes = "A command of KeyDB."},
    {.name = "expirememberat",
     .arity = 4,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyUpdate},
     .acl = kAclKeyspace,
     .handler = ExpireMemberAt,
     .since = "0.2.0",
     .complexity = kMemberOrder,
     .summary = "Lets a member of a hash, a set or a sorted set expire at a Unix time in seconds.",
     .syntax = "key member unix-time-seconds",
     .notes = "A command of KeyDB."},
    {.name = "pexpirememberat",
     .arity = 4,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyUpdate},
     .acl = kAclKeyspace,
     .handler = PExpireMemberAt,
     .since = "0.2.0",
     .complexity = kMemberOrder,
     .summary = "Lets a member of a hash, a set or a sorted set expire at a Unix time in milliseconds.",
     .syntax = "key member unix-time-milliseconds",
     .notes = "A command of KeyDB."},
    {.name = "fieldttl",
     .arity = 3,
     .flags = kReadOnly | kFast,
     .keys = {1, 1, 1, kKeyRO | kKeyAccess},
     .acl = kAclKeyspace,
     .handler = FieldTtl,
     .since = "0.1.0",
     .complexity = "O(1)",
     .summary = "Answers how many seconds a member of a hash, a set or a sorted set has left.",
     .syntax = "key member",
     .tips = "nondeterministic_output",
     .notes = "A command of Dragonfly, also for sorted sets."},
};
const CommandFamily kFamily("generic", kRows);

}  // namespace
}  // namespace mayfly::member_expire_commands

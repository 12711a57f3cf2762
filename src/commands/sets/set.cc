// SADD and kin, SSCAN: the members of sets.
#include "exec/arguments/scan_options.h"
#include "exec/arguments/set_limits.h"
#include "exec/dispatch/context.h"
#include "exec/values/timed_set.h"

namespace mayfly::set_commands {
namespace {

constexpr Event kSAdd{"sadd"};
constexpr Event kSRem{"srem"};

// Adds the members to the key's set, or to a new set, and reports the change as `event`. Returns the number of new members.
size_t AddMembers(Context& ctx, const Key& key, const Typed<SetValue>& found,
                  std::span<const std::string_view> members, const Event& event) {
  const SetLimits limits = SetLimitsOf(ctx);
  const Effect effect{.command = "SADD", .arguments = members};
  const Event told = event.With(effect);
  size_t added = 0;
  EditOrCreate<SetValue>(
      ctx, key, found,
      [&](SetValue& set) { added = set.AddAll(members, limits, ctx.keyspace.home()); },  // all or none
      [&] { return added != 0 ? &told : nullptr; });
  return added;
}

void SAdd(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  Typed<SetValue> found;
  if (!FindLive(ctx, key, found)) return;
  ctx.reply.Integer(static_cast<int64_t>(AddMembers(ctx, key, found, args.all().subspan(2), kSAdd)));
}

void SRem(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  Typed<SetValue> found;
  if (!FindLive(ctx, key, found)) return;
  int64_t removed = 0;
  if (found.value != nullptr) {
    const Effect effect{.command = "SREM", .arguments = args.all().subspan(2)};
    ctx.keyspace.EditRich<SetValue>(key, *found.entry, ctx.now, kSRem.With(effect), [&](SetValue& set) {
      for (const std::string_view member : args.all().subspan(2)) removed += set.Remove(member) ? 1 : 0;
      return removed != 0;
    });
  }
  ctx.reply.Integer(removed);
}

void SMembers(Context& ctx, Args& args) {
  Typed<SetValue> found;
  if (!ReadLive(ctx, ctx.KeyAt(args, 1), found)) return;
  if (found.value == nullptr) return ctx.reply.Set(0);
  ctx.reply.Set(found.value->Live());
  found.value->ForEach([&](std::string_view member) { ctx.reply.Bulk(member); });
}

void SIsMember(Context& ctx, Args& args) {
  Typed<SetValue> found;
  if (!ReadLive(ctx, ctx.KeyAt(args, 1), found)) return;
  ctx.reply.Integer(found.value != nullptr && found.value->Contains(args[2]) ? 1 : 0);
}

void SMIsMember(Context& ctx, Args& args) {
  Typed<SetValue> found;
  if (!ReadLive(ctx, ctx.KeyAt(args, 1), found)) return;
  const std::span<const std::string_view> members = args.all().subspan(2);
  ctx.reply.Array(members.size());
  for (const std::string_view member : members)
    ctx.reply.Integer(found.value != nullptr && found.value->Contains(member) ? 1 : 0);
}

void SCard(Context& ctx, Args& args) {
  Typed<SetValue> found;
  if (!ReadLive(ctx, ctx.KeyAt(args, 1), found)) return;
  ctx.reply.Integer(found.value != nullptr ? static_cast<int64_t>(found.value->Live()) : 0);
}

// Work that needs memory comes first, so the destination changes before the source. The events still come in Redis's
// order: first the source's event. A member keeps its deadline.
void SMove(Context& ctx, Args& args) {
  const Key from = ctx.KeyAt(args, 1);
  const Key to = ctx.keyspace.KeyOf(args[2]);
  const std::string_view member = args[3];
  Entry* const source = DropDueMembers(ctx, from, ctx.keyspace.Find(from, ctx.now));
  // A second look at the same key could drop more members, and the key with them.
  Entry* const target = args[1] == args[2] ? source : DropDueMembers(ctx, to, ctx.keyspace.Find(to, ctx.now));
  if (source == nullptr) return ctx.reply.Integer(0);
  Typed<SetValue> in_source;
  Typed<SetValue> in_target;
  if (!ctx.Require(source, in_source) || !ctx.Require(target, in_target)) return;
  const bool there = in_source.value->Contains(member);
  if (!there || source == target) return ctx.reply.Integer(there ? 1 : 0);
  ctx.keyspace.WithDeadline(from, *source, ctx.now);  // the second edit must not need memory
  const Expiry deadline = in_source.value->DeadlineOf(member);
  constexpr Event kSAddToNew{events::kNew.name, kSAdd.name};
  const size_t added =
      deadline.kind == Expiry::Kind::kNever
          ? AddMembers(ctx, to, in_target, {&member, 1}, events::kUnreported)
          : AddMembersUntil(ctx, to, in_target, {&member, 1}, deadline, true, events::kUnreported);
  const std::span<const std::string_view> moved(&member, 1);
  const Effect removal{.command = "SREM", .arguments = moved};
  ctx.keyspace.EditRich<SetValue>(from, *ctx.keyspace.Peek(from, ctx.now), ctx.now, kSRem.With(removal),
                                  [&](SetValue& set) { return set.Remove(member); });
  if (added != 0) {
    const Effect addition{.command = "SADD", .arguments = moved};
    Event event = target == nullptr ? kSAddToNew : kSAdd;
    if (deadline.kind == Expiry::Kind::kNever) event = event.With(addition);
    ctx.keyspace.EditRich<SetValue>(to, *ctx.keyspace.Peek(to, ctx.now), ctx.now, event,
                                    [](SetValue&) { return true; });
  }
  ctx.reply.Integer(1);
}

void SScan(Context& ctx, Args& args) {
  args.Skip(1);
  const std::optional<uint64_t> start = ParseCursor(args.Next());
  if (!start) return ctx.Fail("ERR invalid cursor");
  Typed<SetValue> found;
  if (!ReadLive(ctx, ctx.KeyAt(args, 1), found)) return;
  if (found.value == nullptr) return ReplyNoPage(ctx);
  ScanOptions options;
  if (!ReadScanOptions(ctx, args, options)) return;

  // The cursor stands before the members in the reply, but is known only after them: the first walk only counts.
  const SetValue& set = *found.value;
  size_t matches = 0;
  const ScannedPages scanned = ScanPages(*start, options, [&](uint64_t cursor, uint64_t& seen) {
    return set.Scan(cursor, [&](std::string_view member) {
      ++seen;
      matches += options.Matches(member) ? 1 : 0;
    });
  });

  ctx.reply.Array(2);
  ctx.reply.BulkInteger(static_cast<int64_t>(scanned.next));
  ctx.reply.Array(matches);
  uint64_t cursor = *start;
  for (uint64_t pages = scanned.pages; pages != 0; --pages) {
    cursor = set.Scan(cursor, [&](std::string_view member) {
      if (options.Matches(member)) ctx.reply.Bulk(member);
    });
  }
}

constexpr KeySpec kReads = {1, 1, 1, kKeyRO | kKeyAccess};
constexpr KeySpec kLooks = {1, 1, 1, kKeyRO};

constexpr Command kRows[] = {
    {.name = "sadd",
     .arity = -3,
     .flags = kWrite | kDenyOom | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyInsert},
     .acl = kAclSet,
     .handler = SAdd,
     .since = "1.0.0",
     .complexity = "O(1) for each member",
     .summary = "Adds members to a set; creates the key if it is absent.",
     .syntax = "key member [member ...]"},
    {.name = "srem",
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyDelete},
     .acl = kAclSet,
     .handler = SRem,
     .since = "1.0.0",
     .complexity = "O(1) for each member",
     .summary = "Removes members from a set; a set without members is deleted.",
     .syntax = "key member [member ...]"},
    {.name = "smembers",
     .arity = 2,
     .flags = kReadOnly,
     .keys = kReads,
     .acl = kAclSet,
     .handler = SMembers,
     .since = "1.0.0",
     .complexity = "O(N) where N is the number of members",
     .summary = "Answers with all members of a set.",
     .syntax = "key",
     .tips = "nondeterministic_output_order"},
    {.name = "sismember",
     .arity = 3,
     .flags = kReadOnly | kFast,
     .keys = kLooks,
     .acl = kAclSet,
     .handler = SIsMember,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Tells whether a set has a member.",
     .syntax = "key member"},
    {.name = "smismember",
     .arity = -3,
     .flags = kReadOnly | kFast,
     .keys = kReads,
     .acl = kAclSet,
     .handler = SMIsMember,
     .since = "6.2.0",
     .complexity = "O(1) for each member",
     .summary = "Tells which of several members a set has.",
     .syntax = "key member [member ...]"},
    {.name = "scard",
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = kLooks,
     .acl = kAclSet,
     .handler = SCard,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Answers with the number of members of a set.",
     .syntax = "key"},
    {.name = "smove",
     .arity = 4,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyAccess | kKeyDelete},
     .more_keys = {2, 2, 1, kKeyRW | kKeyInsert},
     .acl = kAclSet,
     .handler = SMove,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Moves a member from one set to another.",
     .syntax = "source destination member"},
    {.name = "sscan",
     .arity = -3,
     .flags = kReadOnly,
     .keys = kReads,
     .acl = kAclSet,
     .handler = SScan,
     .since = "2.8.0",
     .complexity = "O(COUNT) for a call, O(N) for a whole iteration, N being the number of members",
     .summary = "Shows the members of a set, a page at a time.",
     .syntax = "key cursor [MATCH pattern] [COUNT count]",
     .tips = "nondeterministic_output"},
};
const CommandFamily kFamily("set", kRows);

}  // namespace
}  // namespace mayfly::set_commands

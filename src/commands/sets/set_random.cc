// SPOP and SRANDMEMBER: random members of sets, removed or kept.
#include <utility>
#include <vector>

#include "cache/changes/dropped_names.h"
#include "cache/keyspace/databases.h"
#include "exec/arguments/random_pick.h"
#include "exec/arguments/set_limits.h"
#include "exec/dispatch/context.h"
#include "exec/values/timed_access.h"

namespace mayfly::set_random_commands {
namespace {

constexpr Event kSPop{"spop"};

void PopOne(Context& ctx, const Key& key) {
  Typed<SetValue> found;
  if (!FindLive(ctx, key, found)) return;
  if (found.value == nullptr) return ctx.reply.Null();
  DroppedNames drawn(ctx.server.databases.changes().WantsEffects());
  Event event = kSPop;  // EditRich reads it after the edit
  ctx.keyspace.EditRich<SetValue>(key, *found.entry, ctx.now, event, [&](SetValue& set) {
    set.Pop(ctx.server.random, [&](std::string_view member) {
      ctx.reply.Bulk(member);
      drawn.Take(member);
    });
    event = drawn.Tell(kSPop, ValueType::kSet);
    return true;
  });
}

void ShowMember(Context& ctx, const Member& member) { ctx.reply.Bulk(member.name()); }

// Removes the members after all replies are written: if memory runs out before, nothing has changed.
void PopMembers(Context& ctx, TimedMembers& members, uint64_t count, DroppedNames& drawn) {
  std::vector<Member*> taken;
  taken.reserve(count);
  const auto take = [&](Member* member) {
    ShowMember(ctx, *member);
    drawn.Take(member->name());
    taken.push_back(member);
  };
  if (DrawsFew(count, members.live())) {
    DrawDifferent(count, [&] { return &members.Random(ctx.server.random); }, take);
  } else {
    PickOnWalk pick(count, members.live());
    members.ForEach([&](Member& member) {
      if (pick.Next(ctx.server.random)) take(&member);
    });
  }
  for (Member* member : taken) members.Remove(*member);
}

// Answers with random members and removes them: from a large set one by one; otherwise the remaining members become a new
// set. Like Redis, also replaces a large set if few members remain: the new set may be small again. Unlike Redis, never
// replaces a set whose members have deadlines.
void PopSome(Context& ctx, SetValue& set, uint64_t count, DroppedNames& drawn) {
  constexpr uint64_t kFew = 5;
  const uint64_t size = set.Live();
  const uint64_t left = size - count;
  ctx.reply.Set(count);
  TimedMembers* const members = set.AsMembers();
  if (members != nullptr && (left * kFew > count || set.timed()))
    return PopMembers(ctx, *members, count, drawn);
  const SetLimits limits = SetLimitsOf(ctx);
  const MemberHome home = ctx.keyspace.home();
  SetValue rest(set.form() == SetValue::Form::kIntegers ? SetValue::Form::kIntegers
                                                        : SetValue::Form::kPacked);
  PickOnWalk pick(count, size);
  set.ForEach([&](std::string_view member) {
    if (pick.Next(ctx.server.random)) {
      ctx.reply.Bulk(member);
      drawn.Take(member);
    } else {
      rest.Add(member, limits, home);
    }
  });
  set.Take(std::move(rest));
}

void SPop(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  if (args.size() == 2) return PopOne(ctx, key);
  if (args.size() > 3) return ctx.Fail(errors::kSyntax);
  const std::optional<int64_t> number = ParseInteger(args[2]);
  if (!number || *number < 0) return ctx.Fail("ERR value is out of range, must be positive");
  Typed<SetValue> found;
  if (!FindLive(ctx, key, found)) return;
  if (found.value == nullptr || *number == 0) return ctx.reply.Set(0);
  const auto count = static_cast<uint64_t>(*number);
  DroppedNames drawn(ctx.server.databases.changes().WantsEffects());
  Event event = kSPop;
  ctx.keyspace.EditRich<SetValue>(key, *found.entry, ctx.now, event, [&](SetValue& set) {
    if (count < set.Live()) {
      PopSome(ctx, set, count, drawn);
      event = drawn.Tell(kSPop, ValueType::kSet);
    } else {
      ctx.reply.Set(set.Live());
      set.ForEach([&](std::string_view member) { ctx.reply.Bulk(member); });
      set.Take(SetValue());
    }
    return true;
  });
}

void ShowDifferent(Context& ctx, const SetValue& set, uint64_t count) {
  const uint64_t size = set.Live();
  const auto show = [&](std::string_view member) { ctx.reply.Bulk(member); };
  if (count >= size) {
    ctx.reply.Array(size);
    return set.ForEach(show);
  }
  ctx.reply.Array(count);
  const TimedMembers* const members = set.AsMembers();
  if (members != nullptr && DrawsFew(count, size)) {
    return DrawDifferent(
        count, [&] { return &members->Random(ctx.server.random); },
        [&](const Member* member) { ShowMember(ctx, *member); });
  }
  PickOnWalk pick(count, size);
  set.ForEach([&](std::string_view member) {
    if (pick.Next(ctx.server.random)) show(member);
  });
}

void SRandMember(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  char room[SetValue::kRoom];
  Typed<SetValue> found;
  if (args.size() == 2) {
    if (!ReadLive(ctx, key, found)) return;
    if (found.value == nullptr) return ctx.reply.Null();
    return ctx.reply.Bulk(found.value->Random(ctx.server.random, room));
  }
  if (args.size() > 3) return ctx.Fail(errors::kSyntax);
  args.Skip(1);
  Pick pick;
  if (!ReadPick(ctx, args, "", pick)) return;
  if (!ReadLive(ctx, key, found)) return;
  if (found.value == nullptr || pick.count == 0) return ctx.reply.EmptyArray();
  if (!pick.repeats) return ShowDifferent(ctx, *found.value, pick.count);
  RequireRoomFor(ctx, pick);
  ctx.reply.Array(pick.count);
  found.value->Draw(ctx.server.random, pick.count, [&](std::string_view member) { ctx.reply.Bulk(member); });
}

constexpr Command kRows[] = {
    {.name = "spop",
     .arity = -2,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyAccess | kKeyDelete},
     .acl = kAclSet,
     .handler = SPop,
     .since = "1.0.0",
     .complexity = "O(1) for each member",
     .summary = "Takes random members out of a set and answers with them.",
     .syntax = "key [count]",
     .argument_notes = "count@3.2.0",
     .tips = "nondeterministic_output"},
    {.name = "srandmember",
     .arity = -2,
     .flags = kReadOnly,
     .keys = {1, 1, 1, kKeyRO | kKeyAccess},
     .acl = kAclSet,
     .handler = SRandMember,
     .since = "1.0.0",
     .complexity = "O(1) for each member, at most O(N) if they are different, N being the number of members",
     .summary = "Answers with random members of a set; with a negative count, members may repeat.",
     .syntax = "key [count]",
     .argument_notes = "count@2.6.0",
     .tips = "nondeterministic_output"},
};
const CommandFamily kFamily("set", kRows);

}  // namespace
}  // namespace mayfly::set_random_commands

// ZADD and ZINCRBY: add members to a sorted set, or change scores.
#include "base/text/numbers.h"
#include "exec/arguments/word.h"
#include "exec/values/sorted_set_add.h"

namespace mayfly::zset_add_commands {
namespace {

// Reads the options before the first score.
AddOptions ReadAddOptions(Args& args) {
  AddOptions options;
  while (!args.Done()) {
    switch (WordOf(args.Peek())) {
      case WordOf("NX"):
        options.only_new = true;
        break;
      case WordOf("XX"):
        options.only_old = true;
        break;
      case WordOf("GT"):
        options.only_greater = true;
        break;
      case WordOf("LT"):
        options.only_less = true;
        break;
      case WordOf("CH"):
        options.count_changed = true;
        break;
      case WordOf("INCR"):
        options.increment = true;
        break;
      default:
        return options;
    }
    args.Skip(1);
  }
  return options;
}

// Returns false after an error reply.
bool RequireCompatible(Context& ctx, const AddOptions& options, size_t pairs) {
  if (options.only_new && options.only_old)
    return ctx.Fail("ERR XX and NX options at the same time are not compatible"), false;
  const int comparisons = (options.only_greater ? 1 : 0) + (options.only_less ? 1 : 0);
  if (comparisons + (options.only_new ? 1 : 0) > 1 && comparisons != 0)
    return ctx.Fail("ERR GT, LT, and/or NX options at the same time are not compatible"), false;
  if (options.increment && pairs > 1)
    return ctx.Fail("ERR INCR option supports a single increment-element pair"), false;
  return true;
}

void ZAdd(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  args.Skip(1);
  const AddOptions options = ReadAddOptions(args);
  if (args.Done() || args.Left() % 2 != 0) return ctx.Fail(errors::kSyntax);
  const size_t pairs = args.Left() / 2;
  if (!RequireCompatible(ctx, options, pairs)) return;
  ScoredNames members(pairs);
  for (NameAndScore& member : members.all()) {
    const std::optional<double> score = ParseDouble(args.Next());
    if (!score) return ctx.Fail(errors::kNotFloat);
    member = {args.Next(), *score};
  }
  AddMembers(ctx, key, options, members.all(), {.command = "ZADD", .arguments = args.all().subspan(2)});
}

void ZIncrBy(Context& ctx, Args& args) {
  args.Skip(1);
  // Redis reads ZINCRBY as ZADD with INCR: a word that is an option of ZADD's is no increment.
  static_cast<void>(ReadAddOptions(args));
  if (args.Left() != 2) return ctx.Fail(errors::kSyntax);
  const std::optional<double> increment = ParseDouble(args[2]);
  if (!increment) return ctx.Fail(errors::kNotFloat);
  const NameAndScore member{args[3], *increment};
  AddMembers(ctx, ctx.KeyAt(args, 1), {.increment = true}, {&member, 1},
             {.command = "ZINCRBY", .arguments = args.all().subspan(2)});
}

constexpr Command kRows[] = {
    {.name = "zadd",
     .arity = -4,
     .flags = kWrite | kDenyOom | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyUpdate},
     .acl = kAclSortedSet,
     .handler = ZAdd,
     .since = "1.2.0",
     .complexity = "O(log(N)) for each member, N being the size of the sorted set",
     .summary = "Adds members with scores to a sorted set, or gives members other scores.",
     .syntax = "key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...]",
     .argument_notes = "condition@3.0.2 condition=comparison@6.2.0 CH=change@3.0.2 INCR=increment@3.0.2"},
    {.name = "zincrby",
     .arity = 4,
     .flags = kWrite | kDenyOom | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyAccess | kKeyUpdate},
     .acl = kAclSortedSet,
     .handler = ZIncrBy,
     .since = "1.2.0",
     .complexity = "O(log(N)) where N is the size of the sorted set",
     .summary = "Adds to the score of a member of a sorted set; one that is absent is added.",
     .syntax = "key increment member"},
};
const CommandFamily kFamily("sorted-set", kRows);

}  // namespace
}  // namespace mayfly::zset_add_commands

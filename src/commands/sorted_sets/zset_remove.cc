// ZREM, ZREMRANGEBYRANK, ZREMRANGEBYSCORE, ZREMRANGEBYLEX: remove members of a sorted set.
#include "exec/arguments/score_range.h"
#include "exec/values/sorted_set_access.h"

namespace mayfly::zset_remove_commands {
namespace {

void ZRem(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  TypedSortedSet set;
  if (!FindLive(ctx, key, set)) return;
  if (set.entry == nullptr) return ctx.reply.Integer(0);
  args.Skip(1);
  int64_t removed = 0;
  const Effect effect{.command = "ZREM", .arguments = args.all().subspan(2)};
  const Event event = Event{"zrem"}.With(effect);
  ctx.keyspace.EditRich<SortedSetValue>(key, *set.entry, ctx.now, event, [&](SortedSetValue& value) {
    while (!args.Done()) {
      const SortedSetValue::Found found = value.Find(args.Next());
      if (!found) continue;
      value.Remove(found);
      ++removed;
    }
    return removed != 0;
  });
  ctx.reply.Integer(removed);
}

// `ranks_of` returns the ranks to remove from the value.
template <typename RanksOf>
void RemoveRange(Context& ctx, const Args& args, const Event& event, RanksOf&& ranks_of) {
  const Key key = ctx.KeyAt(args, 1);
  TypedSortedSet set;
  if (!FindLive(ctx, key, set)) return;
  if (set.entry == nullptr) return ctx.reply.Integer(0);
  const RankRange ranks = ranks_of(*set.value);
  RemoveMembers(ctx, key, set, ranks, event);
  ctx.reply.Integer(static_cast<int64_t>(ranks.count));
}

void ZRemRangeByRank(Context& ctx, Args& args) {
  const std::optional<int64_t> start = ParseInteger(args[2]);
  const std::optional<int64_t> stop = ParseInteger(args[3]);
  if (!start || !stop) return ctx.Fail(errors::kNotInteger);
  RemoveRange(ctx, args, {"zremrangebyrank"},
              [&](const SortedSetValue& value) { return ClipRanks(*start, *stop, value.Live()); });
}

void ZRemRangeByScore(Context& ctx, Args& args) {
  const std::optional<ScoreRange> range = ReadScoreRange(ctx, args[2], args[3]);
  if (!range) return;
  RemoveRange(ctx, args, {"zremrangebyscore"},
              [&](const SortedSetValue& value) { return value.RanksOf(*range); });
}

void ZRemRangeByLex(Context& ctx, Args& args) {
  const std::optional<NameRange> range = ReadNameRange(ctx, args[2], args[3]);
  if (!range) return;
  RemoveRange(ctx, args, {"zremrangebylex"},
              [&](const SortedSetValue& value) { return value.RanksOf(*range); });
}

constexpr KeySpec kTakes = {1, 1, 1, kKeyRW | kKeyDelete};
constexpr std::string_view kComplexity =
    "O(log(N)+M) where N is the size of the sorted set and M the number of members removed";

constexpr Command kRows[] = {
    {.name = "zrem",
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = kTakes,
     .acl = kAclSortedSet,
     .handler = ZRem,
     .since = "1.2.0",
     .complexity = "O(M*log(N)) where M is the number of names and N the size of the sorted set",
     .summary = "Removes members of a sorted set by name.",
     .syntax = "key member [member ...]"},
    {.name = "zremrangebyrank",
     .arity = 4,
     .flags = kWrite,
     .keys = kTakes,
     .acl = kAclSortedSet,
     .handler = ZRemRangeByRank,
     .since = "2.0.0",
     .complexity = kComplexity,
     .summary = "Removes the members of a sorted set with ranks in a range.",
     .syntax = "key start stop"},
    {.name = "zremrangebyscore",
     .arity = 4,
     .flags = kWrite,
     .keys = kTakes,
     .acl = kAclSortedSet,
     .handler = ZRemRangeByScore,
     .since = "1.2.0",
     .complexity = kComplexity,
     .summary = "Removes the members of a sorted set with scores in a range.",
     .syntax = "key min-score max-score",
     .argument_notes = "min-score=min max-score=max"},
    {.name = "zremrangebylex",
     .arity = 4,
     .flags = kWrite,
     .keys = kTakes,
     .acl = kAclSortedSet,
     .handler = ZRemRangeByLex,
     .since = "2.8.9",
     .complexity = kComplexity,
     .summary = "Removes the members of a sorted set with names in a range, all of equal scores.",
     .syntax = "key min max"},
};
const CommandFamily kFamily("sorted-set", kRows);

}  // namespace
}  // namespace mayfly::zset_remove_commands

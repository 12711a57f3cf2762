// ZPOPMIN, ZPOPMAX, ZMPOP, and the waiting BZPOPMIN, BZPOPMAX, BZMPOP: take members from an end of a sorted set.
#include <array>
#include <string>

#include "exec/arguments/multi_pop.h"
#include "exec/arguments/wait_limit.h"
#include "exec/arguments/word.h"
#include "exec/values/sorted_set_access.h"

namespace mayfly::zset_pop_commands {
namespace {

enum class ScoreEnd : uint8_t { kLowest, kHighest };

constexpr Event PopEvent(ScoreEnd end) noexcept { return {end == ScoreEnd::kLowest ? "zpopmin" : "zpopmax"}; }

// The first existing key of several keys.
struct FoundSet {
  std::string_view name;
  Key key = {};
  TypedSortedSet set;
};

// Returns false after an error reply.
bool FindFirst(Context& ctx, std::span<const std::string_view> names, FoundSet& found) {
  bool other = false;
  for (const std::string_view name : names) {
    found.name = name;
    found.key = ctx.keyspace.KeyOf(name);
    if (!FindAwaited(ctx, found.key, found.set, other)) return false;
    DropDueMembers(ctx, found.key, found.set);
    if (found.set.entry == nullptr) continue;
    if (other) ctx.Fail(errors::kWrongType);
    return !other;
  }
  return true;
}

RankRange RanksAt(const SortedSetValue& value, ScoreEnd end, uint64_t count) noexcept {
  const size_t size = value.Live();
  const size_t taken = std::min<uint64_t>(count, size);
  return {end == ScoreEnd::kLowest ? 0 : size - taken, taken};
}

template <ScoreEnd kEnd>
void ZPop(Context& ctx, Args& args) {
  constexpr size_t kWithCount = 3;
  if (args.size() > kWithCount) return ctx.Fail(errors::kSyntax);
  const bool counted = args.size() == kWithCount;
  uint64_t count = 1;
  if (counted) {
    const std::optional<int64_t> number = ParseInteger(args[2]);
    if (!number || *number < 0) return ctx.Fail("ERR value is out of range, must be positive");
    count = static_cast<uint64_t>(*number);
  }
  const Key key = ctx.KeyAt(args, 1);
  TypedSortedSet set;
  if (!FindLive(ctx, key, set)) return;
  if (set.entry == nullptr || count == 0) return ctx.reply.EmptyArray();
  const RankRange ranks = RanksAt(*set.value, kEnd, count);
  if (counted || ctx.reply.version() == 2) {
    ReplyRanks(ctx, *set.value, ranks, kEnd == ScoreEnd::kHighest, true);
  } else {
    SortedSetValue::Cursor at = set.value->At(ranks.first);
    ctx.reply.Array(2);
    ctx.reply.Bulk(at.name());
    ctx.reply.Double(at.score());
  }
  RemoveMembers(ctx, key, set, ranks, PopEvent(kEnd));
}

template <ScoreEnd kEnd>
void BzPop(Context& ctx, Args& args) {
  if (AnswerEndOfWait(ctx)) return;
  const std::optional<uint64_t> deadline = ReadFirstWaitLimit(ctx, args[args.size() - 1]);
  if (!deadline) return;
  const std::span<const std::string_view> names = args.Rest().first(args.Left() - 1);
  FoundSet found;
  if (!FindFirst(ctx, names, found)) return;
  if (found.set.entry == nullptr)
    return ctx.MayPark() ? ctx.Park(args, *deadline, names, ValueType::kSortedSet) : ctx.reply.NullArray();
  const RankRange ranks = RanksAt(*found.set.value, kEnd, 1);
  SortedSetValue::Cursor at = found.set.value->At(ranks.first);
  ctx.reply.Array(3);
  ctx.reply.Bulk(found.name);
  ctx.reply.Bulk(at.name());
  ctx.reply.Double(at.score());
  RemoveMembers(ctx, found.key, found.set, ranks, PopEvent(kEnd));
}

// Reads MIN or MAX. Returns nullopt after an error reply.
std::optional<ScoreEnd> ReadScoreEnd(Context& ctx, std::string_view text) {
  switch (WordOf(text)) {
    case WordOf("MIN"):
      return ScoreEnd::kLowest;
    case WordOf("MAX"):
      return ScoreEnd::kHighest;
    default:
      return ctx.Fail(errors::kSyntax), std::nullopt;
  }
}

// In both protocols each member is a pair.
void TakeAndReply(Context& ctx, const MultiPop<ScoreEnd>& pop, const FoundSet& found) {
  const RankRange ranks = RanksAt(*found.set.value, pop.end, pop.count);
  ctx.reply.Array(2);
  ctx.reply.Bulk(found.name);
  ctx.reply.Array(ranks.count);
  const bool highest_first = pop.end == ScoreEnd::kHighest;
  ForEachRank(*found.set.value, ranks, highest_first, [&](std::string_view name, double score) {
    ctx.reply.Array(2);
    ctx.reply.Bulk(name);
    ctx.reply.Double(score);
  });
  RemoveMembers(ctx, found.key, found.set, ranks, PopEvent(pop.end));
}

void ZMPop(Context& ctx, Args& args) {
  const std::optional<MultiPop<ScoreEnd>> pop = ReadMultiPop(ctx, args, ReadScoreEnd);
  if (!pop) return;
  FoundSet found;
  if (!FindFirst(ctx, pop->names, found)) return;
  if (found.set.entry == nullptr) return ctx.reply.NullArray();
  TakeAndReply(ctx, *pop, found);
}

// Of several errors, the error of the timeout comes last, as in Redis.
void BzMPop(Context& ctx, Args& args) {
  if (AnswerEndOfWait(ctx)) return;
  const std::string_view seconds = args.Next();
  const std::optional<MultiPop<ScoreEnd>> pop = ReadMultiPop(ctx, args, ReadScoreEnd);
  if (!pop) return;
  const std::optional<uint64_t> deadline = ReadFirstWaitLimit(ctx, seconds);
  if (!deadline) return;
  FoundSet found;
  if (!FindFirst(ctx, pop->names, found)) return;
  if (found.set.entry == nullptr)
    return ctx.MayPark() ? ctx.Park(args, *deadline, pop->names, ValueType::kSortedSet)
                         : ctx.reply.NullArray();
  TakeAndReply(ctx, *pop, found);
}

constexpr uint16_t kTakes = kKeyRW | kKeyAccess | kKeyDelete;

constexpr Command kRows[] = {
    {.name = "zpopmin",
     .arity = -2,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kTakes},
     .acl = kAclSortedSet,
     .handler = ZPop<ScoreEnd::kLowest>,
     .since = "5.0.0",
     .complexity = "O(log(N)+M) where N is the size of the sorted set and M the number of members returned",
     .summary = "Removes and returns the members with the lowest scores.",
     .syntax = "key [count]"},
    {.name = "zpopmax",
     .arity = -2,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kTakes},
     .acl = kAclSortedSet,
     .handler = ZPop<ScoreEnd::kHighest>,
     .since = "5.0.0",
     .complexity = "O(log(N)+M) where N is the size of the sorted set and M the number of members returned",
     .summary = "Removes and returns the members with the highest scores.",
     .syntax = "key [count]"},
    {.name = "zmpop",
     .arity = -4,
     .flags = kWrite | kMovableKeys,
     .keys = {.first = 2, .step = 1, .use = kTakes, .count_at = 1},
     .acl = kAclSortedSet,
     .handler = ZMPop,
     .since = "7.0.0",
     .complexity =
         "O(K+log(N)+M) where K is the number of keys, N the size of the sorted set and M the number "
         "of members returned",
     .summary = "Removes and returns members from an end of the first of several keys that is a sorted set.",
     .syntax = "numkeys key [key ...] <MIN | MAX> [COUNT count]",
     .argument_notes = "condition=where"},
    {.name = "bzpopmin",
     .arity = -3,
     .flags = kWrite | kNoScript | kBlocking | kFast,
     .keys = {1, -2, 1, kTakes},
     .acl = kAclSortedSet,
     .handler = BzPop<ScoreEnd::kLowest>,
     .since = "5.0.0",
     .complexity = "O(log(N)) where N is the size of the sorted set",
     .summary = "Removes and returns the member with the lowest score of the first of several keys that is a "
                "sorted set; waits for one if there is none.",
     .syntax = "key [key ...] timeout-seconds",
     .argument_notes = "timeout-seconds=timeout"},
    {.name = "bzpopmax",
     .arity = -3,
     .flags = kWrite | kNoScript | kBlocking | kFast,
     .keys = {1, -2, 1, kTakes},
     .acl = kAclSortedSet,
     .handler = BzPop<ScoreEnd::kHighest>,
     .since = "5.0.0",
     .complexity = "O(log(N)) where N is the size of the sorted set",
     .summary =
         "Removes and returns the member with the highest score of the first of several keys that is a "
         "sorted set; waits for one if there is none.",
     .syntax = "key [key ...] timeout-seconds",
     .argument_notes = "timeout-seconds=timeout"},
    {.name = "bzmpop",
     .arity = -5,
     .flags = kWrite | kBlocking | kMovableKeys,
     .keys = {.first = 3, .step = 1, .use = kTakes, .count_at = 2},
     .acl = kAclSortedSet,
     .handler = BzMPop,
     .since = "7.0.0",
     .complexity =
         "O(K+log(N)+M) where K is the number of keys, N the size of the sorted set and M the number "
         "of members returned",
     .summary = "As ZMPOP; waits for a member if there is none.",
     .syntax = "timeout-seconds numkeys key [key ...] <MIN | MAX> [COUNT count]",
     .argument_notes = "timeout-seconds=timeout condition=where"},
};
const CommandFamily kFamily("sorted-set", kRows);

}  // namespace
}  // namespace mayfly::zset_pop_commands

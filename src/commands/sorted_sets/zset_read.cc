// ZCARD, ZSCORE, ZMSCORE, ZRANK, ZREVRANK, ZCOUNT, ZLEXCOUNT: look at members of a sorted set, or count members.
#include "exec/arguments/score_range.h"
#include "exec/arguments/word.h"
#include "exec/values/sorted_set_access.h"

namespace mayfly::zset_read_commands {
namespace {

void ZCard(Context& ctx, Args& args) {
  TypedSortedSet set;
  if (!ReadLive(ctx, ctx.KeyAt(args, 1), set)) return;
  ctx.reply.Integer(set.entry != nullptr ? static_cast<int64_t>(set.value->Live()) : 0);
}

void ReplyScore(Context& ctx, const TypedSortedSet& set, std::string_view name) {
  const std::optional<double> score = set.entry != nullptr ? set.value->ScoreOf(name) : std::nullopt;
  score ? ctx.reply.Double(*score) : ctx.reply.Null();
}

void ZScore(Context& ctx, Args& args) {
  TypedSortedSet set;
  if (ReadLive(ctx, ctx.KeyAt(args, 1), set)) ReplyScore(ctx, set, args[2]);
}

void ZMScore(Context& ctx, Args& args) {
  TypedSortedSet set;
  if (!ReadLive(ctx, ctx.KeyAt(args, 1), set)) return;
  args.Skip(1);
  ctx.reply.Array(args.Left());
  while (!args.Done()) ReplyScore(ctx, set, args.Next());
}

template <bool kHighestFirst>
void ZRank(Context& ctx, Args& args) {
  constexpr size_t kWithOption = 4;
  if (args.size() > kWithOption) return ctx.Fail(errors::WrongArity(ctx.row.full_name));
  args.Skip(2);
  const bool with_score = args.Accept("WITHSCORE");
  if (!args.Done()) return ctx.Fail(errors::kSyntax);
  TypedSortedSet set;
  if (!ReadLive(ctx, ctx.KeyAt(args, 1), set)) return;
  const SortedSetValue::Found found =
      set.entry != nullptr ? set.value->Find(args[2]) : SortedSetValue::Found();
  if (!found) return with_score ? ctx.reply.NullArray() : ctx.reply.Null();
  const size_t rank = set.value->RankOf(found);
  if (with_score) ctx.reply.Array(2);
  ctx.reply.Integer(static_cast<int64_t>(kHighestFirst ? set.value->Live() - 1 - rank : rank));
  if (with_score) ctx.reply.Double(found.score());
}

template <typename Range>
void CountRange(Context& ctx, const Args& args, const std::optional<Range>& range) {
  if (!range) return;
  TypedSortedSet set;
  if (!ReadLive(ctx, ctx.KeyAt(args, 1), set)) return;
  ctx.reply.Integer(set.entry != nullptr ? static_cast<int64_t>(set.value->RanksOf(*range).count) : 0);
}

void ZCount(Context& ctx, Args& args) { CountRange(ctx, args, ReadScoreRange(ctx, args[2], args[3])); }
void ZLexCount(Context& ctx, Args& args) { CountRange(ctx, args, ReadNameRange(ctx, args[2], args[3])); }

constexpr KeySpec kOneRead = {1, 1, 1, kKeyRO | kKeyAccess};

constexpr Command kRows[] = {
    {.name = "zcard",
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = {1, 1, 1, kKeyRO},
     .acl = kAclSortedSet,
     .handler = ZCard,
     .since = "1.2.0",
     .complexity = "O(1)",
     .summary = "Answers with the number of members of a sorted set.",
     .syntax = "key"},
    {.name = "zscore",
     .arity = 3,
     .flags = kReadOnly | kFast,
     .keys = kOneRead,
     .acl = kAclSortedSet,
     .handler = ZScore,
     .since = "1.2.0",
     .complexity = "O(1)",
     .summary = "Answers with the score of a member of a sorted set.",
     .syntax = "key member"},
    {.name = "zmscore",
     .arity = -3,
     .flags = kReadOnly | kFast,
     .keys = kOneRead,
     .acl = kAclSortedSet,
     .handler = ZMScore,
     .since = "6.2.0",
     .complexity = "O(N) where N is the number of names",
     .summary = "Answers with the scores of several members of a sorted set.",
     .syntax = "key member [member ...]"},
    {.name = "zrank",
     .arity = -3,
     .flags = kReadOnly | kFast,
     .keys = kOneRead,
     .acl = kAclSortedSet,
     .handler = ZRank<false>,
     .since = "2.0.0",
     .complexity = "O(log(N)) where N is the size of the sorted set",
     .summary = "Answers with the rank of a member of a sorted set, counted from the lowest score.",
     .syntax = "key member [WITHSCORE]",
     .notes = "WITHSCORE as in Redis 7.2."},
    {.name = "zrevrank",
     .arity = -3,
     .flags = kReadOnly | kFast,
     .keys = kOneRead,
     .acl = kAclSortedSet,
     .handler = ZRank<true>,
     .since = "2.0.0",
     .complexity = "O(log(N)) where N is the size of the sorted set",
     .summary = "Answers with the rank of a member of a sorted set, counted from the highest score.",
     .syntax = "key member [WITHSCORE]",
     .notes = "WITHSCORE as in Redis 7.2."},
    {.name = "zcount",
     .arity = 4,
     .flags = kReadOnly | kFast,
     .keys = kOneRead,
     .acl = kAclSortedSet,
     .handler = ZCount,
     .since = "2.0.0",
     .complexity = "O(log(N)) where N is the size of the sorted set",
     .summary = "Counts the members of a sorted set with scores in a range.",
     .syntax = "key min-score max-score",
     .argument_notes = "min-score=min max-score=max"},
    {.name = "zlexcount",
     .arity = 4,
     .flags = kReadOnly | kFast,
     .keys = kOneRead,
     .acl = kAclSortedSet,
     .handler = ZLexCount,
     .since = "2.8.9",
     .complexity = "O(log(N)) where N is the size of the sorted set",
     .summary = "Counts the members of a sorted set with names in a range, all of equal scores.",
     .syntax = "key min max"},
};
const CommandFamily kFamily("sorted-set", kRows);

}  // namespace
}  // namespace mayfly::zset_read_commands

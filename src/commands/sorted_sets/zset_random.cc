// ZRANDMEMBER and ZSCAN: members of a sorted set in no order.
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "exec/arguments/random_pick.h"
#include "exec/arguments/scan_options.h"
#include "exec/values/sorted_set_access.h"

namespace mayfly::zset_random_commands {
namespace {

size_t RandomRank(Context& ctx, const SortedSetValue& value) { return ctx.server.random() % value.Live(); }

void ReplyRank(Context& ctx, const SortedSetValue& value, size_t rank, bool with_score) {
  SortedSetValue::Cursor at = value.At(rank);
  ReplyMember(ctx, at.name(), at.score(), with_score);
}

// REQUIRES: pick.count is not 0.
void ReplyPick(Context& ctx, const SortedSetValue& value, const Pick& pick) {
  const size_t size = value.Live();
  if (pick.repeats) {
    RequireRoomFor(ctx, pick);
    ReplyMemberCount(ctx, pick.count, pick.pairs);
    for (uint64_t left = pick.count; left != 0; --left)
      ReplyRank(ctx, value, RandomRank(ctx, value), pick.pairs);
    return;
  }
  if (pick.count >= size) return ReplyRanks(ctx, value, {0, size}, false, pick.pairs);
  ReplyMemberCount(ctx, pick.count, pick.pairs);
  if (DrawsFew(pick.count, size)) {
    DrawDifferent(
        pick.count, [&] { return RandomRank(ctx, value); },
        [&](size_t rank) { ReplyRank(ctx, value, rank, pick.pairs); });
    return;
  }
  PickOnWalk walk(pick.count, size);
  for (SortedSetValue::Cursor at = value.At(0); !walk.done(); at.Next()) {
    if (walk.Next(ctx.server.random)) ReplyMember(ctx, at.name(), at.score(), pick.pairs);
  }
}

void ZRandMember(Context& ctx, Args& args) {
  args.Skip(1);
  const bool one = args.Done();
  Pick pick;
  if (!one && !ReadPick(ctx, args, "WITHSCORES", pick)) return;
  TypedSortedSet set;
  if (!ReadLive(ctx, ctx.KeyAt(args, 1), set)) return;
  if (set.entry == nullptr) return one ? ctx.reply.Null() : ctx.reply.EmptyArray();
  if (one) return ReplyRank(ctx, *set.value, RandomRank(ctx, *set.value), false);
  if (pick.count == 0) return ctx.reply.EmptyArray();
  ReplyPick(ctx, *set.value, pick);
}

// Writes the score like Redis for large sorted sets, in both protocols: with up to 17 digits.
void ReplyLongScore(Context& ctx, double score) {
  char text[64];
  if (std::isinf(score)) return ctx.reply.Bulk(score > 0 ? "inf" : "-inf");
  const int size = std::snprintf(text, sizeof text, "%.17g", score);
  ctx.reply.Bulk({text, static_cast<size_t>(size)});
}

void ReplyShortScore(Context& ctx, double score) {
  char text[kMaxDoubleText];
  ctx.reply.Bulk({text, FormatDouble(score, text)});
}

// A small sorted set is one page.
void ReplyWhole(Context& ctx, const SortedSetValue& value, const ScanOptions& options) {
  ctx.reply.Array(2);
  ctx.reply.Bulk("0");
  resp::Deferred header = ctx.reply.Defer();
  size_t shown = 0;
  ForEachRank(value, {0, value.Live()}, false, [&](std::string_view name, double score) {
    if (!options.Matches(name)) return;
    ctx.reply.Bulk(name);
    if (!options.no_values) ReplyShortScore(ctx, score);
    ++shown;
  });
  header.Array((options.no_values ? 1 : 2) * shown);
}

void ReplyPages(Context& ctx, const SortedSetValue& value, uint64_t start, const ScanOptions& options) {
  std::vector<std::pair<std::string_view, double>> wanted;
  const ScannedPages scanned = ScanPages(start, options, [&](uint64_t cursor, uint64_t& seen) {
    return value.Scan(cursor, [&](std::string_view name, double score) {
      ++seen;
      if (options.Matches(name)) wanted.emplace_back(name, score);
    });
  });
  ctx.reply.Array(2);
  ctx.reply.BulkInteger(static_cast<int64_t>(scanned.next));
  ctx.reply.Array((options.no_values ? 1 : 2) * wanted.size());
  for (const auto& [name, score] : wanted) {
    ctx.reply.Bulk(name);
    if (!options.no_values) ReplyLongScore(ctx, score);
  }
}

void ZScan(Context& ctx, Args& args) {
  args.Skip(1);
  const std::optional<uint64_t> cursor = ParseCursor(args.Next());
  if (!cursor) return ctx.Fail("ERR invalid cursor");
  TypedSortedSet set;
  if (!ReadLive(ctx, ctx.KeyAt(args, 1), set)) return;
  if (set.entry == nullptr) return ReplyNoPage(ctx);
  ScanOptions options;
  if (!ReadScanOptions(ctx, args, options)) return;
  set.value->is_large() ? ReplyPages(ctx, *set.value, *cursor, options)
                        : ReplyWhole(ctx, *set.value, options);
}

constexpr KeySpec kOneRead = {1, 1, 1, kKeyRO | kKeyAccess};

constexpr Command kRows[] = {
    {.name = "zrandmember",
     .arity = -2,
     .flags = kReadOnly,
     .keys = kOneRead,
     .acl = kAclSortedSet,
     .handler = ZRandMember,
     .since = "6.2.0",
     .complexity = "O(N*log(M)) where N is the number of members returned and M the size of the sorted set",
     .summary = "Answers with one or more random members of a sorted set.",
     .syntax = "key [count [WITHSCORES]]",
     .argument_notes = "count_withscores=options",
     .tips = "nondeterministic_output"},
    {.name = "zscan",
     .arity = -3,
     .flags = kReadOnly,
     .keys = kOneRead,
     .acl = kAclSortedSet,
     .handler = ZScan,
     .since = "2.8.0",
     .complexity = "O(COUNT) for a call, O(N) for a whole iteration, N being the size of the sorted set",
     .summary = "Shows the members and scores of a sorted set, a page at a time.",
     .syntax = "key cursor [MATCH pattern] [COUNT count] [NOSCORES]",
     .tips = "nondeterministic_output",
     .notes = "NOSCORES is of Valkey 8.0."},
};
const CommandFamily kFamily("sorted-set", kRows);

}  // namespace
}  // namespace mayfly::zset_random_commands

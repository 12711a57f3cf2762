// ZRANGE, ZRANGESTORE and older commands: ranges of a sorted set by rank, score or name. ZRANGE replaces the older commands.
#include <variant>

#include "exec/arguments/score_range.h"
#include "exec/values/sorted_set_access.h"

namespace mayfly::zset_range_commands {
namespace {

enum class RangeBy : uint8_t { kRank, kScore, kName };

// The fixed options of a command: the old commands have in their names the options of ZRANGE.
struct RangeCommand {
  std::optional<RangeBy> by = {};
  std::optional<bool> highest_first = {};
  bool stores = false;
};

struct RangeRequest {
  RangeBy by = RangeBy::kRank;
  bool highest_first = false;
  bool with_scores = false;
  int64_t offset = 0;
  int64_t limit = -1;  // negative: no limit
};

// Reads the arguments after the two ends. Returns false after an error reply.
bool ReadRangeOptions(Context& ctx, Args& args, const RangeCommand& command, RangeRequest& request) {
  std::optional<RangeBy> by = command.by;
  std::optional<bool> highest_first = command.highest_first;
  while (!args.Done()) {
    if (!command.stores && args.Accept("WITHSCORES")) {
      request.with_scores = true;
    } else if (args.Accept("LIMIT", 2)) {
      const std::optional<int64_t> offset = args.NextInteger();
      const std::optional<int64_t> limit = offset ? args.NextInteger() : std::nullopt;
      if (!limit) return ctx.Fail(errors::kNotInteger), false;
      request.offset = *offset;
      request.limit = *limit;
    } else if (!highest_first && args.Accept("REV")) {
      highest_first = true;
    } else if (!by && args.Accept("BYLEX")) {
      by = RangeBy::kName;
    } else if (!by && args.Accept("BYSCORE")) {
      by = RangeBy::kScore;
    } else {
      return ctx.Fail(errors::kSyntax), false;
    }
  }
  request.by = by.value_or(RangeBy::kRank);
  request.highest_first = highest_first.value_or(false);
  if (request.limit != -1 && request.by == RangeBy::kRank) {
    ctx.Fail("ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX");
    return false;
  }
  if (request.with_scores && request.by == RangeBy::kName)
    return ctx.Fail("ERR syntax error, WITHSCORES not supported in combination with BYLEX"), false;
  return true;
}

struct Indices {
  int64_t start;
  int64_t stop;
};
using AnyRange = std::variant<Indices, ScoreRange, NameRange>;

// Reads the two ends; with the highest first, `first` is the high end. Returns nullopt after an error reply.
std::optional<AnyRange> ReadEnds(Context& ctx, const RangeRequest& request, std::string_view first,
                                 std::string_view last) {
  if (request.by == RangeBy::kRank) {
    const std::optional<int64_t> start = ParseInteger(first);
    const std::optional<int64_t> stop = ParseInteger(last);
    if (!start || !stop) return ctx.Fail(errors::kNotInteger), std::nullopt;
    return Indices{*start, *stop};
  }
  if (request.highest_first) std::swap(first, last);
  if (request.by == RangeBy::kScore) return ReadScoreRange(ctx, first, last);
  return ReadNameRange(ctx, first, last);
}

// The ranks of the range, in the wanted order, without the ranks beyond the limit.
RankRange RanksOf(const SortedSetValue& value, const RangeRequest& request, const AnyRange& range) {
  if (const auto* indices = std::get_if<Indices>(&range)) {
    RankRange ranks = ClipRanks(indices->start, indices->stop, value.Live());
    if (request.highest_first && ranks.count != 0) ranks.first = value.Live() - ranks.first - ranks.count;
    return ranks;
  }
  if (request.offset < 0) return {};
  const auto offset = static_cast<size_t>(request.offset);
  const bool from_end = request.highest_first;
  const auto* scores = std::get_if<ScoreRange>(&range);
  const RankRange ranks = scores != nullptr ? value.RanksOf(*scores).Without(offset, from_end)
                                            : value.RanksOf(std::get<NameRange>(range), from_end, offset);
  if (request.limit < 0 || ranks.count <= static_cast<uint64_t>(request.limit)) return ranks;
  return ranks.Without(ranks.count - static_cast<size_t>(request.limit), !from_end);
}

void Store(Context& ctx, const Key& key, const TypedSortedSet& source, const RankRange& ranks,
           bool highest_first) {
  auto result = std::make_unique<SortedSetValue>();
  const SortedSetLimits limits = SortedSetLimitsOf(ctx);
  if (source.entry != nullptr) {
    result->Expect(ranks.count, limits, ctx.keyspace.home());
    ForEachRank(*source.value, ranks, highest_first, [&](std::string_view name, double score) {
      result->Put(name, score, limits, ctx.keyspace.home());
    });
  }
  StoreSortedSet(ctx, key, std::move(result), {"zrangestore"});
}

// REQUIRES: the key to read is at `key_at`, the two ends of the range follow.
void Range(Context& ctx, Args& args, size_t key_at, const RangeCommand& command) {
  args.Skip(key_at + 2);
  RangeRequest request;
  if (!ReadRangeOptions(ctx, args, command, request)) return;
  const std::optional<AnyRange> range = ReadEnds(ctx, request, args[key_at + 1], args[key_at + 2]);
  if (!range) return;
  TypedSortedSet set;
  if (!ReadLive(ctx, ctx.KeyAt(args, key_at), set)) return;
  const RankRange ranks = set.entry != nullptr ? RanksOf(*set.value, request, *range) : RankRange();
  if (command.stores) return Store(ctx, ctx.KeyAt(args, 1), set, ranks, request.highest_first);
  if (ranks.count == 0) return ctx.reply.EmptyArray();
  ReplyRanks(ctx, *set.value, ranks, request.highest_first, request.with_scores);
}

void ZRange(Context& ctx, Args& args) { Range(ctx, args, 1, {}); }
void ZRangeStore(Context& ctx, Args& args) { Range(ctx, args, 2, {.stores = true}); }
template <RangeBy kBy, bool kHighestFirst>
void OldRange(Context& ctx, Args& args) {
  Range(ctx, args, 1, {.by = kBy, .highest_first = kHighestFirst});
}

constexpr KeySpec kOneRead = {1, 1, 1, kKeyRO | kKeyAccess};
constexpr std::string_view kComplexity =
    "O(log(N)+M) where N is the size of the sorted set and M the number of members returned";

constexpr Command kRows[] = {
    {.name = "zrange",
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneRead,
     .acl = kAclSortedSet,
     .handler = ZRange,
     .since = "1.2.0",
     .complexity = kComplexity,
     .summary = "Answers with a part of a sorted set: by rank, score or name, from either end.",
     .syntax = "key min max [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES]",
     .argument_notes = "min=start max=stop condition=sortby@6.2.0 REV@6.2.0 LIMIT=offset_count@6.2.0"},
    {.name = "zrangestore",
     .arity = -5,
     .flags = kWrite | kDenyOom,
     .keys = {1, 1, 1, kKeyOW | kKeyUpdate},
     .more_keys = {2, 2, 1, kKeyRO | kKeyAccess},
     .acl = kAclSortedSet,
     .handler = ZRangeStore,
     .since = "6.2.0",
     .complexity = "O(log(N)+M) where N is the size of the sorted set and M the number of members stored",
     .summary = "Stores a part of a sorted set under another key.",
     .syntax = "destination source min max [BYSCORE | BYLEX] [REV] [LIMIT offset count]",
     .argument_notes = "destination=dst source=src condition=sortby LIMIT=offset_count"},
    {.name = "zrangebyscore",
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneRead,
     .acl = kAclSortedSet,
     .handler = OldRange<RangeBy::kScore, false>,
     .since = "1.0.5",
     .complexity = kComplexity,
     .summary = "Answers with the members of a sorted set with scores in a range, lowest first.",
     .syntax = "key min-score max-score [WITHSCORES] [LIMIT offset count]",
     .argument_notes = "min-score=min max-score=max WITHSCORES@2.0.0 LIMIT=offset_count",
     .doc_flags = "deprecated",
     .deprecated_since = "6.2.0",
     .replaced_by = "ZRANGE with BYSCORE"},
    {.name = "zrevrangebyscore",
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneRead,
     .acl = kAclSortedSet,
     .handler = OldRange<RangeBy::kScore, true>,
     .since = "2.2.0",
     .complexity = kComplexity,
     .summary = "Answers with the members of a sorted set with scores in a range, highest first.",
     .syntax = "key max-score min-score [WITHSCORES] [LIMIT offset count]",
     .argument_notes = "max-score=max min-score=min LIMIT=offset_count",
     .doc_flags = "deprecated",
     .deprecated_since = "6.2.0",
     .replaced_by = "ZRANGE with REV and BYSCORE"},
    {.name = "zrangebylex",
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneRead,
     .acl = kAclSortedSet,
     .handler = OldRange<RangeBy::kName, false>,
     .since = "2.8.9",
     .complexity = kComplexity,
     .summary = "Answers with the members of a sorted set with names in a range, lowest first.",
     .syntax = "key min max [LIMIT offset count]",
     .argument_notes = "LIMIT=offset_count",
     .doc_flags = "deprecated",
     .deprecated_since = "6.2.0",
     .replaced_by = "ZRANGE with BYLEX"},
    {.name = "zrevrangebylex",
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneRead,
     .acl = kAclSortedSet,
     .handler = OldRange<RangeBy::kName, true>,
     .since = "2.8.9",
     .complexity = kComplexity,
     .summary = "Answers with the members of a sorted set with names in a range, highest first.",
     .syntax = "key max min [LIMIT offset count]",
     .argument_notes = "LIMIT=offset_count",
     .doc_flags = "deprecated",
     .deprecated_since = "6.2.0",
     .replaced_by = "ZRANGE with REV and BYLEX"},
    {.name = "zrevrange",
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneRead,
     .acl = kAclSortedSet,
     .handler = OldRange<RangeBy::kRank, true>,
     .since = "1.2.0",
     .complexity = kComplexity,
     .summary = "Answers with the members of a sorted set with ranks in a range, highest first.",
     .syntax = "key start stop [WITHSCORES]",
     .doc_flags = "deprecated",
     .deprecated_since = "6.2.0",
     .replaced_by = "ZRANGE with REV"},
};
const CommandFamily kFamily("sorted-set", kRows);

}  // namespace
}  // namespace mayfly::zset_range_commands

// Reads, changes and stores sorted sets for commands, and shows members.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "cache/types/sorted_set_value.h"
#include "config/sources/options.h"
#include "exec/dispatch/context.h"
#include "exec/values/timed_access.h"

namespace mayfly {

using TypedSortedSet = Typed<SortedSetValue>;

inline SortedSetLimits SortedSetLimitsOf(const Context& ctx) noexcept {
  const auto& settings = ctx.server.options.settings();
  return {static_cast<size_t>(settings.zset_max_listpack_entries), settings.zset_max_listpack_value};
}

// Removes these members, and the key with the last one. REQUIRES: there are these.
inline void RemoveMembers(Context& ctx, const Key& key, const TypedSortedSet& set, const RankRange& ranks,
                          const Event& event) {
  if (ranks.count == 0) return;
  char first[kMaxIntegerText];
  char last[kMaxIntegerText];
  const std::string_view words[] = {
      {first, FormatInteger(static_cast<int64_t>(ranks.first), first)},
      {last, FormatInteger(static_cast<int64_t>(ranks.first + ranks.count - 1), last)}};
  const Effect effect{.command = "ZREMRANGEBYRANK", .arguments = words};
  ctx.keyspace.EditRich<SortedSetValue>(key, *set.entry, ctx.now, event.With(effect),
                                        [&](SortedSetValue& value) {
                                          value.RemoveRanks(ranks);
                                          return true;
                                        });
}

// Gives the key this value, without an expiry, and answers with the number of members; an empty one removes the key.
inline void StoreSortedSet(Context& ctx, const Key& key, std::unique_ptr<SortedSetValue> value,
                           const Event& event) {
  const size_t size = value->Size();
  Entry* const existing = ctx.keyspace.Peek(key, ctx.now);
  if (size != 0)
    ctx.keyspace.PutRich(key, existing, std::move(value), Expiry::Never(), ctx.now, event);
  else
    ctx.keyspace.Delete(
        key, ctx.now);  // also of an absent key: its stale value goes, and a file's value does not come
  ctx.reply.Integer(static_cast<int64_t>(size));
}

// The header of `count` members: in RESP2 a score follows its name, in RESP3 both are a pair.
inline void ReplyMemberCount(Context& ctx, size_t count, bool with_scores) {
  ctx.reply.Array(with_scores && ctx.reply.version() == 2 ? 2 * count : count);
}
inline void ReplyMember(Context& ctx, std::string_view name, double score, bool with_score) {
  if (with_score && ctx.reply.version() != 2) ctx.reply.Array(2);
  ctx.reply.Bulk(name);
  if (with_score) ctx.reply.Double(score);
}

// Calls fn(name, score) for these members, from the highest on if `highest_first`. REQUIRES: there are these; fn does
// not change the value.
template <typename Fn>
void ForEachRank(const SortedSetValue& value, const RankRange& ranks, bool highest_first, Fn&& fn) {
  if (ranks.count == 0) return;
  SortedSetValue::Cursor at = value.At(highest_first ? ranks.first + ranks.count - 1 : ranks.first);
  for (size_t left = ranks.count; left != 0; --left, highest_first ? at.Prev() : at.Next())
    fn(at.name(), at.score());
}

inline void ReplyRanks(Context& ctx, const SortedSetValue& value, const RankRange& ranks, bool highest_first,
                       bool with_scores) {
  ReplyMemberCount(ctx, ranks.count, with_scores);
  ForEachRank(value, ranks, highest_first,
              [&](std::string_view name, double score) { ReplyMember(ctx, name, score, with_scores); });
}

}  // namespace mayfly

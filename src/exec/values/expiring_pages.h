// Pages of keys with their times to live: what EXPIRING and TIMERS read and answer.
//
//   ... [MATCH pattern] [COUNT count] [CURSOR cursor]  -->  [next cursor, [key, ms, key, ms ...]], the nearest first
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "cache/time/due_page.h"
#include "cache/time/lifetime.h"
#include "exec/arguments/scan_options.h"
#include "exec/call/usage.h"
#include "exec/dispatch/context.h"

namespace mayfly {

struct PageWords {
  uint64_t cursor = 0;
  ScanOptions options = {};
};

// Reads the number after COUNT. Nothing after an error reply.
inline std::optional<uint64_t> ReadPageCount(Context& ctx, Args& args) {
  const std::optional<int64_t> count = args.NextInteger();
  if (!count) return ctx.Fail(errors::kNotInteger), std::nullopt;
  if (*count < 1) return ctx.Fail("ERR count should be greater than 0"), std::nullopt;
  return static_cast<uint64_t>(*count);
}

// Reads the rest of the arguments. Returns false after an error reply.
inline bool ReadPageWords(Context& ctx, Args& args, PageWords& words) {
  while (!args.Done()) {
    if (args.Accept("MATCH", 1)) {
      words.options.pattern = args.Next();
    } else if (args.Accept("COUNT", 1)) {
      const std::optional<uint64_t> count = ReadPageCount(ctx, args);
      if (!count) return false;
      words.options.count = *count;
    } else if (args.Accept("CURSOR", 1)) {
      const std::optional<uint64_t> cursor = ParseCursor(args.Next());
      if (!cursor) return ctx.Fail("ERR invalid cursor"), false;
      words.cursor = *cursor;
    } else {
      return ctx.Fail(SyntaxErrorAt(ctx.row, args)), false;
    }
  }
  return true;
}

// Calls look(entry) for a page of live keys with a TTL, also for some keys that expire later than in `within_ms`. Returns the
// next cursor. See cache/time/due_page.h.
template <typename Look>
uint64_t WalkExpiring(Context& ctx, const PageWords& words, uint64_t within_ms, Look&& look) {
  // A page from the timing wheels may look at this many entries, or at COUNT entries if COUNT is higher: with few matching
  // keys, an earlier end is not worth another round trip.
  constexpr uint64_t kLeastPage = 1000;
  const auto look_at_live = [&](const Entry& entry) {
    if (entry.expires() && !ctx.keyspace.Absent(entry, ctx.now)) look(entry);
  };
  uint64_t cursor = words.cursor;
  if (cursor == 0 || DuePage::Owns(cursor)) {
    ctx.keyspace.FollowWallStep(ctx.now);
    DuePage page{.cursor = cursor};
    const auto most = static_cast<size_t>(std::max(words.options.count, kLeastPage));
    if (ctx.keyspace.lifetimes().deadlines().FillPage(page, within_ms, most, ctx.now)) {
      for (const Entry* entry : page.entries) look_at_live(*entry);
      return page.cursor;
    }
    cursor = 0;
  }
  const auto scan_page = [&](uint64_t at, uint64_t& seen) {
    return ctx.keyspace.Scan(at, ctx.now, [&](const Entry& entry) {
      ++seen;
      look_at_live(entry);
    });
  };
  return ScanPages(cursor, words.options, scan_page).next;
}

// A key on a page.
struct ShownDeadline {
  int64_t ttl_ms;
  const Entry* entry;
};

// Puts the nearest keys first, and answers with the page.
inline void ReplyDeadlines(Context& ctx, uint64_t next, std::vector<ShownDeadline>& shown) {
  std::sort(shown.begin(), shown.end(),
            [](const ShownDeadline& a, const ShownDeadline& b) { return a.ttl_ms < b.ttl_ms; });
  ctx.reply.Array(2);
  ctx.reply.BulkInteger(static_cast<int64_t>(next));
  ctx.reply.Array(2 * shown.size());
  for (const ShownDeadline& key : shown) {
    ctx.reply.Bulk(key.entry->key());
    ctx.reply.Integer(key.ttl_ms);
  }
}

}  // namespace mayfly

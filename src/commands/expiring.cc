// EXPIRING: the keys that expire within a range of time.
#include <algorithm>
#include <vector>

#include "exec/arguments/scan_options.h"
#include "exec/call/usage.h"
#include "exec/dispatch/context.h"

namespace mayfly::expiring_commands {
namespace {

// A page from the timing wheels may look at this many entries, or at COUNT entries if COUNT is higher: with few matching
// keys, an earlier end is not worth another round trip.
constexpr uint64_t kLeastPage = 1000;

struct Range {
  int64_t from_ms = 0;
  int64_t to_ms = 0;
  uint64_t cursor = 0;
  ScanOptions options = {};
};

struct Shown {
  int64_t ttl_ms;
  const Entry* entry;
};

// Returns false after an error reply.
bool ReadRange(Context& ctx, Args& args, Range& range) {
  for (int64_t* const bound_ms : {&range.from_ms, &range.to_ms}) {
    const std::optional<int64_t> ms = args.NextInteger();
    if (!ms || *ms < 0) return ctx.Fail(errors::kNotInteger), false;
    *bound_ms = *ms;
  }
  while (!args.Done()) {
    if (args.Accept("MATCH", 1)) {
      range.options.pattern = args.Next();
    } else if (args.Accept("COUNT", 1)) {
      const std::optional<int64_t> count = args.NextInteger();
      if (!count) return ctx.Fail(errors::kNotInteger), false;
      if (*count < 1) return ctx.Fail("ERR count should be greater than 0"), false;
      range.options.count = static_cast<uint64_t>(*count);
    } else if (args.Accept("CURSOR", 1)) {
      const std::optional<uint64_t> cursor = ParseCursor(args.Next());
      if (!cursor) return ctx.Fail("ERR invalid cursor"), false;
      range.cursor = *cursor;
    } else {
      return ctx.Fail(SyntaxErrorAt(ctx.row, args)), false;
    }
  }
  return true;
}

// Calls look(entry) for a page of live keys with a TTL, also for some keys out of the range. Returns the next cursor.
template <typename Look>
uint64_t WalkPage(Context& ctx, const Range& range, Look&& look) {
  const auto look_at_live = [&](const Entry& entry) {
    if (entry.expires() && !ctx.keyspace.Absent(entry, ctx.now)) look(entry);
  };
  uint64_t cursor = range.cursor;
  if (cursor == 0 || DuePage::Owns(cursor)) {
    ctx.keyspace.FollowWallStep(ctx.now);
    DuePage page{.cursor = cursor};
    const auto most = static_cast<size_t>(std::max(range.options.count, kLeastPage));
    if (ctx.keyspace.lifetimes().deadlines().FillPage(page, static_cast<uint64_t>(range.to_ms), most,
                                                      ctx.now)) {
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
  return ScanPages(cursor, range.options, scan_page).next;
}

void Expiring(Context& ctx, Args& args) {
  Range range;
  if (!ReadRange(ctx, args, range)) return;
  if (range.from_ms > range.to_ms) return ReplyNoPage(ctx);
  std::vector<Shown> shown;
  const uint64_t next = WalkPage(ctx, range, [&](const Entry& entry) {
    const int64_t ttl_ms = TtlMs(entry, ctx.now);
    if (ttl_ms < range.from_ms || ttl_ms > range.to_ms || !range.options.Matches(entry.key())) return;
    shown.push_back({ttl_ms, &entry});
  });
  std::sort(shown.begin(), shown.end(), [](const Shown& a, const Shown& b) { return a.ttl_ms < b.ttl_ms; });

  ctx.reply.Array(2);
  ctx.reply.BulkInteger(static_cast<int64_t>(next));
  ctx.reply.Array(2 * shown.size());
  for (const Shown& key : shown) {
    ctx.reply.Bulk(key.entry->key());
    ctx.reply.Integer(key.ttl_ms);
  }
}

constexpr Command kRows[] = {
    {.name = "expiring",
     .arity = -3,
     .flags = kReadOnly | kUntouched,
     .acl = kAclKeyspace,
     .handler = Expiring,
     .since = "0.1.0",
     .complexity =
         ("O(M*log(M)) for a call, where M is COUNT or 1000, whichever is more; O(N) for a whole iteration, "
          "N "
          "being the number of keys that expire in up to about twice the time, or that of all keys if very "
          "many expire at nearly the same time"),
     .summary = "Shows the keys that expire within a range of time, the nearest first, a page at a time.",
     .syntax = "from-ms to-ms [MATCH pattern] [COUNT count] [CURSOR cursor]",
     .tips = "nondeterministic_output request_policy:special",
     .notes = "A command of Mayfly."},
};
const CommandFamily kFamily("generic", kRows);

}  // namespace
}  // namespace mayfly::expiring_commands

// EXPIRING: the keys that expire within a range of time.
#include <vector>

#include "exec/values/expiring_pages.h"

namespace mayfly::expiring_commands {
namespace {

struct Range {
  int64_t from_ms = 0;
  int64_t to_ms = 0;
  PageWords page = {};
};

// Returns false after an error reply.
bool ReadRange(Context& ctx, Args& args, Range& range) {
  for (int64_t* const bound_ms : {&range.from_ms, &range.to_ms}) {
    const std::optional<int64_t> ms = args.NextInteger();
    if (!ms || *ms < 0) return ctx.Fail(errors::kNotInteger), false;
    *bound_ms = *ms;
  }
  return ReadPageWords(ctx, args, range.page);
}

void Expiring(Context& ctx, Args& args) {
  Range range;
  if (!ReadRange(ctx, args, range)) return;
  if (range.from_ms > range.to_ms) return ReplyNoPage(ctx);
  std::vector<ShownDeadline> shown;
  const auto within_ms = static_cast<uint64_t>(range.to_ms);
  const uint64_t next = WalkExpiring(ctx, range.page, within_ms, [&](const Entry& entry) {
    const int64_t ttl_ms = TtlMs(entry, ctx.now);
    if (ttl_ms < range.from_ms || ttl_ms > range.to_ms || !range.page.options.Matches(entry.key())) return;
    shown.push_back({ttl_ms, &entry});
  });
  ReplyDeadlines(ctx, next, shown);
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

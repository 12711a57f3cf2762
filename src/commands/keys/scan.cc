// SCAN, KEYS, RANDOMKEY: list keys.
#include <vector>

#include "base/text/glob.h"
#include "exec/arguments/scan_options.h"
#include "exec/call/value_type.h"
#include "exec/dispatch/context.h"

namespace mayfly::scan_commands {
namespace {

bool Wants(const ScanOptions& options, const Entry& entry) {
  if (options.type && *options.type != TypeName(entry)) return false;
  return options.Matches(entry.key());
}

void Scan(Context& ctx, Args& args) {
  const std::optional<uint64_t> start = ParseCursor(args.Next());
  if (!start) return ctx.Fail("ERR invalid cursor");
  ScanOptions options;
  if (!ReadScanOptions(ctx, args, options)) return;

  // COUNT bounds the work of one call: all keys count, with or without a match, and so do pages of the table, even empty
  // pages.
  constexpr uint64_t kPagesPerKey = 10;
  std::vector<const Entry*> wanted;
  uint64_t cursor = *start;
  uint64_t seen = 0;
  uint64_t pages = 0;
  do {
    cursor = ctx.keyspace.Scan(cursor, ctx.now, [&](const Entry& entry) {
      ++seen;
      if (Wants(options, entry)) wanted.push_back(&entry);
    });
    ++pages;
  } while (cursor != 0 && seen < options.count && pages / kPagesPerKey < options.count);

  ctx.reply.Array(2);
  ctx.reply.BulkInteger(static_cast<int64_t>(cursor));
  ctx.reply.Array(wanted.size());
  for (const Entry* entry : wanted) ctx.reply.Bulk(entry->key());
}

void Keys(Context& ctx, Args& args) {
  const std::string_view pattern = args[1];
  const bool all = pattern == "*";
  size_t count = 0;
  resp::Deferred array = ctx.reply.Defer();
  ctx.keyspace.ForEach(ctx.now, [&](const Entry& entry) {
    if (!all && !GlobMatch(pattern, entry.key())) return;
    ++count;
    ctx.reply.Bulk(entry.key());
  });
  array.Array(count);
}

void RandomKey(Context& ctx, Args&) {
  const Entry* entry = ctx.keyspace.Random(ctx.server.random, ctx.now);
  if (entry == nullptr) return ctx.reply.Null();
  ctx.reply.Bulk(entry->key());
}

constexpr Command kRows[] = {
    {.name = "scan",
     .arity = -2,
     .flags = kReadOnly | kUntouched,
     .acl = kAclKeyspace,
     .handler = Scan,
     .since = "2.8.0",
     .complexity = "O(COUNT) for a call, O(N) for a whole iteration, N being the number of keys",
     .summary = "Shows the keys of the selected database, a page at a time.",
     .syntax = "cursor [MATCH pattern] [COUNT count] [TYPE type]",
     .argument_notes = "TYPE@6.0.0",
     .tips = "nondeterministic_output request_policy:special"},
    {.name = "keys",
     .arity = 2,
     .flags = kReadOnly | kUntouched,
     .acl = kAclKeyspace | kAclDangerous,
     .handler = Keys,
     .since = "1.0.0",
     .complexity = "O(N) where N is the number of keys of the database; no other client is served meanwhile",
     .summary = "Answers with all keys that match a pattern.",
     .syntax = "pattern",
     .tips = "request_policy:all_shards nondeterministic_output_order"},
    {.name = "randomkey",
     .arity = 1,
     .flags = kReadOnly | kUntouched,
     .acl = kAclKeyspace,
     .handler = RandomKey,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Answers with a random key.",
     .tips = "request_policy:all_shards nondeterministic_output"},
};
const CommandFamily kFamily("generic", kRows);

}  // namespace
}  // namespace mayfly::scan_commands

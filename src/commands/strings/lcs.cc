// LCS: the longest common subsequence of two strings.
#include "base/text/subsequence.h"
#include "config/sources/options.h"
#include "exec/values/string_access.h"

namespace mayfly::lcs_commands {
namespace {

struct LcsOptions {
  bool length = false;
  bool runs = false;
  bool run_lengths = false;
  int64_t least_run = 0;
};

// Returns false after an error reply.
bool ReadLcsOptions(Context& ctx, Args& args, LcsOptions& options) {
  while (!args.Done()) {
    if (args.Accept("IDX")) {
      options.runs = true;
    } else if (args.Accept("LEN")) {
      options.length = true;
    } else if (args.Accept("WITHMATCHLEN")) {
      options.run_lengths = true;
    } else if (args.Accept("MINMATCHLEN", 1)) {
      const std::optional<int64_t> least = args.NextInteger();
      if (!least) return ctx.Fail(errors::kNotInteger), false;
      options.least_run = *least;
    } else {
      return ctx.Fail(errors::kSyntax), false;
    }
  }
  if (options.runs && options.length)
    return ctx.Fail("ERR If you want both the length and indexes, please just use IDX."), false;
  return true;
}

// Redis keeps a table of 4 bytes for each pair of bytes, and refuses texts with a table larger than proto-max-bulk-len.
// Mayfly's table is smaller, but the time is the same.
bool RequireSizes(Context& ctx, size_t a, size_t b) {
  constexpr size_t kMostBytes = UINT32_MAX - 1;
  if (a >= kMostBytes || b >= kMostBytes) return ctx.Fail("ERR String too long for LCS"), false;
  const uint64_t pairs = (uint64_t{a} + 1) * (uint64_t{b} + 1);
  if (pairs > ctx.server.options.settings().proto_max_bulk_len / sizeof(uint32_t))
    return ctx.Fail("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len"), false;
  return true;
}

void ReplyText(Context& ctx, std::string_view a, const std::vector<CommonRun>& runs) {
  std::string text;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) text += a.substr(run->in_a, run->length);
  ctx.reply.Bulk(text);
}

void ReplyPlace(Context& ctx, size_t begin, size_t length) {
  ctx.reply.Array(2);
  ctx.reply.Integer(static_cast<int64_t>(begin));
  ctx.reply.Integer(static_cast<int64_t>(begin + length - 1));
}

void ReplyRuns(Context& ctx, const std::vector<CommonRun>& runs, const LcsOptions& options) {
  ctx.reply.Map(2);
  ctx.reply.Bulk("matches");
  resp::Deferred header = ctx.reply.Defer();
  size_t shown = 0;
  size_t sum = 0;
  for (const CommonRun& run : runs) {
    sum += run.length;
    if (static_cast<int64_t>(run.length) < options.least_run) continue;
    ++shown;
    ctx.reply.Array(options.run_lengths ? 3 : 2);
    ReplyPlace(ctx, run.in_a, run.length);
    ReplyPlace(ctx, run.in_b, run.length);
    if (options.run_lengths) ctx.reply.Integer(static_cast<int64_t>(run.length));
  }
  header.Array(shown);
  ctx.reply.Bulk("len");
  ctx.reply.Integer(static_cast<int64_t>(sum));
}

void Lcs(Context& ctx, Args& args) {
  const Key keys[] = {ctx.KeyAt(args, 1), ctx.KeyAt(args, 2)};
  for (const Key& key : keys) {
    const Entry* entry = ctx.Read(key);
    if (entry != nullptr && !IsString(*entry))
      return ctx.Fail("ERR The specified keys must contain string values");
  }
  args.Skip(2);
  LcsOptions options;
  if (!ReadLcsOptions(ctx, args, options)) return;
  // The first look-ups have removed expired keys, so the second look-up does not remove the first entry.
  const Entry* entries[] = {ctx.keyspace.Peek(keys[0], ctx.now), ctx.keyspace.Peek(keys[1], ctx.now)};
  char digits[2][kMaxIntegerText];
  const std::string_view a = entries[0] != nullptr ? TextOf(*entries[0], digits[0]) : "";
  const std::string_view b = entries[1] != nullptr ? TextOf(*entries[1], digits[1]) : "";
  if (!RequireSizes(ctx, a.size(), b.size())) return;
  if (options.length) return ctx.reply.Integer(CommonLength(a, b));
  const std::vector<CommonRun> runs = CommonRuns(a, b);
  if (options.runs) return ReplyRuns(ctx, runs, options);
  ReplyText(ctx, a, runs);
}

constexpr Command kRows[] = {
    {.name = "lcs",
     .arity = -3,
     .flags = kReadOnly,
     .keys = {1, 2, 1, kKeyRO | kKeyAccess},
     .acl = kAclString,
     .handler = Lcs,
     .since = "7.0.0",
     .complexity = "O(N*M) where N and M are the lengths of the two values",
     .summary = "Finds the longest sequence of bytes that two string values have in common, gaps allowed.",
     .syntax = "key1 key2 [LEN] [IDX] [MINMATCHLEN min-match-len] [WITHMATCHLEN]"},
};
const CommandFamily kFamily("string", kRows);

}  // namespace
}  // namespace mayfly::lcs_commands

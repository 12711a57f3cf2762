// HOTKEYS and BIGKEYS: the most frequently requested keys, and the keys with the largest values. Neither walks through
// the keys.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "cache/keyspace/databases.h"
#include "exec/call/usage.h"
#include "exec/call/value_type.h"
#include "exec/dispatch/context.h"
#include "exec/dispatch/executor.h"

namespace mayfly::top_keys_commands {
namespace {

constexpr int64_t kUsualCount = 10;

// Returns false after an error reply.
bool ReadCount(Context& ctx, Args& args, size_t& count) {
  int64_t number = kUsualCount;
  while (!args.Done()) {
    if (!args.Accept("COUNT", 1)) return ctx.Fail(SyntaxErrorAt(ctx.row, args)), false;
    if (!ParseInteger(args.Next(), number)) return ctx.Fail(errors::kNotInteger), false;
    if (number < 1) return ctx.Fail("ERR count should be greater than 0"), false;
  }
  count = static_cast<size_t>(number);
  return true;
}

// More digits would claim too much accuracy.
double WithOneDecimal(double value) noexcept { return std::round(value * 10) / 10; }

void HotKeysCommand(Context& ctx, Args& args) {
  size_t count = 0;
  if (!ReadCount(ctx, args, count)) return;
  const std::vector<HotKeys::Hot> hottest = ctx.server.executor->hot_keys().Hottest(count, ctx.now.mono_ms);
  ctx.reply.Array(hottest.size());
  for (const HotKeys::Hot& hot : hottest) {
    ctx.reply.Array(3);
    ctx.reply.Integer(hot.database);
    ctx.reply.Bulk(hot.key);
    ctx.reply.Double(WithOneDecimal(hot.per_second));
  }
}

struct BigKey {
  unsigned database;
  const Entry* entry;
  uint64_t bytes;
};

void BigKeysCommand(Context& ctx, Args& args) {
  size_t count = 0;
  if (!ReadCount(ctx, args, count)) return;
  std::vector<BigKey> biggest;
  ctx.server.databases.ForEachBigKey(ctx.now, [&](const Keyspace& keyspace, const Entry& entry) {
    const uint64_t bytes = EntryMemory::Of(entry);
    if (bytes >= BigKeys::kStepBytes) biggest.push_back({keyspace.database(), &entry, bytes});
  });
  std::sort(biggest.begin(), biggest.end(), [](const BigKey& a, const BigKey& b) {
    return std::tuple(b.bytes, a.database, a.entry->key()) < std::tuple(a.bytes, b.database, b.entry->key());
  });
  if (biggest.size() > count) biggest.resize(count);
  ctx.reply.Array(biggest.size());
  for (const BigKey& big : biggest) {
    ctx.reply.Array(4);
    ctx.reply.Integer(big.database);
    ctx.reply.Bulk(big.entry->key());
    ctx.reply.Bulk(TypeName(*big.entry));
    ctx.reply.Integer(static_cast<int64_t>(big.bytes));
  }
}

constexpr uint32_t kFlags = kAdmin | kLoading | kStale;

constexpr Command kRows[] = {
    {.name = "bigkeys",
     .arity = -1,
     .flags = kFlags,
     .acl = kAclKeyspace,
     .handler = BigKeysCommand,
     .since = "0.1.0",
     .complexity = "O(1): at most 128 keys are compared",
     .summary = "Shows the keys with the largest values, of all databases.",
     .syntax = "[COUNT count]",
     .tips = "request_policy:all_nodes nondeterministic_output",
     .notes = "A command of Mayfly. Values of less than 16 KB are not listed."},
    {.name = "hotkeys",
     .arity = -1,
     .flags = kFlags,
     .acl = kAclKeyspace,
     .handler = HotKeysCommand,
     .since = "0.1.0",
     .complexity = "O(1): at most 256 keys are compared",
     .summary = "Shows the keys that requests name most often, of all databases, each with an estimate how "
                "often a second.",
     .syntax = "[COUNT count]",
     .tips = "request_policy:all_nodes nondeterministic_output",
     .notes = "A command of Mayfly. Of a request with several keys the first one counts."},
};
const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly::top_keys_commands

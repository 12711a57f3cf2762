// MSET, MSETNX and MSETEX: several keys in one step.
#include <climits>
#include <vector>

#include "exec/arguments/expire_options.h"
#include "exec/values/string_access.h"

namespace mayfly::string_mset_commands {
namespace {

// Sets the pairs of key and value from argument `first` to before `end`: all pairs, or none if memory is too short. If a key
// comes twice, the last value stays.
void SetPairs(Context& ctx, const Args& args, size_t first, size_t end, bool keep_ttl, Expiry expiry) {
  std::vector<KeyPut> puts;
  puts.reserve((end - first) / 2);
  for (size_t i = first; i < end; i += 2) puts.push_back({ctx.KeyAt(args, i), StringFrom(args, i + 1)});
  const bool sets_expiry = expiry.kind != Expiry::Kind::kNever;
  ctx.keyspace.PutAll(puts, keep_ttl, expiry, ctx.now, sets_expiry ? events::kSetWithExpiry : events::kSet);
}

// Returns true if at least one key exists (or, with `absent`, if at least one does not). As in Redis, the search counts as
// an access of the keys up to that key.
bool FindAnyKey(Context& ctx, const Args& args, size_t first, size_t end, bool absent) {
  for (size_t i = first; i < end; i += 2) {
    const bool there = ctx.keyspace.Find(ctx.KeyAt(args, i), ctx.now) != nullptr;
    if (there != absent) return true;
  }
  return false;
}

bool RequirePairs(Context& ctx, const Args& args) {
  if (args.size() % 2 == 1) return true;
  ctx.Fail(errors::WrongArity(ctx.row.full_name));
  return false;
}

void MSet(Context& ctx, Args& args) {
  if (!RequirePairs(ctx, args)) return;
  SetPairs(ctx, args, 1, args.size(), false, Expiry::Never());
  ctx.reply.Ok();
}

void MSetNx(Context& ctx, Args& args) {
  if (!RequirePairs(ctx, args)) return;
  if (FindAnyKey(ctx, args, 1, args.size(), false)) return ctx.reply.Integer(0);
  SetPairs(ctx, args, 1, args.size(), false, Expiry::Never());
  ctx.reply.Integer(1);
}

struct MSetExOptions {
  bool if_absent = false;
  bool if_present = false;
  bool keep_ttl = false;
  ExpireOption expire;
};

bool ReadMSetExOptions(Args& args, MSetExOptions& options) {
  while (!args.Done()) {
    const uint64_t word = WordOf(args.Next());
    if (word == WordOf("NX")) {
      options.if_absent = true;
    } else if (word == WordOf("XX")) {
      options.if_present = true;
    } else if (word == WordOf("KEEPTTL")) {
      options.keep_ttl = true;
    } else if (!options.expire.Take(word, args)) {
      return false;
    }
    if ((options.if_absent && options.if_present) || (options.keep_ttl && options.expire.given()))
      return false;
  }
  return true;
}

void MSetEx(Context& ctx, Args& args) {
  constexpr size_t kFirst = 2;
  const std::optional<int64_t> count = args.NextInteger();
  if (!count || *count < 1 || *count > INT_MAX) return ctx.Fail("ERR invalid numkeys value");
  const auto words = static_cast<size_t>(*count) * 2;
  if (args.Left() < words) return ctx.Fail("ERR wrong number of key-value pairs");
  args.Skip(words);
  MSetExOptions options;
  if (!ReadMSetExOptions(args, options)) return ctx.Fail(errors::kSyntax);
  Expiry expiry = Expiry::Never();
  if (options.expire.given() && !options.expire.Resolve(ctx, expiry)) return;

  const size_t end = kFirst + words;
  const bool conditional = options.if_absent || options.if_present;
  if (conditional && FindAnyKey(ctx, args, kFirst, end, options.if_present)) return ctx.reply.Integer(0);
  SetPairs(ctx, args, kFirst, end, options.keep_ttl, expiry);
  ctx.reply.Integer(1);
}

constexpr Command kRows[] = {
    {.name = "mset",
     .arity = -3,
     .flags = kWrite | kDenyOom,
     .keys = {1, -1, 2, kKeyOW | kKeyUpdate},
     .acl = kAclString,
     .handler = MSet,
     .since = "1.0.1",
     .complexity = "O(N) where N is the number of keys",
     .summary = "Gives several keys their string values in one step.",
     .syntax = "key value [key value ...]",
     .tips = "request_policy:multi_shard response_policy:all_succeeded"},
    {.name = "msetnx",
     .arity = -3,
     .flags = kWrite | kDenyOom,
     .keys = {1, -1, 2, kKeyOW | kKeyInsert},
     .acl = kAclString,
     .handler = MSetNx,
     .since = "1.0.1",
     .complexity = "O(N) where N is the number of keys",
     .summary = "Gives several keys their string values in one step, unless one of them exists.",
     .syntax = "key value [key value ...]",
     .tips = "request_policy:multi_shard response_policy:agg_min"},
    {.name = "msetex",
     .arity = -4,
     .flags = kWrite | kDenyOom | kMovableKeys,
     .keys = {.first = 2, .step = 2, .use = kKeyOW | kKeyUpdate, .count_at = 1},
     .acl = kAclString,
     .handler = MSetEx,
     .since = "8.4.0",
     .complexity = "O(N) where N is the number of keys",
     .summary = "Gives several keys their string values and one expiry in one step; with NX only if none "
                "exists, with XX only if all do.",
     .syntax = "numkeys key value [key value ...] [NX | XX] [EX seconds | PX milliseconds | "
               "EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]",
     .tips = "request_policy:multi_shard response_policy:all_succeeded"},
};
const CommandFamily kFamily("string", kRows);

}  // namespace
}  // namespace mayfly::string_mset_commands

// INCR, DECR, INCRBY and DECRBY: strings as 64-bit counters.
#include "exec/values/string_number.h"

namespace mayfly::string_number_commands {
namespace {

// INCR, DECR and DECRBY are reported as INCRBY, too.
void Add(Context& ctx, const Key& key, int64_t amount) {
  Entry* existing = nullptr;
  const std::optional<int64_t> old = FindNumber<IntegerKind>(ctx, key, existing);
  if (!old) return;
  const std::optional<int64_t> sum = IntegerKind::Add(*old, amount);
  if (!sum) return ctx.Fail(errors::kOverflow);
  StoreKeepingExpiry(ctx, key, existing, StringValue::Integer(*sum), IntegerKind::kEvent);
  ctx.reply.Integer(*sum);
}

void Incr(Context& ctx, Args& args) { Add(ctx, ctx.KeyAt(args, 1), 1); }
void Decr(Context& ctx, Args& args) { Add(ctx, ctx.KeyAt(args, 1), -1); }

void IncrBy(Context& ctx, Args& args) {
  const std::optional<int64_t> amount = ParseInteger(args[2]);
  if (!amount) return ctx.Fail(errors::kNotInteger);
  Add(ctx, ctx.KeyAt(args, 1), *amount);
}

void DecrBy(Context& ctx, Args& args) {
  const std::optional<int64_t> amount = ParseInteger(args[2]);
  if (!amount) return ctx.Fail(errors::kNotInteger);
  // The only amount without a negative in 64 bits.
  if (*amount == INT64_MIN) return ctx.Fail("ERR decrement would overflow");
  Add(ctx, ctx.KeyAt(args, 1), -*amount);
}

constexpr KeySpec kCounter = {1, 1, 1, kKeyRW | kKeyAccess | kKeyUpdate};

constexpr Command kRows[] = {
    {.name = "incr",
     .arity = 2,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kCounter,
     .acl = kAclString,
     .handler = Incr,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Adds one to the integer that a key holds; an absent key counts as 0.",
     .syntax = "key"},
    {.name = "decr",
     .arity = 2,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kCounter,
     .acl = kAclString,
     .handler = Decr,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Takes one from the integer that a key holds; an absent key counts as 0.",
     .syntax = "key"},
    {.name = "incrby",
     .arity = 3,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kCounter,
     .acl = kAclString,
     .handler = IncrBy,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Adds to the integer that a key holds; an absent key counts as 0.",
     .syntax = "key increment"},
    {.name = "decrby",
     .arity = 3,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kCounter,
     .acl = kAclString,
     .handler = DecrBy,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Takes from the integer that a key holds; an absent key counts as 0.",
     .syntax = "key decrement"},
};
const CommandFamily kFamily("string", kRows);

}  // namespace
}  // namespace mayfly::string_number_commands

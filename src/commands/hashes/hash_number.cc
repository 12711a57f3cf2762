// HINCRBY and HINCRBYFLOAT: fields of hashes as numbers. A field keeps its TTL.
#include <cmath>
#include <string>

#include "base/text/long_double.h"
#include "exec/values/hash_access.h"
#include "exec/values/string_number.h"

namespace mayfly::hash_number_commands {
namespace {

struct Counter {
  explicit Counter(const Key& its_key) noexcept : key(its_key) {}

  const Key key;
  Typed<HashValue> found;
  std::optional<std::string_view> text;  // of the field; nullopt if the field does not exist
  char room[HashValue::kRoom];
};

// Returns false after an error reply.
bool FindCounter(Context& ctx, std::string_view field, Counter& counter) {
  if (!FindHash(ctx, counter.key, counter.found)) return false;
  if (counter.found.value != nullptr) counter.text = counter.found.value->Get(field, counter.room);
  return true;
}

void Store(Context& ctx, const Counter& counter, std::string_view field, std::string_view text,
           const Event& event) {
  const std::string_view pair[] = {field, text};
  SetFields(ctx, counter.key, counter.found, pair, true, event);
}

void HIncrBy(Context& ctx, Args& args) {
  const std::optional<int64_t> amount = ParseInteger(args[3]);
  if (!amount) return ctx.Fail(errors::kNotInteger);
  Counter counter(ctx.KeyAt(args, 1));
  if (!FindCounter(ctx, args[2], counter)) return;
  const std::optional<int64_t> old = counter.text ? ParseInteger(*counter.text) : 0;
  if (!old) return ctx.Fail("ERR hash value is not an integer");
  const std::optional<int64_t> sum = IntegerKind::Add(*old, *amount);
  if (!sum) return ctx.Fail(errors::kOverflow);
  char digits[kMaxIntegerText];
  const Effect effect{.command = "HINCRBY", .arguments = args.all().subspan(2)};
  Store(ctx, counter, args[2], {digits, FormatInteger(*sum, digits)}, Event{"hincrby"}.With(effect));
  ctx.reply.Integer(*sum);
}

void HIncrByFloat(Context& ctx, Args& args) {
  const std::optional<long double> amount = ParseLongDouble(args[3]);
  if (!amount) return ctx.Fail(errors::kNotFloat);
  if (!std::isfinite(*amount)) return ctx.Fail("ERR value is NaN or Infinity");
  Counter counter(ctx.KeyAt(args, 1));
  if (!FindCounter(ctx, args[2], counter)) return;
  const std::optional<long double> old = counter.text ? ParseLongDouble(*counter.text) : 0;
  if (!old) return ctx.Fail("ERR hash value is not a float");
  const std::optional<long double> sum = FloatKind::Add(*old, *amount);
  if (!sum) return ctx.Fail("ERR increment would produce NaN or Infinity");
  const std::string text = FormatLongDouble(*sum);
  Store(ctx, counter, args[2], text, {"hincrbyfloat"});
  ctx.reply.Bulk(text);
}

constexpr KeySpec kCounter = {1, 1, 1, kKeyRW | kKeyAccess | kKeyUpdate};

constexpr Command kRows[] = {
    {.name = "hincrby",
     .arity = 4,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kCounter,
     .acl = kAclHash,
     .handler = HIncrBy,
     .since = "2.0.0",
     .complexity = "O(1)",
     .summary = "Adds to the integer in a hash's field; an absent field counts as 0.",
     .syntax = "key field increment"},
    {.name = "hincrbyfloat",
     .arity = 4,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kCounter,
     .acl = kAclHash,
     .handler = HIncrByFloat,
     .since = "2.6.0",
     .complexity = "O(1)",
     .summary =
         "Adds to the number in a hash's field, which may have a fraction; an absent field counts as 0.",
     .syntax = "key field float",
     .argument_notes = "float=increment"},
};
const CommandFamily kFamily("hash", kRows);

}  // namespace
}  // namespace mayfly::hash_number_commands

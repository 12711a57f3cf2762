// INCRBYFLOAT: strings as numbers with a fraction.
#include <string>

#include "base/text/long_double.h"
#include "exec/values/string_number.h"

namespace mayfly::string_float_commands {
namespace {

void IncrByFloat(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  Entry* existing = nullptr;
  const std::optional<long double> old = FindNumber<FloatKind>(ctx, key, existing);
  if (!old) return;
  const std::optional<long double> amount = ParseLongDouble(args[2]);
  if (!amount) return ctx.Fail(errors::kNotFloat);
  const std::optional<long double> sum = FloatKind::Add(*old, *amount);
  if (!sum) return ctx.Fail("ERR increment would produce NaN or Infinity");
  const std::string text = FormatLongDouble(*sum);
  StoreKeepingExpiry(ctx, key, existing, StringValue::Text(text), FloatKind::kEvent);
  ctx.reply.Bulk(text);
}

constexpr Command kRows[] = {
    {.name = "incrbyfloat",
     .arity = 3,
     .flags = kWrite | kDenyOom | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyAccess | kKeyUpdate},
     .acl = kAclString,
     .handler = IncrByFloat,
     .since = "2.6.0",
     .complexity = "O(1)",
     .summary = "Adds to the number that a key holds, which may have a fraction; an absent key counts as 0.",
     .syntax = "key float",
     .argument_notes = "float=increment"},
};
const CommandFamily kFamily("string", kRows);

}  // namespace
}  // namespace mayfly::string_float_commands

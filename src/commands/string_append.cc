// APPEND: strings that grow in place of being set.
#include "config/settings.h"
#include "exec/string_access.h"

namespace mayfly {
namespace {

// Both texts behind each other; a block where the result is too big to lie in an entry.
StringValue Joined(std::string_view front, std::string_view back, std::string& scratch) {
  const size_t size = front.size() + back.size();
  if (size > Entry::kMaxInlineValue) {
    SharedBytes block = SharedBytes::Allocate(size);
    front.copy(block.data(), front.size());
    back.copy(block.data() + front.size(), back.size());
    return StringValue::Block(std::move(block));
  }
  scratch.reserve(size);
  scratch.append(front).append(back);
  return StringValue::Edited(scratch);
}

void Append(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  const std::string_view addition = args[2];
  Entry* existing = ctx.keyspace.Find(key, ctx.now);
  if (existing == nullptr) {
    ctx.keyspace.Put(key, nullptr, StringFrom(args, 2), Expiry::Never(), ctx.now);
    return ctx.reply.Integer(static_cast<int64_t>(addition.size()));
  }
  if (!RequireString(ctx, *existing)) return;
  const size_t size = existing->TextLength() + addition.size();
  if (size > ctx.server.options.settings().proto_max_bulk_len) return ctx.Fail(errors::kStringTooBig);

  char digits[kMaxIntegerText];
  std::string_view front;
  if (existing->encoding() == Encoding::kInteger) {
    front = {digits, FormatInteger(existing->integer(), digits)};
  } else {
    front = existing->text();
  }
  std::string scratch;
  ctx.keyspace.PutValue(key, *existing, Joined(front, addition, scratch), ctx.now);
  ctx.reply.Integer(static_cast<int64_t>(size));
}

constexpr Command kRows[] = {
    {.name = "append",
     .arity = 3,
     .flags = kWrite | kDenyOom | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyInsert},
     .acl = kAclString,
     .handler = Append,
     .since = "2.0.0",
     .complexity = "O(N) where N is the length of the new value",
     .summary = "Adds bytes to the end of a string value; creates the key where it is absent.",
     .syntax = "key value"},
};
const CommandFamily kFamily("string", kRows);

}  // namespace
}  // namespace mayfly

// GETRANGE, SUBSTR and SETRANGE: parts of a string by position.
#include "exec/arguments/index_range.h"
#include "exec/values/string_edit.h"

namespace mayfly::string_range_commands {
namespace {

void ReplyPart(Context& ctx, const Entry& entry, IndexRange range) {
  if (entry.encoding() == Encoding::kBlock)
    return ctx.reply.BulkShared(entry.block(), range.first, range.size());
  char digits[kMaxIntegerText];
  ctx.reply.Bulk(TextOf(entry, digits).substr(range.first, range.size()));
}

void GetRange(Context& ctx, Args& args) {
  const std::optional<int64_t> start = ParseInteger(args[2]);
  const std::optional<int64_t> end = ParseInteger(args[3]);
  if (!start || !end) return ctx.Fail(errors::kNotInteger);
  const Entry* const entry = ReadString(ctx, ctx.KeyAt(args, 1), [&] { ctx.reply.Bulk(""); });
  if (entry == nullptr) return;
  const std::optional<IndexRange> range = ClipOrderedRange(*start, *end, entry->TextLength());
  if (!range) return ctx.reply.Bulk("");
  ReplyPart(ctx, *entry, *range);
}

constexpr Event kSetRange{"setrange"};

void SetRange(Context& ctx, Args& args) {
  const std::optional<int64_t> offset = ParseInteger(args[2]);
  if (!offset) return ctx.Fail(errors::kNotInteger);
  if (*offset < 0) return ctx.Fail("ERR offset is out of range");
  const Key key = ctx.KeyAt(args, 1);
  Entry* existing = nullptr;
  if (!FindString(ctx, key, existing)) return;
  const size_t old = existing != nullptr ? existing->TextLength() : 0;
  const std::string_view part = args[3];
  if (part.empty()) return ctx.reply.Integer(static_cast<int64_t>(old));  // changes nothing
  const auto begin = static_cast<uint64_t>(*offset);
  if (!RequireStringSize(ctx, begin, part.size())) return;
  const size_t end = begin + part.size();
  const Effect effect{.command = "SETRANGE", .arguments = args.all().subspan(2)};
  EditString(ctx, key, existing, {begin, end}, kSetRange.With(effect), [&](char* bytes) {
    part.copy(bytes + begin, part.size());
    return true;
  });
  ctx.reply.Integer(static_cast<int64_t>(std::max(old, end)));
}

constexpr KeySpec kPartRead = {1, 1, 1, kKeyRO | kKeyAccess};

constexpr Command kRows[] = {
    {.name = "getrange",
     .arity = 4,
     .flags = kReadOnly,
     .keys = kPartRead,
     .acl = kAclString,
     .handler = GetRange,
     .since = "2.4.0",
     .complexity = "O(N) where N is the length of the answer",
     .summary = "Answers with the bytes of a string value between two indices.",
     .syntax = "key start end"},
    {.name = "substr",
     .arity = 4,
     .flags = kReadOnly,
     .keys = kPartRead,
     .acl = kAclString,
     .handler = GetRange,
     .since = "1.0.0",
     .complexity = "O(N) where N is the length of the answer",
     .summary = "The old name of GETRANGE.",
     .syntax = "key start end",
     .doc_flags = "deprecated",
     .deprecated_since = "2.0.0",
     .replaced_by = "`GETRANGE`"},
    {.name = "setrange",
     .arity = 4,
     .flags = kWrite | kDenyOom,
     .keys = {1, 1, 1, kKeyRW | kKeyUpdate},
     .acl = kAclString,
     .handler = SetRange,
     .since = "2.2.0",
     .complexity =
         "O(N) where N is the length of the new bytes, and of the zeros before them where the string "
         "was shorter",
     .summary = "Overwrites the bytes of a string value from an offset on; zeros fill a gap before it.",
     .syntax = "key offset value"},
};
const CommandFamily kFamily("string", kRows);

}  // namespace
}  // namespace mayfly::string_range_commands

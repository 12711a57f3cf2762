// XINFO: the parts and figures of a stream.
#include <optional>
#include <string>

#include "exec/arguments/stream_arguments.h"
#include "exec/dispatch/context.h"
#include "exec/docs/command_help.h"

namespace mayfly::stream_info_commands {
namespace {

constexpr uint64_t kUsualCount = 10;

// FULL [COUNT count]. False after having answered the error. `count`: nothing without FULL; 0 is no limit.
bool ReadInfoOptions(Context& ctx, Args& args, std::optional<uint64_t>& count) {
  args.Skip(1);
  if (args.Done()) return true;
  const bool known = args.Left() == 1 || args.Left() == 3;
  if (!known || !args.Accept("FULL") || (!args.Done() && !args.Accept("COUNT"))) {
    ctx.Fail(errors::WrongSubcommand("XINFO", args[1]));
    return false;
  }
  count = kUsualCount;
  if (args.Done()) return true;
  const std::optional<int64_t> number = args.NextInteger();
  if (!number) return ctx.Fail(errors::kNotInteger), false;
  if (*number >= 0) count = static_cast<uint64_t>(*number);
  return true;
}

void ReplyEdge(Context& ctx, std::string_view name, const StreamValue& stream, bool falling) {
  ctx.reply.Bulk(name);
  if (stream.length() == 0) return ctx.reply.Null();
  stream.ForRange({}, StreamId::Max(), falling, [&](const StreamEntry& entry) {
    ReplyStreamEntry(ctx, entry);
    return false;
  });
}

void XInfoStream(Context& ctx, Args& args) {
  Typed<StreamValue> found;
  if (!ctx.ReadTyped(ctx.KeyAt(args, 2), found)) return;
  if (found.value == nullptr) return ctx.Fail(errors::kNoSuchKey);
  std::optional<uint64_t> count;
  if (!ReadInfoOptions(ctx, args, count)) return;
  const StreamValue& stream = *found.value;
  const auto number = [&](std::string_view name, uint64_t value) {
    ctx.reply.Bulk(name);
    ctx.reply.Integer(static_cast<int64_t>(value));
  };
  const auto id = [&](std::string_view name, StreamId value) {
    ctx.reply.Bulk(name);
    ReplyStreamId(ctx, value);
  };
  ctx.reply.Map(count ? 9 : 10);
  number("length", stream.length());
  number("radix-tree-keys", stream.nodes());
  number("radix-tree-nodes", stream.nodes() + 1);
  id("last-generated-id", stream.last_id());
  id("max-deleted-entry-id", stream.max_deleted_id());
  number("entries-added", stream.added());
  id("recorded-first-entry-id", stream.FirstEntryId());
  if (count) {
    ctx.reply.Bulk("entries");
    ReplyStreamRange(ctx, stream, {}, StreamId::Max(), *count);
    ctx.reply.Bulk("groups");
    return ctx.reply.EmptyArray();
  }
  number("groups", 0);
  ReplyEdge(ctx, "first-entry", stream, false);
  ReplyEdge(ctx, "last-entry", stream, true);
}

// A stream has no consumer groups here, so whatever group is asked for is missing.
void XInfoGroups(Context& ctx, Args& args) {
  Typed<StreamValue> found;
  if (!ctx.ReadTyped(ctx.KeyAt(args, 2), found)) return;
  if (found.value == nullptr) return ctx.Fail(errors::kNoSuchKey);
  ctx.reply.EmptyArray();
}

void XInfoConsumers(Context& ctx, Args& args) {
  Typed<StreamValue> found;
  if (!ctx.ReadTyped(ctx.KeyAt(args, 2), found)) return;
  if (found.value == nullptr) return ctx.Fail(errors::kNoSuchKey);
  ctx.Fail("NOGROUP No such consumer group '" + std::string(errors::Repeated(args[3])) + "' for key name '" +
           std::string(errors::Repeated(args[2])) + "'");
}

constexpr KeySpec kRead = {2, 2, 1, kKeyRO | kKeyAccess};

constexpr Command kSubcommands[] = {
    {.name = "consumers",
     .arity = 4,
     .flags = kReadOnly,
     .keys = kRead,
     .acl = kAclStream,
     .handler = XInfoConsumers,
     .since = "5.0.0",
     .complexity = "O(1)",
     .summary = "Answers that the stream has no such consumer group.",
     .syntax = "key groupname",
     .tips = "nondeterministic_output"},
    {.name = "groups",
     .arity = 3,
     .flags = kReadOnly,
     .keys = kRead,
     .acl = kAclStream,
     .handler = XInfoGroups,
     .since = "5.0.0",
     .complexity = "O(1)",
     .summary = "Answers an empty list: a stream has no consumer groups.",
     .syntax = "key"},
    HelpRow("5.0.0", kAclStream),
    {.name = "stream",
     .arity = -3,
     .flags = kReadOnly,
     .keys = kRead,
     .acl = kAclStream,
     .handler = XInfoStream,
     .since = "5.0.0",
     .complexity = "O(1); with FULL O(N) where N is the number of entries that are answered",
     .summary = "Tells what a stream is made of.",
     .syntax = "key [FULL [COUNT count]]"},
};

constexpr Command kRows[] = {
    {.name = "xinfo",
     .arity = -2,
     .since = "5.0.0",
     .complexity = "Depends on subcommand.",
     .summary = "A container for commands about streams.",
     .subcommands = kSubcommands,
     .notes = "There are no consumer groups, so GROUPS lists none."},
};
const CommandFamily kFamily("stream", kRows);

}  // namespace
}  // namespace mayfly::stream_info_commands

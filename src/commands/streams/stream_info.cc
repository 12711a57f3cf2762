// XINFO: the parts and figures of a stream, its groups and their consumers.
#include <algorithm>
#include <optional>

#include "exec/arguments/stream_arguments.h"
#include "exec/dispatch/context.h"
#include "exec/docs/command_help.h"
#include "exec/values/group_access.h"
#include "exec/values/group_counts.h"

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

size_t GroupsOf(const StreamValue& stream) noexcept {
  return stream.groups() != nullptr ? stream.groups()->size() : 0;
}

void ReplyNumber(Context& ctx, std::string_view name, int64_t value) {
  ctx.reply.Bulk(name);
  ctx.reply.Integer(value);
}

void ReplyCount(Context& ctx, std::string_view name, uint64_t value) {
  ReplyNumber(ctx, name, static_cast<int64_t>(value));
}

void ReplyOptional(Context& ctx, std::string_view name, std::optional<int64_t> value) {
  if (value) return ReplyNumber(ctx, name, *value);
  ctx.reply.Bulk(name);
  ctx.reply.Null();
}

void ReplyId(Context& ctx, std::string_view name, StreamId id) {
  ctx.reply.Bulk(name);
  ReplyStreamId(ctx, id);
}

// entries-read and lag.
void ReplyProgress(Context& ctx, const StreamValue& stream, const StreamGroup& group) {
  const bool known = group.entries_read != StreamGroup::kUnknown;
  ReplyOptional(ctx, "entries-read", known ? std::optional(group.entries_read) : std::nullopt);
  ReplyOptional(ctx, "lag", LagOf(stream, group));
}

// ---- FULL. Of everything at most `count` is answered; 0: no limit.

size_t Shown(size_t all, uint64_t count) noexcept {
  return count == 0 ? all : std::min<uint64_t>(all, count);
}

void ReplyPendingOf(Context& ctx, const StreamGroup& group, uint64_t count) {
  ctx.reply.Bulk("pending");
  size_t left = Shown(group.pending(), count);
  ctx.reply.Array(left);
  if (left == 0) return;
  group.deliveries().ForFrom({}, [&](StreamId id, const Delivery& delivery) {
    ctx.reply.Array(4);
    ReplyStreamId(ctx, id);
    ctx.reply.Bulk(group.ConsumerOf(delivery).name);
    ctx.reply.Integer(delivery.ms);
    ctx.reply.Integer(delivery.count);
    return --left != 0;
  });
}

void ReplyConsumerFull(Context& ctx, const StreamGroup& group, const StreamConsumer& consumer,
                       uint64_t count) {
  ctx.reply.Map(5);
  ctx.reply.Bulk("name");
  ctx.reply.Bulk(consumer.name);
  ReplyNumber(ctx, "seen-time", consumer.seen_ms);
  ReplyNumber(ctx, "active-time", consumer.active_ms);
  ReplyCount(ctx, "pel-count", consumer.pending());
  ctx.reply.Bulk("pending");
  size_t left = Shown(consumer.pending(), count);
  ctx.reply.Array(left);
  if (left == 0) return;
  consumer.ids().ForFrom({}, [&](StreamId id, const auto&) {
    const Delivery& delivery = *group.Find(id);
    ctx.reply.Array(3);
    ReplyStreamId(ctx, id);
    ctx.reply.Integer(delivery.ms);
    ctx.reply.Integer(delivery.count);
    return --left != 0;
  });
}

void ReplyGroupFull(Context& ctx, const StreamValue& stream, const StreamGroup& group, uint64_t count) {
  ctx.reply.Map(7);
  ctx.reply.Bulk("name");
  ctx.reply.Bulk(group.name);
  ReplyId(ctx, "last-delivered-id", group.last_id);
  ReplyProgress(ctx, stream, group);
  ReplyCount(ctx, "pel-count", group.pending());
  ReplyPendingOf(ctx, group, count);
  ctx.reply.Bulk("consumers");
  ctx.reply.Array(group.consumers());
  group.ForEachConsumer(
      [&](const StreamConsumer& consumer) { ReplyConsumerFull(ctx, group, consumer, count); });
}

void ReplyGroupsFull(Context& ctx, const StreamValue& stream, uint64_t count) {
  ctx.reply.Bulk("groups");
  ctx.reply.Array(GroupsOf(stream));
  if (GroupsOf(stream) == 0) return;
  stream.groups()->ForEach([&](const StreamGroup& group) { ReplyGroupFull(ctx, stream, group, count); });
}

void XInfoStream(Context& ctx, Args& args) {
  Typed<StreamValue> found;
  if (!ctx.ReadTyped(ctx.KeyAt(args, 2), found)) return;
  if (found.value == nullptr) return ctx.Fail(errors::kNoSuchKey);
  std::optional<uint64_t> count;
  if (!ReadInfoOptions(ctx, args, count)) return;
  const StreamValue& stream = *found.value;
  ctx.reply.Map(count ? 9 : 10);
  ReplyCount(ctx, "length", stream.length());
  ReplyCount(ctx, "radix-tree-keys", stream.nodes());
  ReplyCount(ctx, "radix-tree-nodes", stream.nodes() + 1);
  ReplyId(ctx, "last-generated-id", stream.last_id());
  ReplyId(ctx, "max-deleted-entry-id", stream.max_deleted_id());
  ReplyCount(ctx, "entries-added", stream.added());
  ReplyId(ctx, "recorded-first-entry-id", stream.FirstEntryId());
  if (count) {
    ctx.reply.Bulk("entries");
    ReplyStreamRange(ctx, stream, {}, StreamId::Max(), *count);
    return ReplyGroupsFull(ctx, stream, *count);
  }
  ReplyCount(ctx, "groups", GroupsOf(stream));
  ReplyEdge(ctx, "first-entry", stream, false);
  ReplyEdge(ctx, "last-entry", stream, true);
}

void XInfoGroups(Context& ctx, Args& args) {
  Typed<StreamValue> found;
  if (!ctx.ReadTyped(ctx.KeyAt(args, 2), found)) return;
  if (found.value == nullptr) return ctx.Fail(errors::kNoSuchKey);
  ctx.reply.Array(GroupsOf(*found.value));
  if (found.value->groups() == nullptr) return;
  found.value->groups()->ForEach([&](const StreamGroup& group) {
    ctx.reply.Map(6);
    ctx.reply.Bulk("name");
    ctx.reply.Bulk(group.name);
    ReplyCount(ctx, "consumers", group.consumers());
    ReplyCount(ctx, "pending", group.pending());
    ReplyId(ctx, "last-delivered-id", group.last_id);
    ReplyProgress(ctx, *found.value, group);
  });
}

void XInfoConsumers(Context& ctx, Args& args) {
  FoundGroup found;
  if (!FindGroup(ctx, ctx.KeyAt(args, 2), args[3], found)) return;
  if (found.stream == nullptr) return ctx.Fail(errors::kNoSuchKey);
  if (found.group == nullptr) return FailNoGroupOfKey(ctx, args[2], args[3]);
  ctx.reply.Array(found.group->consumers());
  found.group->ForEachConsumer([&](const StreamConsumer& consumer) {
    const bool active = consumer.active_ms != StreamConsumer::kNever;
    ctx.reply.Map(4);
    ctx.reply.Bulk("name");
    ctx.reply.Bulk(consumer.name);
    ReplyCount(ctx, "pending", consumer.pending());
    ReplyNumber(ctx, "idle", MsSince(ctx, consumer.seen_ms));
    ReplyNumber(ctx, "inactive", active ? MsSince(ctx, consumer.active_ms) : StreamConsumer::kNever);
  });
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
     .complexity = "O(N) where N is the number of consumers",
     .summary = "Lists the consumers of a group.",
     .syntax = "key groupname",
     .tips = "nondeterministic_output"},
    {.name = "groups",
     .arity = 3,
     .flags = kReadOnly,
     .keys = kRead,
     .acl = kAclStream,
     .handler = XInfoGroups,
     .since = "5.0.0",
     .complexity = "O(N) where N is the number of groups",
     .summary = "Lists the consumer groups of a stream.",
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
     .notes = "inactive and active-time as in Redis 7.2."},
};
const CommandFamily kFamily("stream", kRows);

}  // namespace
}  // namespace mayfly::stream_info_commands

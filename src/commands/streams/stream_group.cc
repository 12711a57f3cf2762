// XGROUP: makes and removes consumer groups of streams, and their consumers.
#include <memory>
#include <optional>

#include "cache/keyspace/databases.h"
#include "exec/arguments/stream_arguments.h"
#include "exec/dispatch/context.h"
#include "exec/docs/command_help.h"
#include "exec/values/edit_or_create.h"
#include "exec/values/group_access.h"

namespace mayfly::stream_group_commands {
namespace {

constexpr Event kCreated{.name = "xgroup-create", .unseen = true};
constexpr Event kNewStream{"xgroup-create"};
constexpr Event kIdSet{.name = "xgroup-setid", .unseen = true};
constexpr Event kDestroyed{.name = "xgroup-destroy", .unseen = true};
constexpr Event kConsumerRemoved{.name = "xgroup-delconsumer", .unseen = true};

// With more words an option stands twice. As in Redis, this is told after a missing key.
constexpr size_t kMostWordsToCreate = 8;
constexpr size_t kMostWordsToSetId = 7;

struct GroupOptions {
  bool make_stream = false;
  int64_t entries_read = StreamGroup::kUnknown;
};

// Reads what follows the ID. False after having answered the error.
bool ReadGroupOptions(Context& ctx, Args& args, bool creates, GroupOptions& options) {
  constexpr size_t kFixed = 3;
  args.Skip(kFixed);
  while (!args.Done()) {
    if (creates && args.Accept("MKSTREAM")) {
      options.make_stream = true;
    } else if (args.Accept("ENTRIESREAD", 1)) {
      const std::optional<int64_t> read = args.NextInteger();
      if (!read) return ctx.Fail(errors::kNotInteger), false;
      if (*read < 0 && *read != StreamGroup::kUnknown)
        return ctx.Fail("ERR value for ENTRIESREAD must be positive or -1"), false;
      options.entries_read = *read;
    } else {
      return ctx.Fail(errors::WrongSubcommand("XGROUP", args[1])), false;
    }
  }
  return true;
}

// Finds the stream. False after the error that it is missing, unless the command may create it.
bool FindStream(Context& ctx, const Key& key, bool may_create, Typed<StreamValue>& found) {
  if (!ctx.FindTyped(key, found)) return false;
  if (found.value != nullptr) {
    AwaitSaveOfGroups(ctx, *found.entry, *found.value);
    return true;
  }
  if (may_create) return true;
  ctx.Fail(
      "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the "
      "MKSTREAM option to create an empty stream automatically.");
  return false;
}

const StreamGroup* GroupOf(const Typed<StreamValue>& found, std::string_view name) {
  const bool any = found.value != nullptr && found.value->groups() != nullptr;
  return any ? found.value->groups()->Find(name) : nullptr;
}

// Finds the stream and the group of arguments 2 and 3. False after having answered that one is missing.
bool RequireGroup(Context& ctx, const Args& args, const Key& key, FoundGroup& found) {
  Typed<StreamValue> typed;
  if (!FindStream(ctx, key, false, typed)) return false;
  found = {.entry = typed.entry, .stream = typed.value, .group = GroupOf(typed, args[3])};
  if (found.group == nullptr) FailNoGroupOfKey(ctx, args[2], args[3]);
  return found.group != nullptr;
}

// An ID, or "$" for the last one of the stream, which may be null. Nothing after having answered the error. As in Redis, SETID also takes
// "-" and "+", and CREATE does not.
std::optional<StreamId> ReadGroupId(Context& ctx, std::string_view text, const StreamValue* stream,
                                    StreamIdForm form) {
  if (text == "$") return stream != nullptr ? stream->last_id() : StreamId{};
  const std::optional<StreamIdText> read = ReadStreamId(ctx, text, form);
  if (!read) return std::nullopt;
  return read->id;
}

// The request does the same to a copy of the stream.
Effect EffectOf(std::string_view subcommand, const Args& args) {
  return {.command = "XGROUP", .subcommand = subcommand, .arguments = args.all().subspan(3)};
}

void Create(Context& ctx, Args& args) {
  GroupOptions options;
  if (!ReadGroupOptions(ctx, args, true, options)) return;
  const Key key = ctx.KeyAt(args, 2);
  Typed<StreamValue> found;
  if (!FindStream(ctx, key, options.make_stream, found)) return;
  if (args.size() > kMostWordsToCreate) return ctx.Fail(errors::WrongSubcommand("XGROUP", args[1]));
  const std::optional<StreamId> id = ReadGroupId(ctx, args[4], found.value, StreamIdForm::kStrict);
  if (!id) return;
  if (GroupOf(found, args[3]) != nullptr) return ctx.Fail("BUSYGROUP Consumer Group name already exists");
  if (found.value == nullptr) {
    auto stream = std::make_unique<StreamValue>();
    stream->EditGroups().Add(args[3], *id, options.entries_read);
    ctx.keyspace.PutRich(key, nullptr, std::move(stream), Expiry::Never(), ctx.now, kNewStream);
  } else {
    const Effect effect = EffectOf("CREATE", args);
    const Event event = kCreated.With(effect);
    ctx.keyspace.EditRich<StreamValue>(key, *found.entry, ctx.now, event, [&](StreamValue& stream) {
      stream.EditGroups().Add(args[3], *id, options.entries_read);
      return true;
    });
  }
  ctx.reply.Ok();
}

void SetId(Context& ctx, Args& args) {
  GroupOptions options;
  if (!ReadGroupOptions(ctx, args, false, options)) return;
  const Key key = ctx.KeyAt(args, 2);
  FoundGroup found;
  if (!RequireGroup(ctx, args, key, found)) return;
  if (args.size() > kMostWordsToSetId) return ctx.Fail(errors::WrongSubcommand("XGROUP", args[1]));
  const std::optional<StreamId> id = ReadGroupId(ctx, args[4], found.stream, StreamIdForm::kRange);
  if (!id) return;
  const Effect effect = EffectOf("SETID", args);
  const Event event = kIdSet.With(effect);
  EditGroup(
      ctx, key, found,
      [&](StreamValue&, StreamGroup& group) {
        group.last_id = *id;
        group.entries_read = options.entries_read;
      },
      [&] { return &event; });
  ctx.reply.Ok();
}

// A large group is freed in slices, as the group of a stream that is gone.
void Destroy(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 2);
  Typed<StreamValue> found;
  if (!FindStream(ctx, key, false, found)) return;
  if (GroupOf(found, args[3]) == nullptr) return ctx.reply.Integer(0);
  auto grave = std::make_unique<StreamValue>();
  const Effect effect = EffectOf("DESTROY", args);
  ctx.keyspace.EditRich<StreamValue>(key, *found.entry, ctx.now, kDestroyed.With(effect),
                                     [&](StreamValue& stream) {
                                       StreamGroups& groups = stream.EditGroups();
                                       grave->EditGroups().TakeFrom(groups, *groups.Find(args[3]));
                                       return true;
                                     });
  ctx.server.databases.Bury(std::move(grave));
  ctx.reply.Integer(1);
}

void CreateConsumer(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 2);
  FoundGroup found;
  if (!RequireGroup(ctx, args, key, found)) return;
  if (found.group->FindConsumer(args[4]) != nullptr) return ctx.reply.Integer(0);
  bool created = false;
  const Effect effect = EffectOf("CREATECONSUMER", args);
  const Event event = kConsumerCreated.With(effect);
  EditGroup(
      ctx, key, found,
      [&](StreamValue&, StreamGroup& group) { ConsumerIn(group, args[4], ctx.now.wall_ms, created); },
      [&] { return created ? &event : nullptr; });
  ctx.reply.Integer(1);
}

void DelConsumer(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 2);
  FoundGroup found;
  if (!RequireGroup(ctx, args, key, found)) return;
  if (found.group->FindConsumer(args[4]) == nullptr) return ctx.reply.Integer(0);
  size_t held = 0;
  const Effect effect = EffectOf("DELCONSUMER", args);
  const Event event = kConsumerRemoved.With(effect);
  EditGroup(
      ctx, key, found,
      [&](StreamValue&, StreamGroup& group) { held = group.RemoveConsumer(*group.FindConsumer(args[4])); },
      [&] { return &event; });
  ctx.reply.Integer(static_cast<int64_t>(held));
}

constexpr Command kSubcommands[] = {
    {.name = "create",
     .arity = -5,
     .flags = kWrite | kDenyOom,
     .keys = {2, 2, 1, kKeyRW | kKeyInsert},
     .acl = kAclStream,
     .handler = Create,
     .since = "5.0.0",
     .complexity = "O(1)",
     .summary = "Makes a consumer group, which begins after an id, or after the stream's last one with $.",
     .syntax = "key groupname <id|$> [MKSTREAM] [ENTRIESREAD entries-read]",
     .argument_notes = "option=id $=new_id ENTRIESREAD=entries_read"},
    {.name = "createconsumer",
     .arity = 5,
     .flags = kWrite | kDenyOom,
     .keys = {2, 2, 1, kKeyRW | kKeyInsert},
     .acl = kAclStream,
     .handler = CreateConsumer,
     .since = "6.2.0",
     .complexity = "O(1)",
     .summary = "Makes a consumer of a group.",
     .syntax = "key groupname consumername"},
    {.name = "delconsumer",
     .arity = 5,
     .flags = kWrite,
     .keys = {2, 2, 1, kKeyRW | kKeyDelete},
     .acl = kAclStream,
     .handler = DelConsumer,
     .since = "5.0.0",
     .complexity = "O(N) where N is the number of entries that the consumer holds, or the group",
     .summary = "Removes a consumer, and what it holds; answers with the number of these entries.",
     .syntax = "key groupname consumername"},
    {.name = "destroy",
     .arity = 4,
     .flags = kWrite,
     .keys = {2, 2, 1, kKeyRW | kKeyDelete},
     .acl = kAclStream,
     .handler = Destroy,
     .since = "5.0.0",
     .complexity = "O(1); memory is freed in slices",
     .summary = "Removes a consumer group.",
     .syntax = "key groupname"},
    HelpRow("5.0.0", kAclStream),
    {.name = "setid",
     .arity = -5,
     .flags = kWrite,
     .keys = {2, 2, 1, kKeyRW | kKeyUpdate},
     .acl = kAclStream,
     .handler = SetId,
     .since = "5.0.0",
     .complexity = "O(1)",
     .summary = "Sets the last id that a group has delivered.",
     .syntax = "key groupname <id|$> [ENTRIESREAD entries-read]",
     .argument_notes = "option=id $=new_id ENTRIESREAD=entries_read",
     .notes = "Entries that the group has to deliver again go to clients that wait, at once."},
};

constexpr Command kRows[] = {
    {.name = "xgroup",
     .arity = -2,
     .since = "5.0.0",
     .complexity = "Depends on subcommand.",
     .summary = "A container for commands about consumer groups.",
     .subcommands = kSubcommands},
};
const CommandFamily kFamily("stream", kRows);

}  // namespace
}  // namespace mayfly::stream_group_commands

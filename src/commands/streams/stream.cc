// XADD, XDEL, XTRIM and kin: add, delete and trim entries of streams.
#include <algorithm>
#include <array>
#include <vector>

#include "cache/changes/stream_addition.h"
#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "exec/arguments/stream_arguments.h"
#include "exec/dispatch/context.h"
#include "exec/values/edit_or_create.h"
#include "exec/values/stream_saved_access.h"

namespace mayfly::stream_commands {
namespace {

constexpr Event kXAdd{"xadd"};
constexpr Event kXAddAndTrim{"xadd", "xtrim"};
constexpr Event kXDel{"xdel"};
constexpr Event kXTrim{"xtrim"};
constexpr Event kReleased{.name = "", .unseen = true};  // from groups, as group_access.h's kDelivered
constexpr Event kXSetId{.name = "xsetid", .unseen = true};

StreamLimits LimitsOf(const Context& ctx) {
  const config::Settings& settings = ctx.server.options.settings();
  return {.node_bytes = settings.stream_node_max_bytes,
          .node_entries = static_cast<size_t>(settings.stream_node_max_entries)};
}

// The id that a new entry gets, or nothing if it would not be higher than `last`.
std::optional<StreamId> NextId(const Context& ctx, StreamId last, const std::optional<StreamIdText>& wanted) {
  StreamId id;
  if (!wanted) {
    id = {static_cast<uint64_t>(ctx.now.wall_ms), 0};
    if (id.ms <= last.ms) {
      id = last;
      id.Increment();
    }
  } else {
    id = wanted->id;
    if (wanted->any_sequence && id.ms == last.ms) {
      if (last.sequence == UINT64_MAX) return std::nullopt;
      id.sequence = last.sequence + 1;
    }
  }
  if (id <= last) return std::nullopt;
  return id;
}

// False after having answered the error.
bool RequireSmall(Context& ctx, std::span<const std::string_view> pairs) {
  if (StreamValue::CanBeSaved(pairs)) return true;
  ctx.Fail("ERR Elements are too large to be stored");
  return false;
}

void AddEntry(Context& ctx, const Key& key, const Typed<StreamValue>& found, StreamId id,
              std::span<const std::string_view> pairs, const std::optional<StreamTrim>& trim) {
  const StreamLimits limits = LimitsOf(ctx);
  StreamAddition addition(ctx.server.databases.changes().WantsEffects(), id, pairs);
  const bool is_plain = !trim || trim->references == StreamReferences::kKeep;
  Event event = kXAdd;
  bool added = false;
  EditOrCreate<StreamValue>(
      ctx, key, found,
      [&](StreamValue& stream) {
        stream.Append(id, pairs, limits);
        added = true;
        const StreamTrimmed done = trim ? stream.Trim(*trim) : StreamTrimmed{};  // needs no memory
        if (done.entries != 0) event = kXAddAndTrim;
        if (!done.any() || is_plain) event = addition.Tell(event, done.entries != 0, stream.length());
      },
      [&] { return added ? &event : nullptr; });
}

void XAdd(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  args.Skip(1);
  StreamAddOptions options;
  if (!ReadStreamAddOptions(ctx, args, true, options)) return;
  const std::span<const std::string_view> pairs = args.Rest();
  if (pairs.empty() || pairs.size() % 2 != 0) return ctx.Fail(errors::WrongArity(ctx.row.full_name));
  if (options.id && !options.id->any_sequence && options.id->id == StreamId{})
    return ctx.Fail("ERR The ID specified in XADD must be greater than 0-0");
  Typed<StreamValue> found;
  if (!ctx.FindTyped(key, found)) return;
  if (found.value == nullptr && options.no_new_stream) return ctx.reply.Null();
  const StreamId last = found.value != nullptr ? found.value->last_id() : StreamId{};
  if (last == StreamId::Max())
    return ctx.Fail("ERR The stream has exhausted the last possible ID, unable to add more items");
  const std::optional<StreamId> id = NextId(ctx, last, options.id);
  if (!id)
    return ctx.Fail("ERR The ID specified in XADD is equal or smaller than the target stream top item");
  if (!RequireSmall(ctx, pairs)) return;
  if (options.trim) AwaitSaveForTrim(ctx, found, *options.trim);
  AddEntry(ctx, key, found, *id, pairs, options.trim);
  ReplyStreamId(ctx, *id);
}

void XLen(Context& ctx, Args& args) {
  Typed<StreamValue> found;
  if (!ctx.ReadTyped(ctx.KeyAt(args, 1), found)) return;
  ctx.reply.Integer(found.value != nullptr ? static_cast<int64_t>(found.value->length()) : 0);
}

void XDel(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  Typed<StreamValue> found;
  if (!ctx.FindTyped(key, found)) return;
  if (found.value == nullptr) return ctx.reply.Integer(0);
  std::vector<StreamId> ids;
  for (const std::string_view text : args.all().subspan(2)) {
    const std::optional<StreamIdText> id = ReadStreamId(ctx, text, StreamIdForm::kStrict);
    if (!id) return;
    ids.push_back(id->id);
  }
  // A save has to read the nodes before a deleted entry first. The arity makes sure that there is an ID.
  AwaitSaveForTrim(ctx, found,
                   {.by = StreamTrim::By::kId, .min_id = *std::max_element(ids.begin(), ids.end())});
  int64_t deleted = 0;
  const Effect effect{.command = "XDEL", .arguments = args.all().subspan(2)};
  ctx.keyspace.EditRich<StreamValue>(key, *found.entry, ctx.now, kXDel.With(effect),
                                     [&](StreamValue& stream) {
                                       for (const StreamId id : ids) deleted += stream.Delete(id) ? 1 : 0;
                                       return deleted != 0;
                                     });
  ctx.reply.Integer(deleted);
}

void XTrim(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  args.Skip(1);
  StreamAddOptions options;
  if (!ReadStreamAddOptions(ctx, args, false, options)) return;
  Typed<StreamValue> found;
  if (!ctx.FindTyped(key, found)) return;
  AwaitSaveForTrim(ctx, found, *options.trim);
  StreamTrimmed done;
  if (found.value != nullptr) {
    char digits[kMaxIntegerText];
    std::array<std::string_view, 3> words = {"MAXLEN", "=", {}};
    const Effect effect{.command = "XTRIM", .arguments = words};
    const bool is_plain = options.trim->references == StreamReferences::kKeep;
    Event event = is_plain ? kXTrim.With(effect) : kXTrim;
    ctx.keyspace.EditRich<StreamValue>(key, *found.entry, ctx.now, event, [&](StreamValue& stream) {
      done = stream.Trim(*options.trim);
      if (done.entries == 0) event = kReleased;
      words[2] = {digits, FormatInteger(static_cast<int64_t>(stream.length()), digits)};
      return done.any();
    });
  }
  ctx.reply.Integer(static_cast<int64_t>(done.entries));
}

struct SetIdOptions {
  StreamId id;
  std::optional<int64_t> added = {};
  StreamId max_deleted = {};
};

// False after having answered the error.
bool ReadSetIdOptions(Context& ctx, Args& args, SetIdOptions& options) {
  args.Skip(1);
  const std::optional<StreamIdText> id = ReadStreamId(ctx, args.Next(), StreamIdForm::kStrict);
  if (!id) return false;
  options.id = id->id;
  while (!args.Done()) {
    if (args.Accept("ENTRIESADDED", 1)) {
      options.added = args.NextInteger();
      if (!options.added) return ctx.Fail(errors::kNotInteger), false;
      if (*options.added < 0) return ctx.Fail("ERR entries_added must be positive"), false;
    } else if (args.Accept("MAXDELETEDID", 1)) {
      const std::optional<StreamIdText> deleted = ReadStreamId(ctx, args.Next(), StreamIdForm::kStrict);
      if (!deleted) return false;
      options.max_deleted = deleted->id;
      if (options.id < options.max_deleted) {
        ctx.Fail("ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id");
        return false;
      }
    } else {
      return ctx.Fail(errors::kSyntax), false;
    }
  }
  return true;
}

void XSetId(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  SetIdOptions options;
  if (!ReadSetIdOptions(ctx, args, options)) return;
  Typed<StreamValue> found;
  if (!ctx.FindTyped(key, found)) return;
  if (found.value == nullptr) return ctx.Fail(errors::kNoSuchKey);
  const StreamValue& stream = *found.value;
  // A master of an older version may have gone back.
  if (options.id < stream.max_deleted_id() && ctx.origin != Origin::kMaster)
    return ctx.Fail("ERR The ID specified in XSETID is smaller than current max_deleted_entry_id");
  if (stream.length() != 0 && options.id < stream.LastEntryId())
    return ctx.Fail("ERR The ID specified in XSETID is smaller than the target stream top item");
  if (options.added && stream.length() > static_cast<uint64_t>(*options.added) && stream.length() != 0)
    return ctx.Fail("ERR The entries_added specified in XSETID is smaller than the target stream length");
  const Effect effect{.command = "XSETID", .arguments = args.all().subspan(2)};
  ctx.keyspace.EditRich<StreamValue>(key, *found.entry, ctx.now, kXSetId.With(effect),
                                     [&](StreamValue& edited) {
                                       edited.SetLastId(options.id);
                                       if (options.added)
                                         edited.SetAdded(static_cast<uint64_t>(*options.added));
                                       if (options.max_deleted != StreamId{})
                                         edited.SetMaxDeletedId(options.max_deleted);
                                       return true;
                                     });
  ctx.reply.Ok();
}

constexpr Command kRows[] = {
    {.name = "xadd",
     .arity = -5,
     .flags = kWrite | kDenyOom | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyUpdate, "It may also be trimmed."},
     .acl = kAclStream,
     .handler = XAdd,
     .since = "5.0.0",
     .complexity = "O(1); with trimming O(N) where N is the number of entries that are removed",
     .summary = "Adds an entry to a stream; creates the key if it is absent.",
     .syntax =
         "key [NOMKSTREAM] [KEEPREF | DELREF | ACKED] [<MAXLEN|MINID> [=|~] threshold [LIMIT count]] <*|id> "
         "field value [field value ...]",
     .argument_notes = "KEEPREF@8.2.0 DELREF@8.2.0 ACKED@8.2.0",
     .tips = "nondeterministic_output"},
    {.name = "xlen",
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = {1, 1, 1, kKeyRO},
     .acl = kAclStream,
     .handler = XLen,
     .since = "5.0.0",
     .complexity = "O(1)",
     .summary = "Answers with the number of entries of a stream.",
     .syntax = "key"},
    {.name = "xdel",
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyDelete},
     .acl = kAclStream,
     .handler = XDel,
     .since = "5.0.0",
     .complexity = "O(log N) for each id, N being the number of entries",
     .summary = "Deletes entries of a stream by their ids; a stream without entries stays.",
     .syntax = "key id [id ...]"},
    {.name = "xtrim",
     .arity = -4,
     .flags = kWrite,
     .keys = {1, 1, 1, kKeyRW | kKeyDelete},
     .acl = kAclStream,
     .handler = XTrim,
     .since = "5.0.0",
     .complexity = "O(N) where N is the number of entries that are removed",
     .summary = "Removes the oldest entries of a stream, up to a length or an id.",
     .syntax = "key <MAXLEN|MINID> [=|~] threshold [LIMIT count] [KEEPREF | DELREF | ACKED]",
     .argument_notes = "KEEPREF@8.2.0 DELREF@8.2.0 ACKED@8.2.0",
     .tips = "nondeterministic_output",
     .notes = "KEEPREF, DELREF and ACKED as for XDELEX. DELREF also takes from groups what XDEL had deleted "
              "before the end of the trim."},
    {.name = "xsetid",
     .arity = -3,
     .flags = kWrite | kDenyOom | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyUpdate},
     .acl = kAclStream,
     .handler = XSetId,
     .since = "5.0.0",
     .complexity = "O(1)",
     .summary = "Sets what a stream knows besides its entries: its last id, and what was added and deleted.",
     .syntax = "key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]",
     .argument_notes = "ENTRIESADDED=entries_added@7.0.0 MAXDELETEDID=max_deleted_entry_id@7.0.0"},
};
const CommandFamily kFamily("stream", kRows);

}  // namespace
}  // namespace mayfly::stream_commands

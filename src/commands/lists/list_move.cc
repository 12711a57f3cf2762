// LMOVE, BLMOVE and kin: move an element from an end of one list to an end of another list, or of the same list.
#include <string>

#include "exec/arguments/wait_limit.h"
#include "exec/values/list_access.h"

namespace mayfly::list_move_commands {
namespace {

struct Ends {
  ListEnd from = ListEnd::kTail;
  ListEnd to = ListEnd::kHead;
};

// Returns nullopt after an error reply.
std::optional<Ends> ReadEnds(Context& ctx, const Args& args) {
  const std::optional<ListEnd> from = ReadListEnd(ctx, args[3]);
  if (!from) return std::nullopt;
  const std::optional<ListEnd> to = ReadListEnd(ctx, args[4]);
  if (!to) return std::nullopt;
  return Ends{*from, *to};
}

// Adds the element before removing it: adding may find no memory. The events come in the same order, as in Redis.
// REQUIRES: `source` is the list of `key`.
void MoveElement(Context& ctx, const Args& args, const Key& key, TypedList source, const Ends& ends) {
  const Key to = ctx.keyspace.KeyOf(args[2]);
  TypedList destination;
  if (!ctx.FindTyped(to, destination)) return;
  // Two edits of one list: the entry must not be relocated between them.
  const bool rotates = destination.entry == source.entry;
  source.entry = ctx.keyspace.WithDeadline(key, *source.entry, ctx.now);
  if (rotates) destination.entry = source.entry;
  char room[PackItem::kRoom];
  const std::string text(source.value->At(ends.from).Text(room));
  ctx.reply.out().RequireRoom(text.size());  // before anything is changed
  const std::string_view texts[] = {text};
  // A move to the same end of the same list leaves the list unchanged: only the two events are reported.
  const bool twice = rotates && ends.from == ends.to;
  if (twice) {
    const Effect push{.command = ends.to == ListEnd::kHead ? "LPUSH" : "RPUSH", .arguments = texts};
    const Effect pop{.command = ends.from == ListEnd::kHead ? "LPOP" : "RPOP"};
    ctx.keyspace.EditRich<ListValue>(key, *source.entry, ctx.now, PushEvent(ends.to).With(push),
                                     [](ListValue&) { return true; });
    ctx.keyspace.EditRich<ListValue>(key, *source.entry, ctx.now, PopEvent(ends.from).With(pop),
                                     [](ListValue&) { return true; });
  } else {
    PushTexts(ctx, to, destination, ends.to, texts);
    DropItems(ctx, key, source, ends.from, 1);
  }
  ctx.reply.Bulk(text);
}

void MoveAtOnce(Context& ctx, const Args& args, const Ends& ends) {
  const Key key = ctx.KeyAt(args, 1);
  TypedList source;
  if (!ctx.FindTyped(key, source)) return;
  if (source.entry == nullptr) return ctx.reply.Null();
  MoveElement(ctx, args, key, source, ends);
}

void MoveOrWait(Context& ctx, const Args& args, const Ends& ends) {
  if (AnswerEndOfWait(ctx)) return;
  const std::optional<uint64_t> deadline = ReadFirstWaitLimit(ctx, args[args.size() - 1]);
  if (!deadline) return;
  const Key key = ctx.KeyAt(args, 1);
  TypedList source;
  bool other = false;
  if (!FindAwaited(ctx, key, source, other)) return;
  if (source.entry != nullptr) return MoveElement(ctx, args, key, source, ends);
  ctx.MayPark() ? ctx.Park(args, *deadline, args.all().subspan(1, 1), ValueType::kList) : ctx.reply.Null();
}

void LMove(Context& ctx, Args& args) {
  if (const std::optional<Ends> ends = ReadEnds(ctx, args)) MoveAtOnce(ctx, args, *ends);
}

void RPopLPush(Context& ctx, Args& args) { MoveAtOnce(ctx, args, Ends()); }

void BlMove(Context& ctx, Args& args) {
  if (const std::optional<Ends> ends = ReadEnds(ctx, args)) MoveOrWait(ctx, args, *ends);
}

void BRPopLPush(Context& ctx, Args& args) { MoveOrWait(ctx, args, Ends()); }

constexpr KeySpec kSource = {1, 1, 1, kKeyRW | kKeyAccess | kKeyDelete};
constexpr KeySpec kDestination = {2, 2, 1, kKeyRW | kKeyInsert};

constexpr Command kRows[] = {
    {.name = "lmove",
     .arity = 5,
     .flags = kWrite | kDenyOom,
     .keys = kSource,
     .more_keys = kDestination,
     .acl = kAclList,
     .handler = LMove,
     .since = "6.2.0",
     .complexity = "O(1)",
     .summary = "Moves an element from an end of a list to an end of another one, and returns it.",
     .syntax = "source destination <LEFT | RIGHT> <LEFT | RIGHT>",
     .argument_notes = "condition=wherefrom condition=whereto"},
    {.name = "rpoplpush",
     .arity = 3,
     .flags = kWrite | kDenyOom,
     .keys = kSource,
     .more_keys = kDestination,
     .acl = kAclList,
     .handler = RPopLPush,
     .since = "1.2.0",
     .complexity = "O(1)",
     .summary = "Moves the last element of a list to the head of another one, and returns it.",
     .syntax = "source destination",
     .doc_flags = "deprecated",
     .deprecated_since = "6.2.0",
     .replaced_by = "`LMOVE` with the `RIGHT` and `LEFT` arguments"},
    {.name = "blmove",
     .arity = 6,
     .flags = kWrite | kDenyOom | kNoScript | kBlocking,
     .keys = kSource,
     .more_keys = kDestination,
     .acl = kAclList,
     .handler = BlMove,
     .since = "6.2.0",
     .complexity = "O(1)",
     .summary = "Moves an element from an end of a list to an end of another one; waits until there is one.",
     .syntax = "source destination <LEFT | RIGHT> <LEFT | RIGHT> timeout-seconds",
     .argument_notes = "timeout-seconds=timeout condition=wherefrom condition=whereto"},
    {.name = "brpoplpush",
     .arity = 4,
     .flags = kWrite | kDenyOom | kNoScript | kBlocking,
     .keys = kSource,
     .more_keys = kDestination,
     .acl = kAclList,
     .handler = BRPopLPush,
     .since = "2.2.0",
     .complexity = "O(1)",
     .summary = "Moves the last element of a list to the head of another one; waits until there is one.",
     .syntax = "source destination timeout-seconds",
     .argument_notes = "timeout-seconds=timeout",
     .doc_flags = "deprecated",
     .deprecated_since = "6.2.0",
     .replaced_by = "`BLMOVE` with the `RIGHT` and `LEFT` arguments"},
};
const CommandFamily kFamily("list", kRows);

}  // namespace
}  // namespace mayfly::list_move_commands

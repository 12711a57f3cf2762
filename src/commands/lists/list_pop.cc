// LPOP, LMPOP, BLPOP and kin: take elements from an end of a list. The blocking commands wait until one of their keys
// is a list.
#include <algorithm>
#include <array>
#include <string>

#include "exec/arguments/multi_pop.h"
#include "exec/arguments/wait_limit.h"
#include "exec/call/errors.h"
#include "exec/values/list_access.h"

namespace mayfly::list_pop_commands {
namespace {

template <ListEnd kEnd>
void Pop(Context& ctx, Args& args) {
  if (args.size() > 3) return ctx.Fail(errors::WrongArity(ctx.row.full_name));
  const bool counted = args.size() == 3;
  const std::optional<int64_t> count = counted ? ParseInteger(args[2]) : 1;
  if (!count || *count < 0) return ctx.Fail("ERR value is out of range, must be positive");
  const Key key = ctx.KeyAt(args, 1);
  TypedList list;
  if (!ctx.FindTyped(key, list)) return;
  if (list.entry == nullptr) return counted ? ctx.reply.NullArray() : ctx.reply.Null();
  if (*count == 0) return ctx.reply.EmptyArray();
  if (counted) {
    const uint64_t most = std::min<uint64_t>(static_cast<uint64_t>(*count), list.value->Size());
    AwaitSaveFor(ctx, list, most);
    return PopItems(ctx, key, list, kEnd, most);
  }
  ReplyItem(ctx, list.value->At(kEnd));
  DropItems(ctx, key, list, kEnd, 1);
}

// ---- the first list of several keys

struct FoundList {
  std::string_view name;
  Key key;
  TypedList list;
};

// Returns false after an error reply.
bool FindFirstList(Context& ctx, std::span<const std::string_view> names, FoundList& found) {
  bool other = false;
  for (const std::string_view name : names) {
    const Key key = ctx.keyspace.KeyOf(name);
    TypedList list;
    if (!FindAwaited(ctx, key, list, other)) return false;
    if (list.entry == nullptr) continue;
    if (other) return ctx.Fail(errors::kWrongType), false;
    found = {name, key, list};
    return true;
  }
  return true;
}

template <ListEnd kEnd>
void BlockingPop(Context& ctx, Args& args) {
  if (AnswerEndOfWait(ctx)) return;
  const std::span<const std::string_view> names = args.all().subspan(1, args.size() - 2);
  const std::optional<uint64_t> deadline = ReadFirstWaitLimit(ctx, args[args.size() - 1]);
  if (!deadline) return;
  FoundList found;
  if (!FindFirstList(ctx, names, found)) return;
  if (found.list.entry == nullptr)
    return ctx.MayPark() ? ctx.Park(args, *deadline, names, ValueType::kList) : ctx.reply.NullArray();
  ctx.reply.Array(2);
  ctx.reply.Bulk(found.name);
  ReplyItem(ctx, found.list.value->At(kEnd));
  DropItems(ctx, found.key, found.list, kEnd, 1);
}

void ReplyMultiPop(Context& ctx, const MultiPop<ListEnd>& pop, const FoundList& found) {
  const uint64_t count = std::min<uint64_t>(pop.count, found.list.value->Size());
  AwaitSaveFor(ctx, found.list, count);
  ctx.reply.Array(2);
  ctx.reply.Bulk(found.name);
  PopItems(ctx, found.key, found.list, pop.end, count);
}

void LMPop(Context& ctx, Args& args) {
  const std::optional<MultiPop<ListEnd>> pop = ReadMultiPop(ctx, args, ReadListEnd);
  if (!pop) return;
  FoundList found;
  if (!FindFirstList(ctx, pop->names, found)) return;
  if (found.list.entry == nullptr) return ctx.reply.NullArray();
  ReplyMultiPop(ctx, *pop, found);
}

void BlMPop(Context& ctx, Args& args) {
  if (AnswerEndOfWait(ctx)) return;
  const std::string_view seconds = args.Next();
  const std::optional<MultiPop<ListEnd>> pop = ReadMultiPop(ctx, args, ReadListEnd);
  if (!pop) return;
  const std::optional<uint64_t> deadline = ReadFirstWaitLimit(ctx, seconds);
  if (!deadline) return;
  FoundList found;
  if (!FindFirstList(ctx, pop->names, found)) return;
  if (found.list.entry == nullptr)
    return ctx.MayPark() ? ctx.Park(args, *deadline, pop->names, ValueType::kList) : ctx.reply.NullArray();
  ReplyMultiPop(ctx, *pop, found);
}

constexpr uint16_t kTakes = kKeyRW | kKeyAccess | kKeyDelete;

constexpr Command kRows[] = {
    {.name = "lpop",
     .arity = -2,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kTakes},
     .acl = kAclList,
     .handler = Pop<ListEnd::kHead>,
     .since = "1.0.0",
     .complexity = "O(N) where N is the number of elements returned",
     .summary = "Removes and returns the first element of a list, or as many as are asked for.",
     .syntax = "key [count]",
     .argument_notes = "count@6.2.0"},
    {.name = "rpop",
     .arity = -2,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kTakes},
     .acl = kAclList,
     .handler = Pop<ListEnd::kTail>,
     .since = "1.0.0",
     .complexity = "O(N) where N is the number of elements returned",
     .summary = "Removes and returns the last element of a list, or as many as are asked for.",
     .syntax = "key [count]",
     .argument_notes = "count@6.2.0"},
    {.name = "lmpop",
     .arity = -4,
     .flags = kWrite | kMovableKeys,
     .keys = {.first = 2, .step = 1, .use = kTakes, .count_at = 1},
     .acl = kAclList,
     .handler = LMPop,
     .since = "7.0.0",
     .complexity = "O(N+M) where N is the number of keys and M the number of elements returned",
     .summary = "Removes and returns elements of the first of several keys that is a list.",
     .syntax = "numkeys key [key ...] <LEFT | RIGHT> [COUNT count]",
     .argument_notes = "condition=where"},
    {.name = "blpop",
     .arity = -3,
     .flags = kWrite | kNoScript | kBlocking,
     .keys = {1, -2, 1, kTakes},
     .acl = kAclList,
     .handler = BlockingPop<ListEnd::kHead>,
     .since = "2.0.0",
     .complexity = "O(N) where N is the number of keys",
     .summary =
         "Removes and returns the first element of the first key that is a list; waits until there is one.",
     .syntax = "key [key ...] timeout-seconds",
     .argument_notes = "timeout-seconds=timeout"},
    {.name = "brpop",
     .arity = -3,
     .flags = kWrite | kNoScript | kBlocking,
     .keys = {1, -2, 1, kTakes},
     .acl = kAclList,
     .handler = BlockingPop<ListEnd::kTail>,
     .since = "2.0.0",
     .complexity = "O(N) where N is the number of keys",
     .summary =
         "Removes and returns the last element of the first key that is a list; waits until there is one.",
     .syntax = "key [key ...] timeout-seconds",
     .argument_notes = "timeout-seconds=timeout"},
    {.name = "blmpop",
     .arity = -5,
     .flags = kWrite | kBlocking | kMovableKeys,
     .keys = {.first = 3, .step = 1, .use = kTakes, .count_at = 2},
     .acl = kAclList,
     .handler = BlMPop,
     .since = "7.0.0",
     .complexity = "O(N+M) where N is the number of keys and M the number of elements returned",
     .summary = "Removes and returns elements of the first key that is a list; waits until there is one.",
     .syntax = "timeout-seconds numkeys key [key ...] <LEFT | RIGHT> [COUNT count]",
     .argument_notes = "timeout-seconds=timeout condition=where"},
};
const CommandFamily kFamily("list", kRows);

}  // namespace
}  // namespace mayfly::list_pop_commands

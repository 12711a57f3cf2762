// LSET, LINSERT, LREM and LTRIM: change elements between the ends of a list.
#include "exec/arguments/index_range.h"
#include "exec/values/list_access.h"

namespace mayfly::list_edit_commands {
namespace {

constexpr Event kSetEvent{"lset"};
constexpr Event kInsertEvent{"linsert"};
constexpr Event kRemoveEvent{"lrem"};
constexpr Event kTrimEvent{"ltrim"};

void LSet(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  TypedList list;
  if (!ctx.FindTyped(key, list)) return;
  if (list.entry == nullptr) return ctx.Fail(errors::kNoSuchKey);
  const std::optional<int64_t> index = ParseInteger(args[2]);
  if (!index) return ctx.Fail(errors::kNotInteger);
  const auto size = static_cast<int64_t>(list.value->Size());
  const int64_t at = *index < 0 ? size + *index : *index;
  if (at < 0 || at >= size) return ctx.Fail("ERR index out of range");
  AwaitSave(ctx, list.entry);
  const Effect effect{.command = "LSET", .arguments = args.all().subspan(2)};
  ctx.keyspace.EditRich<ListValue>(key, *list.entry, ctx.now, kSetEvent.With(effect), [&](ListValue& value) {
    value.Set(static_cast<uint64_t>(at), args[3], LimitOf(ctx));
    return true;
  });
  ctx.reply.Ok();
}

// The index of the first element equal to `item`.
std::optional<uint64_t> FindFirst(const ListValue& list, const PackItem& item) {
  const uint64_t size = list.Size();
  ListWalk walk(list, 0, ListEnd::kHead);
  for (uint64_t i = 0; i < size; ++i, walk.Next()) {
    if (walk.Is(item)) return i;
  }
  return std::nullopt;
}

void LInsert(Context& ctx, Args& args) {
  const uint64_t where = WordOf(args[2]);
  if (where != WordOf("BEFORE") && where != WordOf("AFTER")) return ctx.Fail(errors::kSyntax);
  const Key key = ctx.KeyAt(args, 1);
  TypedList list;
  if (!ctx.FindTyped(key, list)) return;
  if (list.entry == nullptr) return ctx.reply.Integer(0);
  AwaitSave(ctx, list.entry);  // first, so that a request that waits does not search again and again
  const std::optional<uint64_t> pivot = FindFirst(*list.value, PackItem::Of(args[3]));
  if (!pivot) return ctx.reply.Integer(-1);
  const Effect effect{.command = "LINSERT", .arguments = args.all().subspan(2)};
  ctx.keyspace.EditRich<ListValue>(
      key, *list.entry, ctx.now, kInsertEvent.With(effect), [&](ListValue& value) {
        value.Insert(where == WordOf("AFTER") ? *pivot + 1 : *pivot, args[4], LimitOf(ctx));
        return true;
      });
  ctx.reply.Integer(static_cast<int64_t>(list.value->Size()));
}

void LRem(Context& ctx, Args& args) {
  const std::optional<int64_t> count = ParseInteger(args[2]);
  if (!count) return ctx.Fail(errors::kNotInteger);
  const Key key = ctx.KeyAt(args, 1);
  TypedList list;
  if (!ctx.FindTyped(key, list)) return;
  if (list.entry == nullptr) return ctx.reply.Integer(0);
  const ListEnd from = *count < 0 ? ListEnd::kTail : ListEnd::kHead;
  const auto wanted = static_cast<uint64_t>(*count);
  const uint64_t most = *count == 0 ? UINT64_MAX : *count < 0 ? 0 - wanted : wanted;
  uint64_t removed = 0;
  AwaitSave(ctx, list.entry);
  const Effect effect{.command = "LREM", .arguments = args.all().subspan(2)};
  ctx.keyspace.EditRich<ListValue>(key, *list.entry, ctx.now, kRemoveEvent.With(effect),
                                   [&](ListValue& value) {
                                     removed = value.Remove(PackItem::Of(args[3]), most, from, LimitOf(ctx));
                                     return removed != 0;
                                   });
  ctx.reply.Integer(static_cast<int64_t>(removed));
}

void LTrim(Context& ctx, Args& args) {
  const std::optional<int64_t> start = ParseInteger(args[2]);
  const std::optional<int64_t> stop = ParseInteger(args[3]);
  if (!start || !stop) return ctx.Fail(errors::kNotInteger);
  const Key key = ctx.KeyAt(args, 1);
  TypedList list;
  if (!ctx.FindTyped(key, list)) return;
  if (list.entry == nullptr) return ctx.reply.Ok();
  const std::optional<IndexRange> range = ClipMembers(*start, *stop, list.value->Size());
  AwaitSave(ctx, list.entry);
  const Effect effect{.command = "LTRIM", .arguments = args.all().subspan(2)};
  ctx.keyspace.EditRich<ListValue>(key, *list.entry, ctx.now, kTrimEvent.With(effect), [&](ListValue& value) {
    range ? value.Keep(range->first, range->size(), LimitOf(ctx)) : value.Keep(0, 0, LimitOf(ctx));
    return true;
  });
  ctx.reply.Ok();
}

constexpr Command kRows[] = {
    {.name = "lset",
     .arity = 4,
     .flags = kWrite | kDenyOom,
     .keys = {1, 1, 1, kKeyRW | kKeyUpdate},
     .acl = kAclList,
     .handler = LSet,
     .since = "1.0.0",
     .complexity = "O(N) where N is the distance from the nearer end, in nodes; O(1) at the ends",
     .summary = "Replaces the element with this index.",
     .syntax = "key index element"},
    {.name = "linsert",
     .arity = 5,
     .flags = kWrite | kDenyOom,
     .keys = {1, 1, 1, kKeyRW | kKeyInsert},
     .acl = kAclList,
     .handler = LInsert,
     .since = "2.2.0",
     .complexity = "O(N) where N is the number of elements before the pivot",
     .summary = "Adds an element before or after the first one that is equal to the pivot.",
     .syntax = "key <BEFORE | AFTER> pivot element",
     .argument_notes = "condition=where"},
    {.name = "lrem",
     .arity = 4,
     .flags = kWrite,
     .keys = {1, 1, 1, kKeyRW | kKeyDelete},
     .acl = kAclList,
     .handler = LRem,
     .since = "1.0.0",
     .complexity = "O(N) where N is the number of elements",
     .summary = "Removes elements that are equal to a value; with a negative count, from the tail on.",
     .syntax = "key count element"},
    {.name = "ltrim",
     .arity = 4,
     .flags = kWrite,
     .keys = {1, 1, 1, kKeyRW | kKeyDelete},
     .acl = kAclList,
     .handler = LTrim,
     .since = "1.0.0",
     .complexity = "O(N) where N is the number of elements that are removed",
     .summary = "Removes all elements outside of a range.",
     .syntax = "key start stop"},
};
const CommandFamily kFamily("list", kRows);

}  // namespace
}  // namespace mayfly::list_edit_commands

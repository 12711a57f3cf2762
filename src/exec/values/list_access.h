// Reads, fills and empties lists for commands.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "cache/types/list_value.h"
#include "config/sources/options.h"
#include "exec/arguments/word.h"
#include "exec/dispatch/context.h"
#include "exec/values/edit_or_create.h"
#include "exec/values/saved_access.h"

namespace mayfly {

using TypedList = Typed<ListValue>;

inline ListLimit LimitOf(const Context& ctx) noexcept {
  return ListLimit(ctx.server.options.settings().list_max_listpack_size);
}

inline void ReplyItem(Context& ctx, const PackItem& item) {
  if (item.kind == PackItem::Kind::kText) return ctx.reply.Bulk(item.text);
  ctx.reply.BulkInteger(item.integer);
}

// LEFT or RIGHT; nothing after having answered the error.
inline std::optional<ListEnd> ReadListEnd(Context& ctx, std::string_view text) {
  switch (WordOf(text)) {
    case WordOf("LEFT"):
      return ListEnd::kHead;
    case WordOf("RIGHT"):
      return ListEnd::kTail;
    default:
      return ctx.Fail(errors::kSyntax), std::nullopt;
  }
}

inline std::string_view WordOf(ListEnd end) noexcept { return end == ListEnd::kHead ? "LEFT" : "RIGHT"; }
inline Event PushEvent(ListEnd end) noexcept { return {end == ListEnd::kHead ? "lpush" : "rpush"}; }
inline Event PopEvent(ListEnd end) noexcept { return {end == ListEnd::kHead ? "lpop" : "rpop"}; }

// Adds the texts one after another to the list of `key`, which is created if `list` is empty. Returns its size.
// REQUIRES: the texts do not lie in the list.
inline size_t PushTexts(Context& ctx, const Key& key, const TypedList& list, ListEnd end,
                        std::span<const std::string_view> texts) {
  const ListLimit limit = LimitOf(ctx);
  const Effect effect{.command = end == ListEnd::kHead ? "LPUSH" : "RPUSH", .arguments = texts};
  const Event event = PushEvent(end).With(effect);
  size_t size = 0;
  EditOrCreate<ListValue>(
      ctx, key, list,
      [&](ListValue& value) {
        value.Push(end, texts, limit);  // all or none
        size = value.Size();
      },
      [&] { return size != 0 ? &event : nullptr; });
  return size;
}

// Removes `count` elements, and the key with the last one. REQUIRES: 0 < count <= list.value->Size().
inline void DropItems(Context& ctx, const Key& key, const TypedList& list, ListEnd end, uint64_t count) {
  char digits[kMaxIntegerText];
  const std::string_view number(digits, FormatInteger(static_cast<int64_t>(count), digits));
  const Effect effect{.command = end == ListEnd::kHead ? "LPOP" : "RPOP", .arguments = {&number, 1}};
  const Event event = PopEvent(end).With(effect);
  ctx.keyspace.EditRich<ListValue>(key, *list.entry, ctx.now, event, [&](ListValue& value) {
    value.Drop(end, count, LimitOf(ctx));
    return true;
  });
}

// Answers with `count` elements from `index` on, away from `from`, without a header. REQUIRES: the list has that many.
inline void ReplyItems(Context& ctx, const ListValue& list, uint64_t index, uint64_t count, ListEnd from) {
  if (count == 0) return;
  ListWalk walk(list, index, from);
  char room[PackItem::kRoom];
  for (; count != 0; --count, walk.Next()) ctx.reply.Bulk(walk.Text(room));
}

// Must precede a removal of `count` elements from an end. As AwaitSave.
inline void AwaitSaveFor(Context& ctx, const TypedList& list, uint64_t count) {
  if (count > kTakenAtOnce) AwaitSave(ctx, list.entry);
}

// Answers with an array of `count` elements from an end, and removes them. REQUIRES: as DropItems.
inline void PopItems(Context& ctx, const Key& key, const TypedList& list, ListEnd end, uint64_t count) {
  ctx.reply.Array(count);
  ReplyItems(ctx, *list.value, end == ListEnd::kHead ? 0 : list.value->Size() - 1, count, end);
  DropItems(ctx, key, list, end, count);
}

}  // namespace mayfly

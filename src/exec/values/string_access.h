// Reads strings from entries into replies, and makes strings from arguments.
#pragma once

#include <cassert>
#include <string_view>
#include <utility>

#include "base/text/numbers.h"
#include "cache/entry/value.h"
#include "exec/dispatch/context.h"

namespace mayfly {

// Argument `index` as SET stores it: if the connection read it into a block, that is shared, not copied.
[[gnu::always_inline]] inline StringValue StringFrom(const Args& args, size_t index) {
  if (!args.HasBlocks()) [[likely]]
    return StringValue::Of(args[index]);
  if (SharedBytes block = args.BlockOf(index)) return StringValue::Block(std::move(block));
  return StringValue::Of(args[index]);
}

// Gives the key this value, and reports that as `event`. Its expiry stays; a new key has none. REQUIRES:
// `existing` is what Find returned for the key just before.
inline void StoreKeepingExpiry(Context& ctx, const Key& key, Entry* existing, StringValue&& value,
                               const Event& event) {
  assert(existing == nullptr || existing->key() == key.text);
  if (existing != nullptr)
    ctx.keyspace.PutValue(key, *existing, std::move(value), ctx.now, event);
  else
    ctx.keyspace.Put(key, nullptr, std::move(value), Expiry::Never(), ctx.now, event);
}

// Answers with the value of a string. Big values are shared with the reply. REQUIRES: entry.encoding() !=
// kRich.
[[gnu::always_inline]] inline void ReplyString(Context& ctx, const Entry& entry) {
  assert(entry.encoding() != Encoding::kRich);
  const Encoding encoding = entry.encoding();
  if (encoding <= Encoding::kEdited) [[likely]]
    return ctx.reply.Bulk(entry.stored());
  if (encoding == Encoding::kInteger) return ctx.reply.BulkInteger(entry.integer());
  ctx.reply.BulkShared(entry.block());
}

inline bool IsString(const Entry& entry) noexcept { return entry.encoding() != Encoding::kRich; }

// The text of a string value; an integer's is written to `digits`, which must live as long as the view.
inline std::string_view TextOf(const Entry& entry, char (&digits)[kMaxIntegerText]) noexcept {
  if (entry.encoding() != Encoding::kInteger) return entry.text();
  return {digits, FormatInteger(entry.integer(), digits)};
}

// True for a string; otherwise answers with the error for a value of another type.
inline bool RequireString(Context& ctx, const Entry& entry) {
  if (IsString(entry)) [[likely]]
    return true;
  ctx.Fail(errors::kWrongType);
  return false;
}

// The string that a command reads. Null after having answered: by absent() if there is no such key, by the error
// if it holds a value of another type.
template <typename Absent>
[[gnu::always_inline]] inline Entry* ReadString(Context& ctx, const Key& key, Absent&& absent) {
  Entry* const entry = ctx.Read(key);
  if (entry == nullptr) {
    absent();
    return nullptr;
  }
  return RequireString(ctx, *entry) ? entry : nullptr;
}

// The string that a command changes; `existing` is null if there is no such key. False, after having answered the
// error, if it holds a value of another type.
[[gnu::always_inline]] inline bool FindString(Context& ctx, const Key& key, Entry*& existing) {
  existing = ctx.keyspace.Find(key, ctx.now);
  return existing == nullptr || RequireString(ctx, *existing);
}

}  // namespace mayfly

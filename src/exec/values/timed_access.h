// Finds hashes, sets and sorted sets without due members, for commands. No command sees a member that is due.
#pragma once

#include <cstddef>

#include "cache/types/sorted_set_value.h"
#include "exec/dispatch/context.h"

namespace mayfly {

// A command drops at most this many members that are due. The value treats the others as absent, and the loop drops
// them in slices. A sorted set has to take them out of its order for that, which SortedSetValue::kAtOnce asks for.
inline constexpr size_t kDropAtOnce = 10'000;

// Drops what is due of the value of an entry that was found; `entry` may be null, and be of any type. Returns the entry,
// or null if the key is gone with its last member. A value that stays is not moved.
[[gnu::always_inline]] inline Entry* DropDueMembers(Context& ctx, const Key& key, Entry* entry) {
  if (entry == nullptr || !entry->timed() || entry->encoding() != Encoding::kRich) [[likely]]
    return entry;
  // The wall clock may have been set back since: members that were due and hidden, but not dropped, are there again.
  // A budget of 0 only tells the value what time it is.
  const Expiry own = entry->own();
  if (own.kind == Expiry::Kind::kWall && !own.Reached(ctx.now)) entry->rich()->DropDue(ctx.now, 0);
  const bool ranked = entry->rich()->type == ValueType::kSortedSet;
  return ctx.keyspace.DropDueMembers(key, *entry, ctx.now, ranked ? SortedSetValue::kAtOnce : kDropAtOnce);
}
template <typename T>
void DropDueMembers(Context& ctx, const Key& key, Typed<T>& found) {
  found.entry = DropDueMembers(ctx, key, found.entry);
  if (found.entry == nullptr) found.value = nullptr;
}

// As Context::ReadTyped, but without members that are due.
template <typename T>
bool ReadLive(Context& ctx, const Key& key, Typed<T>& found) {
  if (!ctx.ReadTyped(key, found)) return false;
  DropDueMembers(ctx, key, found);
  return true;
}
// As Context::FindTyped, likewise.
template <typename T>
bool FindLive(Context& ctx, const Key& key, Typed<T>& found) {
  if (!ctx.FindTyped(key, found)) return false;
  DropDueMembers(ctx, key, found);
  return true;
}

}  // namespace mayfly

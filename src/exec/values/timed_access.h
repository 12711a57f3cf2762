// Finds and changes hashes, sets and sorted sets without due members, for commands. No command sees a member that is
// due.
#pragma once

#include <cstddef>
#include <new>

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

// Lets edit(T&, changed) change the value, which sets `changed` once it has changed anything, and reports that as
// `event`. If memory runs out in between, what was done is reported all the same, and std::bad_alloc is thrown; the
// client is closed then, because an error would say that nothing was done. Returns the entry, or null if the key was
// removed with its last member.
// REQUIRES: Keyspace::RoomForOwnTime was called before if `edit` may give a member a deadline.
template <typename T, typename Edit>
Entry* EditMembers(Context& ctx, const Key& key, Entry& entry, const Event& event, Edit&& edit) {
  bool failed = false;
  bool changed = false;
  Entry* const kept = ctx.keyspace.EditRich<T>(key, entry, ctx.now, event, [&](T& value) {
    try {
      edit(value, changed);
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    return changed;
  });
  if (failed && changed) ctx.session.pool().NoteFailed();
  if (failed) throw std::bad_alloc();
  return kept;
}

}  // namespace mayfly

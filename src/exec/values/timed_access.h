// Finds hashes, sets and sorted sets without due members, for commands. No command sees a member that is due.
//
// A hash or a set treats due members as absent, whether they are dropped or not. A sorted set must take them out of its
// order first, because ranks count what is in the order. And before a write, replicas must be told of each due member, of any
// type. If many members are due at once, that takes long. So a client's request on such a value waits (RequestPostponed):
// the loop drops the members in slices, with other clients' requests in between, and the request runs again a few
// milliseconds later, until few are left. Each run counts as an access. A transaction or a script waits before it begins, for
// all keys that it names (AwaitDue). Its calls cannot wait, and neither can a client that was blocked and is woken: a script
// that uses a key without naming it takes all due members out at once, however long it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "cache/keyspace/databases.h"
#include "cache/time/lifetime.h"
#include "cache/types/sorted_set_value.h"
#include "exec/call/command_keys.h"
#include "exec/dispatch/context.h"

namespace mayfly {

// A command drops at most this many due members of a hash or a set. The loop drops the others in slices.
inline constexpr size_t kDropAtOnce = 10'000;
// A request waits if more due members than this are in the order of its sorted set.
inline constexpr size_t kRankedAtOnce = SortedSetValue::kFew;

// For DropDueMembers of Keyspace: no number of members, and not SortedSetValue::kAtOnce, which hides most of them.
inline constexpr size_t kAllDue = SIZE_MAX / 2;

inline bool HasManyDue(const Entry& entry, Now now) noexcept {
  return static_cast<const SortedSetValue&>(*entry.rich()).DueInOrder(now) > kRankedAtOnce;
}

// A task that waits for its stream has not expired, and the wheel drops none of its members: the command that finds the task
// drops all that are due. A value of which no member is live goes with the last one: no command sees such a value. Of a task that
// the wheel has not come to yet nothing is dropped (NextDrop in cache/time/lifetime.h).
inline bool IsDueTask(const Entry& entry, Now now) noexcept {
  return entry.task() && entry.deadline().Reached(now);
}

// True if the loop drops due members while the request waits. The wheel drops no members of a task that waits for its stream.
inline bool MayAwaitDrops(const Context& ctx, const Entry& entry) noexcept {
  return ctx.MayBePostponed() && ctx.server.databases.active_expiry() && !entry.ready();
}

// A replica still has the members that it was not told of: a write that meets such a member would do something else there.
inline bool MustTellAllDue(const Context& ctx, bool writes) noexcept {
  return writes && ctx.server.databases.changes().WantsEffects();
}

// Drops what is due up to kDropAtOnce members; if replicas must be told, all, or the request waits. `writes`: the request may
// write, or calls of its script or transaction may.
[[gnu::noinline]] inline Entry* DropDueOrWait(Context& ctx, const Key& key, Entry& entry, bool writes) {
  if (IsDueTask(entry, ctx.now)) return ctx.keyspace.DropDueMembers(key, entry, ctx.now, kAllDue);
  Entry* const kept = ctx.keyspace.DropDueMembers(key, entry, ctx.now, kDropAtOnce);
  const bool are_all = kept == nullptr || !NextDrop(*kept, ctx.now).Reached(ctx.now);
  if (are_all || !MustTellAllDue(ctx, writes)) return kept;
  if (MayAwaitDrops(ctx, *kept)) throw RequestPostponed();
  return ctx.keyspace.DropDueMembers(key, *kept, ctx.now, kAllDue);
}

// Members that are hidden, and not dropped, have no rank, but replicas were not told of them.
[[gnu::noinline]] inline Entry* DropDueRanked(Context& ctx, const Key& key, Entry& entry, bool writes) {
  if (MayAwaitDrops(ctx, entry) && HasManyDue(entry, ctx.now)) throw RequestPostponed();
  if (MustTellAllDue(ctx, writes)) return DropDueOrWait(ctx, key, entry, writes);
  return ctx.keyspace.DropDueMembers(key, entry, ctx.now,
                                     IsDueTask(entry, ctx.now) ? kAllDue : SortedSetValue::kAtOnce);
}

// Drops what is due of the value of an entry that was found; `entry` may be null, and be of any type. Returns the entry,
// or null if the key is gone with its last member. A value that stays is not moved. Throws RequestPostponed.
// `writes`: the value may be written to. REQUIRES: the request has changed nothing and written no reply yet, if so, or if the
// value may be a sorted set.
[[gnu::always_inline]] inline Entry* DropDueMembers(Context& ctx, const Key& key, Entry* entry, bool writes) {
  if (entry == nullptr || !entry->timed() || entry->encoding() != Encoding::kRich) [[likely]]
    return entry;
  // The wall clock may have been set back since: members that were due and hidden, but not dropped, are there again.
  // A budget of 0 only tells the value what time it is.
  const Expiry own = NextDrop(*entry, ctx.now);
  if (own.kind == Expiry::Kind::kWall && !own.Reached(ctx.now)) entry->rich()->DropDue(ctx.now, 0, nullptr);
  return entry->rich()->type == ValueType::kSortedSet ? DropDueRanked(ctx, key, *entry, writes)
                                                      : DropDueOrWait(ctx, key, *entry, writes);
}
[[gnu::always_inline]] inline Entry* DropDueMembers(Context& ctx, const Key& key, Entry* entry) {
  return DropDueMembers(ctx, key, entry, ctx.row.writes);
}

// False if AwaitDue need not be called: the wheels have nothing to do, so no member is due.
inline bool MayHaveDue(Context& ctx) noexcept {
  return ctx.MayBePostponed() && ctx.server.databases.NextWakeMs(ctx.now) == 0;
}
// Must precede a script, and each call of a transaction, before any of them runs. Throws RequestPostponed.
// REQUIRES: MayHaveDue; the request has changed nothing and written no reply yet.
[[gnu::cold]] inline void AwaitDue(Context& ctx, const Command& command,
                                   std::span<const std::string_view> call) {
  ForEachKey(command, call, [&ctx](const FoundKey& name) {
    const Key key = ctx.keyspace.KeyOf(name.text);
    Entry* const entry = ctx.keyspace.Peek(key, ctx.now);
    if (entry == nullptr || !entry->timed() || entry->encoding() != Encoding::kRich || entry->ready()) return;
    const bool ranked = entry->rich()->type == ValueType::kSortedSet;
    if (ranked && HasManyDue(*entry, ctx.now)) throw RequestPostponed();
    if (MustTellAllDue(ctx, /*writes=*/true)) DropDueOrWait(ctx, key, *entry, /*writes=*/true);
  });
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

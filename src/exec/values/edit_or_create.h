// Changes a value that is not a string, or creates it, for commands. This is the one place that decides what a request
// says when memory runs out in the middle of it.
//
// A request with several members changes an existing value member by member. If memory runs out midway, the members
// before stay changed. The change is reported then, and the client is closed: an error would say that nothing was done. If
// nothing has changed yet, the client gets the error. A new value is made first and put into the keyspace when it is whole,
// so nothing has changed if memory runs out.
//
// An edit has two parts. `edit` changes the value. `what` returns what `edit` has done so far: the event to report, or
// null if it has changed nothing. `what` is called after `edit`, also after an `edit` that threw std::bad_alloc; so `edit`
// must record a change before the next step that may fail.
//
// An edit that cannot fail once it has changed anything may call Keyspace::EditRich itself.
#pragma once

#include <cassert>
#include <memory>
#include <new>
#include <utility>

#include "exec/dispatch/context.h"

namespace mayfly {

// For a request that goes on after it has changed something: runs step(), which must not end in an error. If memory runs
// out, the client is closed.
template <typename Step>
void ContinueAfterChange(Context& ctx, Step&& step) {
  try {
    step();
  } catch (const std::bad_alloc&) {
    ctx.session.pool().NoteFailed();
    throw;
  }
}

// Lets edit(T&) change the value of an entry, and reports what() then. Returns the entry, or null if the key was removed
// with its last member. Throws std::bad_alloc if `edit` does.
// REQUIRES: Keyspace::RoomForOwnTime was called before if `edit` may give a member a deadline.
template <typename T, typename Edit, typename What>
Entry* EditValue(Context& ctx, const Key& key, Entry& entry, Edit&& edit, What&& what) {
  Event event;  // EditRich reads it after the edit
  bool failed = false;
  bool changed = false;
  Entry* const kept = ctx.keyspace.EditRich<T>(key, entry, ctx.now, event, [&](T& value) {
    try {
      edit(value);
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    const Event* const done = what();
    changed = done != nullptr;
    if (changed) event = *done;
    if (failed) event.effect = nullptr;  // it has done less
    return changed;
  });
  if (!failed) [[likely]]
    return kept;
  if (changed) ctx.session.pool().NoteFailed();
  throw std::bad_alloc();
}

// As EditValue, but creates the value if the key does not exist. A new value that `edit` leaves empty is not put: then
// nothing is reported, and null is returned. A new value may get members with deadlines without RoomForOwnTime.
// REQUIRES: Context::FindTyped or FindLive has found `found`.
template <typename T, typename Edit, typename What>
Entry* EditOrCreate(Context& ctx, const Key& key, const Typed<T>& found, Edit&& edit, What&& what) {
  if (found.entry != nullptr)
    return EditValue<T>(ctx, key, *found.entry, std::forward<Edit>(edit), std::forward<What>(what));
  auto fresh = std::make_unique<T>();
  edit(*fresh);
  if (fresh->Size() == 0) return nullptr;
  const Event* const done = what();
  assert(done != nullptr);
  return ctx.keyspace.PutRich(key, nullptr, std::move(fresh), Expiry::Never(), ctx.now, *done);
}

}  // namespace mayfly

// Adds members with a deadline to a set.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "cache/types/set_value.h"
#include "exec/values/timed_access.h"

namespace mayfly {

inline constexpr Event kSetMemberExpires{"sexpire"};

// Adds members with a deadline to the key's set, or to a new one, and reports that as `event`. Members that are there get
// the deadline as well, unless `keep_deadlines`; if no other is new, that alone is reported. Returns how many are new.
// If memory runs out, some of them may be done (EditMembers).
// REQUIRES: `found` is what FindLive has found; the deadline is neither Never nor reached.
inline size_t AddMembersUntil(Context& ctx, const Key& key, const Typed<SetValue>& found,
                              std::span<const std::string_view> members, Expiry deadline, bool keep_deadlines,
                              Event event) {
  size_t added = 0;
  const auto add = [&](SetValue& set, bool& changed) {
    for (const std::string_view member : members) {
      const bool is_new = set.AddUntil(member, deadline, keep_deadlines, ctx.keyspace.home(), ctx.now);
      added += is_new ? 1 : 0;
      changed = changed || is_new || !keep_deadlines;
    }
  };
  if (found.entry == nullptr) {
    auto fresh = std::make_unique<SetValue>();
    bool changed = false;
    add(*fresh, changed);
    ctx.keyspace.PutRich(key, nullptr, std::move(fresh), Expiry::Never(), ctx.now, event);
    return added;
  }
  Entry* const roomy = ctx.keyspace.RoomForOwnTime(key, *found.entry, ctx.now);
  EditMembers<SetValue>(ctx, key, *roomy, event, [&](SetValue& set, bool& changed) {
    try {
      add(set, changed);
    } catch (...) {
      if (added == 0) event = kSetMemberExpires;
      throw;
    }
    if (added == 0) event = kSetMemberExpires;
  });
  return added;
}

}  // namespace mayfly

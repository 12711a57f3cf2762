// Adds members with a deadline to a set.
#pragma once

#include <span>
#include <string_view>

#include "cache/keyspace/databases.h"
#include "cache/types/set_value.h"
#include "exec/values/edit_or_create.h"
#include "exec/values/member_effect.h"
#include "exec/values/timed_access.h"

namespace mayfly {

inline constexpr Event kSetMemberExpires{"sexpire"};

// Adds members with a deadline to the key's set, or to a new one, and reports that as `event`. Members that are there get
// the deadline as well, unless `keep_deadlines`; if no other is new, that alone is reported. Returns how many are new.
// REQUIRES: `found` is what FindLive has found; the deadline is neither Never nor reached.
inline size_t AddMembersUntil(Context& ctx, const Key& key, Typed<SetValue> found,
                              std::span<const std::string_view> members, Expiry deadline, bool keep_deadlines,
                              const Event& event) {
  if (found.entry != nullptr) found.entry = ctx.keyspace.RoomForOwnTime(key, *found.entry, ctx.now);
  MemberEffect effect(ctx.server.databases.changes().WantsEffects(), ValueType::kSet);
  Event told;
  size_t added = 0;
  bool changed = false;
  EditOrCreate<SetValue>(
      ctx, key, found,
      [&](SetValue& set) {
        for (const std::string_view member : members) {
          const bool is_new = set.AddUntil(member, deadline, keep_deadlines, ctx.keyspace.home(), ctx.now);
          added += is_new ? 1 : 0;
          changed = changed || is_new || !keep_deadlines;
          if (!keep_deadlines) effect.Add(member);
        }
      },
      [&]() -> const Event* {
        if (!changed) return nullptr;
        told = effect.TellDeadline(added != 0 ? event : kSetMemberExpires, deadline, ctx.now, members);
        return &told;
      });
  return added;
}

}  // namespace mayfly

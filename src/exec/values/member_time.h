// HEXPIRE, SEXPIRE and kin: sets, removes and shows deadlines of named members of a hash or a set.
//
// A command's `Kind` holds the differences between the two types:
//   Value                      the class of the value
//   kWords                     the words of the request and of the errors
//   kExpireEvent, kRemoveEvent, kPersistEvent
//   Has(value, member)
//   SetDeadline(ctx, value, member, deadline)   REQUIRES: Has; the deadline is not reached
// Loop thread only.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "cache/keyspace/databases.h"
#include "exec/arguments/expire_condition.h"
#include "exec/values/field_time.h"
#include "exec/values/member_effect.h"

namespace mayfly {

// The result for each member.
namespace member_results {
inline constexpr int8_t kNoMember = -2;
inline constexpr int8_t kNoDeadline = -1;
inline constexpr int8_t kConditionFailed = 0;
inline constexpr int8_t kDone = 1;
inline constexpr int8_t kRemoved = 2;  // the deadline is over already
}  // namespace member_results

inline void ReplyResults(Context& ctx, std::span<const int8_t> results) {
  ctx.reply.Array(results.size());
  for (const int8_t result : results) ctx.reply.Integer(result);
}

// key time [NX | XX | GT | LT] WORD number member ...
template <typename Kind>
void ExpireMembers(Context& ctx, Args& args, TimeUnit unit, TimeBase base) {
  using Value = typename Kind::Value;
  const Key key = ctx.KeyAt(args, 1);
  Typed<Value> found;
  if (!FindLive(ctx, key, found)) return;
  FieldTime time;
  if (!ReadFieldTime(ctx, args[2], unit, base, time)) return;
  args.Skip(2);
  ExpireConditions condition;
  condition.Take(args);
  const auto members = ReadMembers(ctx, args, Kind::kWords, Kind::kWords.too_few);
  if (!members) return;

  std::vector<int8_t> results(members->size(), member_results::kNoMember);
  const auto has = [&](std::string_view member) { return Kind::Has(*found.value, member); };
  if (found.entry == nullptr || std::none_of(members->begin(), members->end(), has))
    return ReplyResults(ctx, results);
  const bool past = time.Past(ctx.now) && ctx.RemovesOverdue();
  if (!past) found.entry = RoomForDeadlines(ctx, key, *found.entry);
  MemberEffect effect(ctx.server.databases.changes().WantsEffects(), Value::kType);
  Event event;
  bool changed = false;
  const auto edit = [&](Value& value) {
    for (size_t i = 0; i < members->size(); ++i) {
      const std::string_view member = (*members)[i];
      if (!Kind::Has(value, member)) continue;
      results[i] = member_results::kConditionFailed;
      const Expiry current = value.DeadlineOf(member);
      std::optional<int64_t> current_unix_ms;
      if (current.kind != Expiry::Kind::kNever) current_unix_ms = UnixMsOf(current, ctx.now);
      if (!condition.Allow(current_unix_ms, time.unix_ms)) continue;
      past ? static_cast<void>(value.Remove(member)) : Kind::SetDeadline(ctx, value, member, time.expiry);
      results[i] = past ? member_results::kRemoved : member_results::kDone;
      effect.Add(member);
      changed = true;
    }
  };
  EditValue<Value>(ctx, key, *found.entry, edit, [&]() -> const Event* {
    if (!changed) return nullptr;
    event = past ? effect.TellRemoved(Kind::kRemoveEvent)
                 : effect.TellDeadline(Kind::kExpireEvent, time.expiry, ctx.now);
    return &event;
  });
  ReplyResults(ctx, results);
}

// key WORD number member ...
template <typename Kind>
void PersistMembers(Context& ctx, Args& args) {
  using Value = typename Kind::Value;
  const Key key = ctx.KeyAt(args, 1);
  Typed<Value> found;
  if (!FindLive(ctx, key, found)) return;
  args.Skip(1);
  const auto members = ReadMembers(ctx, args, Kind::kWords, Kind::kWords.not_positive);
  if (!members) return;
  std::vector<int8_t> results(members->size(), member_results::kNoMember);
  if (found.entry == nullptr) return ReplyResults(ctx, results);
  MemberEffect effect(ctx.server.databases.changes().WantsEffects(), Value::kType);
  Event event;
  bool changed = false;
  const auto edit = [&](Value& value) {
    for (size_t i = 0; i < members->size(); ++i) {
      if (!Kind::Has(value, (*members)[i])) continue;
      const bool cleared = value.ClearDeadline((*members)[i]);
      results[i] = cleared ? member_results::kDone : member_results::kNoDeadline;
      changed = changed || cleared;
      if (cleared) effect.Add((*members)[i]);
    }
  };
  EditValue<Value>(ctx, key, *found.entry, edit, [&]() -> const Event* {
    if (!changed) return nullptr;
    event = effect.TellPersisted(Kind::kPersistEvent);
    return &event;
  });
  ReplyResults(ctx, results);
}

// key WORD number member ...; seconds are rounded up: a present member has at least one second left.
template <typename Kind>
void ReplyMemberTimes(Context& ctx, Args& args, TimeUnit unit, TimeBase base) {
  Typed<typename Kind::Value> found;
  if (!ReadLive(ctx, ctx.KeyAt(args, 1), found)) return;
  args.Skip(1);
  const auto members = ReadMembers(ctx, args, Kind::kWords, Kind::kWords.not_positive);
  if (!members) return;
  ctx.reply.Array(members->size());
  for (const std::string_view member : *members) {
    if (found.value == nullptr || !Kind::Has(*found.value, member)) {
      ctx.reply.Integer(member_results::kNoMember);
      continue;
    }
    const Expiry deadline = found.value->DeadlineOf(member);
    if (deadline.kind == Expiry::Kind::kNever) {
      ctx.reply.Integer(member_results::kNoDeadline);
      continue;
    }
    const int64_t ms = UnixMsOf(deadline, ctx.now) - (base == TimeBase::kNow ? ctx.now.wall_ms : 0);
    ctx.reply.Integer(unit == TimeUnit::kSeconds ? (ms + kMsPerSecond - 1) / kMsPerSecond : ms);
  }
}

// The handlers of the nine commands: of HEXPIRE and kin, or of SEXPIRE and kin.
template <typename Kind>
struct MemberTimeHandlers {
  static void Expire(Context& ctx, Args& args) {
    ExpireMembers<Kind>(ctx, args, TimeUnit::kSeconds, TimeBase::kNow);
  }
  static void PExpire(Context& ctx, Args& args) {
    ExpireMembers<Kind>(ctx, args, TimeUnit::kMilliseconds, TimeBase::kNow);
  }
  static void ExpireAt(Context& ctx, Args& args) {
    ExpireMembers<Kind>(ctx, args, TimeUnit::kSeconds, TimeBase::kEpoch);
  }
  static void PExpireAt(Context& ctx, Args& args) {
    ExpireMembers<Kind>(ctx, args, TimeUnit::kMilliseconds, TimeBase::kEpoch);
  }
  static void Persist(Context& ctx, Args& args) { PersistMembers<Kind>(ctx, args); }
  static void Ttl(Context& ctx, Args& args) {
    ReplyMemberTimes<Kind>(ctx, args, TimeUnit::kSeconds, TimeBase::kNow);
  }
  static void PTtl(Context& ctx, Args& args) {
    ReplyMemberTimes<Kind>(ctx, args, TimeUnit::kMilliseconds, TimeBase::kNow);
  }
  static void ExpireTime(Context& ctx, Args& args) {
    ReplyMemberTimes<Kind>(ctx, args, TimeUnit::kSeconds, TimeBase::kEpoch);
  }
  static void PExpireTime(Context& ctx, Args& args) {
    ReplyMemberTimes<Kind>(ctx, args, TimeUnit::kMilliseconds, TimeBase::kEpoch);
  }
};

}  // namespace mayfly

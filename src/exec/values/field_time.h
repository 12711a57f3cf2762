// Reads and shows deadlines of a hash's fields and a set's members.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "exec/arguments/expire_options.h"
#include "exec/values/hash_access.h"

namespace mayfly {

// The latest Unix time in ms for a field's deadline, as in Redis.
inline constexpr int64_t kFarthestFieldMs = (int64_t{1} << 46) - 1;

// A deadline given by a command.
struct FieldTime {
  Expiry expiry;
  int64_t unix_ms = 0;

  bool Past(Now now) const noexcept { return unix_ms <= now.wall_ms; }
};

// False, after an error reply, if `number` is no such deadline.
inline bool ReadFieldTime(Context& ctx, std::string_view number, TimeUnit unit, TimeBase base,
                          FieldTime& time) {
  int64_t parsed = 0;
  if (!ParseInteger(number, parsed)) return ctx.Fail(errors::kNotInteger), false;
  if (parsed < 0) return ctx.Fail("ERR invalid expire time, must be >= 0"), false;
  const int64_t base_ms = base == TimeBase::kNow ? ctx.now.wall_ms : 0;
  int64_t ms = 0;
  if (!ToMilliseconds(parsed, unit, ms) || ms > kFarthestFieldMs - base_ms)
    return RefuseExpireTime(ctx), false;
  time.unix_ms = base_ms + ms;
  time.expiry = base == TimeBase::kNow ? Expiry::In(static_cast<uint64_t>(ms), ctx.now) : Expiry::At(ms);
  return true;
}

inline int64_t UnixMsOf(Expiry expiry, Now now) noexcept {
  return expiry.kind == Expiry::Kind::kWall ? static_cast<int64_t>(expiry.deadline_ms)
                                            : now.WallOf(expiry.deadline_ms);
}

// The words of commands that name members of a value, and their errors.
struct MemberWords {
  std::string_view word;          // upper case; comes before the number of members
  std::string_view missing;       // the word is not at its place
  std::string_view too_few;       // the number is no positive integer: HEXPIRE and kin
  std::string_view not_positive;  // the same: the other commands
  std::string_view mismatch;      // the number differs from the number of members
};
inline constexpr MemberWords kFieldWords = {
    .word = "FIELDS",
    .missing = "ERR Mandatory argument FIELDS is missing or not at the right position",
    .too_few = "ERR Parameter `numFields` should be greater than 0",
    .not_positive = "ERR Number of fields must be a positive integer",
    .mismatch = "ERR The `numfields` parameter must match the number of arguments"};

// Reads the word, the number of members and the members, up to the end of the request. `refusal` is the error for a number
// that is no positive integer. Returns nothing after an error reply.
inline std::optional<std::span<const std::string_view>> ReadMembers(Context& ctx, Args& args,
                                                                    const MemberWords& words,
                                                                    std::string_view refusal) {
  if (!args.Accept(words.word, 1)) return ctx.Fail(words.missing), std::nullopt;
  const std::optional<int64_t> count = args.NextInteger();
  if (!count || *count < 1) return ctx.Fail(refusal), std::nullopt;
  if (static_cast<uint64_t>(*count) != args.Left()) return ctx.Fail(words.mismatch), std::nullopt;
  return args.Rest();
}

inline std::optional<std::span<const std::string_view>> ReadFields(
    Context& ctx, Args& args, std::string_view refusal = kFieldWords.not_positive) {
  return ReadMembers(ctx, args, kFieldWords, refusal);
}

// Makes room in the entry of a hash or a set for the own time. Returns the entry, possibly at a new place.
inline Entry* RoomForDeadlines(Context& ctx, const Key& key, Entry& entry) {
  return ctx.keyspace.RoomForOwnTime(key, entry, ctx.now);
}

}  // namespace mayfly

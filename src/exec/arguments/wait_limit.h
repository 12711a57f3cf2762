// The time limit of a blocking command, and the end of the command's wait. The limit is the last argument, or the argument
// of BLOCK.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text/long_double.h"
#include "base/text/numbers.h"
#include "exec/dispatch/context.h"
#include "server/waiting/parking.h"

namespace mayfly {

// Reads seconds, possibly with a fraction, rounded up to a millisecond; 0 means for ever. Returns the deadline in monotonic
// ms, or nothing after an error reply.
inline std::optional<uint64_t> ReadWaitLimit(Context& ctx, std::string_view seconds) {
  constexpr auto kMsPerUnit = static_cast<long double>(kMsPerSecond);
  const std::optional<long double> number = ParseLongDouble(seconds);
  if (!number) return ctx.Fail("ERR timeout is not a float or out of range"), std::nullopt;
  const long double ms = std::ceil(*number * kMsPerUnit);
  if (ms < 0) return ctx.Fail("ERR timeout is negative"), std::nullopt;
  if (ms > static_cast<long double>(INT64_MAX - ctx.now.wall_ms))
    return ctx.Fail("ERR timeout is out of range"), std::nullopt;
  return ms == 0 ? ParkingLot::kForever : ctx.now.mono_ms + static_cast<uint64_t>(ms);
}

// Like ReadWaitLimit, for BLOCK's milliseconds.
inline std::optional<uint64_t> ReadBlock(Context& ctx, std::string_view milliseconds) {
  const std::optional<int64_t> ms = ParseInteger(milliseconds);
  if (!ms) return ctx.Fail("ERR timeout is not an integer or out of range"), std::nullopt;
  if (*ms < 0) return ctx.Fail("ERR timeout is negative"), std::nullopt;
  if (*ms > INT64_MAX - ctx.now.wall_ms) return ctx.Fail("ERR timeout is out of range"), std::nullopt;
  return *ms == 0 ? ParkingLot::kForever : ctx.now.mono_ms + static_cast<uint64_t>(*ms);
}

// Like ReadWaitLimit; 0 for a request that runs again, because the old deadline stays.
inline std::optional<uint64_t> ReadFirstWaitLimit(Context& ctx, std::string_view seconds) {
  return ctx.resumed != nullptr ? std::optional<uint64_t>(0) : ReadWaitLimit(ctx, seconds);
}

// Answers if a command's wait for keys is over in vain, and returns true then.
inline bool AnswerEndOfWait(Context& ctx) {
  switch (ctx.wake()) {
    case WakeReason::kTimeout:
      ctx.reply.NullArray();
      return true;
    case WakeReason::kUnblocked:
      ctx.Fail("UNBLOCKED client unblocked via CLIENT UNBLOCK");
      return true;
    default:
      return false;
  }
}

// Like Context::FindTyped, for a key that a command may wait for. A key that has got another type meanwhile counts as absent, and
// sets `other`: the wait goes on, but a command that finds what it waits for in a key after this one is refused, as in Redis 8
// and Valkey.
template <typename T>
bool FindAwaited(Context& ctx, const Key& key, Typed<T>& found, bool& other) {
  if (ctx.wake() == WakeReason::kNone) return ctx.FindTyped(key, found);
  Entry* const entry = ctx.keyspace.Find(key, ctx.now);
  if (entry == nullptr) return true;
  if (entry->encoding() == Encoding::kRich && entry->rich()->type == T::kType)
    found = {entry, static_cast<T*>(entry->rich())};
  else
    other = true;
  return true;
}

}  // namespace mayfly

// The time limit of a blocking command: its last argument, or the one that says so.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/numbers.h"
#include "exec/dispatch/context.h"
#include "server/parking.h"

namespace mayfly {

// Reads seconds, perhaps with a fraction, rounded up to a millisecond; 0 is for ever. Returns the deadline in
// monotonic ms, or nothing after having answered the error.
inline std::optional<uint64_t> ReadWaitLimit(Context& ctx, std::string_view seconds) {
  constexpr auto kMsPerUnit = static_cast<double>(kMsPerSecond);
  const std::optional<double> number = ParseDouble(seconds);
  if (!number) return ctx.Fail("ERR timeout is not a float or out of range"), std::nullopt;
  const double ms = std::ceil(*number * kMsPerUnit);
  if (ms < 0) return ctx.Fail("ERR timeout is negative"), std::nullopt;
  if (ms >= static_cast<double>(INT64_MAX - static_cast<int64_t>(ctx.now.mono_ms)))
    return ctx.Fail("ERR timeout is out of range"), std::nullopt;
  return ms == 0 ? ParkingLot::kForever : ctx.now.mono_ms + static_cast<uint64_t>(ms);
}

}  // namespace mayfly

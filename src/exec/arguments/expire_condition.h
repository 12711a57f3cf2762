// NX, XX, GT and LT of EXPIRE, HEXPIRE and kin: conditions on the present deadline.
//
// Deadlines are compared as Unix time in ms, whichever clock keeps the deadline: Redis's rules for GT and LT then hold
// across both clocks. No deadline counts as an infinitely late deadline.
#pragma once

#include <cstdint>
#include <optional>

#include "exec/call/args.h"

namespace mayfly {

struct ExpireConditions {
  bool if_none = false;     // NX
  bool if_some = false;     // XX
  bool if_greater = false;  // GT
  bool if_less = false;     // LT

  // Passes the next argument if the argument is one of the four words.
  bool Take(Args& args) noexcept {
    if (args.Accept("NX")) return if_none = true;
    if (args.Accept("XX")) return if_some = true;
    if (args.Accept("GT")) return if_greater = true;
    if (args.Accept("LT")) return if_less = true;
    return false;
  }

  bool any() const noexcept { return if_none || if_some || if_greater || if_less; }
  // True if `unix_ms` may replace `current_unix_ms`.
  bool Allow(std::optional<int64_t> current_unix_ms, int64_t unix_ms) const noexcept {
    if (!current_unix_ms) return !if_some && !if_greater;
    if (if_none) return false;
    return (!if_greater || unix_ms > *current_unix_ms) && (!if_less || unix_ms < *current_unix_ms);
  }
};

}  // namespace mayfly

// Statistics of expiry and eviction: the lateness of frees, and the age of evicted keys. INFO's section "# Expiry" shows the
// figures of expiry.
//
// Lag is the time from the deadline of a key or a member until its drop was reported. Members that are dropped together
// count with the lag of the first. The unit is us. The time of a turn resolves only ms, so the distance of the turn's time
// from the wall clock is added. For the resolution of the histogram see base/time/histogram.h.
#pragma once

#include <cstdint>

#include "base/time/histogram.h"

namespace mayfly {

struct ExpiryStats {
  uint64_t expired_keys = 0;
  uint64_t expired_members = 0;  // of values
  uint64_t evicted_keys = 0;
  uint64_t invalidated_keys = 0;  // by their tags
  uint64_t evicted_stale = 0;     // values after their keys expired (cache/gone/stale_values.h)
  uint64_t tasks_delivered = 0;   // keys that went into a stream (cache/keyspace/tasks.h)
  uint64_t tasks_refused = 0;     // times that a stream could not take one
  uint64_t wheel_wakeups = 0;     // times the timer woke the loop for expiry
  uint64_t burst_max = 0;         // most keys and members that expired in one slice
  uint64_t full_slices = 0;       // slices that ended while more keys were due
  uint64_t clock_steps = 0;       // times the wall clock stepped
  Histogram lag_us;
  Histogram evicted_age_ms;  // time since the last access of each evicted key, by its stamp
  // How far this turn's time is behind the system's wall clock, while keys expire in the background: a part of the lag of
  // wall-clock deadlines. 0 at other times.
  uint64_t wall_behind_us = 0;

  uint64_t expired() const noexcept { return expired_keys + expired_members; }

  void Reset() noexcept { *this = ExpiryStats(); }
};

}  // namespace mayfly

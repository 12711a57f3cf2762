// Reads the times of an entry: the key's deadline, the own time of the members, and the end of the stale value's window.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>

#include "base/time/clock.h"
#include "cache/entry/entry.h"
#include "cache/entry/expiry.h"
#include "cache/entry/rich_value.h"
#include "cache/time/deadlines.h"

namespace mayfly {

// Milliseconds until the deadline; <= 0 if the entry has expired but is not freed yet.
// REQUIRES: entry.expires().
inline int64_t TtlMs(const Entry& entry, Now now) noexcept {
  assert(entry.expires());
  const Expiry expiry = entry.deadline();
  return static_cast<int64_t>(expiry.deadline_ms - Deadlines::NowOn(expiry.kind, now));
}

// As TtlMs, for clients: a task may be past its deadline, and negative numbers mean something else.
inline int64_t ShownTtlMs(const Entry& entry, Now now) noexcept {
  return std::max<int64_t>(TtlMs(entry, now), 0);
}

// The deadline as Unix time in ms.
// REQUIRES: entry.expires().
inline int64_t UnixDeadlineMs(const Entry& entry, Now now) noexcept {
  assert(entry.expires());
  const Expiry expiry = entry.deadline();
  return expiry.kind == Expiry::Kind::kWall ? static_cast<int64_t>(expiry.deadline_ms)
                                            : now.WallOf(expiry.deadline_ms);
}

// Returns true if all members of a rich value are due. Not inline: few keys come here.
bool AllMembersDue(const Entry& entry, Now now) noexcept;

// A key without a deadline has expired, too, when all members of its value are due. A task has not expired before its
// stream has it: at every moment it is a key, or an entry of the stream.
[[gnu::always_inline]] inline bool HasExpired(const Entry& entry, Now now) noexcept {
  if (!entry.timed()) [[likely]]
    return false;
  if (entry.expires() && entry.deadline().Reached(now)) return !entry.task();
  return entry.encoding() == Encoding::kRich && AllMembersDue(entry, now);
}

// A master's cutoff (replication/cutoff.h) is a time on both clocks, 0 for a clock without one. A key whose deadline is at or
// before the cutoff is gone at the master, unless it has a rule of its own: a task waits for its stream, and an access moves a
// deadline that slides.
inline bool IsCutOff(const Entry& entry, Now cutoff) noexcept {
  return entry.deadline().Reached(cutoff) && !entry.task() && entry.terms().slide_ms == 0;
}

// The own time that the entry should have: the nearest deadline of its value's members.
inline Expiry OwnTimeOf(const Entry& entry) noexcept {
  return entry.encoding() == Encoding::kRich ? entry.rich()->NextDeadline() : Expiry::Never();
}

// The nearest deadline of members that a look-up drops. A task past its deadline goes into its stream as it is, so no look-up may
// empty it; but if the stream refuses the task, the members of the waiting key go at their deadlines.
inline Expiry NextDrop(const Entry& entry, Now now) noexcept {
  if (!entry.task()) [[likely]]
    return entry.own();
  if (entry.ready()) return OwnTimeOf(entry);
  return entry.deadline().Reached(now) ? Expiry::Never() : entry.own();
}

// The end of the value's window after its deadline (STALE).
inline Expiry EndOfWindow(const Entry& entry) noexcept {
  constexpr uint64_t kLatest = std::numeric_limits<int64_t>::max();
  const Expiry deadline = entry.deadline();
  const uint64_t left = kLatest - std::min(deadline.deadline_ms, kLatest);
  return {deadline.kind, deadline.deadline_ms + std::min(entry.stale_ms(), left)};
}

}  // namespace mayfly

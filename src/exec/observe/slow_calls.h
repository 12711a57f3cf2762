// Finds slow calls, for the slow log and the latency monitor.
//
// Most calls are not timed one by one. The executor records consecutive calls of one O(1) command together and reads the
// cycle counter once for the group (exec/call/call_timer.h); SlowCalls only gets groups of at least least_cycles(). The
// rules for a group:
//   - one call: the time is exact, and the call may become an entry of the slow log.
//   - several calls: the group's time beyond the calls' mean counts as the time of the longest call. This time becomes a
//     sample for the latency monitor, which needs no arguments. The longest call itself is unknown, so the slow log gets
//     no entry; but during the next second every call is recorded alone (RecordsAlone), and a call that is slow again is
//     found.
// If slowlog-log-slower-than is too short for groups, every call is recorded alone. Loop thread only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/time/clock.h"

namespace mayfly {

struct Call;
struct Server;
struct TableRow;

class SlowCalls {
 public:
  // Below this threshold, a group of calls may be slow without a slow call.
  static constexpr uint64_t kGroupUs = 200;
  // How long calls are recorded alone after a slow call in a group.
  static constexpr uint64_t kSuspicionMs = 1000;

  explicit SlowCalls(Server& server) noexcept : server_(server) {}

  // Called after a change of the options.
  void FollowOptions() noexcept;
  // A shorter call is ignored; UINT64_MAX: all calls are.
  uint64_t least_cycles() const noexcept { return least_cycles_; }
  // True if calls must not be recorded in groups now.
  bool RecordsAlone(Now now) const noexcept {
    return short_threshold_ || now.mono_ms < suspicion_until_mono_ms_;
  }

  // `call` has ended and took `cycles`. REQUIRES: call.row is not null.
  void Note(const Call& call, uint64_t cycles, Now now) noexcept;
  // `calls` calls of `row`, more than one, took `cycles` together. row.calls has counted the calls already.
  void NoteGroup(const TableRow& row, uint64_t calls, uint64_t cycles, Now now) noexcept;

 private:
  bool Logs(const TableRow& row, uint64_t us) const noexcept;
  void Log(const Call& call, uint64_t us, Now now);

  Server& server_;
  uint64_t least_cycles_ = UINT64_MAX;
  uint64_t log_from_us_ = UINT64_MAX;  // UINT64_MAX: nothing is logged
  bool short_threshold_ = false;
  uint64_t suspicion_until_mono_ms_ = 0;
};

}  // namespace mayfly

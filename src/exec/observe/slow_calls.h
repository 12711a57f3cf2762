// Finds slow calls, for the slow log and the latency monitor.
//
// Most calls are not looked at one by one. The executor records consecutive calls of one O(1) command together and
// reads the cycle counter once for the group (exec/call/call_timer.h); only a group that took at least
// least_cycles() comes here. What is known of a group:
//   - one call: its time is exact, and it may become an entry of the slow log.
//   - several calls: the time that the group took beyond its calls' mean is taken for that of its longest call. That
//     is a sample for the latency monitor, which wants no arguments. Nobody knows which call it was, so none is
//     logged; but for a second from then on every call is recorded alone (RecordsAlone), and one that is slow again
//     is found.
// If slowlog-log-slower-than is so short that calls have to be told apart by it, every call is recorded alone. Loop
// thread only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/time/clock.h"
#include "exec/call/call.h"
#include "exec/call/command_table.h"
#include "server/server.h"

namespace mayfly {

class SlowCalls {
 public:
  // Below this, a group of calls may take longer than the threshold though none of its calls does.
  static constexpr uint64_t kGroupUs = 200;
  // How long calls are recorded alone after one in a group was slow.
  static constexpr uint64_t kSuspicionMs = 1000;

  explicit SlowCalls(Server& server) noexcept : server_(server) {}

  // The options have changed.
  void FollowOptions() noexcept;
  // What took less is of no interest; UINT64_MAX: nothing is.
  uint64_t least_cycles() const noexcept { return least_cycles_; }
  // Whether calls must not be recorded in groups now.
  bool RecordsAlone(Now now) const noexcept {
    return short_threshold_ || now.mono_ms < suspicion_until_mono_ms_;
  }

  // `call` has ended and took this long. REQUIRES: call.row is not null.
  void Note(const Call& call, uint64_t cycles, Now now) noexcept;
  // `calls` calls of `row`, more than one, took this long together. They count in row.calls already.
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

// Ends a process that does not stop in time after the order to stop.
//
// The loop handles SIGTERM and SIGINT, and does not see these signals while a command or a script does not return. Therefore
// the first of these signals also starts an alarm of the kernel, independent of the loop. If the process still exists after
// shutdown-timeout, the alarm's handler logs the running requests, and ends the process with kExitCode. Nothing is flushed
// then: unread replies are lost.
//
// One per process, because signals belong to the process. Loop thread only. Units: seconds.
#pragma once

#include <cstdint>
#include <string>

#include "base/log/crash_report.h"

namespace mayfly::net {

class StopDeadline {
 public:
  static constexpr int kExitCode = 1;

  // `logfile` as for the log; empty: standard output. Less than a second counts as one second.
  StopDeadline(std::string logfile, int64_t seconds);
  StopDeadline(const StopDeadline&) = delete;
  StopDeadline& operator=(const StopDeadline&) = delete;
  ~StopDeadline();

  void set_seconds(int64_t seconds) noexcept;
  // From now on the signals start the alarm, and then have their present effect. Borrows `details` until Begin. REQUIRES:
  // the signals have a handler until the process ends.
  void Watch(const CrashDetails& details) noexcept;
  // Suspends the alarm until Continue or Begin, for instance during the final save, which has no time limit.
  void Hold() noexcept;
  // From now on the signals start the alarm again. REQUIRES: Hold.
  void Continue() noexcept;
  // The stop begins now, and not with the signal: starts the alarm anew. Ends a Hold.
  void Restart() noexcept;
  // The process stops: starts the alarm if no signal has done so.
  void Begin() noexcept;
};

}  // namespace mayfly::net

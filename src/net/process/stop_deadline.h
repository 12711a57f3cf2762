// Ends a process that does not stop in time after the order to stop.
//
// The loop handles SIGTERM and SIGINT, so it does not see them while a command or a script does not come back. Therefore
// the first of these signals also starts an alarm of the kernel's, which needs no loop. When shutdown-timeout is over and
// the process is still there, the alarm's handler writes to the log what was running, and ends the process with kExitCode.
// Nothing is flushed then: replies that clients have not read are lost.
//
// One per process, since signals belong to the process. Loop thread only. Units: seconds.
#pragma once

#include <cstdint>
#include <string>

#include "base/log/crash_report.h"

namespace mayfly::net {

class StopDeadline {
 public:
  static constexpr int kExitCode = 1;

  // `logfile` as the log has it; empty: standard output. Less than a second counts as one.
  StopDeadline(std::string logfile, int64_t seconds);
  StopDeadline(const StopDeadline&) = delete;
  StopDeadline& operator=(const StopDeadline&) = delete;
  ~StopDeadline();

  void set_seconds(int64_t seconds) noexcept;
  // From now on the signals start the alarm, and then have the effect that they have now. Borrows the witness until Begin.
  // REQUIRES: somebody handles the signals until the process ends.
  void Watch(const CrashWitness& witness) noexcept;
  // The process stops: starts the alarm if no signal has.
  void Begin() noexcept;
};

}  // namespace mayfly::net

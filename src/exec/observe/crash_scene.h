// The requests in a crash report: running calls, their clients, and the numbers and lengths of arguments. The report never
// contains the arguments, because arguments may be secrets.
//
// Reads the running calls only in a crash (exec/call/in_flight.h). Between two batches no call runs, and the report says no
// call.
#pragma once

#include "base/log/crash_report.h"

namespace mayfly {

class InFlight;
struct Server;

class CrashScene final : public CrashDetails {
 public:
  // Writes reports from now on, by the option crash-log-enabled. Borrows both arguments.
  CrashScene(Server& server, const InFlight& in_flight);

  void Append(CrashText& text) const noexcept override;

 private:
  const Server& server_;
  const InFlight& in_flight_;
  CrashReport report_;
};

}  // namespace mayfly

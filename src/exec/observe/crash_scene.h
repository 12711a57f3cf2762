// The requests in a crash report: running calls, their clients, and the numbers and lengths of arguments. Never what
// the arguments were, since they may be secrets.
//
// It asks what runs only when there is a crash (exec/call/in_flight.h). Between two batches no call runs, and the report says
// so.
#pragma once

#include "base/log/crash_report.h"
#include "exec/call/in_flight.h"
#include "server/server.h"

namespace mayfly {

class CrashScene final : public CrashWitness {
 public:
  // Writes reports as crash-log-enabled says, from now on. Borrows both.
  CrashScene(Server& server, const InFlight& in_flight);

  void Testify(CrashText& text) const noexcept override;

 private:
  const Server& server_;
  const InFlight& in_flight_;
  CrashReport report_;
};

}  // namespace mayfly

// The requests in a crash report: running calls, their clients, and the numbers and lengths of arguments. Never what
// the arguments were, since they may be secrets.
//
// Nothing is kept for it on the way of a request. The batch knows which of its requests has begun last, and the calls that
// are made one by one (in transactions, by scripts, of clients with modes) are linked through the stack
// (RunningCall). Between two batches no call runs, and the report says so.
#pragma once

#include "base/crash_report.h"
#include "exec/dispatch/executor.h"
#include "exec/dispatch/server.h"

namespace mayfly {

class CrashScene final : public CrashWitness {
 public:
  // Writes reports as crash-log-enabled says, from now on. Borrows both.
  CrashScene(Server& server, const Executor& executor);

  void Testify(CrashText& text) const noexcept override;

 private:
  const Server& server_;
  const Executor& executor_;
  CrashReport report_;
};

}  // namespace mayfly

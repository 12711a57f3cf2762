// The clients of MONITOR: each gets one line for every call.
//
// A call is shown when it has run, or begun to wait; calls that were refused, and those of commands for
// administrators, are not. A line is made once and shared by all monitors. While there is no monitor, none of this
// costs anything (exec/observe/call_observers.h).
//
// Keeps the monitors' ids, not their sessions: one that has gone is noticed when the next line is sent. Loop thread
// only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/memory/shared_bytes.h"
#include "exec/call/call.h"
#include "exec/observe/call_observers.h"
#include "server/server.h"

namespace mayfly {

class Monitors final : public CallObserver {
 public:
  // Borrows both.
  Monitors(Server& server, CallObservers& observers) noexcept : server_(server), observers_(observers) {}
  ~Monitors() override;

  // From now on `session` is a monitor. Throws std::bad_alloc.
  // REQUIRES: it is attached, and no monitor yet.
  void Add(Session& session);
  // No effect if it is none.
  void Remove(Session& session) noexcept;

  // Shows a call before it runs. For a command that makes calls of its own, as EVAL does: its line has to precede
  // theirs. Its row has kSkipMonitor, so that it is not shown again at its end. No effect without monitors.
  void Show(const Call& call) noexcept;

  void OnCall(const Call& call) override;

 private:
  void Send(const Call& call);
  static void Append(Session& monitor, const SharedBytes& line) noexcept;

  Server& server_;
  CallObservers& observers_;
  std::vector<uint64_t> ids_;
};

}  // namespace mayfly

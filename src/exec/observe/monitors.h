// The clients of MONITOR: each gets one line for every call.
//
// A call is shown when it has run, or begun to wait; refused calls and calls of administrators' commands are not shown. A
// line is made once and shared by all monitors. Without monitors there is no cost (exec/observe/call_observers.h).
//
// Keeps the monitors' ids, not their sessions: a monitor's end is noticed when the next line is sent. Loop thread only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/memory/shared_bytes.h"
#include "exec/observe/call_observers.h"

namespace mayfly {

struct Call;
struct Server;
struct Session;

class Monitors final : public CallObserver {
 public:
  // Borrows both arguments.
  Monitors(Server& server, CallObservers& observers) noexcept : server_(server), observers_(observers) {}
  ~Monitors() override;

  // Makes `session` a monitor. Throws std::bad_alloc. REQUIRES: `session` is attached, and no monitor yet.
  void Add(Session& session);
  // No effect if `session` is no monitor.
  void Remove(Session& session) noexcept;

  // Shows a call before the call runs. For a command with inner calls, such as EVAL: the outer line must precede the inner
  // lines. The command's row has kSkipMonitor to prevent a second line at the end. No effect without monitors.
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
